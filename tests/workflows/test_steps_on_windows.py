"""Steps of the job `shells` that are one line each, run under Wine as GitHub runs them on Windows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.support.wheels import ROOT
from tests.windows import prefix as windows
from tests.windows.interpreters import WindowsPython
from tests.windows.wine import Wine

pytestmark = pytest.mark.xdist_group("workflow-steps")


def runs(shell: str) -> list[str]:
    """Return what the job runs in a shell."""
    jobs = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "windows.yml")["jobs"]
    return [step["run"] for step in jobs["shells"]["steps"] if step.get("shell") == shell]


@pytest.fixture(scope="module")
def python(wine: Wine, wheelhouse: Path) -> Iterator[WindowsPython]:
    """Return a Python whose folder has a space, with the wheels that the job installs."""
    with tempfile.TemporaryDirectory(prefix="steps of ", dir=wine.drive_c) as folder:
        python = windows.python(wine, "3.11").copy(Path(folder, "python"))
        python.pip("install", "--quiet", "--find-links", wheelhouse, "intel-xpu-runtime-dev")
        (Path(folder) / "scripts").mkdir()
        (Path(folder) / "scripts" / "ci").symlink_to(ROOT / "scripts" / "ci")
        yield python


def in_batch_file(python: WindowsPython, line: str) -> tuple[int, str]:
    """Run a line as GitHub does, from a .cmd file; return how it ended and what it said."""
    folder = python.folder.parent
    (folder / "step.cmd").write_text(f"@echo off\r\n{line}\r\n")
    path = [python.folder, python.folder / "Scripts"]
    result = python.wine.run(
        ["cmd", "/D", "/E:ON", "/V:OFF", "/S", "/C", "CALL step.cmd"],
        env={"WINEPATH": ";".join(python.wine.windows_path(each) for each in path)},
        cwd=folder, check=False,
    )  # fmt: skip
    return result.returncode, result.stdout + result.stderr


def test_cmd(python: WindowsPython) -> None:
    (line,) = runs("cmd")
    code, said = in_batch_file(python, line)
    assert (code, said) == (0, "")


def test_a_variable_that_does_not_arrive_is_told(python: WindowsPython) -> None:
    (line,) = runs("cmd")
    code, said = in_batch_file(python, line.partition("&& ")[2])
    assert code == 1
    assert "error: LEVEL_ZERO_V1_SDK_PATH is None" in said


def test_the_environment_file_of_github(python: WindowsPython) -> None:
    """What the last step of the two writes is read by GitHub, line by line, for the steps after it."""
    (line,) = (line for line in runs("bash") if "GITHUB_ENV" in line)
    assert line == 'xpu-dev env --shell github >> "$GITHUB_ENV"'
    written = python.run("-m", "intel_xpu_runtime_dev", "env", "--shell", "github").stdout
    variables = dict(each.split("=", 1) for each in written.splitlines() if "=" in each)
    script = ROOT / "scripts" / "ci" / "check_environment.py"
    assert python.run(script, env=variables).returncode == 0
