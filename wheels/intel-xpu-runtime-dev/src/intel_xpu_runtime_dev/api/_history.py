"""Which functions each release of a runtime offers, from tables made by scripts/api_history.py."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .._errors import XpuDevError

DATA = Path(__file__).parent / "data"


class Span(NamedTuple):
    """An unbroken run of releases with one prototype of a function.

    `last` is empty when the newest known release still has it, `prototype` when no header of a release declares it.
    """

    first: str
    last: str
    prototype: str


class Changes(NamedTuple):
    """What a later release of a runtime has done to the functions of an earlier one."""

    added: list[str]
    removed: list[str]
    changed: list[str]


class History(NamedTuple):
    """The functions of a runtime. `releases` are all that are known, or those that changed something."""

    component: str
    releases: list[str]
    # The loader's file name on Windows, by the first release that has it.
    libraries: dict[str, str]
    functions: dict[str, list[Span]]
    # How a header writes the prototype, for functions that have had several.
    prototypes: dict[str, str]

    @property
    def newest(self) -> str:
        """The newest release that the table covers."""
        return self.releases[-1]

    def at(self, function: str, release: str) -> Span | None:
        """Return the run of releases of a function that a release belongs to, None when it lacks the function."""
        wanted = release_key(release)
        for span in self.functions.get(function, []):
            if release_key(span.first) <= wanted <= release_key(span.last or release):
                return span
        return None

    def prototypes_of(self, function: str) -> dict[str, str]:
        """Return the prototype's digest in each known release that has a function."""
        found = {}
        for span in self.functions.get(function, []):
            start = self.releases.index(span.first)
            end = self.releases.index(span.last) + 1 if span.last else None
            found.update(dict.fromkeys(self.releases[start:end], span.prototype))
        return found

    def changes(self, old: str, new: str) -> Changes:
        """Return how two releases differ; a function with an unknown prototype counts as unchanged."""
        pairs = [(name, self.at(name, old), self.at(name, new)) for name in self.functions]
        return Changes(
            [name for name, before, after in pairs if after and not before],
            [name for name, before, after in pairs if before and not after],
            [name for name, before, after in pairs if before and after and differ(before, after)],
        )

    def library(self, release: str) -> str:
        """Return the file name of a release's loader on Windows, empty when it never changed."""
        name = ""
        for first, library in self.libraries.items():
            if not name or release_key(first) <= release_key(release):
                name = library
        return name


def history(component: str) -> History:
    """Return the history of "level-zero" or "unified-runtime"."""
    table = json.loads((DATA / f"{component.replace('-', '_')}.json").read_text(encoding="utf-8"))
    functions = {name: [Span(*span) for span in spans] for name, spans in table["functions"].items()}
    return History(component, table["releases"], table["libraries"], functions, table["prototypes"])


def differ(one: Span, other: Span) -> bool:
    """Return whether two spans are known to have different prototypes."""
    return bool(one.prototype and other.prototype) and one.prototype != other.prototype


def release_key(version: str) -> tuple[int, ...]:
    """Return what versions are compared by, 1.18 as 1.18.0; raise `XpuDevError` for a text that is no version."""
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9}){0,5}", version):
        raise XpuDevError(
            f"{version!r} is no release", wanted="numbers with dots, such as 1.18.0 or 2026.2.0"
        )
    numbers = [int(part) for part in version.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def runs(history: History, releases: Iterable[str]) -> list[str]:
    """Return each unbroken run of these releases as people write it: "2025.0.0 to 2025.2.2"."""
    chosen = set(releases)
    found: list[list[str]] = [[]]
    for release in history.releases:
        if release in chosen:
            found[-1].append(release)
        elif found[-1]:
            found.append([])
    return [run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in found if run]
