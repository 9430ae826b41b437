"""The commands out of the built wheels, which must hold their data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.wheels import wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    wheels = [
        wheel("intel-xpu-runtime-dev", "*", "any"),
        wheel("level-zero-devel", "1.32.0", "linux_x86_64"),
        wheel("unified-runtime-devel", "2026.2.0", "linux_x86_64"),
    ]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", folder]
    subprocess.run([*map(str, pip), *map(str, wheels)], check=True)
    return folder


def run(installed: Path, *words: str) -> str:
    command = [sys.executable, "-m", "intel_xpu_runtime_dev", *words]
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run(command, env=environment, cwd=installed, capture_output=True, text=True).stdout


def test_doctor_finds_both_kits(installed: Path) -> None:
    found = {each["check"]: each for each in json.loads(run(installed, "doctor", "--json"))["checks"]}
    for check, version in (("level-zero-kit", "1.32.0"), ("unified-runtime-kit", "2026.2.0")):
        assert found[check]["verdict"] == "ok"
        assert version in found[check]["found"]


def test_tables_are_in_the_wheel(installed: Path) -> None:
    assert (
        run(installed, "api", "zeInitDrivers") == "zeInitDrivers: Level Zero since 1.18.0, still in 1.32.0\n"
    )
    assert "UR_KERNEL_INFO_SPILL_MEM_SIZE (2025.2.0)" in run(installed, "api", "--parity")


def test_check_reads_a_file(installed: Path) -> None:
    (stub,) = (installed / "unified_runtime_devel").rglob("libur_loader.so")
    assert "imports nothing of Level Zero or Unified Runtime" in run(installed, "check", str(stub))
