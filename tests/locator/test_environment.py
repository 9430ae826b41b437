"""The environment of builds: what is set, and that it can be taken back. Runs under Windows Python too."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from intel_xpu_runtime_dev import NotFoundError
from intel_xpu_runtime_dev._components import WINDOWS
from intel_xpu_runtime_dev._environment import RECORD, ROOT_VARIABLES, activated, changes, deactivated

from tests.locator.trees import UNIFIED_RUNTIME, kit, on_path, touch, wheel_kit

pytestmark = pytest.mark.usefixtures("empty_machine")

LINUX_ONLY = {"CPATH", "LIBRARY_PATH"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make both kits of our wheels; return the root of Level Zero's."""
    for component in (UNIFIED_RUNTIME,):
        touch(wheel_kit(tmp_path, component) / "lib" / "pkgconfig" / "libur_loader.pc")
    root = wheel_kit(tmp_path)
    touch(root / "lib" / "pkgconfig" / "level-zero.pc")
    on_path(monkeypatch, tmp_path)
    return root


def test_one_root_for_all_and_lists_of_folders(root: Path) -> None:
    after = activated({"PATH": "unchanged"})

    unified_runtime = root.parent / "unified_runtime_devel"
    assert {after[name] for name in ROOT_VARIABLES} == {str(root)}
    assert after["CMAKE_PREFIX_PATH"] == os.pathsep.join([str(root), str(unified_runtime)])
    assert after["PKG_CONFIG_PATH"] == os.pathsep.join(
        [str(root / "lib" / "pkgconfig"), str(unified_runtime / "lib" / "pkgconfig")]
    )
    assert after["PATH"] == "unchanged"
    if WINDOWS:
        assert not LINUX_ONLY & set(after)
    else:
        assert (after["CPATH"], after["LIBRARY_PATH"]) == (str(root / "include"), str(root / "lib"))


def test_only_these_variables_are_touched(root: Path) -> None:
    lists = {"CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH"} | (set() if WINDOWS else LINUX_ONLY)

    assert set(activated({})) == {*ROOT_VARIABLES, *lists, RECORD}


@pytest.mark.skipif(not WINDOWS, reason="INCLUDE and LIB are Windows'")
def test_include_and_lib_are_appended_to_only_when_set(root: Path) -> None:
    after = activated({"INCLUDE": r"C:\msvc\include", "LIB": r"C:\msvc\lib"})

    assert after["INCLUDE"] == rf"C:\msvc\include;{root / 'include'}"
    assert after["LIB"] == rf"C:\msvc\lib;{root / 'lib'}"
    assert not {"INCLUDE", "LIB"} & set(activated({"INCLUDE": ""})) - {"INCLUDE"}


def test_folders_of_the_user_stay_behind_ours(root: Path) -> None:
    after = activated({"CMAKE_PREFIX_PATH": "/mine"})

    assert after["CMAKE_PREFIX_PATH"].split(os.pathsep)[0] == str(root)
    assert after["CMAKE_PREFIX_PATH"].endswith(f"{os.pathsep}/mine")


@pytest.mark.parametrize(
    "before",
    [
        {},
        {"ZE_PATH": "/mine", "LEVEL_ZERO_DIR": ""},
        {"CMAKE_PREFIX_PATH": "/mine", "PKG_CONFIG_PATH": f"{os.pathsep}/mine{os.pathsep}"},
        {"CPATH": "", "INCLUDE": "x", "LIB": "Zoë 中文 \N{GRINNING FACE}"},
        {"XPU_DEV_ENV": "not ours"},
    ],
)
def test_undo_restores_what_was_there(root: Path, before: dict[str, str]) -> None:
    restored = deactivated(activated(before))

    assert restored == {name: value for name, value in before.items() if name != RECORD}


def test_second_time_changes_nothing(root: Path) -> None:
    once = activated({"CMAKE_PREFIX_PATH": "/mine"})

    assert changes(once, activated(once)) == {}


def test_undo_keeps_what_the_user_changed_since(root: Path) -> None:
    after = activated({"CMAKE_PREFIX_PATH": "/mine"})
    after["CMAKE_PREFIX_PATH"] = os.pathsep.join(["/newer", after["CMAKE_PREFIX_PATH"], "/last"])
    after["ZE_PATH"] = "/other"
    del after["LEVEL_ZERO_DIR"]

    restored = deactivated(after)

    assert restored == {
        "CMAKE_PREFIX_PATH": os.pathsep.join(["/newer", "/mine", "/last"]),
        "ZE_PATH": "/other",
    }


def test_undo_works_when_the_kit_is_gone(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    after = activated({"ZE_PATH": "/mine"})
    root.rename(tmp_path / "elsewhere")

    assert deactivated(after) == {"ZE_PATH": "/mine"}


def test_unified_runtime_is_optional(root: Path) -> None:
    (root.parent / "unified_runtime_devel" / "__init__.py").unlink()

    assert activated({})["CMAKE_PREFIX_PATH"] == str(root)


def test_level_zero_is_needed() -> None:
    with pytest.raises(NotFoundError, match="level-zero"):
        activated({})


def test_system_folders_are_not_named_to_the_compiler(empty_machine: Path) -> None:
    kit(empty_machine)

    after = activated({})

    assert after["ZE_PATH"] == str(empty_machine)
    assert not LINUX_ONLY & set(after)


@pytest.mark.skipif(WINDOWS, reason="a file name cannot hold Windows' separator of drive and list")
def test_path_with_the_separator_is_not_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = wheel_kit(tmp_path / "a:b")
    on_path(monkeypatch, tmp_path / "a:b")

    after = activated({"CPATH": "/mine"})

    assert after["ZE_PATH"] == str(root)
    assert after["CPATH"] == "/mine"
