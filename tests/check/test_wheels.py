"""Archives that lie, and archives that swell."""

from __future__ import annotations

import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from intel_xpu_runtime_dev.check import _wheel
from intel_xpu_runtime_dev.check._wheel import binaries
from intel_xpu_runtime_dev.check._window import MalformedError

ELF = b"\x7fELF" + bytes(60)


def names(path: Path) -> list[str]:
    with path.open("rb") as file:
        return [name for name, _ in binaries(file)]


def archive_of(path: Path, *members: tuple[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def patched(path: Path, old: bytes, new: bytes, count: int = -1) -> Path:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, count))
    return path


def test_binaries_are_known_by_their_content(tmp_path: Path) -> None:
    path = archive_of(
        tmp_path / "w.whl", ("a.txt", b"\x7fEL"), ("b", ELF), ("c/", b""), ("d.so", b"text"), ("e", b"MZ")
    )
    assert names(path) == ["b", "e"]


def test_declared_bomb(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "w.whl", ("bomb.so", ELF + bytes(64 << 20)))
    with pytest.raises(MalformedError, match=r"bomb\.so is a zip bomb"):
        names(path)


def test_declared_size_is_not_believed(tmp_path: Path) -> None:
    """The member says 64 bytes and is 64 MB: it ends where it said, with a wrong checksum."""
    path = archive_of(tmp_path / "w.whl", ("bomb.so", ELF + bytes(64 << 20)))
    patched(path, struct.pack("<I", 64 + (64 << 20)), struct.pack("<I", 64))
    tracemalloc.start()
    with pytest.raises(MalformedError, match="damaged"):
        names(path)
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_members_that_share_their_data(tmp_path: Path) -> None:
    """Many entries of the directory for the same packed bytes, as in Fifield's bomb."""
    path = archive_of(tmp_path / "w.whl", ("bomb.so", ELF + bytes(range(256)) * 64), kind=zipfile.ZIP_STORED)
    data = path.read_bytes()
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry = data[start:end]
    record = bytearray(data[end:])
    struct.pack_into("<HHI", record, 8, 50, 50, 50 * len(entry))
    path.write_bytes(data[:start] + entry * 50 + bytes(record))
    with pytest.raises(MalformedError, match="overlap"):
        names(path)


def test_all_binaries_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive_of(tmp_path / "w.whl", ("a", ELF + bytes(1000)), ("b", ELF + bytes(1000)))
    monkeypatch.setattr(_wheel, "MOST_BYTES", 2000)
    with pytest.raises(MalformedError, match="unpack to over"):
        names(path)


def test_directory_that_would_fill_the_memory(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "w.whl", ("a", ELF))
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.index(b"PK\x05\x06") + 12, 0xFFFFFFF0)
    path.write_bytes(data)
    with pytest.raises(MalformedError, match="directory claims"):
        names(path)


def test_64_bit_archive(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "w.whl", ("a", ELF))
    patched(path, b"PK\x05\x06", b"PK\x06\x07" + bytes(16) + b"PK\x05\x06")
    with pytest.raises(MalformedError, match="64-bit"):
        names(path)


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_packing_is_refused(tmp_path: Path, kind: int) -> None:
    """LZMA lets the file choose how much memory unpacking takes."""
    with pytest.raises(MalformedError, match="installers do not know"):
        names(archive_of(tmp_path / "w.whl", ("a", ELF), kind=kind))


def test_encrypted_member(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "w.whl", ("a", ELF), kind=zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(MalformedError, match="encrypted"):
        names(path)


@pytest.mark.parametrize("cut", [10, 40, 80, -1])
def test_truncated(tmp_path: Path, cut: int) -> None:
    path = archive_of(tmp_path / "w.whl", ("a", ELF))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(MalformedError, match=r"truncated|damaged"):
        names(path)
