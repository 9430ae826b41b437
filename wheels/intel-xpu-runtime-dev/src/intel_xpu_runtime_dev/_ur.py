"""Unified Runtime by ctypes, for every release from 2025.0 on: the one binding that this package has.

Imported on demand only.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from ctypes import byref, c_char_p, c_size_t, c_uint32, c_void_p
from typing import Any

from ._errors import NotFoundError, XpuDevError
from ._results import LoadedRuntime
from ._ur_api import (
    BUILD_INFO_LOG,
    FUNCTIONS,
    HANDLE,
    LAUNCH,
    LAUNCH_WITH_SET,
    ArgumentType,
    DeviceInfo,
    DeviceType,
    KernelArgument,
    PlatformInfo,
    ProgramInfo,
    Result,
    StructureType,
)
from ._versions import is_number


class URError(XpuDevError):
    """A call of Unified Runtime that failed; `result` is its `ur_result_t`."""

    def __init__(self, function: str, result: int, detail: str = "") -> None:
        names = {int(member): f"UR_RESULT_ERROR_{member.name}" for member in Result}
        super().__init__(
            f"{function} failed with {names.get(result, 'ur_result_t')} ({result})", found=detail
        )
        self.function = function
        self.result = result


class UnifiedRuntime:
    """The loaded library, initialised; every function of `FUNCTIONS` that this release has is an attribute."""

    def __init__(self, loaded: LoadedRuntime | None = None) -> None:
        """Initialise a runtime that is loaded already, else the one that the search finds."""
        if loaded is None:
            from ._runtime import load_runtime

            offer_cpu_device()
            loaded = load_runtime("unified-runtime")
        self.path = loaded.path
        self.version = loaded.version
        # PyDLL keeps the interpreter lock: a launch sets arguments in the kernel object and then enqueues, which must
        # not interleave with another thread's, and needs less time than giving the lock away. `slow` calls release it.
        self._quick = ctypes.PyDLL(loaded.path)
        self._slow = loaded.library
        self.has_launch_with_arguments = hasattr(self._slow, LAUNCH)
        # For callers whose launches are several calls: the arguments are state of the kernel.
        self.launch_lock = threading.Lock()
        self._check_functions()
        for library in (self._quick, self._slow):
            for name, arguments in FUNCTIONS.items():
                if hasattr(library, name):
                    getattr(library, name).argtypes = arguments
        self.call("urLoaderInit", 0, None)

    def _check_functions(self) -> None:
        lacking = [name for name in FUNCTIONS if not hasattr(self._slow, name)]
        can_launch = self.has_launch_with_arguments or LAUNCH_WITH_SET.isdisjoint(lacking)
        missing = [
            name for name in lacking if name not in LAUNCH_WITH_SET and (name != LAUNCH or not can_launch)
        ]
        if missing:
            raise XpuDevError(
                f"the Unified Runtime loader lacks a function: {', '.join(missing)}",
                wanted="release 2025.0 or later",
                found=self.path,
                fix="pip install --upgrade intel-cmplr-lib-ur",
            )

    def call(self, function: str, *arguments: object) -> None:
        """Call a function that returns a `ur_result_t`; raise URError when that is not success."""
        result = getattr(self._slow, function)(*arguments)
        if result:
            raise URError(function, result)

    def quick(self, function: str) -> ctypes._NamedFuncPointer:
        """Return a function that keeps the interpreter lock."""
        return getattr(self._quick, function)  # type: ignore[no-any-return]

    def address(self, function: str) -> int:
        """Return where a function is, for native code; 0 when this release does not have it."""
        if not hasattr(self._slow, function):
            return 0
        return ctypes.cast(getattr(self._slow, function), c_void_p).value or 0

    def created(self, function: str, *arguments: object) -> int:
        """Call a function whose last parameter receives a handle or pointer; return that."""
        handle = HANDLE()
        self.call(function, *arguments, byref(handle))
        return handle.value or 0

    def handles(self, function: str, *arguments: object) -> list[int]:
        """Call a function that fills a list of handles; return them."""
        count = c_uint32()
        self.call(function, *arguments, 0, None, byref(count))
        found = (HANDLE * count.value)()
        if count.value:
            self.call(function, *arguments, count.value, found, None)
        return [handle for handle in found if handle]

    def told(self, function: str, *arguments: object) -> bytes:
        """Return what a `ur...GetInfo` function tells; raise URError when it does not."""
        size = c_size_t()
        self.call(function, *arguments, 0, None, byref(size))
        # Some adapters write fewer bytes than they announce: the rest must be zero.
        buffer = ctypes.create_string_buffer(max(size.value, 8))
        self.call(function, *arguments, size.value, buffer, None)
        return buffer.raw[: size.value]

    def info(self, function: str, *arguments: object) -> bytes | None:
        """Return what a `ur...GetInfo` function tells; None when the device or release does not know it."""
        try:
            return self.told(function, *arguments)
        except URError:
            return None

    def devices(self) -> list[Device]:
        """Return every device of every adapter, GPUs first, in the runtime's order."""
        found = [
            Device(self, adapter, platform, handle)
            for adapter in self.handles("urAdapterGet")
            for platform in self._platforms(adapter)
            for handle in self._devices(platform)
        ]
        return sorted(found, key=lambda device: device.type != DeviceType.GPU)

    def _platforms(self, adapter: int) -> list[int]:
        try:
            return self.handles("urPlatformGet", adapter)
        except URError:  # an adapter without its driver
            return []

    def _devices(self, platform: int) -> list[int]:
        try:
            return self.handles("urDeviceGet", platform, DeviceType.ALL)
        except URError:  # UR_RESULT_ERROR_DEVICE_NOT_FOUND
            return []

    def build(self, context: int, device: Device, program: int, options: str) -> None:
        """Compile a program; raise URError with the device's own log when it cannot."""
        try:
            self.call("urProgramBuild", context, program, options.encode())
        except URError as error:
            log = self.info("urProgramGetBuildInfo", program, device.handle, BUILD_INFO_LOG) or b""
            text = log.split(b"\0")[0].decode(errors="replace").strip()
            raise URError(error.function, error.result, text or "the device gives no log") from None

    def program_from_spirv(self, context: int, device: Device, module: bytes, options: str = "") -> int:
        """Return a program built from SPIR-V."""
        program = self.created("urProgramCreateWithIL", context, module, len(module), None)
        self._build_or_release(context, device, program, options)
        return program

    def program_from_native(self, context: int, device: Device, binary: bytes, options: str = "") -> int:
        """Return a program built from a binary that `native_binary` returned for the same device and driver."""
        handle, size = HANDLE(device.handle), c_size_t(len(binary))
        data = ctypes.cast(c_char_p(binary), c_void_p)
        program = self.created(
            "urProgramCreateWithBinary", context, 1, byref(handle), byref(size), byref(data), None
        )
        self._build_or_release(context, device, program, options)
        return program

    def _build_or_release(self, context: int, device: Device, program: int, options: str) -> None:
        try:
            self.build(context, device, program, options)
        except URError:
            self.call("urProgramRelease", program)
            raise

    def native_binary(self, program: int) -> bytes:
        """Return the device's machine code of a built program for one device, empty when it gives none."""
        sizes = self.told("urProgramGetInfo", program, ProgramInfo.BINARY_SIZES)
        size = int.from_bytes(sizes[:8], "little")
        if not size:
            return b""
        binary = ctypes.create_string_buffer(size)
        places = (c_void_p * 1)(ctypes.addressof(binary))
        self.call("urProgramGetInfo", program, ProgramInfo.BINARIES, ctypes.sizeof(places), places, None)
        return binary.raw

    def launch(
        self,
        queue: int,
        kernel: int,
        global_size: Sequence[int],
        local_size: Sequence[int],
        arguments: Sequence[KernelArgument],
    ) -> None:
        """Enqueue a kernel over 1 to 3 dimensions of work-items; raise URError that names the call that failed."""
        dimensions = len(global_size)
        sizes = (c_size_t * dimensions)(*global_size)
        locals_ = (c_size_t * dimensions)(*local_size)
        list_ = (KernelArgument * len(arguments))(*arguments)
        enqueue = self._either_launch(lambda name: functools.partial(self.call, name))
        enqueue(queue, kernel, dimensions, None, sizes, locals_, len(arguments), list_, None, 0, None, None)

    @property
    def enqueue(self) -> Callable[..., Any]:
        """The function that takes the parameters of `urEnqueueKernelLaunchWithArgsExp` and returns a `ur_result_t`."""
        return self._either_launch(self.quick)

    @property
    def bare_enqueue(self) -> Callable[..., Any]:
        """`enqueue` without conversion of its arguments: handles and pointers must be objects of ctypes."""
        if not self.has_launch_with_arguments:
            return self.enqueue
        # By index, not by name, each is a new function without the types that were set.
        return self._quick[LAUNCH]

    def _either_launch(self, function: Callable[[str], Callable[..., Any]]) -> Callable[..., Any]:
        return function(LAUNCH) if self.has_launch_with_arguments else LaunchWithSetArguments(function)


class LaunchWithSetArguments:
    """`urEnqueueKernelLaunchWithArgsExp` for releases before 2026.0: sets each argument, then launches.

    Callers must not run two of these at once for one kernel object: its arguments are state.
    """

    def __init__(self, function: Callable[[str], Callable[..., Any]]) -> None:
        self._value = function("urKernelSetArgValue")
        self._pointer = function("urKernelSetArgPointer")
        self._local = function("urKernelSetArgLocal")
        # 9 parameters up to 2025.2, 11 in 2025.3, 10 in 2026.0 and 2026.1: eleven with only zeros behind the local
        # size are right for the first two, and the third has the newer function.
        self._launch = function("urEnqueueKernelLaunch")

    def __call__(
        self,
        queue: int,
        kernel: int,
        dimensions: int,
        offset: None,
        global_size: object,
        local_size: object,
        count: int,
        arguments: object,
        *_: object,
    ) -> Any:
        """Enqueue and return what the first function that fails returns, else the last one; the parameters behind the arguments must be empty."""
        listed = ctypes.cast(arguments, ctypes.POINTER(KernelArgument))  # type: ignore[arg-type]
        for argument in listed[:count]:
            result = self._set(kernel, argument)
            if result:
                return result
        return self._launch(
            queue, kernel, dimensions, offset, global_size, local_size, 0, None, 0, None, None
        )

    def _set(self, kernel: int, argument: KernelArgument) -> Any:
        if argument.type == ArgumentType.POINTER:
            return self._pointer(kernel, argument.index, None, argument.value)
        if argument.type == ArgumentType.LOCAL:
            return self._local(kernel, argument.index, argument.size, None)
        return self._value(kernel, argument.index, argument.size, None, argument.value)


class Device:
    """A device and what it says about itself."""

    def __init__(self, runtime: UnifiedRuntime, adapter: int, platform: int, handle: int) -> None:
        self._runtime = runtime
        self.adapter = adapter
        self.platform = platform
        self.handle = handle
        self.type = self.number(DeviceInfo.TYPE)
        self.name = self.text(DeviceInfo.NAME)

    def __repr__(self) -> str:
        kind = DeviceType(self.type).name if self.type in (DeviceType.GPU, DeviceType.CPU) else self.type
        return f"<{kind} {self.name!r} driver {self.text(DeviceInfo.DRIVER_VERSION)!r}>"

    @property
    def backend(self) -> int:
        """The `ur_backend_t` of the device's platform."""
        data = self._runtime.info("urPlatformGetInfo", self.platform, PlatformInfo.BACKEND) or b""
        return int.from_bytes(data[:4], "little")

    def info(self, key: int) -> bytes:
        """Return the bytes of a `ur_device_info_t`; empty when the device does not know it."""
        return self._runtime.info("urDeviceGetInfo", self.handle, key) or b""

    def number(self, key: int, default: int = 0) -> int:
        """Return an unsigned integer of at most 8 bytes; `default` when the device does not know it."""
        data = self.info(key)
        return int.from_bytes(data[:8], "little") if data else default

    def numbers(self, key: int) -> list[int]:
        """Return a list of 32-bit integers; empty when the device does not know it."""
        data = self.info(key)
        return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]

    def text(self, key: int) -> str:
        """Return a text; empty when the device does not know it."""
        return self.info(key).split(b"\0")[0].decode(errors="replace")


def value_argument(index: int, value: ctypes._SimpleCData[Any]) -> KernelArgument:
    """Return a by-value argument; the caller keeps `value` alive until the launch returns."""
    return KernelArgument(
        StructureType.EXP_KERNEL_ARG_PROPERTIES,
        None,
        ArgumentType.VALUE,
        index,
        ctypes.sizeof(value),
        ctypes.addressof(value),
    )


def pointer_argument(index: int, pointer: int) -> KernelArgument:
    """Return an argument that points to memory of the device."""
    return KernelArgument(
        StructureType.EXP_KERNEL_ARG_PROPERTIES, None, ArgumentType.POINTER, index, 8, pointer or None
    )


def local_argument(index: int, size: int) -> KernelArgument:
    """Return an argument that is work-group-local memory of a number of bytes."""
    return KernelArgument(
        StructureType.EXP_KERNEL_ARG_PROPERTIES, None, ArgumentType.LOCAL, index, size, None
    )


def offer_cpu_device() -> None:
    """Tell the OpenCL loader of Intel's CPU device when it came as a wheel: nothing registers it then.

    Must happen before the first look for platforms. What the user has set stays.
    """
    if os.environ.get("OCL_ICD_FILENAMES") or os.environ.get("OCL_ICD_VENDORS"):
        return
    library = "intelocl64.dll" if os.name == "nt" else "libintelocl.so"
    for place in _cpu_device_files(library):
        os.environ["OCL_ICD_FILENAMES"] = place
        return


def _cpu_device_files(library: str) -> Iterator[str]:
    from ._distributions import copies, files_of

    for copy in copies("intel-opencl-rt"):
        yield from files_of(copy, library)


def chosen_device(devices: Sequence[Device], wanted: str = "auto") -> Device:
    """Return the first device of a kind: "auto" (a GPU, else a CPU), "gpu", "cpu", or a number in the list.

    Raise NotFoundError with the devices that there are.
    """
    kinds = {"gpu": (DeviceType.GPU,), "cpu": (DeviceType.CPU,), "auto": (DeviceType.GPU, DeviceType.CPU)}
    if is_number(wanted) and int(wanted) < len(devices):
        return devices[int(wanted)]
    for kind in kinds.get(wanted, ()):
        for device in devices:
            if device.type == kind:
                return device
    raise NotFoundError(
        f"Unified Runtime has no device {wanted!r}",
        wanted="auto, gpu, cpu or a number in the list of devices",
        found=", ".join(map(repr, devices)) or "no device at all",
        fix="take a number of this list, from 0"
        if devices and is_number(wanted)
        else 'pip install "intel-xpu-runtime-dev[cpu]" for Intel\'s CPU device, or install the graphics driver',
    )
