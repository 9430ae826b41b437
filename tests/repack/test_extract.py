"""Archives: listed members come out, hostile and damaged ones do not."""

from __future__ import annotations

import io
import re
import stat
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Literal

import pytest
from repack import extract as module
from repack.errors import BuildError
from repack.extract import RefusedError, extract

from tests.repack.pinned import FILES, ROOT, write_deb, write_tar, write_zip
from tests.support.needs import program

Kind = Literal["tar", "deb", "zip"]
WANTED = {f"{ROOT}/{name}": content for name, content in FILES.items()}


def tar_with(path: Path, *members: tarfile.TarInfo) -> Path:
    """Write a tar archive of good files and these members, which hold as many bytes as they say."""
    write_tar(path)
    with tarfile.open(path) as old:
        good = [(member, old.extractfile(member)) for member in old]
        with tarfile.open(path.with_suffix(".new"), "w") as new:
            for member, file in good:
                new.addfile(member, file)
            for member in members:
                new.addfile(member, io.BytesIO(bytes(member.size)))
    return path.with_suffix(".new")


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, size
    return info


def archives(folder: Path) -> dict[Kind, Path]:
    return {
        "tar": write_tar(folder / "thing.tar.gz"),
        "zip": write_zip(folder / "thing.zip"),
        "deb": write_deb(folder, "xz"),
    }


@pytest.mark.parametrize("kind", ["tar", "zip", "deb"])
def test_listed_members_only(tmp_path: Path, kind: Kind) -> None:
    archive = archives(tmp_path)[kind]
    assert extract(archive, kind, WANTED, "thing") == WANTED
    one = f"{ROOT}/a.h"
    assert extract(archive, kind, [one], "thing") == {one: FILES["a.h"]}


@pytest.mark.parametrize("compression", ["none", "gzip", "xz", "zstd"])
def test_every_compression_of_debian_packages(tmp_path: Path, compression: str) -> None:
    assert extract(write_deb(tmp_path, compression), "deb", WANTED, "thing") == WANTED


@pytest.mark.parametrize("kind", ["tar", "zip", "deb"])
def test_a_missing_member_is_named_with_what_is_like_it(tmp_path: Path, kind: Kind) -> None:
    with pytest.raises(BuildError) as error:
        extract(archives(tmp_path)[kind], kind, ["elsewhere/a.h"], "thing")
    assert "wanted: elsewhere/a.h" in str(error.value)


@pytest.mark.parametrize("kind", ["tar", "zip", "deb"])
def test_a_cut_off_archive_is_damaged_wherever_it_is_cut(tmp_path: Path, kind: Kind) -> None:
    whole = archives(tmp_path)[kind].read_bytes()
    cut = tmp_path / "cut"
    damaged = 0
    lengths = range(0, len(whole), 7)
    for length in lengths:
        cut.write_bytes(whole[:length])
        try:
            found = extract(cut, kind, WANTED, "thing")
        except BuildError:
            damaged += 1
        else:
            assert found == WANTED  # only padding behind the last member is gone
    assert damaged > 0.8 * len(lengths)


def test_a_cut_off_archive_says_what_is_cut(tmp_path: Path) -> None:
    for kind, archive in archives(tmp_path).items():
        archive.write_bytes(archive.read_bytes()[:-40])
        with pytest.raises(BuildError, match="damaged or cut off: thing from there") as error:
            extract(archive, kind, WANTED, "thing from there")
        assert str(archive) in str(error.value)
    assert re.search(r"data\.tar\.xz is cut off: \d+ of \d+ bytes", str(error.value))  # of the .deb, the last


def test_a_debian_package_pads_members_of_odd_size(tmp_path: Path) -> None:
    (tmp_path / "control.tar.gz").write_bytes(b"odd")
    write_tar(tmp_path / "data.tar.gz")
    members = ["control.tar.gz", "data.tar.gz"]
    subprocess.run([program("ar"), "rc", "thing.deb", *members], cwd=tmp_path, check=True)
    assert extract(tmp_path / "thing.deb", "deb", WANTED, "thing") == WANTED


@pytest.mark.parametrize("kind", ["tar", "zip", "deb"])
def test_something_else_is_damaged(tmp_path: Path, kind: Kind) -> None:
    page = tmp_path / "page"
    page.write_bytes(b"<html>Log in to the hotel's network</html>" * 20)
    with pytest.raises(BuildError, match="damaged"):
        extract(page, kind, WANTED, "thing")


def test_a_flipped_bit_in_a_zip_member_is_damage(tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "thing.zip")
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr(f"{ROOT}/a.h", b"stored as it is")
    archive.write_bytes(archive.read_bytes().replace(b"stored as", b"sTored as", 1))
    with pytest.raises(BuildError, match="damaged"):
        extract(archive, "zip", [f"{ROOT}/a.h"], "thing")


BAD_PATHS = [
    "../evil.h",
    "thing/../../evil.h",
    "/etc/evil.h",
    "..",
    "..\\evil.h",
    "C:\\evil.h",
    "c:evil.h",
    "\\\\host\\evil.h",
]


@pytest.mark.parametrize("path", BAD_PATHS)
def test_paths_that_leave_the_folder_are_refused_in_tar(tmp_path: Path, path: str) -> None:
    with pytest.raises(RefusedError, match="leaves its folder"):
        extract(tar_with(tmp_path / "thing.tar", member(path)), "tar", WANTED, "thing")


@pytest.mark.parametrize("path", BAD_PATHS)
def test_paths_that_leave_the_folder_are_refused_in_zip(tmp_path: Path, path: str) -> None:
    archive = write_zip(tmp_path / "thing.zip")
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr(path, b"")
    with pytest.raises(RefusedError, match="leaves its folder"):
        extract(archive, "zip", WANTED, "thing")


@pytest.mark.parametrize(
    ("name", "kind", "target"),
    [
        ("thing/link.h", tarfile.SYMTYPE, "../../evil.h"),
        ("thing/link.h", tarfile.SYMTYPE, "/etc/passwd"),
        ("link.h", tarfile.SYMTYPE, ".."),
        ("thing/link.h", tarfile.LNKTYPE, "../evil.h"),
        ("thing/link.h", tarfile.LNKTYPE, "/etc/passwd"),
    ],
)
def test_links_that_leave_the_folder_are_refused(tmp_path: Path, name: str, kind: bytes, target: str) -> None:
    with pytest.raises(RefusedError, match="link that leaves"):
        extract(tar_with(tmp_path / "thing.tar", member(name, kind, target)), "tar", WANTED, "thing")


def test_links_inside_the_folder_are_left_alone(tmp_path: Path) -> None:
    links = (
        member("thing/a/link.h", tarfile.SYMTYPE, "../b.h"),
        member("hard.h", tarfile.LNKTYPE, f"{ROOT}/a.h"),
    )
    assert extract(tar_with(tmp_path / "thing.tar", *links), "tar", WANTED, "thing") == WANTED


def test_a_link_is_no_file(tmp_path: Path) -> None:
    archive = tar_with(tmp_path / "thing.tar", member("link.h", tarfile.SYMTYPE, f"{ROOT}/a.h"))
    with pytest.raises(BuildError, match="lacks 1 of 1"):
        extract(archive, "tar", ["link.h"], "thing")


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_and_pipes_are_refused(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(RefusedError, match="device or pipe"):
        extract(tar_with(tmp_path / "thing.tar", member("dev", kind)), "tar", WANTED, "thing")


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO])
def test_links_and_devices_in_a_zip_are_refused(tmp_path: Path, mode: int) -> None:
    archive = write_zip(tmp_path / "thing.zip")
    with zipfile.ZipFile(archive, "a") as opened:
        info = zipfile.ZipInfo("special")
        info.external_attr = (mode | 0o777) << 16
        opened.writestr(info, b"/etc/passwd")
    with pytest.raises(RefusedError, match="link or device"):
        extract(archive, "zip", WANTED, "thing")


def test_a_member_that_comes_twice_is_refused_in_tar(tmp_path: Path) -> None:
    for name in (f"{ROOT}/a.h", f"./{ROOT}/a.h", f"{ROOT}//a.h"):
        with pytest.raises(RefusedError, match="twice"):
            extract(tar_with(tmp_path / "thing.tar", member(name)), "tar", WANTED, "thing")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_comes_twice_is_refused_in_zip(tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "thing.zip")
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr(f"{ROOT}/a.h", b"another")
    with pytest.raises(RefusedError, match="twice"):
        extract(archive, "zip", WANTED, "thing")


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_oversize_members_are_refused(tmp_path: Path, kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = archives(tmp_path)[kind]
    monkeypatch.setattr(module, "LARGEST_MEMBER", len(FILES["a.h"]) - 1)
    with pytest.raises(RefusedError, match=r"oversize member: thing-1.0/include/.*"):
        extract(archive, kind, WANTED, "thing")


def test_a_zip_member_larger_than_it_says_is_damage(tmp_path: Path) -> None:
    archive = tmp_path / "bomb.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("bomb.h", bytes(1 << 20))
    honest, modest = (1 << 20).to_bytes(4, "little"), (16).to_bytes(4, "little")
    archive.write_bytes(archive.read_bytes().replace(honest, modest))
    with pytest.raises(BuildError, match="damaged"):
        extract(archive, "zip", ["bomb.h"], "thing")
