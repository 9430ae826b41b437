"""The script behind the CI matrix, with each installer, on Linux and on Windows Python under Wine."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.conda.channels import build_ours, build_stand_ins
from tests.support import wheels
from tests.support.wheels import ROOT
from tests.windows import prefix as windows
from tests.windows.wine import Wine

SCRIPT = ROOT / "scripts" / "ci" / "check_install.py"
STEPS = ["== install", "== find", "== doctor", "== uninstall", "== done"]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def steps(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("== ")]


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_wheels_on_linux(installer: str, wheelhouse: Path, tmp_path: Path) -> None:
    doctor = tmp_path / "doctor.json"
    result = run(
        "--installer", installer, "--dist", wheelhouse, "--work", tmp_path / "work", "--doctor", doctor
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert steps(result.stdout) == STEPS
    assert doctor.stat().st_size


def test_conda_on_linux(tmp_path: Path) -> None:
    build_ours(tmp_path / "dist" / "conda")
    stand_ins = build_stand_ins(tmp_path / "stand-ins")
    result = run(
        "--installer", "conda", "--dist", tmp_path / "dist", "--work", tmp_path / "work",
        "--channel", stand_ins.as_uri(), "--python", "3.11", "--doctor", tmp_path / "doctor.json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert steps(result.stdout) == STEPS


def test_wheels_on_windows(wheelhouse: Path, wine: Wine) -> None:
    python = windows.python(wine, "3.11")
    with tempfile.TemporaryDirectory(dir=wine.drive_c) as folder:
        result = python.run(
            SCRIPT, "--installer", "pip", "--dist", wheelhouse, "--work", Path(folder, "work"),
            timeout=300, check=False,
        )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    assert steps(result.stdout) == [step for step in STEPS if step != "== doctor"]


def test_files_left_by_an_uninstall_are_found(tmp_path: Path) -> None:
    """A copy of the script that leaves a file in the environment itself."""
    wheel = wheels.wheel("intel-xpu-runtime-dev", "*", "any")
    script = SCRIPT.read_text("utf-8").replace(
        'step("uninstall")', 'step("uninstall"); (environment.folder / "left.txt").write_text("left")'
    )
    changed = tmp_path / "check_install.py"
    changed.write_text(script)
    command = [sys.executable, str(changed), "--installer", "pip", "--dist", str(wheel.parent)]
    result = subprocess.run([*command, "--work", str(tmp_path / "work")], capture_output=True, text=True)
    assert result.returncode == 1
    assert "the uninstall has left 1 files: left.txt" in result.stderr
