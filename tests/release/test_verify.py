"""`dev.py verify`: released files built again, changed ones, damaged ones, and what is none of ours."""

from __future__ import annotations

import io
import json
import shutil
import socket
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import zstandard
from repack import released, verify
from repack.conda_archive import read_component

pytestmark = pytest.mark.xdist_group("release")

# A file of each kind, and one of its members.
KINDS = {
    "intel_xpu_runtime_dev-*-any.whl": "intel_xpu_runtime_dev/_find.py",
    "intel_xpu_triton_launcher-*manylinux*.whl": "intel_xpu_triton_launcher/_launcher.abi3.so",
    "intel_xpu_triton_launcher-*win_amd64.whl": "intel_xpu_triton_launcher/_launcher.pyd",
    "level_zero_devel-1.32.0-*manylinux*.whl": "level_zero_devel/lib/libze_loader.so",
    "level_zero_devel-1.20.6-*win_amd64.whl": "level_zero_devel/lib/ze_loader.lib",
    "unified_runtime_devel-2026.2.0-*win_amd64.whl": "unified_runtime_devel/manifest.json",
    "conda/linux-64/level-zero-devel-1.32.0-*.conda": "lib/libze_loader.so",
    "conda/win-64/unified-runtime-devel-2026.2.0-*.conda": "Library/opt/unified-runtime/include/unified-runtime/ur_api.h",
    "conda/noarch/intel-xpu-runtime-dev-*.conda": "site-packages/intel_xpu_runtime_dev/_find.py",
}


def only(release: Path, pattern: str) -> Path:
    (file,) = release.glob(pattern)
    return file


def flipped(content: bytes) -> bytes:
    """Return the bytes with one bit in their middle changed."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def repacked(file: Path, folder: Path, name: str) -> Path:
    """Copy a release file into a folder with one byte of one member changed, its checksums right."""
    target = folder / file.name
    if file.suffix == ".conda":
        components = {each: read_component(file, each) for each in released.COMPONENTS}
        components["pkg"][name] = flipped(components["pkg"][name])
        return conda_package(target, components)
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(target, "w") as changed:
        for member in source.infolist():
            content = source.read(member)
            changed.writestr(member, flipped(content) if member.filename == name else content)
    return target


def conda_package(target: Path, components: Mapping[str, Mapping[str, bytes]]) -> Path:
    """Write a conda package of these files."""
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("metadata.json", b'{"conda_pkg_format_version": 2}')
        for component, files in components.items():
            buffer = io.BytesIO()
            with tarfile.open(fileobj=buffer, mode="w") as tar:
                for name, content in files.items():
                    member = tarfile.TarInfo(name)
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))
            compressed = zstandard.ZstdCompressor().compress(buffer.getvalue())
            archive.writestr(f"{component}-{target.stem}.tar.zst", compressed)
    return target


def test_released_files_are_built_again_identically_and_offline(
    release: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    files = [*sorted(release.glob("*.whl")), *sorted(release.glob("conda/*/*.conda"))]
    assert verify.main([str(file) for file in files]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{file.name}: identical" for file in files]


@pytest.mark.parametrize(("pattern", "member"), KINDS.items())
def test_one_byte_of_a_member_is_found(
    pattern: str, member: str, release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = repacked(only(release, pattern), tmp_path, member)
    assert verify.main([str(changed)]) == 1
    assert capsys.readouterr().out == f"{changed.name}: differs: {member} has other content\n"


@pytest.mark.parametrize("pattern", KINDS)
def test_one_byte_of_the_file_is_found(
    pattern: str, release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its checksums are wrong then, so that the member cannot be unpacked: that is a difference, not a failure."""
    changed = tmp_path / only(release, pattern).name
    content = only(release, pattern).read_bytes()
    # Of several places, for what becomes of a member depends on the place.
    for start in (0, len(content) // 3, len(content) // 4):
        changed.write_bytes(content[:start] + flipped(content[start:]))
        assert verify.main([str(changed)]) == 1
        printed = capsys.readouterr()
        assert printed.out.startswith(f"{changed.name}: differs: ")
        assert printed.err == ""


@pytest.mark.parametrize("pattern", KINDS)
def test_a_truncated_file_is_told(
    pattern: str, release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / only(release, pattern).name
    cut.write_bytes(only(release, pattern).read_bytes()[:5000])
    assert verify.main([str(cut)]) == 1
    assert f"error: {cut.name} cannot be read" in capsys.readouterr().err


def test_a_member_too_many_and_one_too_few_are_named(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = only(release, "unified_runtime_devel-2026.2.0-*-win_amd64.whl")
    more = Path(shutil.copy(wheel, tmp_path))
    with zipfile.ZipFile(more, "a") as archive:
        archive.writestr("evil.pth", "import evil")
    assert verify.main([str(more)]) == 1
    assert capsys.readouterr().out == f"{wheel.name}: differs: evil.pth is only in the released file\n"
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(more, "w") as fewer:
        for member in source.infolist():
            if not member.filename.endswith("/manifest.json"):
                fewer.writestr(member, source.read(member))
    assert verify.main([str(more)]) == 1
    missing = "unified_runtime_devel/manifest.json is only in the rebuilt file"
    assert capsys.readouterr().out == f"{wheel.name}: differs: {missing}\n"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_named(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Installers may take the one, and readers the other."""
    wheel = Path(shutil.copy(only(release, "intel_xpu_runtime_dev-*-any.whl"), tmp_path))
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("intel_xpu_runtime_dev/_find.py", archive.read("intel_xpu_runtime_dev/_find.py"))
    assert verify.main([str(wheel)]) == 1
    assert "intel_xpu_runtime_dev/_find.py is in the released file more than once" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("notes.txt", b"", "notes.txt is not a release file"),
        ("nonsense.whl", b"", "nonsense.whl is not the name of a wheel"),
        ("level_zero_devel-1.32.0-py3-none-win_amd64.conda", b"not a zip", "cannot be read"),
        ("level_zero_devel-1.32.0-py3-none-win_amd64.whl", b"not a zip", "cannot be read"),
        ("level_zero_devel-1.32.0-py3-none-macosx_11_0_arm64.whl", b"", "for no platform that is built here"),
        ("level_zero_devel-9.9.9-py3-none-win_amd64.whl", b"", "no version '9.9.9' of level-zero"),
        ("level_zero_devel-1.32.0-py3-none-any.whl", b"", "level-zero-devel is not made here"),
        ("numpy-2.0.0-cp311-cp311-win_amd64.whl", b"", "numpy is not made here"),
        ("numpy-2.0.0-py3-none-any.whl", b"", "numpy is not made here"),
        ("intel_xpu_runtime_dev-99.0-py3-none-any.whl", b"", "is not what this commit makes"),
    ],
)
def test_bad_files_are_told(
    name: str, content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    assert verify.main([str(tmp_path / name)]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (None, "found: 'info/index.json'"),
        (b"{", "cannot be read"),
        (b"[]", "cannot be read"),
        ({"name": "../../../tmp/evil", "version": "1", "subdir": "noarch"}, "evil is not made here"),
        ({"name": "../evil", "version": "1", "subdir": "linux-64"}, "../evil is not made here"),
        ({"name": "level-zero-devel", "version": "../1", "subdir": "linux-64"}, "no version '../1'"),
        ({"name": "level-zero-devel", "version": "1.32.0", "subdir": "osx-64"}, "for no platform"),
        ({"name": 5, "version": ["1"], "subdir": {}}, "is no text"),
    ],
)
def test_hostile_metadata_of_a_conda_package(
    index: bytes | Mapping[str, object] | None,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A name leads to no folder: the projects and recipes of this repository are all that is ever built."""
    content = index if isinstance(index, bytes) else json.dumps(index).encode()
    info = {} if index is None else {"info/index.json": content}
    package = conda_package(tmp_path / "package-1-0.conda", {"pkg": {}, "info": info})
    assert verify.main([str(package)]) == 1
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""


def test_a_bomb_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("repack.conda_archive.LARGEST", 1000)
    files = {"info/index.json": bytes(2000)}
    package = conda_package(tmp_path / "package-1-0.conda", {"pkg": {}, "info": files})
    assert verify.main([str(package)]) == 1
    assert "more than 1,000 bytes in its component info" in capsys.readouterr().err


def test_one_bad_file_does_not_hide_the_others(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = only(release, "intel_xpu_runtime_dev-*-any.whl")
    name = "level_zero_devel-1.32.0-py3-none-win_amd64.whl"
    assert verify.main([str(tmp_path / name), str(wheel)]) == 1
    printed = capsys.readouterr()
    assert f"error: there is no file {tmp_path / name}" in printed.err
    assert printed.out == f"{wheel.name}: identical\n"
