"""A library's exported names as a list of text, which this repository can carry where it may not carry the library.

The first line names the library and its hash, so that the list can be made again from the library and compared.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from pathlib import Path

from .binaries import Export, SharedLibrary, read_library
from .errors import BuildError

MAGIC = b"# names exported by "
FIRST_LINE = re.compile(r"# names exported by (\S+), (\w+); sha256 of the library: [0-9a-f]{64}")
DATA = " data"


def name_list(library: bytes, file_name: str) -> bytes:
    """Return the list of the names that a library exports; BuildError where it has more than names to tell."""
    with tempfile.TemporaryDirectory(prefix="names-") as folder:
        path = Path(folder, file_name)
        path.write_bytes(library)
        read = read_library(path)
    if versioned := [export.name for export in read.exports if export.version]:
        raise BuildError(f"{file_name} exports versions of symbols", found=", ".join(versioned[:5]))
    sha256 = hashlib.sha256(library).hexdigest()
    lines = [f"# names exported by {read.name}, {read.machine}; sha256 of the library: {sha256}"]
    lines += [export.name + DATA * export.is_data for export in read.exports]
    return ("\n".join(lines) + "\n").encode()


def read_exports(path: Path) -> SharedLibrary:
    """Return what a library exports, given the library or the list of its names."""
    content = path.read_bytes()
    if not content.startswith(MAGIC):
        return read_library(path)
    first, *names = content.decode("ascii").splitlines()
    match = FIRST_LINE.fullmatch(first)
    if not match:
        raise BuildError(f"{path.name} is no list of names", looked_in=[str(path)], found=first)
    exports = (Export(name.removesuffix(DATA), name.endswith(DATA)) for name in names)
    return SharedLibrary(match[1], match[2], tuple(exports))
