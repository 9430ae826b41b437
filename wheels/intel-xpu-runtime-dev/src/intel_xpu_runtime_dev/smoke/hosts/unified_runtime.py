"""Unified Runtime's part of the ctypes host."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_int32

from ..._errors import XpuDevError
from ..._results import LoadedRuntime
from ..._ur import Device, UnifiedRuntime, URError, local_argument, pointer_argument, value_argument
from ..._ur_api import (
    DeviceInfo,
    DeviceType,
    KernelArgument,
    KernelGroupInfo,
    KernelInfo,
    KernelSubGroupInfo,
    Result,
)
from .channel import Argument, CallError, Job
from .flow import Listed, Module, run

KINDS = {int(DeviceType.CPU): "cpu", int(DeviceType.GPU): "gpu"}


class Host:
    """The backend on one device."""

    name = "unified-runtime"

    def load(self, path: str) -> str:
        """Load the runtime from a file."""
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            raise CallError("dlopen", detail=str(error)) from None
        try:
            with _failures():
                self.runtime = UnifiedRuntime(LoadedRuntime(library, path, None, ""))
        except XpuDevError as error:
            raise CallError("dlsym", detail=error.args[0]) from None
        return path

    def devices(self) -> tuple[list[Listed], str]:
        """Return the devices of every adapter, in the order of the compiled host."""
        self.found: list[Device] = []
        refused: list[CallError] = []
        platform_count = 0
        with _failures():
            adapters = self.runtime.handles("urAdapterGet")
        for adapter in adapters:
            # An adapter without its driver may refuse: that is remembered, others may do.
            try:
                with _failures():
                    platforms = self.runtime.handles("urPlatformGet", adapter)
                    platform_count += len(platforms)
                    for platform in platforms:
                        self._add_devices(adapter, platform)
            except CallError as failure:
                refused.append(failure)
        if refused and not self.found:
            raise CallError(refused[-1].call, refused[-1].result, "and no other adapter has a device")
        with _failures():
            listed = [self._listed(device.handle) for device in self.found]
        return listed, f"{len(adapters)} adapters, {platform_count} platforms"

    def _add_devices(self, adapter: int, platform: int) -> None:
        try:
            handles = self.runtime.handles("urDeviceGet", platform, DeviceType.ALL)
        except URError as error:
            if error.result == Result.DEVICE_NOT_FOUND:
                return
            raise
        self.found += [Device(self.runtime, adapter, platform, handle) for handle in handles]

    def _listed(self, device: int) -> Listed:
        keys = (DeviceInfo.TYPE, DeviceInfo.NAME, DeviceInfo.DRIVER_VERSION)
        kind, name, driver = (self.runtime.told("urDeviceGetInfo", device, key) for key in keys)
        return Listed(KINDS.get(int.from_bytes(kind[:8], "little"), "other"), _text(name), _text(driver))

    def open(self, index: int, work_group: int) -> None:
        """Make a context and a queue on a device."""
        self.device = self.found[index]
        device = ctypes.c_void_p(self.device.handle)
        with _failures():
            self.context = self.runtime.created("urContextCreate", 1, byref(device), None)
            self.queue = self.runtime.created("urQueueCreate", self.context, self.device.handle, None)

    def from_spirv(self, spirv: bytes, entry: str, options: str) -> Module:
        """JIT-compile a module."""
        with _failures():
            program = self.runtime.program_from_spirv(self.context, self.device, spirv, options)
            return self._kernel(program, entry)

    def from_native(self, native: bytes, entry: str, options: str) -> Module | None:
        """Load a native binary; return None when the driver does not take it."""
        try:
            program = self.runtime.program_from_native(self.context, self.device, native, options)
            return self._kernel(program, entry)
        except URError:
            return None

    def _kernel(self, program: int, entry: str) -> Module:
        return Module(program, self.runtime.created("urKernelCreate", program, entry.encode()))

    def native_binary(self, module: Module) -> bytes:
        """Return a module's native binary."""
        with _failures():
            binary = self.runtime.native_binary(module.program)
        if not binary:
            raise CallError("urProgramGetInfo", detail="the device gives no native binary")
        return binary

    def properties(self, module: Module, job: Job) -> str:
        """Return what the driver tells of a kernel."""
        kernel = module.kernel
        device = self.device.handle
        arguments = self._number("urKernelGetInfo", kernel, KernelInfo.NUM_ARGS)
        work_group = self._number("urKernelGetGroupInfo", kernel, device, KernelGroupInfo.WORK_GROUP_SIZE)
        sub_group = self._number(
            "urKernelGetSubGroupInfo", kernel, device, KernelSubGroupInfo.MAX_SUB_GROUP_SIZE
        )
        # Only GPUs answer these two.
        spill = self._number_or_none("urKernelGetInfo", kernel, KernelInfo.SPILL_MEM_SIZE)
        registers = self._number_or_none("urKernelGetInfo", kernel, KernelInfo.NUM_REGS)
        if arguments != len(job.arguments):
            raise CallError(
                "urKernelGetInfo", detail=f"the kernel takes {arguments} arguments, not {len(job.arguments)}"
            )
        if work_group < job.work_group:
            raise CallError(
                "urKernelGetGroupInfo",
                detail=f"the device allows work-groups of {work_group}, the kernel needs {job.work_group}",
            )
        told = [
            "spill not told" if spill is None else f"spill {spill} bytes",
            f"sub-group {sub_group}",
            f"work-group up to {work_group}",
            f"arguments {arguments}",
        ]
        return ", ".join(told if registers is None else [*told, f"registers {registers}"])

    def _number(self, function: str, *arguments: object) -> int:
        with _failures():
            return int.from_bytes(self.runtime.told(function, *arguments)[:8], "little")

    def _number_or_none(self, function: str, *arguments: object) -> int | None:
        data = self.runtime.info(function, *arguments)
        return None if data is None else int.from_bytes(data[:8], "little")

    def shared_memory(self, size: int) -> int:
        """Return the address of memory that host and device share."""
        with _failures():
            return self.runtime.created(
                "urUSMSharedAlloc", self.context, self.device.handle, None, None, size
            )

    def launch(self, module: Module, job: Job, buffers: list[int]) -> None:
        """Launch a kernel and wait for its end."""
        values = [c_int32(argument.value) for argument in job.arguments]
        x, y, z = job.grid
        with _failures():
            self.runtime.launch(
                self.queue,
                module.kernel,
                (x * job.work_group, y, z),
                (job.work_group, 1, 1),
                [
                    _argument(index, argument, values[index], buffers)
                    for index, argument in enumerate(job.arguments)
                ],
            )
            self.runtime.call("urQueueFinish", self.queue)

    def close(self, modules: list[Module], buffers: list[int]) -> None:
        """Release everything."""
        with _failures():
            for address in buffers:
                self.runtime.call("urUSMFree", self.context, address)
            for module in modules:
                self.runtime.call("urKernelRelease", module.kernel)
                self.runtime.call("urProgramRelease", module.program)
            self.runtime.call("urQueueRelease", self.queue)
            self.runtime.call("urContextRelease", self.context)
            self.runtime.call("urLoaderTearDown")


def _argument(index: int, argument: Argument, value: c_int32, buffers: list[int]) -> KernelArgument:
    if argument.kind == "pointer":
        return pointer_argument(index, buffers[argument.value] + argument.offset)
    if argument.kind == "local_memory":
        return local_argument(index, argument.value)
    return value_argument(index, value)


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except URError as error:
        raise CallError(error.function, error.result, error.found) from None


def _text(data: bytes) -> str:
    return data.split(b"\0")[0].decode(errors="replace")


if __name__ == "__main__":
    run(Host())
