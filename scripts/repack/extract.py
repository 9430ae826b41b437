"""Listed members out of an archive, as bytes; an archive that holds anything hostile is refused as a whole."""

from __future__ import annotations

import io
import lzma
import posixpath
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import IO, Literal

import zstandard

from .errors import BuildError

# The largest member of any input has 25 MB: Intel's loader, where an index does not serve ranges.
LARGEST_MEMBER = 64 << 20
AR_MAGIC = b"!<arch>\n"
AR_HEADER = 60
DRIVE_OR_ROOT = re.compile(r"[/\\]|[A-Za-z]:")
DAMAGE = (
    EOFError,
    NotImplementedError,  # zipfile, of an unknown compression
    OSError,  # gzip
    RuntimeError,  # zipfile, of an encrypted member
    ValueError,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    zstandard.ZstdError,
)


class RefusedError(BuildError):
    """The archive holds what no honest archive of ours would."""


def extract(
    archive: Path, kind: Literal["tar", "deb", "zip"], wanted: Collection[str], name: str
) -> dict[str, bytes]:
    """Return the wanted members of an archive, which messages call `name`, by their paths in it.

    BuildError where the archive is damaged, lacks one of them, or where any member has an absolute path, a `..`,
    a link out of the tree, a device, more than `LARGEST_MEMBER` bytes (wanted ones), or comes twice.
    """
    try:
        if kind == "zip":
            with zipfile.ZipFile(archive) as opened:
                return zip_members(opened, wanted)
        with archive.open("rb") as file:
            if kind == "deb":
                return _deb_members(file, wanted)
            with tarfile.open(fileobj=file, mode="r:*") as opened_tar:
                return _tar_members(opened_tar, wanted)
    except DAMAGE as error:
        raise BuildError(
            f"damaged or cut off: {name}", looked_in=[str(archive)], found=f"{type(error).__name__}: {error}"
        ) from error


def zip_members(archive: zipfile.ZipFile, wanted: Collection[str]) -> dict[str, bytes]:
    """Return the wanted members of an open zip archive; see `extract` for what is refused."""
    return {
        path: _read(path, info.file_size, archive.open(info))
        for path, info in find_zip_members(archive, wanted).items()
    }


def find_zip_members(archive: zipfile.ZipFile, wanted: Collection[str]) -> dict[str, zipfile.ZipInfo]:
    """Return the directory entries of the wanted members; see `extract` for what is refused."""
    _check_paths(info.filename for info in archive.infolist())
    members = {_normal(info.filename): info for info in archive.infolist()}
    for info in archive.infolist():
        mode = info.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise RefusedError(f"the archive holds a link or device: {info.filename}")
    _check_present(wanted, [path for path, info in members.items() if not info.is_dir()])
    return {path: members[path] for path in wanted}


def _tar_members(archive: tarfile.TarFile, wanted: Collection[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    seen: list[str] = []
    for member in archive:
        seen.append(member.name)
        _check_paths(seen[-1:])
        if member.issym() or member.islnk():
            _check_link(member)
        elif not (member.isfile() or member.isdir()):
            raise RefusedError(f"the archive holds a device or pipe: {member.name}")
        path = _normal(member.name)
        if path in wanted and member.isfile():
            file = archive.extractfile(member)
            found[path] = _read(path, member.size, file) if file else b""
    _check_paths(seen)
    _check_present(wanted, found)
    return found


def _deb_members(file: IO[bytes], wanted: Collection[str]) -> dict[str, bytes]:
    """Read the tar archive `data.tar.*` of a Debian package, which is an ar archive."""
    if file.read(len(AR_MAGIC)) != AR_MAGIC:
        raise ValueError("not a Debian package: it does not start as an ar archive")
    while header := file.read(AR_HEADER):
        if len(header) < AR_HEADER or header[58:] != b"`\n":
            raise EOFError("an ar header is cut off")
        name, size = header[:16].decode("ascii").strip().rstrip("/"), int(header[48:58])
        content = file.read(size)
        if len(content) < size:
            raise EOFError(f"{name} is cut off: {len(content)} of {size} bytes")
        if name.startswith("data.tar"):
            with tarfile.open(fileobj=_uncompressed(name, content), mode="r|") as archive:
                return _tar_members(archive, wanted)
        file.seek(size % 2, io.SEEK_CUR)
    raise ValueError("a Debian package without data.tar")


def _uncompressed(name: str, content: bytes) -> IO[bytes]:
    if name.endswith(".zst"):
        return zstandard.ZstdDecompressor().stream_reader(content)
    if name.endswith((".xz", ".lzma")):
        return lzma.open(io.BytesIO(content))
    return io.BytesIO(zlib.decompress(content, wbits=31) if name.endswith(".gz") else content)


def _read(path: str, size: int, file: IO[bytes]) -> bytes:
    if size > LARGEST_MEMBER:
        raise RefusedError(
            f"oversize member: {path}", wanted=f"at most {LARGEST_MEMBER} bytes", found=f"{size} bytes"
        )
    with file:
        content = file.read(size)
    if len(content) != size:
        raise EOFError(f"{path} has {len(content)} bytes where its header says {size}")
    return content


def _check_paths(paths: Iterable[str]) -> None:
    seen: set[str] = set()
    for path in paths:
        if DRIVE_OR_ROOT.match(path) or ".." in path.replace("\\", "/").split("/"):
            raise RefusedError(f"the archive holds a path that leaves its folder: {path!r}")
        if path.endswith("/"):
            continue
        normal = _normal(path)
        if normal in seen and normal != ".":
            raise RefusedError(f"the archive holds a member twice: {path!r}")
        seen.add(normal)


def _check_link(member: tarfile.TarInfo) -> None:
    # A symbolic link starts from its own folder, a hard link from the root of the archive.
    start = posixpath.dirname(member.name) if member.issym() else ""
    target = posixpath.normpath(posixpath.join(start, member.linkname))
    if target.startswith(("/", "..")):
        raise RefusedError(
            f"the archive holds a link that leaves its folder: {member.name} -> {member.linkname}"
        )


def _check_present(wanted: Collection[str], found: Collection[str]) -> None:
    if missing := sorted(set(wanted) - set(found)):
        names = {posixpath.basename(path) for path in missing}
        raise BuildError(
            f"the archive lacks {len(missing)} of {len(wanted)} files",
            wanted=", ".join(missing),
            found=", ".join(sorted(path for path in found if posixpath.basename(path) in names)),
        )


def _normal(path: str) -> str:
    return posixpath.normpath(path)
