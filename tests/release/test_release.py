"""Checksums and SBOMs of a release, and its files built again."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from repack import verify
from repack.publish import SUMS

pytestmark = pytest.mark.xdist_group("release")


def released(release: Path) -> list[Path]:
    return [*sorted(release.glob("*.whl")), *sorted(release.glob("conda/*/*.conda"))]


def test_checksums_cover_every_file(release: Path) -> None:
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", SUMS], cwd=release, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout
    listed = {line.split("  ", 1)[1] for line in (release / SUMS).read_text().splitlines()}
    assert listed == {
        path.relative_to(release).as_posix() for path in release.rglob("*") if path.is_file()
    } - {SUMS}


def test_every_sdk_wheel_has_its_sbom(release: Path) -> None:
    bills = sorted((release / "sboms").glob("*.cdx.json"))
    assert len(bills) == len(list(release.glob("*_devel-*.whl")))
    for bill in bills:
        content = json.loads(bill.read_text("utf-8"))
        assert content["bomFormat"] == "CycloneDX"
        assert all(component["purl"] and component["hashes"] for component in content["components"])


def test_released_files_are_built_again_identically(
    release: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = released(release)
    assert verify.main([str(file) for file in files]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{file.name}: identical" for file in files]


def test_a_changed_member_is_named(release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (wheel,) = release.glob("level_zero_devel-1.32.0-*-win_amd64.whl")
    changed = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(changed, "w") as target:
        for member in source.infolist():
            content = source.read(member)
            if member.filename.endswith("/level_zero/ze_api.h"):
                content += b"/* changed */\n"
            target.writestr(member, content)
    assert verify.main([str(changed)]) == 1
    header = "level_zero_devel-1.32.0.data/data/Library/include/level_zero/ze_api.h"
    assert capsys.readouterr().out == f"{wheel.name}: differs: {header} has other content\n"


def test_a_member_too_many_is_named(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (wheel,) = release.glob("unified_runtime_devel-2026.2.0-*-win_amd64.whl")
    changed = Path(shutil.copy(wheel, tmp_path))
    with zipfile.ZipFile(changed, "a") as archive:
        archive.writestr("evil.pth", "import evil")
    assert verify.main([str(changed)]) == 1
    assert capsys.readouterr().out == f"{wheel.name}: differs: evil.pth is only in the released file\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("notes.txt", b"", "notes.txt is not a release file"),
        ("nonsense.whl", b"", "nonsense.whl is not the name of a wheel"),
        ("level_zero_devel-1.32.0-py3-none-win_amd64.conda", b"not a zip", "cannot be read"),
        ("level_zero_devel-9.9.9-py3-none-win_amd64.whl", b"", "no version '9.9.9' of level-zero"),
        ("numpy-2.0.0-cp311-cp311-win_amd64.whl", b"", "numpy is not made from the catalogue"),
    ],
)
def test_bad_files_are_told(
    name: str, content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    assert verify.main([str(tmp_path / name)]) == 1
    assert message in capsys.readouterr().err


def test_missing_file_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "level_zero_devel-1.32.0-py3-none-win_amd64.whl"
    assert verify.main([str(tmp_path / name)]) == 1
    assert f"there is no file {tmp_path / name}" in capsys.readouterr().err
