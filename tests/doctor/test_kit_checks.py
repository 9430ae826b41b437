"""The checks of the development kits."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from intel_xpu_runtime_dev._components import COMPONENTS
from intel_xpu_runtime_dev.doctor import kit_checks
from intel_xpu_runtime_dev.doctor.findings import BROKEN, NOT_APPLICABLE, OK, WARNING

from tests.doctor.machines import Layout, write


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The locator looks at the real machine: hide what it may have."""
    for component in COMPONENTS.values():
        for name, _ in component.variables:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(component, "system_folders", (str(tmp_path / "system"),))
        monkeypatch.setitem(sys.modules, component.package, None)
    for name in ("CONDA_BUILD", "CONDA_PREFIX", "PREFIX"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("nothing_installed")
def test_kit_of_level_zero(linux: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    check = kit_checks.kit("level-zero")
    finding = check(linux.machine())
    assert finding.verdict == BROKEN
    assert finding.fix == "pip install level-zero-devel"
    assert "LEVEL_ZERO_V1_SDK_PATH: skipped (not set)" in finding.details
    monkeypatch.setenv("LEVEL_ZERO_V1_SDK_PATH", str(linux.kit("kit")))
    finding = check(linux.machine())
    assert finding.verdict == OK
    assert finding.found.endswith(f"in {linux.folder / 'kit'} (LEVEL_ZERO_V1_SDK_PATH)")


@pytest.mark.usefixtures("nothing_installed")
def test_builds_can_do_without_unified_runtime(linux: Layout) -> None:
    assert kit_checks.kit("unified-runtime")(linux.machine()).verdict == WARNING


def test_variables(linux: Layout) -> None:
    assert kit_checks.variables(linux.machine()).verdict == NOT_APPLICABLE
    linux.environ["ZE_PATH"] = str(linux.kit("kit"))
    assert kit_checks.variables(linux.machine()).verdict == OK


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("", "set to nothing"),
        ("/nowhere", "does not exist"),
        ("{folder}", "has no include/level_zero/ze_api.h"),
        ('"{kit}"', "has quotes in it"),
        ("{kit}/", "ends with a separator"),
    ],
)
def test_variable_that_is_wrong(linux: Layout, value: str, fault: str) -> None:
    linux.environ["LEVEL_ZERO_ROOT"] = value.format(folder=linux.folder, kit=linux.kit("kit"))
    finding = kit_checks.variables(linux.machine())
    assert finding.verdict == WARNING
    assert fault in finding.found


def test_trailing_separator_is_fine_for_triton(windows: Layout) -> None:
    windows.environ["LEVEL_ZERO_V1_SDK_PATH"] = f"{windows.kit('kit')}/"
    assert kit_checks.variables(windows.machine()).verdict == OK


def test_condas_package_beside_ours(windows: Layout) -> None:
    assert kit_checks.conda(windows.machine()).verdict == NOT_APPLICABLE
    write(windows.prefix / "conda-meta" / "level-zero-devel-1.20.6-h5888daf_0.json", "{}")
    assert kit_checks.conda(windows.machine()).verdict == OK
    windows.install_overlay()
    finding = kit_checks.conda(windows.machine())
    assert finding.verdict == WARNING
    assert "level-zero-devel-1.20.6-h5888daf_0" in finding.found


def test_activated_conda_environment(linux: Layout) -> None:
    write(linux.folder / "conda" / "conda-meta" / "history")
    linux.environ["CONDA_PREFIX"] = str(linux.folder / "conda")
    assert kit_checks.conda(linux.machine()).verdict == OK
