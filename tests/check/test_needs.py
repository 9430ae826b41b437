"""From imported names to releases and verdicts, on the real tables."""

from __future__ import annotations

import pytest
from intel_xpu_runtime_dev.api._history import History, history
from intel_xpu_runtime_dev.check._binary import Binary, Import
from intel_xpu_runtime_dev.check._needs import RUNTIMES, Needs, needs
from intel_xpu_runtime_dev.check._verdict import BROKEN, OK, UNKNOWN, WARNING, Available, judge

LEVEL_ZERO, UNIFIED_RUNTIME = RUNTIMES


@pytest.fixture(scope="module")
def level_zero() -> History:
    return history("level-zero")


@pytest.fixture(scope="module")
def unified_runtime() -> History:
    return history("unified-runtime")


def binary(*names: str, library: str = "", system: str = "Linux", optional: bool = False) -> Binary:
    libraries = [library] if library else []
    tied = library if system == "Windows" else ""
    return Binary("ELF64", "x86-64", system, libraries, [Import(name, tied, optional) for name in names])


def level_zero_needs(table: History, *names: str, optional: bool = False) -> Needs:
    found = needs(LEVEL_ZERO, table, binary(*names, optional=optional))
    assert found
    return found


def unified_runtime_needs(table: History, *names: str, library: str = "", system: str = "Linux") -> Needs:
    found = needs(UNIFIED_RUNTIME, table, binary(*names, library=library, system=system))
    assert found
    return found


def machine(version: str | None) -> Available:
    return Available("this machine", version, "/usr/lib/libze_loader.so.1")


def test_lowest_loader_is_that_of_the_newest_function(level_zero: History) -> None:
    assert level_zero_needs(level_zero, "zeInit").lowest == "1.0.12"
    assert level_zero_needs(level_zero, "zeInit", "zeInitDrivers").lowest == "1.18.0"


def test_older_loader_is_broken(level_zero: History) -> None:
    verdict = judge(level_zero_needs(level_zero, "zeInit", "zeInitDrivers"), level_zero, machine("1.17.28"))
    assert verdict.state == BROKEN
    assert verdict.reason == "needs zeInitDrivers (1.18.0), this machine has 1.17.28"
    assert verdict.fix == "update the driver, or load it dynamically"


@pytest.mark.parametrize("version", ["1.18.0", "1.18.0.0", "1.18", "1.32.0", "2.0"])
def test_same_or_newer_loader_is_ok(level_zero: History, version: str) -> None:
    verdict = judge(level_zero_needs(level_zero, "zeInit", "zeInitDrivers"), level_zero, machine(version))
    assert verdict.state == OK


def test_delayed_or_weak_import_is_a_warning(level_zero: History) -> None:
    needed = level_zero_needs(level_zero, "zeInitDrivers", optional=True)
    assert judge(needed, level_zero, machine("1.17.28")).state == WARNING


def test_function_that_went(level_zero: History) -> None:
    needed = level_zero_needs(level_zero, "zesGetVFManagementProcAddrTable")
    assert needed.releases == ["1.18.0", "1.18.1"]
    verdict = judge(needed, level_zero, machine("1.19.0"))
    assert verdict.state == BROKEN
    assert "(1.18.0 to 1.18.1)" in verdict.reason


def test_no_loader_and_unknown_version(level_zero: History) -> None:
    needed = level_zero_needs(level_zero, "zeInit")
    assert judge(needed, level_zero, None).state == BROKEN
    assert judge(needed, level_zero, machine(None)).state == UNKNOWN


def test_unknown_function_is_told(level_zero: History) -> None:
    found = needs(LEVEL_ZERO, level_zero, binary("zeFromTheFuture", library="libze_loader.so.1"))
    assert found
    assert found.unknown == ["zeFromTheFuture"]
    verdict = judge(found, level_zero, machine("1.32.0"))
    assert verdict.state == UNKNOWN
    assert "zeFromTheFuture" in verdict.reason


@pytest.mark.parametrize(
    "name", ["zeroMemory", "urlopen", "zes_no", "zend", "ur_function", "urNothingOfTheKind"]
)
def test_name_of_something_else_does_not_count(
    level_zero: History, unified_runtime: History, name: str
) -> None:
    assert needs(LEVEL_ZERO, level_zero, binary(name)) is None
    assert needs(UNIFIED_RUNTIME, unified_runtime, binary(name)) is None


def test_windows_import_from_another_library_does_not_count(level_zero: History) -> None:
    found = needs(LEVEL_ZERO, level_zero, binary("zeInit", library="my_wrapper.dll", system="Windows"))
    assert found is None


def test_releases_between_an_addition_and_a_removal(unified_runtime: History) -> None:
    needed = unified_runtime_needs(
        unified_runtime, "urEnqueueKernelLaunch", "urEnqueueKernelLaunchWithArgsExp"
    )
    assert needed.releases == ["2026.0.0", "2026.1.0", "2026.1.1", "2026.1.2"]
    assert len(needed.variants) == 1


def test_prototype_that_changed_under_one_name(unified_runtime: History) -> None:
    needed = unified_runtime_needs(unified_runtime, "urEnqueueKernelLaunch")
    assert [(variant[0], variant[-1]) for variant in needed.variants] == [
        ("2024.2.0", "2024.2.3"),
        ("2025.0.0", "2025.2.2"),
        ("2025.3.0", "2025.3.3"),
        ("2026.0.0", "2026.1.2"),
    ]
    assert needed.changed == ["urEnqueueKernelLaunch"]
    verdict = judge(needed, unified_runtime, machine("2026.1.2"))
    assert verdict.state == WARNING
    assert "right if it was built for 2026.0.0 to 2026.1.2, wrong without any error if not" in verdict.reason


def test_function_that_the_machine_lacks(unified_runtime: History) -> None:
    needed = unified_runtime_needs(unified_runtime, "urEnqueueKernelLaunch")
    verdict = judge(needed, unified_runtime, machine("2026.2.0"))
    assert verdict.state == BROKEN
    assert "urEnqueueKernelLaunch (2024.2.0 to 2026.1.2)" in verdict.reason
    assert "2024.2.0 to 2026.1.2" in verdict.fix


@pytest.mark.parametrize(
    ("library", "first", "last"),
    [("ur_loader.dll", "2024.2.0", "2026.1.2"), ("ur_loader_shared.dll", "2026.2.0", "2026.2.0")],
)
def test_windows_file_name_tells_releases_too(
    unified_runtime: History, library: str, first: str, last: str
) -> None:
    needed = unified_runtime_needs(unified_runtime, "urLoaderInit", library=library, system="Windows")
    assert (needed.releases[0], needed.releases[-1]) == (first, last)


@pytest.mark.parametrize("version", ["0.12.0", "2027.1.0"])
def test_release_outside_the_table(unified_runtime: History, version: str) -> None:
    needed = unified_runtime_needs(unified_runtime, "urLoaderInit")
    assert judge(needed, unified_runtime, machine(version)).state == UNKNOWN


def test_functions_that_never_changed_are_ok(unified_runtime: History) -> None:
    needed = unified_runtime_needs(unified_runtime, "urEnqueueKernelLaunchWithArgsExp")
    assert judge(needed, unified_runtime, machine("2026.2.0")).state == OK
