"""Checksums and SBOMs of a release."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from repack.publish import SUMS

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
