"""The locator is right in every kind of installation."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.locator.installs import (
    INSTALLERS,
    KINDS,
    PIP,
    UV,
    Installed,
    Installer,
    call,
    clean_environment,
    in_base,
    in_target,
    in_venv,
)

# Names that shells, pip and formats trip over; the last one makes paths of more than 200 characters.
HOSTILE = (
    "with space",
    "o'clock",
    'a "quoted" one',
    "Zoë Müller",
    "Кириллица 中文",
    "$HOME & 100%",
    "long" * 50,
)


def found(installed: Installed, **variables: str) -> dict[str, dict[str, dict[str, str]]]:
    """Return what `find --json` says, after checking that all ways to ask agree."""
    data: dict[str, dict[str, dict[str, str]]] = json.loads(
        installed.run("-m", "intel_xpu_runtime_dev", "find", "--json", **variables)
    )
    root = data["level-zero"]["development kit"]["root"]
    code = "import intel_xpu_runtime_dev as x; print(x.get_include(), end='')"
    assert installed.run("-c", code, **variables) == str(Path(root, "include"))
    config = installed.run("-m", "intel_xpu_runtime_dev", "config", "--root", **variables)
    assert config == f"{root}\n"
    return data


def assert_found_below(installed: Installed, **variables: str) -> None:
    data = found(installed, **variables)
    for component, header in (
        ("level-zero", "level_zero/ze_api.h"),
        ("unified-runtime", "unified-runtime/ur_api.h"),
    ):
        sdk = data[component]["development kit"]
        assert sdk["via"] == f"wheel {component}-devel"
        assert Path(sdk["root"]).is_relative_to(installed.root)
        assert Path(sdk["root"], "include", header).is_file()


@pytest.mark.parametrize(
    ("kind", "installer"),
    # uv has no --user.
    [pair for pair in itertools.product(KINDS, INSTALLERS) if pair != ("user", UV)],
    ids=lambda part: part if isinstance(part, str) else part.name,
)
def test_finds_the_kits_of_its_own_installation(
    kind: str, installer: Installer, wheelhouse: Path, tmp_path: Path
) -> None:
    installed = KINDS[kind](installer, wheelhouse, tmp_path / "installed")
    before = contents(installed.root)

    assert_found_below(installed)

    assert contents(installed.root) == before


@pytest.mark.parametrize("installer", INSTALLERS, ids=lambda installer: installer.name)
@pytest.mark.parametrize("name", HOSTILE)
def test_paths_may_hold_anything(name: str, installer: Installer, wheelhouse: Path, tmp_path: Path) -> None:
    assert_found_below(in_venv(installer, wheelhouse, tmp_path / name))


def test_first_copy_on_the_path_counts(wheelhouse: Path, tmp_path: Path) -> None:
    in_environment = in_venv(UV, wheelhouse, tmp_path / "env")
    targets = [in_target(PIP, wheelhouse, tmp_path / name) for name in ("first", "second")]
    path = os.pathsep.join(str(target.root) for target in targets)

    assert_found_below(in_environment)
    assert_found_below(Installed(in_environment.python, {"PYTHONPATH": path}, targets[0].root))


def test_user_site_comes_before_the_base(wheelhouse: Path, tmp_path: Path) -> None:
    base = in_base(PIP, wheelhouse, tmp_path / "both")
    interpreter = base.root / "bin" / "python3"
    variables = {"PYTHONUSERBASE": str(tmp_path / "user"), "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    PIP.install(interpreter, wheelhouse, "--user", "--ignore-installed", **variables)

    assert_found_below(Installed(interpreter, variables, tmp_path / "user"))
    assert_found_below(base)


@pytest.mark.parametrize(
    "build",
    [
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir"],
        [sys.executable, "-m", "uv", "build", "-q", "--no-cache", "--wheel", "--out-dir"],
    ],
    ids=["pip", "uv"],
)
def test_build_isolation(build: list[str], wheelhouse: Path, tmp_path: Path) -> None:
    """A build backend in the project itself asks, and leaves the answer in the wheel that it makes."""
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["intel-xpu-runtime-dev"]\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    (tmp_path / "backend.py").write_text(BACKEND)

    call([*build, tmp_path, tmp_path, "--no-index", "--find-links", wheelhouse])

    with zipfile.ZipFile(tmp_path / "answer-1.0-py3-none-any.whl") as wheel:
        answer = json.loads(wheel.read("answer.json"))
    # The isolated environment is a temporary folder that is gone by now.
    assert answer["exists"]
    assert not Path(answer["include"]).exists()
    assert answer["via"] == "wheel level-zero-devel"


BACKEND = """
import json, pathlib, zipfile
import intel_xpu_runtime_dev as ours

def build_wheel(folder, config_settings=None, metadata_directory=None):
    include = ours.get_include()
    header = pathlib.Path(include, "level_zero", "ze_api.h")
    answer = {"include": include, "exists": header.is_file(), "via": ours.find_sdk("level-zero").via}
    name = "answer-1.0-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as wheel:
        wheel.writestr("answer.json", json.dumps(answer))
        wheel.writestr("answer-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: answer\\nVersion: 1.0\\n")
        wheel.writestr("answer-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("answer-1.0.dist-info/RECORD", "")
    return name
"""


@pytest.mark.parametrize("installer", INSTALLERS, ids=lambda installer: installer.name)
def test_no_home(installer: Installer, wheelhouse: Path, tmp_path: Path) -> None:
    installed = in_venv(installer, wheelhouse, tmp_path / "env")

    result = subprocess.run(
        [installed.python.with_name("xpu-dev"), "config", "--root"],
        env={},
        capture_output=True,
        text=True,
        check=True,
    )

    assert Path(result.stdout.strip()).is_relative_to(installed.root)


@pytest.mark.parametrize("installer", INSTALLERS, ids=lambda installer: installer.name)
@pytest.mark.parametrize("name", ["with space", "Zoë Müller"])
def test_both_scripts_run(name: str, installer: Installer, wheelhouse: Path, tmp_path: Path) -> None:
    installed = in_venv(installer, wheelhouse, tmp_path / name)

    for script in ("xpu-dev", "intel-xpu-runtime-dev"):
        result = subprocess.run(
            [installed.python.with_name(script), "find"],
            capture_output=True,
            check=True,
            env=clean_environment(),
        )
        assert os.fsencode(installed.root) in result.stdout


def contents(folder: Path) -> set[Path]:
    """Return all that is in a folder: nothing we do may add to an installation."""
    return {path for path in folder.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__"}
