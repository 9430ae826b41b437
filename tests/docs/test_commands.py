"""Every command of the documents, run: here as written, or by the test or workflow that rows.py names."""

from __future__ import annotations

import argparse
import ast
import os
import re
import shlex
import shutil
import zipfile
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.conda.channels import build_stand_ins
from tests.conda.environments import ensure
from tests.docs.documents import Shown, commands, python_blocks
from tests.docs.reader import Reader, make_projects, run
from tests.docs.rows import ROWS, Elsewhere, Here, Workflow
from tests.locator.installs import clean_environment
from tests.support import repository
from tests.support.needs import lacking, program
from tests.support.wheels import ROOT

# One worker, for they share fixtures.
pytestmark = pytest.mark.xdist_group("documents")

SHOWN = sorted({shown.text for shown in commands()})
HERE = {text: row for text, row in ROWS.items() if isinstance(row, Here)}


@pytest.fixture(scope="session")
def environment(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """Return a reader who has followed the first line of the README and has projects of their own."""
    reader = Reader(tmp_path_factory.mktemp("reader"), wheelhouse)
    reader.run("pip install intel-xpu-runtime-dev")
    make_projects(reader, wheelhouse)
    return reader


@pytest.fixture
def new_environment(wheelhouse: Path, tmp_path: Path) -> Reader:
    """Return a reader who has installed nothing of ours."""
    return Reader(tmp_path, wheelhouse)


@pytest.fixture(scope="session")
def clone(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the repository whose `dist` holds the wheels."""
    folder = repository.copy(tmp_path_factory.mktemp("clone") / "repository")
    shutil.copytree(wheelhouse, folder / "dist")
    return folder


def test_every_command_is_in_a_row_and_every_row_is_shown() -> None:
    assert [shown for shown in commands() if shown.text not in ROWS] == []
    assert sorted(ROWS.keys() - set(SHOWN)) == []


def test_the_documents_show_commands() -> None:
    """The extraction sees each kind: fenced or indented, in prose, going on, with variables, in an environment file."""
    assert Shown("README.md", "python3 scripts/dev.py test") in commands()
    assert Shown("docs/design.md", "xpu-dev find --steps") in commands()
    assert Shown("environments/ci.yml", "conda env create -f environments/ci.yml") in commands()
    (staging,) = (text for text in SHOWN if text.startswith("export SDK_VERSION"))
    assert len(staging.splitlines()) == 3


@pytest.mark.parametrize(
    "text",
    [pytest.param(text, marks=[pytest.mark.nightly] if row.nightly else []) for text, row in HERE.items()],
)
def test_runs_as_written(text: str, request: pytest.FixtureRequest) -> None:
    row = HERE[text]
    command = text
    for word, value in row.given.items():
        assert word in command
        command = command.replace(word, value)
    if row.then:
        command += f"\n{row.then}"
    if row.place == "repository":
        folder: Path = request.getfixturevalue("clone")
        output = run([program("bash"), "-ec", command], folder, {**os.environ}, row.codes)
        if "out of reach" in output and "error:" in output:
            lacking(output)
        for name in row.keeps:
            assert (folder / name).read_bytes() == (ROOT / name).read_bytes()
        assert row.says in output
        return
    reader: Reader = request.getfixturevalue(row.place.replace(" ", "_"))
    for shell in row.shells:
        output = reader.run(command, shell=shell, codes=row.codes, index=row.from_index)
        assert row.says in output


@pytest.mark.parametrize("text", [text for text, row in ROWS.items() if isinstance(row, Elsewhere)])
def test_is_run_by_the_test_that_its_row_names(text: str) -> None:
    row = ROWS[text]
    assert isinstance(row, Elsewhere)
    file, _, function = row.test.partition("::")
    source = (ROOT / file).read_text("utf-8")
    functions = {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
    assert function in functions
    for words in row.words:
        assert words in source


@pytest.mark.parametrize("text", [text for text, row in ROWS.items() if isinstance(row, Workflow)])
def test_is_run_by_the_workflow_that_its_row_names(text: str) -> None:
    row = ROWS[text]
    assert isinstance(row, Workflow)
    jobs = YAML(typ="safe").load(ROOT / ".github" / "workflows" / row.file)["jobs"]
    lines = [str(step.get("run", "")) for job in jobs.values() for step in job["steps"]]
    assert any((row.run or text) in line for line in lines)
    if row.script:
        assert text in (ROOT / row.script).read_text("utf-8")


@pytest.mark.parametrize("block", python_blocks(), ids=lambda block: f"{block.document}: {block.text[:30]}")
def test_python_runs(block: Shown, environment: Reader) -> None:
    if "ext_modules" in block.text:
        assert list((environment.work / "dist-linux").glob("*.whl"))  # the fixture has built with it
        return
    environment.run(f"python -W error -c {shlex.quote(block.text)}")


def test_auditwheel_and_delvewheel_leave_the_loader_out(environment: Reader) -> None:
    """What the two lines are for; both write to wheelhouse/."""
    for line in (text for text in SHOWN if re.match(r"(audit|delve)wheel .*whl$", text)):
        environment.run(line.replace("dist/", f"dist-{'linux' if line.startswith('audit') else 'windows'}/"))
    for wheel in (environment.work / "wheelhouse").glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            assert [name for name in archive.namelist() if "ze_loader" in name] == []
    assert len(list((environment.work / "wheelhouse").glob("*.whl"))) == 2


def test_conda_create(clone: Path, tmp_path: Path) -> None:
    """`conda create` with py-rattler in place of conda, and stand-ins in place of conda-forge's packages."""
    (line,) = (text for text in SHOWN if text.startswith("conda create"))
    run([program("bash"), "-c", "python3 scripts/dev.py conda"], clone, {**os.environ}, (0,))
    parser = argparse.ArgumentParser(prog="conda create")
    parser.add_argument("-n")
    parser.add_argument("-c", action="append")
    parser.add_argument("specs", nargs="+")
    words = parser.parse_intermixed_args(shlex.split(line)[2:])
    assert words.c[-1] == "conda-forge"
    channels = [
        *((clone / channel).resolve() for channel in words.c[:-1]),
        build_stand_ins(tmp_path / "stand-ins"),
    ]
    ensure(tmp_path / "env", "linux-64", channels, words.specs)
    found = run(
        ["bin/xpu-dev", "find"],
        tmp_path / "env",
        {**clean_environment(), "CONDA_PREFIX": str(tmp_path / "env")},
        (0,),
    )
    assert "level-zero development kit 1.32.0" in found
