"""What Triton calls a driver's utilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._ur_api import DeviceInfo
from . import _program, _target

if TYPE_CHECKING:
    from ._driver import Driver
    from ._layout import Loaded


class Utilities:
    """What Triton calls `driver.utils`."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        # Two threads that launch a kernel for the first time both load it, and Triton drops one of the results.
        self._modules: dict[tuple[int, str, bytes, str], tuple[_program.Module, Loaded, _program.Built]] = {}

    def get_device_properties(self, device: int) -> dict[str, Any]:
        """Return limits of a device: bytes, MHz, bits, counts."""
        found = self._driver.devices[device]
        properties = _target.properties(found)
        return {
            "max_shared_mem": found.number(DeviceInfo.LOCAL_MEM_SIZE),
            "multiprocessor_count": properties["gpu_subslice_count"]
            or found.number(DeviceInfo.MAX_COMPUTE_UNITS),
            "sm_clock_rate": found.number(DeviceInfo.MAX_CLOCK_FREQUENCY),
            "mem_clock_rate": found.number(DeviceInfo.MEMORY_CLOCK_RATE),
            "mem_bus_width": found.number(DeviceInfo.MEMORY_BUS_WIDTH),
            "max_work_group_size": properties["max_work_group_size"],
            "max_num_sub_groups": properties["max_num_sub_groups"],
            "sub_group_sizes": tuple(properties["sub_group_sizes"]),
        }

    def load_binary(
        self, name: str, binary: bytes, shared: int, build_flags: str, device: int, *more: Any
    ) -> tuple[Any, ...]:
        """Return (module, function, registers, spilled bytes), and in newer versions the greatest number of threads."""
        key = (device, name, binary, build_flags)
        with self._driver.lock:
            if key not in self._modules:
                self._modules[key] = _program.load(self._driver.session(device), name, binary, build_flags)
            module, loaded, built = self._modules[key]
            self._driver.remember(module.kernel, loaded)
        result = (module, module.kernel, built.registers, built.spill)
        return (*result, loaded.max_threads) if self._driver.contract.returns_threads else result

    def unload_module(self, module: _program.Module) -> None:
        """Let a kernel and its program go; they are released when nobody holds them any more."""
        with self._driver.lock:
            self._modules = {key: known for key, known in self._modules.items() if known[0] is not module}

    def wait(self) -> None:
        """Wait for the current device."""
        self._driver.session().synchronize()

    def get_current_device(self) -> int:
        """Return the number of the device that launches go to."""
        return self._driver.get_current_device()
