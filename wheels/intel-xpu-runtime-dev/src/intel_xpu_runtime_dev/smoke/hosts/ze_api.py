"""The part of Level Zero's `ze_api.h` that the ctypes host uses; a test compares it with the headers."""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_char_p, c_int, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from enum import IntEnum


class StructureType(IntEnum):
    """`ze_structure_type_t`, the ones used."""

    DRIVER_PROPERTIES = 1
    DEVICE_PROPERTIES = 3
    DEVICE_COMPUTE_PROPERTIES = 4
    DEVICE_MEMORY_PROPERTIES = 7
    CONTEXT_DESC = 13
    COMMAND_QUEUE_DESC = 14
    DEVICE_MEM_ALLOC_DESC = 21
    HOST_MEM_ALLOC_DESC = 22
    MEMORY_ALLOCATION_PROPERTIES = 23
    MODULE_DESC = 27
    KERNEL_DESC = 29
    KERNEL_PROPERTIES = 30


class DeviceType(IntEnum):
    """`ze_device_type_t`, the ones used."""

    GPU = 1
    CPU = 2


class ModuleFormat(IntEnum):
    """`ze_module_format_t`, the ones used."""

    IL_SPIRV = 0
    NATIVE = 1


MEMORY_TYPE_SHARED = 3  # ze_memory_type_t
COMMAND_QUEUE_MODE_SYNCHRONOUS = 1  # ze_command_queue_mode_t
UNINITIALIZED = 0x78000001  # ze_result_t: no driver, or none with a device


class _Structure(ctypes.Structure):
    """A structure that begins with its type and a chain, as Level Zero's do."""

    stype_of: StructureType

    def __init__(self, **values: object) -> None:
        super().__init__(stype=int(self.stype_of), **values)


class DriverProperties(_Structure):
    """`ze_driver_properties_t`."""

    stype_of = StructureType.DRIVER_PROPERTIES
    _fields_ = (("stype", c_int), ("next", c_void_p), ("uuid", c_uint8 * 16), ("driver_version", c_uint32))


class DeviceProperties(_Structure):
    """`ze_device_properties_t`."""

    stype_of = StructureType.DEVICE_PROPERTIES
    _fields_ = (
        ("stype", c_int),
        ("next", c_void_p),
        ("type", c_int),
        ("vendor_id", c_uint32),
        ("device_id", c_uint32),
        ("flags", c_uint32),
        ("subdevice_id", c_uint32),
        ("core_clock_rate", c_uint32),
        ("max_mem_alloc_size", c_uint64),
        ("max_hardware_contexts", c_uint32),
        ("max_command_queue_priority", c_uint32),
        ("num_threads_per_eu", c_uint32),
        ("physical_eu_simd_width", c_uint32),
        ("num_eus_per_subslice", c_uint32),
        ("num_subslices_per_slice", c_uint32),
        ("num_slices", c_uint32),
        ("timer_resolution", c_uint64),
        ("timestamp_valid_bits", c_uint32),
        ("kernel_timestamp_valid_bits", c_uint32),
        ("uuid", c_uint8 * 16),
        ("name", c_char * 256),
    )


class DeviceComputeProperties(_Structure):
    """`ze_device_compute_properties_t`."""

    stype_of = StructureType.DEVICE_COMPUTE_PROPERTIES
    _fields_ = (
        ("stype", c_int),
        ("next", c_void_p),
        ("max_total_group_size", c_uint32),
        ("max_group_size", c_uint32 * 3),
        ("max_group_count", c_uint32 * 3),
        ("max_shared_local_memory", c_uint32),
        ("num_sub_group_sizes", c_uint32),
        ("sub_group_sizes", c_uint32 * 8),
    )


class DeviceMemoryProperties(_Structure):
    """`ze_device_memory_properties_t`."""

    stype_of = StructureType.DEVICE_MEMORY_PROPERTIES
    _fields_ = (
        ("stype", c_int),
        ("next", c_void_p),
        ("flags", c_uint32),
        ("max_clock_rate", c_uint32),
        ("max_bus_width", c_uint32),
        ("total_size", c_uint64),
        ("name", c_char * 256),
    )


class ContextDesc(_Structure):
    """`ze_context_desc_t`."""

    stype_of = StructureType.CONTEXT_DESC
    _fields_ = (("stype", c_int), ("next", c_void_p), ("flags", c_uint32))


class CommandQueueDesc(_Structure):
    """`ze_command_queue_desc_t`."""

    stype_of = StructureType.COMMAND_QUEUE_DESC
    _fields_ = (
        ("stype", c_int),
        ("next", c_void_p),
        ("ordinal", c_uint32),
        ("index", c_uint32),
        ("flags", c_uint32),
        ("mode", c_int),
        ("priority", c_int),
    )


class DeviceMemAllocDesc(_Structure):
    """`ze_device_mem_alloc_desc_t`."""

    stype_of = StructureType.DEVICE_MEM_ALLOC_DESC
    _fields_ = (("stype", c_int), ("next", c_void_p), ("flags", c_uint32), ("ordinal", c_uint32))


class HostMemAllocDesc(_Structure):
    """`ze_host_mem_alloc_desc_t`."""

    stype_of = StructureType.HOST_MEM_ALLOC_DESC
    _fields_ = (("stype", c_int), ("next", c_void_p), ("flags", c_uint32))


class MemoryAllocationProperties(_Structure):
    """`ze_memory_allocation_properties_t`."""

    stype_of = StructureType.MEMORY_ALLOCATION_PROPERTIES
    _fields_ = (
        ("stype", c_int),
        ("next", c_void_p),
        ("type", c_int),
        ("id", c_uint64),
        ("page_size", c_uint64),
    )


class ModuleDesc(_Structure):
    """`ze_module_desc_t`."""

    stype_of = StructureType.MODULE_DESC
    _fields_ = (
        ("stype", c_int),
        ("next", c_void_p),
        ("format", c_int),
        ("input_size", c_size_t),
        ("input_module", c_char_p),
        ("build_flags", c_char_p),
        ("constants", c_void_p),
    )


class KernelDesc(_Structure):
    """`ze_kernel_desc_t`."""

    stype_of = StructureType.KERNEL_DESC
    _fields_ = (("stype", c_int), ("next", c_void_p), ("flags", c_uint32), ("kernel_name", c_char_p))


class KernelProperties(_Structure):
    """`ze_kernel_properties_t`; sizes in bytes."""

    stype_of = StructureType.KERNEL_PROPERTIES
    _fields_ = (
        ("stype", c_int),
        ("next", c_void_p),
        ("num_kernel_args", c_uint32),
        ("required_group_size", c_uint32 * 3),
        ("required_num_sub_groups", c_uint32),
        ("required_subgroup_size", c_uint32),
        ("max_subgroup_size", c_uint32),
        ("max_num_subgroups", c_uint32),
        ("local_mem_size", c_uint32),
        ("private_mem_size", c_uint32),
        ("spill_mem_size", c_uint32),
        ("uuid", c_uint8 * 32),
    )


class GroupCount(ctypes.Structure):
    """`ze_group_count_t`."""

    _fields_ = (("x", c_uint32), ("y", c_uint32), ("z", c_uint32))


# The parameters of every function that is called; pointers to structures are c_void_p.
FUNCTIONS: dict[str, tuple[object, ...]] = {
    "zeInit": (c_uint32,),
    "zeDriverGet": (c_void_p, c_void_p),
    "zeDriverGetProperties": (c_void_p, c_void_p),
    "zeDeviceGet": (c_void_p, c_void_p, c_void_p),
    "zeDeviceGetProperties": (c_void_p, c_void_p),
    "zeDeviceGetComputeProperties": (c_void_p, c_void_p),
    "zeDeviceGetMemoryProperties": (c_void_p, c_void_p, c_void_p),
    "zeContextCreate": (c_void_p, c_void_p, c_void_p),
    "zeContextDestroy": (c_void_p,),
    "zeCommandListCreateImmediate": (c_void_p, c_void_p, c_void_p, c_void_p),
    "zeCommandListDestroy": (c_void_p,),
    "zeCommandListAppendLaunchKernel": (c_void_p, c_void_p, c_void_p, c_void_p, c_uint32, c_void_p),
    "zeMemAllocShared": (c_void_p, c_void_p, c_void_p, c_size_t, c_size_t, c_void_p, c_void_p),
    "zeMemGetAllocProperties": (c_void_p, c_void_p, c_void_p, c_void_p),
    "zeMemFree": (c_void_p, c_void_p),
    "zeModuleCreate": (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    "zeModuleDestroy": (c_void_p,),
    "zeModuleBuildLogGetString": (c_void_p, c_void_p, c_void_p),
    "zeModuleBuildLogDestroy": (c_void_p,),
    "zeModuleGetKernelNames": (c_void_p, c_void_p, c_void_p),
    "zeModuleGetNativeBinary": (c_void_p, c_void_p, c_void_p),
    "zeKernelCreate": (c_void_p, c_void_p, c_void_p),
    "zeKernelDestroy": (c_void_p,),
    "zeKernelGetProperties": (c_void_p, c_void_p),
    "zeKernelSetGroupSize": (c_void_p, c_uint32, c_uint32, c_uint32),
    "zeKernelSetArgumentValue": (c_void_p, c_uint32, c_size_t, c_void_p),
}
