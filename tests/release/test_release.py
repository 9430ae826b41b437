"""Checksums and SBOMs of a release."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from repack.catalogue import Catalogue, UrlLocation, load
from repack.publish import SUMS
from repack.release import main

pytestmark = pytest.mark.xdist_group("release")


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


def test_no_version_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`build` skips what is out of reach; a release with a version missing would be published."""
    newest, *others = load().releases
    nowhere = UrlLocation(
        kind="url", url="https://127.0.0.1:9/a.tar", format="tar", sha256="0" * 64, root="a"
    )
    inputs = tuple(
        item.model_copy(update={"content": "0" * 64, "locations": (nowhere,)}) for item in newest.inputs
    )
    lost = Catalogue(releases=(newest.model_copy(update={"inputs": inputs}), *others))
    monkeypatch.setattr("repack.release.load", lambda: lost)
    assert main(["--out", str(tmp_path / "dist")]) == 1
    assert f"error: level-zero-headers {newest.version}: none of its" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
