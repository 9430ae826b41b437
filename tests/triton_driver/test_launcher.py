"""The C launcher's wheels: stable ABI, audited, the same bytes each time."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest
from repack.binaries import read_library
from repack.catalogue import PLATFORMS, Platform
from repack.launcher import build_launcher_wheel, compile_extension


@pytest.mark.parametrize("platform", PLATFORMS)
def test_two_builds_are_identical(platform: Platform, tmp_path: Path) -> None:
    wheels = [build_launcher_wheel(platform, tmp_path / name) for name in ("one", "two")]
    assert wheels[0].name == wheels[1].name
    assert len({hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels}) == 1


@pytest.mark.parametrize("platform", PLATFORMS)
def test_one_file_for_every_python(platform: Platform, tmp_path: Path) -> None:
    wheel = build_launcher_wheel(platform, tmp_path)
    assert "-cp39-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert [name for name in names if name.endswith((".dll", ".lib"))] == []
    assert len([name for name in names if name.endswith((".so", ".pyd"))]) == 1


def test_extension_exports_its_module_only(tmp_path: Path) -> None:
    extension = tmp_path / "_launcher.pyd"
    compile_extension("win_amd64", extension)
    assert [export.name for export in read_library(extension).exports] == ["PyInit__launcher"]
