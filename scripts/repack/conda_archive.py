"""Make a `.conda` archive depend on its contents alone: fixed times, sorted members, no rendered recipe."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path

import zstandard
from conda_package_streaming.package_streaming import stream_conda_component

# The first moment that a zip archive can express; also the package's `timestamp`, in seconds since 1970.
EPOCH = 315532800
ZIP_TIME = (1980, 1, 1, 0, 0, 0)
# Of the levels, 19 makes the packages a tenth smaller and takes fifteen times as long.
COMPRESSION_LEVEL = 12
# Bytes; ours have 3 MB.
LARGEST = 100_000_000
# Holds absolute paths of the machine that built the package.
DROPPED = "info/recipe/rendered_recipe.yaml"


def normalise(source: Path, target: Path) -> None:
    """Write `source` anew as `target`, so that two builds of one content are identical bit for bit."""
    stem = source.name.removesuffix(".conda")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, "metadata.json", b'{"conda_pkg_format_version": 2}')
        for component in ("pkg", "info"):
            _add(archive, f"{component}-{stem}.tar.zst", _component(source, component))


def read_component(package: Path, component: str) -> dict[str, bytes]:
    """Return the files of a package's `info` or `pkg` part; ValueError where they are larger than any of ours."""
    files: dict[str, bytes] = {}
    size = 0
    for archive, member in stream_conda_component(str(package), component=component):
        size += member.size
        if size > LARGEST:
            raise ValueError(f"more than {LARGEST:,} bytes in its component {component}")
        handle = archive.extractfile(member) if member.isfile() else None
        files[member.name] = handle.read() if handle else b""
    return files


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    member = zipfile.ZipInfo(name, ZIP_TIME)
    member.create_system = 3  # the same on every system that builds
    member.external_attr = 0o644 << 16
    archive.writestr(member, data)


def _component(source: Path, component: str) -> bytes:
    """Return one inner archive of a package, compressed, with its members in order."""
    members: list[tuple[tarfile.TarInfo, bytes]] = []
    for archive, member in stream_conda_component(str(source), component=component):
        if member.name == DROPPED:
            continue
        handle = archive.extractfile(member) if member.isfile() else None
        data = handle.read() if handle else b""
        if member.name == "info/index.json":
            data = _without_time(data)
        fresh = tarfile.TarInfo(member.name)
        fresh.type, fresh.linkname, fresh.size, fresh.mtime = member.type, member.linkname, len(data), EPOCH
        fresh.mode = 0o755 if member.mode & 0o100 else 0o644
        members.append((fresh, data))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member, data in sorted(members, key=lambda pair: pair[0].name):
            tar.addfile(member, io.BytesIO(data) if member.isfile() else None)
    return zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress(buffer.getvalue())


def _without_time(index: bytes) -> bytes:
    record = json.loads(index)
    record["timestamp"] = EPOCH * 1000
    return (json.dumps(record, indent=2, sort_keys=True) + "\n").encode()
