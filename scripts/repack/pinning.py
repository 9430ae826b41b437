"""What finding and pinning a release gives, the same for every component."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Pinned:
    """A release as a row of the catalogue, with what its licence is judged by.

    `headers` are upstream's texts by file name. `licence_texts` hold the terms of the headers, `eula_texts` those
    of the archives that they came in. `carried` are the files that the repository gets with the row, by their paths
    in it. `notes` says what was out of reach.
    """

    row: Mapping[str, Any]
    headers: Mapping[str, str]
    licence_texts: Mapping[str, bytes] = field(default_factory=dict)
    eula_texts: Mapping[str, bytes] = field(default_factory=dict)
    carried: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """The versions that can be had now, each with the function that pins it, and what a person should know besides."""

    versions: Mapping[str, Callable[[], Pinned]]
    notes: tuple[str, ...] = ()


def sorted_names(names: Iterable[str]) -> list[str]:
    """Return file names in the order that the catalogue lists them: folders first."""
    return sorted(names, key=lambda name: ("/" not in name, name))
