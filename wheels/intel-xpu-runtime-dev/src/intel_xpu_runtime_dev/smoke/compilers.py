"""Find a C compiler as Triton's users have them; never set CC or CXX."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from .._errors import XpuDevError
from .._files import is_file

WINDOWS = os.name == "nt"


class Compiler(NamedTuple):
    """A compiler: the beginning of its command line, "gnu" or "msvc" flags, the environment it needs (None: ours)."""

    command: tuple[str, ...]
    style: str = "gnu"
    environment: Mapping[str, str] | None = None
    via: str = "PATH"

    @property
    def name(self) -> str:
        """The compiler as people know it."""
        return " ".join([Path(self.command[0]).name, *self.command[1:]])


def candidates() -> Iterator[Compiler]:
    """Yield the compilers of this machine, in the order in which they are tried."""
    for find in STEPS:
        yield from find()


def named(name: str) -> Iterator[Compiler]:
    """Yield the compilers that a user means by a path, one of the names in `FINDERS`, or a program on PATH."""
    if is_file(Path(name)):
        yield at(name)
    elif name in FINDERS:
        yield from FINDERS[name]()
    elif path := which(name):
        yield at(path)


def at(path: str) -> Compiler:
    """Return the compiler at a path, with the words and flags that go with its name."""
    if Path(path).stem.lower() == "zig":
        return Compiler((path, "cc"), via="--compiler")
    style = "msvc" if Path(path).stem.lower() in ("cl", "clang-cl", "icx-cl") else "gnu"
    return Compiler((path,), style, None, "--compiler")


def command_words(text: str, what: str) -> list[str]:
    """Return the words of a command line; raise XpuDevError where a quotation does not end, or there is no word."""
    import shlex

    try:
        words = shlex.split(text, posix=not WINDOWS)
    except ValueError as error:
        raise XpuDevError(f"{what} is no command line: {text}", found=str(error).lower()) from None
    if not words:
        raise XpuDevError(f"{what} has no word in it", found=repr(text), fix=f"leave {what} out")
    return words


def which(name: str) -> str | None:
    """Return the path of a program on PATH."""
    # shutil.which would import the compression libraries, which takes longer than the search.
    suffixes = os.environ.get("PATHEXT", ".EXE").split(os.pathsep) if WINDOWS else [""]
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for suffix in suffixes:
            path = Path(folder, name + suffix)
            if folder and is_file(path) and os.access(path, os.X_OK):
                return str(path)
    return None


def _from_variable() -> Iterator[Compiler]:
    value = os.environ.get("CC", "")
    if not value:
        return
    if is_file(Path(value)):
        yield at(value)._replace(via="CC")
        return
    words = command_words(value, "CC")
    path = which(words[0])
    if path:
        yield at(path)._replace(command=(path, *words[1:]), via="CC")


def _msvc() -> Iterator[Compiler]:
    from . import msvc

    yield from msvc.compilers()


def _clang_cl() -> Iterator[Compiler]:
    path = which("clang-cl")
    if not path:
        return
    from . import msvc

    # Microsoft's headers and libraries, where it does not find them by itself.
    developer = next(msvc.compilers(), None)
    yield Compiler((path,), "msvc", developer.environment if developer else None)


def _on_path(*names: str) -> Callable[[], Iterator[Compiler]]:
    def find() -> Iterator[Compiler]:
        for name in names:
            path = which(name)
            if path:
                yield Compiler((path,))

    return find


def _zig() -> Iterator[Compiler]:
    path = which("zig")
    if path:
        yield Compiler((path, "cc"))
    import importlib.util

    if importlib.util.find_spec("ziglang"):
        yield Compiler((sys.executable, "-m", "ziglang", "cc"), via="extra zig")


# Compilers that are more than a program of their name.
FINDERS: dict[str, Callable[[], Iterator[Compiler]]] = {"cl": _msvc, "clang-cl": _clang_cl, "zig": _zig}
STEPS: tuple[Callable[[], Iterator[Compiler]], ...] = (
    (_from_variable, _msvc, _on_path("icx", "clang"), _zig, _on_path("gcc"))
    if WINDOWS
    else (_from_variable, _on_path("cc", "gcc", "clang", "icx"), _zig)
)
NAMES = "CC, cl, icx, clang, zig, gcc" if WINDOWS else "CC, cc, gcc, clang, icx, zig"
