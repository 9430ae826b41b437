"""The checks of loaders, drivers and runtimes."""

from __future__ import annotations

from pathlib import Path

import pytest
from intel_xpu_runtime_dev._errors import NotFoundError
from intel_xpu_runtime_dev._results import SDK, Runtime
from intel_xpu_runtime_dev.doctor import loader_checks
from intel_xpu_runtime_dev.doctor.findings import BROKEN, NOT_APPLICABLE, OK, WARNING

from tests.doctor.machines import Layout, write
from tests.support.environments import intel_runtime

CLASS = loader_checks.DEVICE_CLASSES[0]


def add_loader(layout: Layout, folder: str, version: str) -> Path:
    """Install a Linux loader with its links, known to the dynamic linker."""
    path = write(layout.folder / folder / f"libze_loader.so.{version}")
    link = path.with_name("libze_loader.so.1")
    link.symlink_to(path.name)
    layout.cache.append((link.name, link))
    return link


def test_linux_loader(linux: Layout) -> None:
    assert loader_checks.loader(linux.machine()).verdict == BROKEN
    path = add_loader(linux, "usr", "1.20.6")
    finding = loader_checks.loader(linux.machine())
    assert finding.verdict == OK
    assert finding.found == f"1.20.6 in {path} (system loader)"


def test_second_loader_is_told_with_versions_in_load_order(linux: Layout) -> None:
    add_loader(linux, "usr", "1.20.6")
    other = write(linux.folder / "mine" / "libze_loader.so.1")
    linux.environ["LD_LIBRARY_PATH"] = str(other.parent)
    finding = loader_checks.loader(linux.machine())
    assert finding.verdict == WARNING
    assert [detail.split(":")[0] for detail in finding.details] == ["LD_LIBRARY_PATH", "system loader"]
    assert finding.details[1].endswith("1.20.6")


def test_windows_loaders_in_load_order(windows: Layout) -> None:
    system = write(windows.root / "Windows" / "System32" / "ze_loader.dll")
    assert loader_checks.loader(windows.machine()).verdict == OK
    beside = write(windows.folder / "app" / "ze_loader.dll")
    ours = write(windows.overlay / "bin" / "ze_loader.dll")
    windows.environ["PATH"] = f"{beside.parent};{system.parent}"
    found = loader_checks.copies(windows.machine())
    assert found == [("System32", system), ("PATH", beside), ("environment", ours)]
    assert loader_checks.loader(windows.machine()).verdict == WARNING


def kit(version: str) -> SDK:
    return SDK("level-zero", version, "/kit", (), (), (), "test")


def test_loader_older_than_the_kit(linux: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    add_loader(linux, "usr", "1.20.6")
    monkeypatch.setattr(loader_checks, "find_sdk", lambda component: kit("1.20.6"))
    assert loader_checks.loader_and_kit(linux.machine()).verdict == OK
    monkeypatch.setattr(loader_checks, "find_sdk", lambda component: kit("1.32.0"))
    finding = loader_checks.loader_and_kit(linux.machine())
    assert finding.verdict == WARNING
    assert "xpu-dev check FILE" in finding.fix


def test_linux_drivers(linux: Layout) -> None:
    assert loader_checks.drivers(linux.machine()).verdict == BROKEN
    driver = write(linux.folder / "usr" / "libze_intel_gpu.so.1")
    linux.cache.append((driver.name, driver))
    finding = loader_checks.drivers(linux.machine())
    assert (finding.verdict, finding.details) == (OK, (str(driver),))


def test_alternative_drivers(linux: Layout) -> None:
    driver = write(linux.folder / "mine" / "driver.so")
    linux.environ["ZE_ENABLE_ALT_DRIVERS"] = str(driver)
    assert loader_checks.drivers(linux.machine()).details == (str(driver),)
    linux.environ["ZE_ENABLE_ALT_DRIVERS"] = "/nowhere.so"
    assert loader_checks.drivers(linux.machine()).verdict == BROKEN


def test_driver_of_a_neural_processor_alone(linux: Layout) -> None:
    driver = write(linux.folder / "usr" / "libze_intel_npu.so.1")
    linux.cache.append((driver.name, driver))
    assert "neural processor" in loader_checks.drivers(linux.machine()).found
    linux.environ["ZE_ENABLE_ALT_DRIVERS"] = driver.name
    finding = loader_checks.drivers(linux.machine())
    assert (finding.verdict, str(driver) in finding.found) == (BROKEN, True)


def test_windows_drivers(windows: Layout) -> None:
    assert loader_checks.drivers(windows.machine()).verdict == BROKEN
    driver = windows.root / "Windows/System32/DriverStore/FileRepository/iigd_dch.inf/ze_intel_gpu64.dll"
    windows.registry[rf"{CLASS}\0001"] = {"LevelZeroDriverPath": str(driver)}
    finding = loader_checks.drivers(windows.machine())
    assert finding.verdict == BROKEN
    assert "registered but not there" in finding.found
    write(driver)
    assert loader_checks.drivers(windows.machine()).details == (str(driver),)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Intel's real runtime, found as in its own environment."""
    path = intel_runtime("2026.1.2").parent.parent / "lib" / "libur_loader.so.0"
    monkeypatch.setattr(
        loader_checks, "find_runtime", lambda component: Runtime(str(path), "2026.1.2", "wheel")
    )
    return path


def no_kit(component: str) -> SDK:
    raise NotFoundError(f"no {component}")


def test_unified_runtime_and_its_adapters(
    linux: Layout, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for find, verdict in (
        (no_kit, OK),
        (lambda component: kit("2026.1.0"), OK),
        (lambda component: kit("2026.2.0"), BROKEN),
    ):
        monkeypatch.setattr(loader_checks, "find_sdk", find)
        finding = loader_checks.unified_runtime(linux.machine())
        assert finding.verdict == verdict
        assert "adapter libur_adapter_opencl.so.0" in finding.details
    assert finding.fix == "pip install unified-runtime-devel==2026.1.2"


def test_cpu_device(linux: Layout, runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OCL_ICD_FILENAMES", "OCL_ICD_VENDORS"):
        monkeypatch.delenv(name, raising=False)
    assert loader_checks.cpu_device(linux.machine()).verdict == OK
    bare = write(linux.folder / "bare" / runtime.name)
    monkeypatch.setattr(
        loader_checks, "find_runtime", lambda component: Runtime(str(bare), "2026.1.2", "wheel")
    )
    assert loader_checks.cpu_device(linux.machine()).verdict == NOT_APPLICABLE


def test_no_unified_runtime(linux: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader_checks, "find_runtime", no_kit)
    assert loader_checks.unified_runtime(linux.machine()).verdict == NOT_APPLICABLE
    assert loader_checks.cpu_device(linux.machine()).verdict == NOT_APPLICABLE
