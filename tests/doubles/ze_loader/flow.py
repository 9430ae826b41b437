"""The calls that `xpu-dev smoke` makes for the kernel add through Level Zero, in order, with their arguments."""

from __future__ import annotations

from typing import Any

from intel_xpu_runtime_dev.smoke.flow import REPEAT
from intel_xpu_runtime_dev.smoke.hosts import ze_api
from intel_xpu_runtime_dev.smoke.problems import GUARD_BYTES, add_problem
from intel_xpu_runtime_dev.smoke.shipped import Kernel

from . import Call

P = "pointer"
MAGIC = len("double's native binary\n")
# The stage in which a failure of each call must be reported.
STAGE_OF = {
    "zeInit": "devices",
    "zeDriverGet": "devices",
    "zeDeviceGet": "devices",
    "zeDeviceGetProperties": "devices",
    "zeDriverGetProperties": "devices",
    "zeContextCreate": "build",
    "zeCommandListCreateImmediate": "build",
    "zeDeviceGetComputeProperties": "build",
    "zeDeviceGetMemoryProperties": "build",
    "zeModuleCreate": "build",
    "zeModuleBuildLogDestroy": "build",
    "zeModuleGetKernelNames": "build",
    "zeKernelCreate": "build",
    "zeKernelGetProperties": "properties",
    "zeModuleGetNativeBinary": "native-binary",
    "zeMemAllocShared": "launch",
    "zeMemGetAllocProperties": "launch",
    "zeKernelSetGroupSize": "launch",
    "zeKernelSetArgumentValue": "launch",
    "zeCommandListAppendLaunchKernel": "launch",
}


def add_calls(kernel: Kernel) -> list[Call]:
    """Return the whole flow, but for questions after the loader's version, which each host asks at its own time."""
    problem = add_problem(kernel.block)
    sizes = [len(buffer) for buffer in problem.buffers]
    spirv = len(kernel.spirv)
    flow = [
        call("zeInit", 0),
        *twice("zeDriverGet", P),
        *twice("zeDeviceGet", "driver 1", P),
        call("zeDeviceGetProperties", "device 1", P),
        call("zeDriverGetProperties", "driver 1", P),
        call("zeContextCreate", "driver 1", P, P),
        call(
            "zeCommandListCreateImmediate",
            "context 1",
            "device 1",
            P,
            P,
            mode=ze_api.COMMAND_QUEUE_MODE_SYNCHRONOUS,
        ),
        call("zeDeviceGetComputeProperties", "device 1", P),
        *twice("zeDeviceGetMemoryProperties", "device 1", P),
        module_create(ze_api.ModuleFormat.IL_SPIRV, spirv, kernel),
        *twice("zeModuleBuildLogGetString", "build log 1", P),
        call("zeModuleBuildLogDestroy", "build log 1"),
        *twice("zeModuleGetKernelNames", "module 1", P),
        call("zeKernelCreate", "module 1", P, P, kernel=kernel.entry),
        call("zeKernelGetProperties", "kernel 1", P),
        *twice("zeModuleGetNativeBinary", "module 1", P),
        module_create(ze_api.ModuleFormat.NATIVE, MAGIC + spirv, kernel),
        call("zeKernelCreate", "module 2", P, P, kernel=kernel.entry),
    ]
    for size in sizes:
        flow.append(call("zeMemAllocShared", "context 1", P, P, size, 64, "device 1", P))
        flow.append(call("zeMemGetAllocProperties", "context 1", P, P, None))
    (count,) = (value for kind, value in problem.arguments if kind == "integer")
    x, y, z = problem.grid
    for number in (1, *[2] * (1 + REPEAT)):
        name = f"kernel {number}"
        flow.append(call("zeKernelSetGroupSize", name, kernel.work_group, 1, 1))
        flow += [
            call("zeKernelSetArgumentValue", name, index, 8, P, allocation=index + 1, offset=GUARD_BYTES)
            for index in range(len(sizes))
        ]
        flow.append(call("zeKernelSetArgumentValue", name, len(sizes), 4, P, integer=count))
        flow.append(call("zeCommandListAppendLaunchKernel", "list 1", name, P, None, 0, None, x=x, y=y, z=z))
    flow += [call("zeMemFree", "context 1", P, allocation=index + 1) for index in range(len(sizes))]
    for number in (1, 2):
        flow += [call("zeKernelDestroy", f"kernel {number}"), call("zeModuleDestroy", f"module {number}")]
    return [*flow, call("zeCommandListDestroy", "list 1"), call("zeContextDestroy", "context 1")]


def without_versions(calls: list[Call]) -> list[Call]:
    """Return recorded calls as `add_calls` gives them; whether a build log is wanted of a binary is the host's choice."""
    kept = []
    for one in calls:
        if one.name == "zeModuleCreate" and one.details["format"] == ze_api.ModuleFormat.NATIVE:
            one = one._replace(arguments=[*one.arguments[:-1], P])
        if one.name != "zelLoaderGetVersions":
            kept.append(one)
    return kept


def call(name: str, *arguments: Any, **details: Any) -> Call:
    """Return a call."""
    return Call(name, list(arguments), details)


def twice(name: str, *arguments: Any) -> list[Call]:
    """Return the two calls that ask for a number, then for as many things; the things are the last argument."""
    return [call(name, *arguments, None), call(name, *arguments, P)]


def module_create(form: int, size: int, kernel: Kernel) -> Call:
    """Return the call that makes a module."""
    details = {"format": int(form), "size": size, "build_flags": kernel.options}
    return call("zeModuleCreate", "context 1", "device 1", P, P, P, **details)
