"""The version of a shared library: from its package, its file name, or a DLL's version resource."""

from __future__ import annotations

import re
import struct
from pathlib import Path

from ._distributions import copies, files_of

# VS_FIXEDFILEINFO: signature, structure version, file version (high, low word pairs).
_FIXED_INFO = struct.Struct("<4s4xII")
_FIXED_SIGNATURE = b"\xbd\x04\xef\xfe"


def runtime_version(distributions: tuple[str, ...], path: str) -> str | None:
    """Return the version of a runtime's file, or None when nothing tells it.

    With `distributions`, its version is the release of the package that owns the file: the loader of Unified Runtime calls
    itself 0.12.0 in each. Without, the file tells.
    """
    if not distributions:
        return file_version(path) if path.lower().endswith(".dll") else soname_version(path)
    for name in distributions:
        for copy in copies(name):
            if any(Path(other).samefile(path) for other in files_of(copy, Path(path).name)):
                return copy.version
    # <prefix>/lib on Linux, <prefix>/Library/bin on Windows.
    found = [conda_version(name, prefix) for prefix in [*Path(path).parents][1:3] for name in distributions]
    return next(filter(None, found), None)


def conda_version(name: str, prefix: Path) -> str | None:
    """Return the version of a package in a conda environment; None when it is none, or has no such package."""
    for record in (prefix / "conda-meta").glob(f"{name}-*.json"):
        # NAME-VERSION-BUILD.json; neither version nor build has a dash.
        found, version, _ = record.stem.rsplit("-", 2)
        if found == name:
            return version
    return None


def soname_version(path: str) -> str | None:
    """Return the version in the name of the file behind the links: 1.20.6 for libze_loader.so.1."""
    found = re.search(r"\.so\.(\d+(?:\.\d+)+)$", Path(path).resolve().name)
    return found.group(1) if found else None


def file_version(path: str) -> str | None:
    """Return the version resource of a Windows DLL or program, read without Windows; None when it has none."""
    data = Path(path).read_bytes()
    try:
        at = data.find(_FIXED_SIGNATURE, *_resources(data))
        if at < 0:
            return None
        _, high, low = _FIXED_INFO.unpack_from(data, at)
    except struct.error:
        # Cut short.
        return None
    return ".".join(str(part) for part in (high >> 16, high & 0xFFFF, low >> 16, low & 0xFFFF))


def _resources(data: bytes) -> tuple[int, int]:
    """Return where a PE file's resource section begins and ends, (0, 0) when there is none."""
    if data[:2] != b"MZ":
        return 0, 0
    (header,) = struct.unpack_from("<I", data, 0x3C)
    sections, optional_size = struct.unpack_from("<6xH12xH", data, header)
    first = header + 24 + optional_size
    for at in range(first, first + 40 * sections, 40):
        name, size, start = struct.unpack_from("<8s8xII", data, at)
        if name.rstrip(b"\0") == b".rsrc":
            return start, start + size
    return 0, 0


def is_number(text: str) -> bool:
    """Return whether a text is a number of a list: digits, and none of those signs that Unicode also calls so."""
    return text.isascii() and text.isdecimal()
