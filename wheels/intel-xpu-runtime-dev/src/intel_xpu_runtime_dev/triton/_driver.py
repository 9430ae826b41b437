"""The driver object that Triton calls."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from .._errors import XpuDevError
from .._ur import Device, UnifiedRuntime, URError, chosen_device
from .._ur_api import DeviceType
from .._versions import is_number
from . import _memory, _program, _target
from ._launch import ctypes_launcher
from ._layout import LEADING_ARGUMENTS, Layout, Loaded, layout, local_bytes, with_expanded_descriptors
from ._session import Session
from ._timing import DeviceInterface
from ._torch_queue import TorchSession, TorchStreams, torch_xpu
from ._utilities import Utilities
from ._versions import Contract, contract

BENCHMARK_CACHE_BYTES = 256 << 20


class Driver:
    """A driver for Triton on Unified Runtime. Triton's sources name its methods; nothing of torch or SYCL is needed.

    `devices` are the devices by the number that Triton uses, torch's number once launches go to torch's streams;
    `queue` is "auto", "torch" or "own"; `native_launcher` is the C extension's module or None.
    """

    def __init__(
        self,
        runtime: UnifiedRuntime,
        devices: Sequence[Device],
        *,
        profiling: bool,
        queue: str,
        native_launcher: ModuleType | None,
    ) -> None:
        import triton

        self.contract: Contract = contract(triton.__version__)
        self.runtime = runtime
        self.devices = list(devices)
        self.native_launcher = native_launcher
        # What `activate` was called with.
        self.options: dict[str, str] = {}
        self.utils = Utilities(self)
        self._profiling = profiling
        self._queue_wanted = queue
        # None until torch is imported, or for good where its queues are not wanted.
        self._torch: TorchStreams | None = None
        self._watches_for_torch = queue == "torch" or (queue == "auto" and devices[0].type == DeviceType.GPU)
        self._current = 0
        self._sessions: dict[int, Session] = {}
        self._loaded: dict[int, Loaded] = {}
        # Two threads may ask for the first session, or load the first kernel, at once.
        self.lock = threading.RLock()
        self._interface = DeviceInterface(self.session, self.get_current_device)

    def session(self, device: int | None = None) -> Session:
        """Return the context and queue of a device, of the current one without a number."""
        number = self.get_current_device() if device is None else device
        if self._watches_for_torch and "torch" in sys.modules:
            self._follow_torch()
        return self._sessions.get(number) or self._new_session(number)

    def _new_session(self, number: int) -> Session:
        with self.lock:
            if number not in self._sessions:
                self._sessions[number] = (
                    TorchSession(self.runtime, self._torch, number)
                    if self._torch
                    else Session(self.runtime, self.devices[number], profiling=self._profiling)
                )
            return self._sessions[number]

    @property
    def is_used(self) -> bool:
        """Whether arrays or kernels may live in a context of this driver."""
        return bool(self._loaded) or any(session.has_memory for session in self._sessions.values())

    def _follow_torch(self) -> None:
        """Let launches go to torch's streams when torch has an XPU; raise XpuDevError when they cannot."""
        xpu = torch_xpu()
        if xpu is False:  # still being imported
            return
        if xpu is None:
            if self._queue_wanted == "torch":
                raise XpuDevError("this torch has no XPU device", fix='activate(queue="auto")')
            self._watches_for_torch = False
            return
        if self._sessions:
            raise XpuDevError(
                "torch with an XPU came after kernels or arrays that know nothing of its queue",
                fix='import torch before activate(), or activate(queue="own") to stay out of order with it',
            )
        if self._profiling:
            raise XpuDevError("torch's queues do not measure device time", fix='activate(timing="wall")')
        streams = TorchStreams(xpu, self.runtime, self.devices)
        self.devices = streams.devices
        self._torch = streams
        self._watches_for_torch = False

    @property
    def follows_torch(self) -> bool:
        """Whether launches go to torch's current streams."""
        return self._torch is not None

    # What Triton calls.

    @classmethod
    def is_active(cls) -> bool:
        """Return True: this driver is set, not discovered."""
        return True

    def get_current_device(self) -> int:
        """Return the number of the device that launches go to."""
        if self._watches_for_torch and "torch" in sys.modules:
            self._follow_torch()
        return self._torch.current_device() if self._torch else self._current

    def set_current_device(self, device: int) -> None:
        """Send launches to another device."""
        self.session(device)
        if self._torch:
            self._torch.set_current_device(device)
        self._current = device

    def get_current_stream(self, device: int) -> int:
        """Return the queue that launches go to."""
        return self.session(device).queue

    def get_current_target(self) -> Any:
        """Return what the compiler compiles for."""
        return self._target(self.get_current_device())

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

        return torch.device("xpu", self.get_current_device())

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
            launch = ctypes_launcher(self.runtime, plan, verify, _fail)
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


def create(
    device: str, *, profiling: bool, queue: str = "auto", native_launcher: ModuleType | None
) -> Driver:
    """Return a driver for all devices of the kind of the chosen one, which becomes the current device.

    Where launches go to torch's streams, torch's current device stays unless a number says otherwise.
    """
    runtime = UnifiedRuntime()
    devices = runtime.devices()
    chosen = chosen_device(devices, device)
    alike = [other for other in devices if other.type == chosen.type]
    driver = Driver(runtime, alike, profiling=profiling, queue=queue, native_launcher=native_launcher)
    current = driver.devices[driver.get_current_device()]
    if queue == "torch" and not driver.follows_torch:
        raise XpuDevError("torch is not imported", fix="import torch before activate()")
    if current is not chosen and (is_number(device) or not driver.follows_torch):
        if chosen not in driver.devices:
            raise XpuDevError(f"torch does not use device {device}, {chosen!r}", fix='activate(queue="own")')
        driver.set_current_device(driver.devices.index(chosen))
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
