"""From the functions that a binary imports to the releases it runs on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..api._history import History
from ._binary import Binary, Import


class Runtime(NamedTuple):
    """How a runtime's functions are known among all that a binary imports."""

    component: str
    title: str
    function: re.Pattern[str]
    library: re.Pattern[str]


RUNTIMES = (
    Runtime(
        "level-zero",
        "Level Zero",
        re.compile(r"ze[slrt]?[A-Z]\w*"),
        re.compile(r"ze_loader\.dll|libze_loader\.so.*", re.IGNORECASE),
    ),
    Runtime(
        "unified-runtime",
        "Unified Runtime",
        re.compile(r"ur[A-Z]\w*"),
        re.compile(r"ur_loader(_shared)?d?\.dll|libur_loader\.so.*", re.IGNORECASE),
    ),
)


class Needs(NamedTuple):
    """What a binary needs of a runtime.

    `releases` are the known ones that have every function; `variants` splits them where a function's prototype
    changes: the binary runs only on the part it was built for, and a name does not tell which that is.
    """

    runtime: Runtime
    library: str
    functions: list[Import]
    unknown: list[str]
    releases: list[str]
    variants: list[list[str]]
    changed: list[str]

    @property
    def lowest(self) -> str:
        """The first release with every function, empty when there is none."""
        return self.releases[0] if self.releases else ""


def needs(runtime: Runtime, history: History, binary: Binary) -> Needs | None:
    """Return what a binary needs of a runtime, None when it imports nothing of it."""
    functions = [each for each in binary.imports if _belongs(runtime, history, binary, each)]
    if not functions:
        return None
    names = sorted({each.name for each in functions})
    known = [name for name in names if name in history.functions]
    library = next((each for each in binary.libraries if runtime.library.fullmatch(each)), "")
    prototypes = {name: history.prototypes_of(name) for name in known}
    releases = [
        release
        for release in history.releases
        if all(release in each for each in prototypes.values()) and _has_library(history, release, library)
    ]
    return Needs(
        runtime,
        library,
        functions,
        [name for name in names if name not in history.functions],
        releases,
        _variants(prototypes, releases),
        [name for name in known if len({prototypes[name][release] for release in releases} - {""}) > 1],
    )


def first_release(history: History, name: str) -> str:
    """Return the first release with a function, empty for an unknown one."""
    spans = history.functions.get(name)
    return spans[0].first if spans else ""


def _belongs(runtime: Runtime, history: History, binary: Binary, each: Import) -> bool:
    if each.library and runtime.library.fullmatch(each.library):
        return True
    # An ELF file does not say which library a symbol is to come from.
    if not runtime.function.fullmatch(each.name) or (each.library and binary.system == "Windows"):
        return False
    return each.name in history.functions or any(map(runtime.library.fullmatch, binary.libraries))


def _has_library(history: History, release: str, library: str) -> bool:
    named = history.library(release)
    return not library.lower().endswith(".dll") or not named or named == library.lower()


def _variants(prototypes: Mapping[str, Mapping[str, str]], releases: Sequence[str]) -> list[list[str]]:
    """Return the releases in groups within which no function has a different prototype."""
    groups: list[list[str]] = []
    previous: list[str] = []
    for release in releases:
        current = [each[release] for each in prototypes.values()]
        if groups and current == previous:
            groups[-1].append(release)
        else:
            groups.append([release])
        previous = current
    return groups
