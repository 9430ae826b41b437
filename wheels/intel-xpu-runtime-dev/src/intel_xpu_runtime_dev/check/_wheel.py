"""The binaries in a wheel, unpacked within bounds: no size that the archive declares is believed."""

from __future__ import annotations

import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from ._window import MalformedError

MOST_DIRECTORY_BYTES = 16 << 20
# The largest binaries of PyTorch's XPU wheels unpack to about 1.5 GB, and none packs to under a hundredth.
MOST_BYTES = 4 << 30
MOST_RATIO = 100
RATIO_COUNTS_FROM = 16 << 20
IN_MEMORY = 64 << 20
CHUNK = 1 << 20
MAGICS = (b"MZ", b"\x7fELF")
# Directory size, from the record that ends every archive; before it, the mark of a 64-bit one.
END, END_SIZE, END_64 = b"PK\x05\x06", 22, b"PK\x06\x07"
LONGEST_COMMENT = 0xFFFF
# What zipfile lets out on a damaged archive; a member without a name alone is an IndexError.
ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    LookupError,
    NotImplementedError,
)


def is_wheel(magic: bytes) -> bool:
    """Return whether a file that begins so is a zip archive, as wheels are."""
    return magic[:4] in (b"PK\x03\x04", END)


def binaries(file: IO[bytes]) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield name and content of each PE or ELF member; raise `MalformedError` for an archive beyond bounds.

    A content is a temporary file, closed when the next one is asked for.
    """
    size = _checked_size(file)
    left = MOST_BYTES
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(info.compress_size for info in archive.infolist()) > size:
                raise MalformedError("the wheel's members overlap, as only a zip bomb's do")
            for info in archive.infolist():
                if not _is_binary(archive, info):
                    continue
                left -= _checked_member(info, left)
                with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as content:
                    _unpack(archive, info, content)
                    yield info.filename, content
    except ZIP_ERRORS as error:
        raise MalformedError(f"the wheel is damaged: {error}") from None


def _checked_size(file: IO[bytes]) -> int:
    """Return the archive's size, and refuse a directory that would fill the memory when it is read."""
    size = file.seek(0, 2)
    file.seek(max(0, size - LONGEST_COMMENT - END_SIZE - 20))
    tail = file.read()
    at = tail.rfind(END)
    if at < 0 or len(tail) - at < END_SIZE:
        raise MalformedError("the wheel is truncated: it has no directory at its end")
    if END_64 in tail[max(0, at - 20) : at]:
        raise MalformedError("the wheel is a 64-bit zip archive, which no real wheel is")
    (length,) = struct.unpack_from("<12xI", tail, at)
    if length > MOST_DIRECTORY_BYTES:
        raise MalformedError(
            f"the wheel's directory claims {length} bytes; no real one has over {MOST_DIRECTORY_BYTES}"
        )
    return size


def _is_binary(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bool:
    if info.is_dir():
        return False
    if info.flag_bits & 1:
        raise MalformedError(f"{info.filename} is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise MalformedError(f"{info.filename} is packed in a way that installers do not know")
    with archive.open(info) as member:
        return member.read(4).startswith(MAGICS)


def _checked_member(info: zipfile.ZipInfo, left: int) -> int:
    """Return the declared size of a member that stays within bounds."""
    if info.file_size > left:
        raise MalformedError(f"the wheel's binaries unpack to over {MOST_BYTES >> 30} GB, at {info.filename}")
    if info.file_size > max(RATIO_COUNTS_FROM, MOST_RATIO * info.compress_size):
        raise MalformedError(
            f"{info.filename} is a zip bomb: {info.compress_size} bytes unpack to {info.file_size}"
        )
    return info.file_size


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, content: IO[bytes]) -> None:
    """Unpack a member; one that is longer than declared ends there, with a wrong checksum."""
    written = 0
    with archive.open(info) as member:
        while chunk := member.read(CHUNK):
            written += len(chunk)
            if written > info.file_size:
                raise MalformedError(
                    f"{info.filename} unpacks to more than the {info.file_size} bytes it declares"
                )
            content.write(chunk)
