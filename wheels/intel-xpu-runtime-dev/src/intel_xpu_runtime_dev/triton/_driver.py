"""The driver object that Triton calls."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from .._ur import Device, UnifiedRuntime, URError, chosen_device
from .._ur_api import DeviceInfo
from . import _memory, _program, _target
from ._launch import CtypesLauncher
from ._layout import LEADING_ARGUMENTS, Layout, Loaded, layout, local_bytes, with_expanded_descriptors
from ._session import Session
from ._timing import DeviceInterface
from ._versions import Contract, contract

BENCHMARK_CACHE_BYTES = 256 << 20


class Driver:
    """A driver for Triton on Unified Runtime. Triton's sources name its methods; nothing of torch or SYCL is needed.

    `devices` are the devices by the number that Triton uses; `native_launcher` is the C extension's module or None.
    """

    def __init__(
        self,
        runtime: UnifiedRuntime,
        devices: Sequence[Device],
        *,
        profiling: bool,
        native_launcher: ModuleType | None,
    ) -> None:
        import triton

        self.contract: Contract = contract(triton.__version__)
        self.runtime = runtime
        self.devices = list(devices)
        self.native_launcher = native_launcher
        self.utils = Utilities(self)
        self._profiling = profiling
        self._current = 0
        self._sessions: dict[int, Session] = {}
        self._loaded: dict[int, Loaded] = {}
        self._interface = DeviceInterface(self.session)

    def session(self, device: int | None = None) -> Session:
        """Return the context and queue of a device, of the current one without a number."""
        number = self._current if device is None else device
        if number not in self._sessions:
            self._sessions[number] = Session(self.runtime, self.devices[number], profiling=self._profiling)
        return self._sessions[number]

    # What Triton calls.

    @classmethod
    def is_active(cls) -> bool:
        """Return True: this driver is set, not discovered."""
        return True

    def get_current_device(self) -> int:
        """Return the number of the device that launches go to."""
        return self._current

    def set_current_device(self, device: int) -> None:
        """Send launches to another device."""
        self.session(device)
        self._current = device

    def get_current_stream(self, device: int) -> int:
        """Return the queue that launches go to."""
        return self.session(device).queue

    def get_current_target(self) -> Any:
        """Return what the compiler compiles for."""
        return self._target(self._current)

    @functools.cached_property
    def _targets(self) -> dict[int, Any]:
        return {}

    def _target(self, device: int) -> Any:
        if device not in self._targets:
            from triton.backends.compiler import GPUTarget

            properties = _target.properties(self.devices[device])
            self._targets[device] = GPUTarget("xpu", properties, max(properties["sub_group_sizes"]))
        return self._targets[device]

    def get_active_torch_device(self) -> Any:
        """Return torch's name for the current device; needs torch."""
        import torch

        return torch.device("xpu", self._current)

    def get_device_interface(self) -> DeviceInterface:
        """Return the timers and the wait of the current device."""
        return self._interface

    def get_benchmarker(self) -> Callable[..., Any]:
        """Return Triton's `do_bench`, with timers that work without torch."""
        from triton import testing

        self.give_timers_to(testing)
        return testing.do_bench  # type: ignore[no-any-return]

    def give_timers_to(self, testing: Any) -> None:
        """Replace torch's events in `triton.testing`, which takes them from the device interface in newer versions."""
        if hasattr(testing, "_support_elapsed_time"):
            testing.Event = self._interface.Event

    def get_empty_cache_for_benchmark(self) -> _memory.Array:
        """Return memory larger than a GPU's last cache, to be written between measurements."""
        return _memory.empty(self.session(), (BENCHMARK_CACHE_BYTES,), "int8")

    def clear_cache(self, cache: _memory.Array) -> None:
        """Overwrite the caches of the device."""
        cache.zero_()

    def map_python_to_cpp_type(self, kind: str) -> str:
        """Refuse: this driver compiles no C++."""
        raise NotImplementedError(f"no C++ type for {kind}: the Unified Runtime driver compiles no launchers")

    def launcher_cls(self, src: Any, metadata: Any) -> Callable[..., None]:
        """Return a function that launches a kernel, for Triton's source object and metadata."""
        plan = layout(src, metadata, self.contract)
        verify = functools.partial(self._verified, plan)
        if self.native_launcher is not None:
            launch = self.native_launcher.launcher(
                _addresses(self.runtime),
                "".join(slot.code for slot in plan.slots).encode(),
                tuple(slot.path for slot in plan.slots),
                plan.scratch_pointers,
                plan.threads,
                verify,
                _fail,
            )
        else:
            launch = CtypesLauncher(self.runtime, plan, verify, _fail)
        if not plan.descriptors:
            return launch  # type: ignore[no-any-return]
        flags = self.contract.descriptor_flags or 0

        def expanding(*arguments: Any) -> None:
            own = with_expanded_descriptors(arguments[LEADING_ARGUMENTS:], plan.descriptors, flags)
            launch(*arguments[:LEADING_ARGUMENTS], *own)

        return expanding

    # What the utilities and launchers call.

    def remember(self, kernel: int, loaded: Loaded) -> None:
        """Keep what a kernel says about itself for the check before its first launch."""
        self._loaded[kernel] = loaded

    def _verified(self, plan: Layout, kernel: int) -> int:
        loaded = self._loaded[kernel]
        if plan.threads > loaded.max_threads:
            from triton.runtime.errors import OutOfResources

            raise OutOfResources(plan.threads, loaded.max_threads, "threads")
        return local_bytes(plan, loaded)


class Utilities:
    """What Triton calls `driver.utils`."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

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
        module, loaded, built = _program.load(self._driver.session(device), name, binary, build_flags)
        self._driver.remember(module.kernel, loaded)
        result = (module, module.kernel, built.registers, built.spill)
        return (*result, loaded.max_threads) if self._driver.contract.returns_threads else result

    def unload_module(self, module: _program.Module) -> None:
        """Release a kernel and its program."""
        module.release()

    def wait(self) -> None:
        """Wait for the current device."""
        self._driver.session().synchronize()

    def get_current_device(self) -> int:
        """Return the number of the device that launches go to."""
        return self._driver.get_current_device()


def create(device: str, *, profiling: bool, native_launcher: ModuleType | None) -> Driver:
    """Return a driver for all devices of the kind of the chosen one, which becomes the current device."""
    runtime = UnifiedRuntime()
    devices = runtime.devices()
    chosen = chosen_device(devices, device)
    alike = [other for other in devices if other.type == chosen.type]
    driver = Driver(runtime, alike, profiling=profiling, native_launcher=native_launcher)
    driver.set_current_device(alike.index(chosen))
    return driver


def _addresses(runtime: UnifiedRuntime) -> tuple[int, ...]:
    """Return the functions that the C launcher calls; the first is 0 before 2026.0, the others are from 2026.2 on."""
    names = (
        "urEnqueueKernelLaunchWithArgsExp",
        "urKernelSetArgValue",
        "urKernelSetArgPointer",
        "urKernelSetArgLocal",
        "urEnqueueKernelLaunch",
    )
    return tuple(runtime.address(name) for name in names)


def _fail(result: int) -> None:
    raise _program.out_of_resources(result) or URError("the launch of a Triton kernel", result)
