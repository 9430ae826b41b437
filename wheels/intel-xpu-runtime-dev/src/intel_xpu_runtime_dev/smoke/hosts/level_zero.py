"""Level Zero's part of the ctypes host: the same calls in the same order as the compiled one."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int32, c_size_t, c_uint32, c_void_p

from ..._ask_level_zero import loader_version
from . import ze_api
from .channel import CallError, Job
from .flow import Listed, Module, run

KINDS = {int(ze_api.DeviceType.CPU): "cpu", int(ze_api.DeviceType.GPU): "gpu"}


class Host:
    """The backend on one device."""

    name = "level-zero"

    def load(self, path: str) -> str:
        """Load the loader from a file."""
        try:
            self.library = ctypes.CDLL(path)
        except OSError as error:
            raise CallError("dlopen", detail=str(error)) from None
        for function, parameters in ze_api.FUNCTIONS.items():
            try:
                getattr(self.library, function).argtypes = parameters
            except AttributeError as error:
                raise CallError("dlsym", detail=str(error)) from None
        return path

    def call(self, function: str, *arguments: object) -> None:
        """Call a function that must succeed."""
        result = getattr(self.library, function)(*arguments)
        if result:
            raise CallError(function, result)

    def handles(self, function: str, *arguments: object) -> list[int]:
        """Call a function that fills a list of handles; return them."""
        count = c_uint32()
        self.call(function, *arguments, byref(count), None)
        found = (c_void_p * count.value)()
        if count.value:
            self.call(function, *arguments, byref(count), found)
        return [handle for handle in found if handle]

    def created(self, function: str, *arguments: object) -> int:
        """Call a function whose last parameter receives a handle or pointer; return that."""
        handle = c_void_p()
        self.call(function, *arguments, byref(handle))
        return handle.value or 0

    def devices(self) -> tuple[list[Listed], str]:
        """Return the devices of every driver."""
        self.found: list[tuple[int, int]] = []
        result = self.library.zeInit(0)
        loader = f"loader {loader_version(self.library) or 'version not told'}"
        # What a loader says that finds no driver, or a driver that finds no device.
        if result & 0xFFFFFFFF == ze_api.UNINITIALIZED:
            return [], f"{loader}, no driver: zeInit gives {ze_api.UNINITIALIZED:#x}"
        if result:
            raise CallError("zeInit", result)
        drivers = self.handles("zeDriverGet")
        self.found = [
            (driver, device) for driver in drivers for device in self.handles("zeDeviceGet", driver)
        ]
        return [self._listed(*pair) for pair in self.found], f"{loader}, {len(drivers)} drivers"

    def _listed(self, driver: int, device: int) -> Listed:
        about, version = ze_api.DeviceProperties(), ze_api.DriverProperties()
        self.call("zeDeviceGetProperties", device, byref(about))
        self.call("zeDriverGetProperties", driver, byref(version))
        name = about.name.decode(errors="replace")
        return Listed(KINDS.get(about.type, "other"), name, hex(version.driver_version))

    def open(self, index: int, work_group: int) -> None:
        """Make a context and an immediate, synchronous command list on a device; ask what Triton asks of it."""
        driver, self.device = self.found[index]
        self.context = self.created("zeContextCreate", driver, byref(ze_api.ContextDesc()))
        queue = ze_api.CommandQueueDesc(mode=ze_api.COMMAND_QUEUE_MODE_SYNCHRONOUS)
        self.list = self.created("zeCommandListCreateImmediate", self.context, self.device, byref(queue))
        compute = ze_api.DeviceComputeProperties()
        self.call("zeDeviceGetComputeProperties", self.device, byref(compute))
        count = c_uint32()
        self.call("zeDeviceGetMemoryProperties", self.device, byref(count), None)
        memories = (ze_api.DeviceMemoryProperties * count.value)()
        for memory in memories:
            memory.stype = ze_api.StructureType.DEVICE_MEMORY_PROPERTIES
        if count.value:
            self.call("zeDeviceGetMemoryProperties", self.device, byref(count), memories)
        if compute.max_total_group_size < work_group:
            detail = f"the device allows work-groups of {compute.max_total_group_size}, the kernel needs {work_group}"
            raise CallError("zeDeviceGetComputeProperties", detail=detail)

    def _create_module(
        self, form: ze_api.ModuleFormat, content: bytes, options: str, module: c_void_p, log: c_void_p
    ) -> int:
        about = ze_api.ModuleDesc(
            format=int(form), input_size=len(content), input_module=content, build_flags=options.encode()
        )
        result = self.library.zeModuleCreate(
            self.context, self.device, byref(about), byref(module), byref(log)
        )
        return int(result)

    def _log_text(self, log: c_void_p) -> str:
        size = c_size_t()
        if not log or self.library.zeModuleBuildLogGetString(log, byref(size), None) or not size.value:
            return ""
        text = ctypes.create_string_buffer(size.value)
        self.library.zeModuleBuildLogGetString(log, byref(size), text)
        return text.value.decode(errors="replace").strip()

    def from_spirv(self, spirv: bytes, entry: str, options: str) -> Module:
        """JIT-compile a module."""
        module, log = c_void_p(), c_void_p()
        result = self._create_module(ze_api.ModuleFormat.IL_SPIRV, spirv, options, module, log)
        text = self._log_text(log)
        if result:
            raise CallError("zeModuleCreate", result, text)
        if log:
            self.call("zeModuleBuildLogDestroy", log)
        names = self.handles("zeModuleGetKernelNames", module)
        if entry.encode() not in [ctypes.string_at(name) for name in names]:
            raise CallError("zeModuleGetKernelNames", detail=f"{len(names)} kernels, none is {entry}")
        return self._kernel(module, entry)

    def from_native(self, native: bytes, entry: str, options: str) -> Module | None:
        """Load a native binary; return None when the driver does not take it."""
        module, log = c_void_p(), c_void_p()
        if self._create_module(ze_api.ModuleFormat.NATIVE, native, options, module, log):
            return None
        try:
            return self._kernel(module, entry)
        except CallError:
            return None

    def _kernel(self, module: c_void_p, entry: str) -> Module:
        about = ze_api.KernelDesc(kernel_name=entry.encode())
        return Module(module.value or 0, self.created("zeKernelCreate", module, byref(about)))

    def native_binary(self, module: Module) -> bytes:
        """Return a module's native binary."""
        size = c_size_t()
        self.call("zeModuleGetNativeBinary", module.program, byref(size), None)
        binary = ctypes.create_string_buffer(size.value)
        self.call("zeModuleGetNativeBinary", module.program, byref(size), binary)
        return binary.raw

    def properties(self, module: Module, job: Job) -> str:
        """Return what the driver tells of a kernel."""
        about = ze_api.KernelProperties()
        self.call("zeKernelGetProperties", module.kernel, byref(about))
        arguments = about.num_kernel_args
        if arguments != len(job.arguments):
            detail = f"the kernel takes {arguments} arguments, not {len(job.arguments)}"
            raise CallError("zeKernelGetProperties", detail=detail)
        return (
            f"spill {about.spill_mem_size} bytes, sub-group {about.max_subgroup_size}, "
            f"private memory {about.private_mem_size} bytes, local memory {about.local_mem_size} bytes, "
            f"arguments {arguments}"
        )

    def shared_memory(self, size: int) -> int:
        """Return the address of memory that host and device share."""
        device, host = ze_api.DeviceMemAllocDesc(), ze_api.HostMemAllocDesc()
        memory = self.created(
            "zeMemAllocShared", self.context, byref(device), byref(host), size, 64, self.device
        )
        about = ze_api.MemoryAllocationProperties()
        self.call("zeMemGetAllocProperties", self.context, memory, byref(about), None)
        if about.type != ze_api.MEMORY_TYPE_SHARED:
            raise CallError("zeMemGetAllocProperties", detail=f"type {about.type}, not shared")
        return memory

    def launch(self, module: Module, job: Job, buffers: list[int]) -> None:
        """Launch a kernel and wait for its end."""
        kernel = module.kernel
        self.call("zeKernelSetGroupSize", kernel, job.work_group, 1, 1)
        for index, argument in enumerate(job.arguments):
            if argument.kind == "local_memory":
                self.call("zeKernelSetArgumentValue", kernel, index, argument.value, None)
                continue
            value: c_void_p | c_int32 = c_int32(argument.value)
            if argument.kind == "pointer":
                value = c_void_p(buffers[argument.value] + argument.offset)
            self.call("zeKernelSetArgumentValue", kernel, index, ctypes.sizeof(value), byref(value))
        # The call returns when the kernel has run.
        self.call(
            "zeCommandListAppendLaunchKernel",
            self.list,
            kernel,
            byref(ze_api.GroupCount(*job.grid)),
            None,
            0,
            None,
        )

    def close(self, modules: list[Module], buffers: list[int]) -> None:
        """Release everything."""
        for address in buffers:
            self.call("zeMemFree", self.context, address)
        for module in modules:
            self.call("zeKernelDestroy", module.kernel)
            self.call("zeModuleDestroy", module.program)
        self.call("zeCommandListDestroy", self.list)
        self.call("zeContextDestroy", self.context)


if __name__ == "__main__":
    run(Host())
