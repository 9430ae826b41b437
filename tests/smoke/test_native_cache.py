"""The key of a kept native binary: backend, device, driver, options and SPIR-V, each for itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from intel_xpu_runtime_dev.smoke import native_cache
from intel_xpu_runtime_dev.smoke.shipped import kernel
from intel_xpu_runtime_dev.smoke.stages import Device

BACKEND = "unified-runtime"
DEVICE = Device(0, "gpu", "a device", "1.2.3")
KERNEL = kernel("add", 16, "gpu")


def test_same_device_driver_and_kernel_are_the_same_entry() -> None:
    # The place in the list may change when another device is plugged in.
    other = native_cache.entry(BACKEND, DEVICE._replace(number=5), KERNEL)
    assert other == native_cache.entry(BACKEND, DEVICE, KERNEL)


@pytest.mark.parametrize("change", [{"type": "cpu"}, {"name": "another device"}, {"driver": "1.2.4"}])
def test_another_device_or_driver_is_another_entry(change: dict[str, Any]) -> None:
    other = native_cache.entry(BACKEND, DEVICE._replace(**change), KERNEL)
    assert other != native_cache.entry(BACKEND, DEVICE, KERNEL)


@pytest.mark.parametrize("change", [{"spirv": KERNEL.spirv + b"\0\0\0\0"}, {"options": "-O0"}])
def test_another_kernel_is_another_entry(change: dict[str, Any]) -> None:
    other = native_cache.entry(BACKEND, DEVICE, KERNEL._replace(**change))
    assert other != native_cache.entry(BACKEND, DEVICE, KERNEL)


def test_another_backend_is_another_entry() -> None:
    assert native_cache.entry("level-zero", DEVICE, KERNEL) != native_cache.entry(BACKEND, DEVICE, KERNEL)


def test_a_user_without_a_home_has_no_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container started for a number that its user database lacks, without HOME."""

    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("XPU_DEV_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    assert native_cache.entry(BACKEND, DEVICE, KERNEL) is None


def test_fields_do_not_run_together() -> None:
    one = native_cache.entry(BACKEND, DEVICE._replace(name="ab", driver="c"), KERNEL)
    assert one != native_cache.entry(BACKEND, DEVICE._replace(name="a", driver="bc"), KERNEL)
