"""torch's XPU streams as queues of Unified Runtime, so that kernels run in order with torch's own work.

torch gives the `sycl::queue*` of a stream as a number; SYCL's library has exported functions that tell its native queue,
and Unified Runtime takes that as its own. No C++ is needed. Commands that SYCL itself holds back (host tasks) are not seen
by the native queue; torch submits none.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from .._errors import NotFoundError, XpuDevError
from .._runtime import loaded_paths
from .._ur import Device, UnifiedRuntime
from .._ur_api import (
    Backend,
    ContextNativeProperties,
    QueueNativeDescription,
    QueueNativeProperties,
    QueueProperties,
    StructureType,
)
from ._session import Session


class Symbols(NamedTuple):
    """The member functions of one major of SYCL: `sycl::queue::getNative` and what leads to context and device."""

    queue_native: str
    queue_backend: str
    queue_context: str
    queue_device: str
    context_native: str
    device_native: str


_ITANIUM = Symbols(
    "_ZNK4sycl3_V15queue9getNativeERi",
    "_ZNK4sycl3_V15queue11get_backendEv",
    "_ZNK4sycl3_V15queue11get_contextEv",
    "_ZNK4sycl3_V15queue10get_deviceEv",
    "_ZNK4sycl3_V17context9getNativeEv",
    "_ZNK4sycl3_V16device9getNativeEv",
)
_MSVC = Symbols(
    "?getNative@queue@_V1@sycl@@QEBA_KAEAH@Z",
    "?get_backend@queue@_V1@sycl@@QEBA?AW4backend@23@XZ",
    "?get_context@queue@_V1@sycl@@QEBA?AVcontext@23@XZ",
    "?get_device@queue@_V1@sycl@@QEBA?AVdevice@23@XZ",
    "?getNative@context@_V1@sycl@@AEBA_KXZ",
    "?getNative@device@_V1@sycl@@AEBA_KXZ",
)
# Exported names of Intel's libraries, release 2025.3.3 (8) and 2026.2.0 (9), by the name of the file.
LIBRARIES = {
    "libsycl.so.8": _ITANIUM,
    "libsycl.so.9": _ITANIUM,
    "sycl8.dll": _MSVC,
    "sycl9.dll": _MSVC._replace(queue_native="?getNative@queue@_V1@sycl@@AEBA_KAEAH@Z"),
}
# `sycl::backend` in numbers of `ur_backend_t`.
BACKENDS = {1: Backend.OPENCL, 2: Backend.LEVEL_ZERO}
# More than the largest class that is returned: `sycl::context` is a `std::shared_ptr`.
_OBJECT_WORDS = 8
ALTERNATIVE = 'activate(queue="own") with arrays of this module, or Triton\'s own driver'


class NativeQueue(NamedTuple):
    """A SYCL queue in the terms of its backend; `description` is Level Zero's kind of queue."""

    backend: int
    queue: int
    description: int
    context: int
    device: int


class Sycl:
    """The SYCL library that this process, and so torch, has loaded; raise XpuDevError when it is not a known one."""

    def __init__(self) -> None:
        found = [(path, name) for name in LIBRARIES for path in loaded_paths((name,))]
        if len(found) != 1:
            raise NotFoundError(
                "torch's queue cannot be shared: its SYCL library is not known",
                wanted=f"one of {', '.join(LIBRARIES)} in this process",
                found=", ".join(path for path, _ in found) or "none of them",
                fix=ALTERNATIVE,
            )
        ((self.path, name),) = found
        library = ctypes.CDLL(self.path)
        missing = [symbol for symbol in LIBRARIES[name] if not hasattr(library, symbol)]
        if missing:
            raise NotFoundError(
                "torch's queue cannot be shared: its SYCL library lacks a function",
                wanted=", ".join(missing),
                looked_in=(self.path,),
                fix=ALTERNATIVE,
            )
        names = LIBRARIES[name]._asdict()
        self._call: Any = SimpleNamespace(**{field: library[symbol] for field, symbol in names.items()})
        for field in names:
            function = getattr(self._call, field)
            function.argtypes, function.restype = (ctypes.c_void_p,), ctypes.c_uint64
        self._call.queue_native.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        self._call.queue_backend.restype = ctypes.c_int8
        for function in (self._call.queue_context, self._call.queue_device):
            function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_void_p), None
        self._windows = name.endswith(".dll")

    def native(self, queue: int) -> NativeQueue:
        """Return what is behind a `sycl::queue*`; raise XpuDevError when its backend is not a known one."""
        backend = self._call.queue_backend(queue)
        if backend not in BACKENDS:
            raise XpuDevError(
                "torch's queue cannot be shared: it is neither on Level Zero nor on OpenCL",
                found=f"sycl::backend {backend}",
                fix=ALTERNATIVE,
            )
        description = ctypes.c_int()
        native = self._call.queue_native(queue, ctypes.addressof(description))
        context = self._call.context_native(self._object(self._call.queue_context, queue))
        device = self._call.device_native(self._object(self._call.queue_device, queue))
        return NativeQueue(BACKENDS[backend], native, description.value, context, device)

    def _object(self, function: Any, queue: int) -> Any:
        """Return the memory of a returned class.

        It is never destroyed: its hold on what is behind it is ours, and lasts as long as the process. Both ABIs give
        such a class back in memory of the caller, whose address comes first on Linux and after `this` on Windows.
        """
        memory = (ctypes.c_uint64 * _OBJECT_WORDS)()
        both = (ctypes.addressof(memory), queue)
        function(*reversed(both) if self._windows else both)
        return memory


class TorchStreams:
    """torch's XPU devices among those of a driver, and the queues of its current streams."""

    def __init__(self, xpu: Any, runtime: UnifiedRuntime, devices: Sequence[Device]) -> None:
        """Find torch's devices; `devices` are those, by torch's numbers. Raise XpuDevError when one is not among ours."""
        self._xpu = xpu
        self._runtime = runtime
        self._sycl = Sycl()
        by_handle = {(device.backend, native_device(runtime, device)): device for device in devices}
        natives = [self.native(number) for number in range(xpu.device_count())]
        found = [by_handle.get((native.backend, native.device)) for native in natives]
        self.devices = [device for device in found if device]
        if len(self.devices) != len(natives):
            raise XpuDevError(
                "torch's queue cannot be shared: it is on a device that this driver does not use",
                found=", ".join(map(repr, devices)),
                fix=ALTERNATIVE,
            )

    def pointer(self, number: int) -> int:
        """Return the `sycl::queue*` of torch's current stream on a device."""
        return int(self._xpu.current_stream(number).sycl_queue)

    def native(self, number: int) -> NativeQueue:
        """Return the native queue of torch's current stream on a device."""
        return self._sycl.native(self.pointer(number))

    def told(self, queue: int) -> NativeQueue:
        """Return the native queue of a `sycl::queue*`."""
        return self._sycl.native(queue)

    def current_device(self) -> int:
        """Return torch's current device."""
        return int(self._xpu.current_device())

    def set_current_device(self, number: int) -> None:
        """Make a device torch's current one."""
        self._xpu.set_device(number)


class TorchSession(Session):
    """A device that torch uses: torch's context, and as queue the one of torch's current stream, in order with torch.

    Streams that torch keeps for ever, as all of its own are, are taken over once each.
    """

    def __init__(self, runtime: UnifiedRuntime, streams: TorchStreams, number: int) -> None:
        self.runtime = runtime
        self.device = streams.devices[number]
        self.profiling = False
        self._streams = streams
        self._number = number
        self._queues: dict[int, int] = {}
        self._native_context = streams.native(number).context
        handle = ctypes.c_void_p(self.device.handle)
        properties = ContextNativeProperties(StructureType.CONTEXT_NATIVE_PROPERTIES, None, False)
        self.context = runtime.created(
            "urContextCreateWithNativeHandle", self._native_context, self.device.adapter,
            1, ctypes.byref(handle), ctypes.byref(properties),
        )  # fmt: skip

    @property
    def queue(self) -> int:
        """The queue of torch's current stream; raise XpuDevError when the stream is of another context."""
        pointer = self._streams.pointer(self._number)
        queue = self._queues.get(pointer)
        if queue is None:
            queue = self._queues[pointer] = self._imported(self._streams.told(pointer))
        return queue

    def _imported(self, native: NativeQueue) -> int:
        if native.context != self._native_context:
            raise XpuDevError(
                "torch's current stream is of another SYCL context than its device's, so kernels and memory are not its own",
                fix="launch on a stream that torch made, not on an external one",
            )
        data = ctypes.c_int(native.description)
        in_order = QueueProperties(StructureType.QUEUE_PROPERTIES, None, 0)
        description = QueueNativeDescription(
            StructureType.QUEUE_NATIVE_DESC, ctypes.addressof(in_order), ctypes.addressof(data)
        )
        properties = QueueNativeProperties(
            StructureType.QUEUE_NATIVE_PROPERTIES, ctypes.addressof(description), False
        )
        return self.runtime.created(
            "urQueueCreateWithNativeHandle",
            native.queue, self.context, self.device.handle, ctypes.byref(properties),
        )  # fmt: skip


def native_device(runtime: UnifiedRuntime, device: Device) -> int:
    """Return the device's handle in its backend."""
    return runtime.created("urDeviceGetNativeHandle", device.handle)


def torch_xpu() -> Any:
    """Return `torch.xpu` when torch is imported and has an XPU, None when it has none, False while torch is not imported."""
    torch = sys.modules.get("torch")
    xpu = getattr(torch, "xpu", None)
    if xpu is None:
        return False
    return xpu if xpu.is_available() else None
