"""The functions that a set of C headers declares, from a real C++ parser (libclang).

`declared_functions(include)` -> functions with symbol name, prototype text and header. Works with no compiler
on the machine: PyPI's libclang has no headers of its own, so the few standard ones that the SDK headers
include are handed to it in memory.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clang import cindex

from .errors import BuildError

# The answer must not depend on the machine that builds.
TARGET = "x86_64-unknown-linux-gnu"
STANDARD_HEADERS = {
    "stddef.h": "typedef __SIZE_TYPE__ size_t;\ntypedef __PTRDIFF_TYPE__ ptrdiff_t;\n#define NULL 0\n",
    "stdint.h": "".join(
        f"typedef __{name.upper()}_TYPE__ {name}_t;\n"
        for sign in ("", "u")
        for name in (f"{sign}int{size}" for size in ("8", "16", "32", "64", "ptr", "max"))
    ),
    "stdbool.h": "",
}
# A file that includes every header; no real one can have this name.
UMBRELLA = "<all headers>"


@dataclass(frozen=True, order=True)
class Function:
    """A declared function.

    `prototype` is its canonical spelling: result and parameter types as the header writes them, without
    parameter names, attributes or comments, spaced by clang. `header` is relative to the include folder.
    """

    name: str
    prototype: str
    header: str


def declared_functions(include: Path) -> tuple[Function, ...]:
    """Return the functions that the `.h` files below `include` declare, sorted by name.

    They are read as C++, which both SDKs allow and which needs no `bool` header; a function defined in a
    header is left out. BuildError where the headers do not parse.
    """
    include = include.resolve()
    headers = sorted(path.relative_to(include).as_posix() for path in include.rglob("*.h"))
    if not headers:
        raise BuildError(f"no header to read in {include}", wanted="*.h files", looked_in=[str(include)])
    cursors = function_cursors(parse_headers(include, headers).cursor)

    @functools.cache  # a few headers, hundreds of functions
    def relative(header: str) -> str:
        return Path(header).resolve().relative_to(include).as_posix()

    functions: dict[str, Function] = {}
    for cursor in cursors:
        name = cursor.mangled_name
        functions.setdefault(name, Function(name, _prototype(cursor), relative(cursor.location.file.name)))
    return tuple(sorted(functions.values()))


@dataclass(frozen=True, order=True)
class Enumerator:
    """A constant of an enumeration; unnamed enumerations have an empty name."""

    name: str
    value: int
    enumeration: str


def declared_enumerators(include: Path) -> tuple[Enumerator, ...]:
    """Return the enumerators that the `.h` files below `include` declare, sorted; read as `declared_functions`."""
    include = include.resolve()
    headers = sorted(path.relative_to(include).as_posix() for path in include.rglob("*.h"))
    found = {
        Enumerator(constant.spelling, constant.enum_value, enumeration.spelling)
        for enumeration in _enumerations(parse_headers(include, headers).cursor)
        for constant in enumeration.get_children()
        if constant.kind == cindex.CursorKind.ENUM_CONSTANT_DECL
    }
    return tuple(sorted(found))


def parse_headers(include: Path, headers: list[str]) -> cindex.TranslationUnit:
    """Parse headers of a folder as one C++ file; BuildError where they do not parse."""
    umbrella = include / UMBRELLA
    in_memory = {umbrella: "".join(f'#include "{header}"\n' for header in headers)}
    in_memory |= {include / name: text for name, text in STANDARD_HEADERS.items()}
    # Level Zero's tracing header names its neighbours from the inner folder.
    folders = [include, *sorted(path for path in include.iterdir() if path.is_dir())]
    arguments = ["-xc++", "-std=c++17", f"--target={TARGET}", "-nostdinc", "-nostdinc++"]
    arguments += [f"-I{folder}" for folder in folders]
    unit = cindex.Index.create().parse(
        str(umbrella), arguments, unsaved_files=[(str(path), text) for path, text in in_memory.items()]
    )
    errors = [message for message in unit.diagnostics if message.severity >= cindex.Diagnostic.Error]
    if errors:
        raise BuildError(
            "the headers do not parse",
            looked_in=[str(include)],
            found="\n    ".join(error.format() for error in errors[:5]),
        )
    return unit


def function_cursors(parent: cindex.Cursor) -> Iterator[cindex.Cursor]:
    """Walk the functions declared, and not defined, at the top level and in `extern "C"` blocks, in order."""
    return (each for each in _cursors(parent, cindex.CursorKind.FUNCTION_DECL) if not each.is_definition())


def _enumerations(parent: cindex.Cursor) -> Iterator[cindex.Cursor]:
    """Walk the enumerations in the same places."""
    return (each for each in _cursors(parent, cindex.CursorKind.ENUM_DECL) if each.is_definition())


def _cursors(parent: cindex.Cursor, kind: cindex.CursorKind) -> Iterator[cindex.Cursor]:
    for cursor in parent.get_children():
        if cursor.kind in (cindex.CursorKind.LINKAGE_SPEC, cindex.CursorKind.UNEXPOSED_DECL):
            yield from _cursors(cursor, kind)
        elif cursor.kind == kind:
            yield cursor


def _prototype(cursor: cindex.Cursor) -> str:
    parameters = [as_passed(kind) for kind in cursor.type.argument_types()]
    if cursor.type.is_function_variadic():
        parameters.append("...")
    return f"{cursor.result_type.spelling} {cursor.spelling}({', '.join(parameters) or 'void'})"


def as_passed(parameter: cindex.Type) -> str:
    """Return the spelling of a parameter's type; an array is passed as a pointer."""
    if parameter.kind in (cindex.TypeKind.CONSTANTARRAY, cindex.TypeKind.INCOMPLETEARRAY):
        return f"{parameter.element_type.spelling} *"
    return str(parameter.spelling)
