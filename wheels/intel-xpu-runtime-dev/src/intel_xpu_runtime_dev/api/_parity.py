"""What Triton needs of a runtime, and which symbols of Level Zero, Unified Runtime and SYCL give it."""

from __future__ import annotations

import json
from typing import NamedTuple

from ._history import DATA, history

COLUMNS = {"level-zero": "Level Zero", "unified-runtime": "Unified Runtime", "sycl": "SYCL"}


class Need(NamedTuple):
    """One thing that Triton needs, and the names to use together for it in each column of `COLUMNS`."""

    name: str
    level_zero: tuple[str, ...]
    unified_runtime: tuple[str, ...]
    sycl: tuple[str, ...]

    def symbols(self, column: str) -> tuple[str, ...]:
        """Return the names of a column."""
        names: tuple[str, ...] = getattr(self, column.replace("-", "_"))
        return names


NEEDS = (
    Need(
        "SPIR-V module",
        ("zeModuleCreate", "ZE_MODULE_FORMAT_IL_SPIRV"),
        ("urProgramCreateWithIL",),
        ("create_kernel_bundle_from_source", "source_language::spirv"),
    ),
    Need(
        "native module in",
        ("zeModuleCreate", "ZE_MODULE_FORMAT_NATIVE"),
        ("urProgramCreateWithBinary",),
        ("make_kernel_bundle", "make_kernel"),
    ),
    Need(
        "native module out",
        ("zeModuleGetNativeBinary",),
        ("urProgramGetInfo", "UR_PROGRAM_INFO_BINARIES"),
        ("ext_oneapi_get_backend_content",),
    ),
    Need(
        "build log",
        ("zeModuleBuildLogGetString",),
        ("urProgramGetBuildInfo", "UR_PROGRAM_BUILD_INFO_LOG"),
        ("save_log",),
    ),
    Need(
        "spill size",
        ("zeKernelGetProperties", "spillMemSize"),
        ("urKernelGetInfo", "UR_KERNEL_INFO_SPILL_MEM_SIZE"),
        ("kernel_device_specific::spill_memory_size",),
    ),
    Need(
        "kernel properties",
        ("zeKernelGetProperties", "maxSubgroupSize", "localMemSize"),
        (
            "urKernelGetGroupInfo",
            "UR_KERNEL_GROUP_INFO_WORK_GROUP_SIZE",
            "UR_KERNEL_GROUP_INFO_LOCAL_MEM_SIZE",
        ),
        ("kernel_device_specific::work_group_size", "kernel_device_specific::private_mem_size"),
    ),
    Need(
        "event interoperation",
        ("ze_event_handle_t",),
        ("urEventGetNativeHandle", "urEventCreateWithNativeHandle"),
        ("get_native", "make_event"),
    ),
    Need(
        "queue interoperation",
        ("ze_command_queue_handle_t", "ze_command_list_handle_t"),
        ("urQueueGetNativeHandle", "urQueueCreateWithNativeHandle"),
        ("get_native", "make_queue"),
    ),
    Need(
        "memory properties of a pointer",
        ("zeMemGetAllocProperties",),
        ("urUSMGetMemAllocInfo", "UR_USM_ALLOC_INFO_TYPE", "UR_USM_ALLOC_INFO_DEVICE"),
        ("get_pointer_type", "get_pointer_device"),
    ),
    Need(
        "memory properties of a device",
        ("zeDeviceGetMemoryProperties",),
        ("urDeviceGetInfo", "UR_DEVICE_INFO_GLOBAL_MEM_SIZE"),
        ("device::global_mem_size",),
    ),
)


class Symbol(NamedTuple):
    """A name and the first release known to have it; `or_earlier` when older ones are not known at all."""

    name: str
    first: str
    or_earlier: bool

    def __str__(self) -> str:
        return f"{self.name} ({'<= ' if self.or_earlier else ''}{self.first})"


def parity() -> dict[str, dict[str, list[Symbol]]]:
    """Return the symbols of each need and column."""
    headers = json.loads((DATA / "parity.json").read_text(encoding="utf-8"))
    first: dict[str, dict[str, str]] = headers["first"]
    oldest: dict[str, str] = headers["oldest"]
    tables = {column: history(column) for column in ("level-zero", "unified-runtime")}

    def symbol(column: str, name: str) -> Symbol:
        table = tables.get(column)
        if table and name in table.functions:
            since = table.functions[name][0].first
            return Symbol(name, since, since == table.releases[0])
        since = first[column][name]
        return Symbol(name, since, since == oldest[column])

    return {
        need.name: {column: [symbol(column, name) for name in need.symbols(column)] for column in COLUMNS}
        for need in NEEDS
    }
