"""The part of Unified Runtime's `ur_api.h` that this package uses: enumerators, structures, functions.

Equal in every release from 2025.0 on, unless a comment says otherwise; a test compares them with the headers.
"""

from __future__ import annotations

import ctypes
from ctypes import c_bool, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from enum import IntEnum

HANDLE = c_void_p


class DeviceType(IntEnum):
    """`ur_device_type_t`."""

    ALL = 2
    GPU = 3
    CPU = 4


class Backend(IntEnum):
    """`ur_backend_t`."""

    LEVEL_ZERO = 1
    OPENCL = 2


class PlatformInfo(IntEnum):
    """`ur_platform_info_t`, the ones used."""

    NAME = 1
    BACKEND = 6


class DeviceInfo(IntEnum):
    """`ur_device_info_t`, the ones used."""

    TYPE = 0
    MAX_COMPUTE_UNITS = 3
    MAX_WORK_GROUP_SIZE = 6
    DOUBLE_FP_CONFIG = 9
    MAX_CLOCK_FREQUENCY = 25
    MEMORY_CLOCK_RATE = 26
    LOCAL_MEM_SIZE = 51
    NAME = 66
    VENDOR = 67
    DRIVER_VERSION = 68
    VERSION = 70
    EXTENSIONS = 72
    MAX_NUM_SUB_GROUPS = 80
    SUB_GROUP_SIZES_INTEL = 82
    GPU_EU_COUNT = 90
    GPU_EU_SLICES = 92
    GPU_SUBSLICES_PER_SLICE = 94
    MEMORY_BUS_WIDTH = 107
    IP_VERSION = 113


class KernelInfo(IntEnum):
    """`ur_kernel_info_t`, the ones used; `SPILL_MEM_SIZE` (bytes) exists from 2025.2 on and for GPUs only."""

    NUM_ARGS = 1
    NUM_REGS = 6
    SPILL_MEM_SIZE = 7


class KernelGroupInfo(IntEnum):
    """`ur_kernel_group_info_t`, the ones used."""

    WORK_GROUP_SIZE = 1


class KernelSubGroupInfo(IntEnum):
    """`ur_kernel_sub_group_info_t`, the ones used."""

    MAX_SUB_GROUP_SIZE = 0


class ProgramInfo(IntEnum):
    """`ur_program_info_t`, the ones used."""

    BINARY_SIZES = 5
    BINARIES = 6


BUILD_INFO_LOG = 2  # ur_program_build_info_t
PROFILING_COMMAND_END = 3  # ur_profiling_info_t, nanoseconds
QUEUE_PROFILING = 2  # ur_queue_flags_t


class StructureType(IntEnum):
    """`ur_structure_type_t`, the ones used."""

    QUEUE_PROPERTIES = 14
    CONTEXT_NATIVE_PROPERTIES = 16
    QUEUE_NATIVE_PROPERTIES = 18
    QUEUE_NATIVE_DESC = 25
    EXP_KERNEL_ARG_PROPERTIES = 0x5000


class ArgumentType(IntEnum):
    """`ur_exp_kernel_arg_type_t`, the ones used."""

    VALUE = 0
    POINTER = 1
    LOCAL = 3


class Result(IntEnum):
    """`ur_result_t`, those that users meet or that the code acts upon."""

    SUCCESS = 0
    INVALID_VALUE = 4
    INVALID_BINARY = 7
    INVALID_WORK_GROUP_SIZE = 15
    DEVICE_NOT_FOUND = 18
    DEVICE_LOST = 20
    INVALID_KERNEL_ARGS = 27
    INVALID_KERNEL = 28
    INVALID_KERNEL_NAME = 29
    INVALID_KERNEL_ARGUMENT_INDEX = 30
    OUT_OF_HOST_MEMORY = 38
    OUT_OF_DEVICE_MEMORY = 39
    OUT_OF_RESOURCES = 40
    PROGRAM_BUILD_FAILURE = 41
    PROGRAM_LINK_FAILURE = 42
    UNSUPPORTED_FEATURE = 44
    INVALID_ARGUMENT = 45
    UNSUPPORTED_ENUMERATION = 54
    INVALID_USM_SIZE = 64
    ADAPTER_SPECIFIC = 66
    DEVICE_NOT_AVAILABLE = 69
    UNKNOWN = 0x7FFFFFFE


class QueueProperties(ctypes.Structure):
    """`ur_queue_properties_t`."""

    _fields_ = (("stype", c_int), ("next", c_void_p), ("flags", c_uint32))


class ContextNativeProperties(ctypes.Structure):
    """`ur_context_native_properties_t`; `owned`: the new object releases the native one at its end."""

    _fields_ = (("stype", c_int), ("next", c_void_p), ("owned", c_bool))


class QueueNativeProperties(ctypes.Structure):
    """`ur_queue_native_properties_t`; `owned`: the new object releases the native one at its end."""

    _fields_ = (("stype", c_int), ("next", c_void_p), ("owned", c_bool))


class QueueNativeDescription(ctypes.Structure):
    """`ur_queue_native_desc_t`, behind the properties; Level Zero's `data` is an int, 1 for an immediate command list."""

    _fields_ = (("stype", c_int), ("next", c_void_p), ("data", c_void_p))


class KernelArgument(ctypes.Structure):
    """`ur_exp_kernel_arg_properties_t`.

    `value` is the pointer itself for POINTER, the address of the value for VALUE, unused for LOCAL. The header's union is
    as large as its largest member, a handle with flags.
    """

    _fields_ = (
        ("stype", c_int),
        ("next", c_void_p),
        ("type", c_int),
        ("index", c_uint32),
        ("size", c_size_t),
        ("value", c_void_p),
        ("memory_flags", c_uint64),
    )


# Sets the arguments and launches in one call; from 2026.0 on.
LAUNCH = "urEnqueueKernelLaunchWithArgsExp"

# What does the same in releases before; 2026.2 has them no more.
LAUNCH_WITH_SET = {
    "urKernelSetArgValue",
    "urKernelSetArgPointer",
    "urKernelSetArgLocal",
    "urEnqueueKernelLaunch",
}

# The parameters of every function that is called. The last, of releases before 2026.0, has more of them here than in
# some headers: `_ur.LaunchWithSetArguments` says why.
FUNCTIONS: dict[str, tuple[object, ...]] = {
    "urLoaderInit": (c_uint32, HANDLE),
    "urLoaderTearDown": (),
    "urAdapterGet": (c_uint32, c_void_p, c_void_p),
    "urPlatformGet": (HANDLE, c_uint32, c_void_p, c_void_p),
    "urPlatformGetInfo": (HANDLE, c_int, c_size_t, c_void_p, c_void_p),
    "urDeviceGet": (HANDLE, c_int, c_uint32, c_void_p, c_void_p),
    "urDeviceGetInfo": (HANDLE, c_int, c_size_t, c_void_p, c_void_p),
    "urDeviceGetNativeHandle": (HANDLE, c_void_p),
    "urContextCreate": (c_uint32, c_void_p, c_void_p, c_void_p),
    "urContextCreateWithNativeHandle": (c_uint64, HANDLE, c_uint32, c_void_p, c_void_p, c_void_p),
    "urContextRelease": (HANDLE,),
    "urContextGetNativeHandle": (HANDLE, c_void_p),
    "urQueueCreate": (HANDLE, HANDLE, c_void_p, c_void_p),
    "urQueueCreateWithNativeHandle": (c_uint64, HANDLE, HANDLE, c_void_p, c_void_p),
    "urQueueFinish": (HANDLE,),
    "urQueueRelease": (HANDLE,),
    "urUSMSharedAlloc": (HANDLE, HANDLE, c_void_p, HANDLE, c_size_t, c_void_p),
    "urUSMFree": (HANDLE, c_void_p),
    "urEnqueueUSMFill": (HANDLE, c_void_p, c_size_t, c_void_p, c_size_t, c_uint32, c_void_p, c_void_p),
    "urProgramCreateWithIL": (HANDLE, c_char_p, c_size_t, c_void_p, c_void_p),
    "urProgramCreateWithBinary": (HANDLE, c_uint32, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    "urProgramBuild": (HANDLE, HANDLE, c_char_p),
    "urProgramGetBuildInfo": (HANDLE, HANDLE, c_int, c_size_t, c_void_p, c_void_p),
    "urProgramGetInfo": (HANDLE, c_int, c_size_t, c_void_p, c_void_p),
    "urProgramRelease": (HANDLE,),
    "urKernelCreate": (HANDLE, c_char_p, c_void_p),
    "urKernelGetInfo": (HANDLE, c_int, c_size_t, c_void_p, c_void_p),
    "urKernelGetGroupInfo": (HANDLE, HANDLE, c_int, c_size_t, c_void_p, c_void_p),
    "urKernelGetSubGroupInfo": (HANDLE, HANDLE, c_int, c_size_t, c_void_p, c_void_p),
    "urKernelRelease": (HANDLE,),
    "urEnqueueEventsWaitWithBarrier": (HANDLE, c_uint32, c_void_p, c_void_p),
    "urEventGetProfilingInfo": (HANDLE, c_int, c_size_t, c_void_p, c_void_p),
    "urEventRelease": (HANDLE,),
    LAUNCH: (
        HANDLE, HANDLE, c_uint32, c_void_p, c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_uint32, c_void_p, c_void_p,
    ),
    "urKernelSetArgValue": (HANDLE, c_uint32, c_size_t, c_void_p, c_void_p),
    "urKernelSetArgPointer": (HANDLE, c_uint32, c_void_p, c_void_p),
    "urKernelSetArgLocal": (HANDLE, c_uint32, c_size_t, c_void_p),
    "urEnqueueKernelLaunch": (
        HANDLE, HANDLE, c_uint32, c_void_p, c_void_p, c_void_p, c_uint32, c_void_p, c_uint32, c_void_p, c_void_p,
    ),
}  # fmt: skip
LAUNCH = "urEnqueueKernelLaunchWithArgsExp"
