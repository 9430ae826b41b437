"""The script behind the CI matrix, with each installer, on Linux and on Windows Python under Wine."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from ci import check_install
from ruamel.yaml import YAML

from tests.conda.channels import add_python_with_pip, build_ours, build_stand_ins
from tests.support import wheels
from tests.support.wheels import ROOT
from tests.windows import prefix as windows
from tests.windows.wine import Wine

SCRIPT = ROOT / "scripts" / "ci" / "check_install.py"
STEPS = ["== install", "== find", "== doctor", "== uninstall", "== done"]
SMOKE = ["== CPU device", *(f"== smoke {compiler}" for compiler in check_install.COMPILERS["linux"])]


def line(installer: str, python: str) -> list[str]:
    """Return the line of the workflow for a cell of the matrix."""
    jobs = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "windows.yml")["jobs"]
    (run,) = (step["run"] for step in jobs["install"]["steps"] if "--installer" in step.get("run", ""))
    values = {"installer": installer, "python": python}
    return shlex.split(re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda match: values[match[1]], run))


def run(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line in a folder that looks like the checkout of a job."""
    (folder / "scripts").symlink_to(ROOT / "scripts")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    assert words[0] == "python"
    return subprocess.run(
        [sys.executable, *words[1:]], cwd=folder, env=environment, capture_output=True, text=True
    )


def steps(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("== ")]


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_wheels_on_linux(installer: str, wheelhouse: Path, tmp_path: Path) -> None:
    """The workflow's own line, with relative paths as it has them."""
    (tmp_path / "dist").symlink_to(wheelhouse)
    result = run(line(installer, "3.11"), tmp_path)
    assert result.returncode == 0, result.stderr
    assert steps(result.stdout) == [*STEPS[:3], *SMOKE, *STEPS[3:]]
    assert json.loads((tmp_path / "doctor.json").read_text("utf-8"))["checks"]


def test_conda_on_linux(tmp_path: Path) -> None:
    """The workflow's own line, but for the channel: a stand-in for conda-forge's Python that has a pip of its own."""
    build_ours(tmp_path / "dist" / "conda")
    channel = build_stand_ins(tmp_path / "stand-ins")
    add_python_with_pip(channel)
    words = [channel.as_uri() if word == "conda-forge" else word for word in line("conda", "3.11")]
    result = run(words, tmp_path)
    assert result.returncode == 0, result.stderr
    assert steps(result.stdout) == [*STEPS[:3], *SMOKE, *STEPS[3:]]
    assert json.loads((tmp_path / "doctor.json").read_text("utf-8"))["checks"]


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
