"""What may be a symbol's name in the libraries we write."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from .errors import BuildError

# Microsoft's compilers allow 4096 characters in a decorated name, and no other tool allows fewer.
LONGEST_NAME = 4096
# A file name's limit on Windows and Linux.
LONGEST_FILE_NAME = 255
NAME = re.compile(r"[!-~]+")
FILE_NAME = re.compile(r"[\w.+-]+", re.ASCII)


def check_names(names: Iterable[str], library: str) -> None:
    """Raise BuildError unless these names, in printable ASCII, can all be symbols of one library."""
    names = list(names)
    if not names:
        raise BuildError(f"{library} would be empty", wanted="at least one exported name")
    for name in names:
        if not NAME.fullmatch(name):
            raise BuildError(f"{library}: {name!r} is no symbol name", wanted="printable ASCII, no blanks")
        if len(name) > LONGEST_NAME:
            raise BuildError(
                f"{library}: the name {name[:40]}... is too long",
                wanted=f"at most {LONGEST_NAME} characters",
                found=str(len(name)),
            )
    check_unique(names, library)


def check_unique(names: Iterable[str], library: str) -> None:
    """Raise BuildError where a symbol would be defined twice."""
    names = list(names)
    if len(set(names)) != len(names):
        repeated = [name for name, count in Counter(names).items() if count > 1]
        raise BuildError(
            f"{library}: names that would be defined twice",
            wanted="every name once",
            found=", ".join(repeated[:5]),
        )


def check_file_name(name: str) -> None:
    """Raise BuildError unless `name` can be the name of a DLL or shared library on every system."""
    if not FILE_NAME.fullmatch(name) or "." not in name.strip(".") or len(name) > LONGEST_FILE_NAME:
        raise BuildError(
            f"{name[:80]!r} is no name for a library",
            wanted=f"ASCII letters, digits and ._+- with an extension, at most {LONGEST_FILE_NAME}",
        )
