"""The locator in installations on Windows, really made from the built wheels by Windows' own pip and uv."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import wheels
from tests.windows import prefix
from tests.windows.interpreters import WindowsPython
from tests.windows.wine import Wine


class Installed(NamedTuple):
    """An interpreter that can import the locator, and the folder where the kits must be found."""

    executable: Path
    variables: Mapping[str, str]
    root: Path


def our_wheels() -> list[Path]:
    """Return the newest wheels for Windows."""
    (locator,) = wheels.built().glob("intel_xpu_runtime_dev-*.whl")
    return [
        wheels.wheel("level-zero-devel", "1.32.0", "win_amd64"),
        wheels.wheel("unified-runtime-devel", "2026.2.0", "win_amd64"),
        locator,
    ]


def in_base(python: WindowsPython, folder: Path) -> Installed:
    python.install(*our_wheels())
    return Installed(python.executable, {}, python.folder)


def in_user_site(python: WindowsPython, folder: Path) -> Installed:
    variables = {"PYTHONUSERBASE": python.wine.windows_path(folder / "user")}
    python.run(
        "-m", "pip", "install", "-q", "--user", "--no-deps", "--no-index", *our_wheels(), env=variables
    )
    return Installed(python.executable, variables, folder / "user")


def in_target(python: WindowsPython, folder: Path) -> Installed:
    python.pip("install", "-q", "--no-deps", "--target", folder / "target", *our_wheels())
    variables = {"PYTHONPATH": python.wine.windows_path(folder / "target")}
    return Installed(python.executable, variables, folder / "target")


def in_uv_venv(python: WindowsPython, folder: Path, *options: str) -> Installed:
    uv = prefix.uv(python.wine)
    executable = folder / "venv" / "Scripts" / "python.exe"
    python.wine.run([uv, "venv", "-q", *options, "--python", python.executable, folder / "venv"])
    python.wine.run(
        [uv, "pip", "install", "-q", "--no-cache", "--no-deps", "--python", executable, *our_wheels()]
    )
    return Installed(executable, {}, folder / "venv")


def in_venv_on_a_base(python: WindowsPython, folder: Path) -> Installed:
    """Put another copy into the base interpreter, which the environment sees."""
    in_base(python, folder)
    return in_uv_venv(python, folder, "--system-site-packages")


@pytest.mark.parametrize(
    ("version", "install", "name"),
    [
        ("3.9", in_base, "plain"),
        ("3.10", in_user_site, "with space"),
        ("3.11", in_target, "o'clock & 100%"),
        ("3.12", in_uv_venv, "Zoë Müller"),
        ("3.13", in_venv_on_a_base, "Кириллица 中文"),
        ("3.13", in_base, "long" * 30),
    ],
)
def test_finds_the_kits_of_its_own_installation(
    version: str,
    install: Callable[[WindowsPython, Path], Installed],
    name: str,
    wine: Wine,
    tmp_path: Path,
) -> None:
    python = prefix.python(wine, version).copy(tmp_path / name / "python")

    executable, variables, root = install(python, tmp_path / name)

    find: list[str | Path] = [executable, "-m", "intel_xpu_runtime_dev", "find", "--json"]
    data = json.loads(wine.run(find, env=variables).stdout)
    for component, library in (("level-zero", "ze_loader"), ("unified-runtime", "ur_loader_shared")):
        kit = data[component]["development kit"]
        assert kit["via"] == f"wheel {component}-devel"
        assert kit["root"].startswith(wine.windows_path(root) + "\\")
        assert kit["libraries"] == [library]
    code = "import intel_xpu_runtime_dev as x; print(ascii(x.get_include()))"
    told = wine.run([executable, "-c", code], env=variables).stdout.strip()
    assert told == ascii(data["level-zero"]["development kit"]["root"] + "\\include")


def test_both_scripts_run(wine: Wine, tmp_path: Path) -> None:
    installed = in_uv_venv(prefix.python(wine, "3.11"), tmp_path)

    for script in ("xpu-dev.exe", "intel-xpu-runtime-dev.exe"):
        told = wine.run([installed.executable.with_name(script), "config", "--libs", "--msvc-syntax"]).stdout
        assert told.endswith("\\level_zero_devel\\lib ze_loader.lib\n")
