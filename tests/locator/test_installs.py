"""The locator is right in every kind of installation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.locator.installs import INSTALLERS, KINDS, Installed, Installer, in_venv

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


@pytest.mark.parametrize("installer", INSTALLERS, ids=lambda installer: installer.name)
@pytest.mark.parametrize("kind", KINDS)
def test_finds_the_kits_of_its_own_installation(
    kind: str, installer: Installer, wheelhouse: Path, tmp_path: Path
) -> None:
    if (kind, installer.name) == ("user", "uv"):
        pytest.skip("uv has no --user")
    installed = KINDS[kind](installer, wheelhouse, tmp_path / "installed")

    assert_found_below(installed)


@pytest.mark.parametrize("installer", INSTALLERS, ids=lambda installer: installer.name)
@pytest.mark.parametrize("name", HOSTILE)
def test_paths_may_hold_anything(name: str, installer: Installer, wheelhouse: Path, tmp_path: Path) -> None:
    assert_found_below(in_venv(installer, wheelhouse, tmp_path / name))
