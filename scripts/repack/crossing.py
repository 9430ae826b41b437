"""Which names a program can both declare and link: a header set crossed with a library's exports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .binaries import Export, SharedLibrary
from .declarations import Function
from .errors import BuildError


@dataclass(frozen=True)
class LeftOut:
    """A name that the import library does not hold, and why; for the package's manifest."""

    name: str
    reason: str


@dataclass(frozen=True)
class Crossing:
    """The names an import library holds, and those that only one side has; all sorted by name."""

    linkable: tuple[Export, ...]
    declared_only: tuple[LeftOut, ...]
    exported_only: tuple[LeftOut, ...]


def cross(functions: Iterable[Function], library: SharedLibrary) -> Crossing:
    """Cross declared functions with a library's exports; BuildError where the two have nothing in common."""
    declared = {function.name: function for function in functions}
    exported = {export.name: export for export in library.exports}
    linkable = tuple(exported[name] for name in sorted(declared.keys() & exported.keys()))
    if not linkable:
        raise BuildError(
            f"the headers and {library.name} do not belong together: no declared function is exported",
            found=f"{len(declared)} declared functions, {len(exported)} exported names",
        )
    return Crossing(
        linkable,
        tuple(
            LeftOut(name, f"declared in {declared[name].header}, but {library.name} does not export it")
            for name in sorted(declared.keys() - exported.keys())
        ),
        tuple(LeftOut(name, _why_undeclared(name)) for name in sorted(exported.keys() - declared.keys())),
    )


def is_cxx(name: str) -> bool:
    """Return whether a symbol is mangled by a C++ compiler: Itanium (`_Z`) or Microsoft (`?`)."""
    return name.startswith(("_Z", "?"))


def stub_exports(library: SharedLibrary) -> tuple[Export, ...]:
    """Return the exports that a link stub repeats: every one with a C name.

    The mangled rest is what the loader's own C++ code and its standard library left visible; offering it
    would let a program's `std::` symbols be resolved by a GPU loader.
    """
    return tuple(export for export in library.exports if not is_cxx(export.name))


def _why_undeclared(name: str) -> str:
    return "C++ internals of the loader" if is_cxx(name) else "no shipped header declares it"
