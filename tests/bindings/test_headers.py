"""Enumerators, sizes of structures and numbers of parameters in our ctypes bindings are those of upstream's headers."""

from __future__ import annotations

import ctypes
import subprocess
from enum import IntEnum
from pathlib import Path
from types import ModuleType

import pytest
from intel_xpu_runtime_dev import _ur_api
from intel_xpu_runtime_dev.smoke.hosts import ze_api
from repack import catalogue
from repack.declarations import declared_functions

from tests.support.needs import program
from tests.support.wheels import staged

# The class of our enumerators: how the header's names begin.
UNIFIED_RUNTIME = {
    "DeviceType": "UR_DEVICE_TYPE_",
    "Backend": "UR_BACKEND_",
    "PlatformInfo": "UR_PLATFORM_INFO_",
    "DeviceInfo": "UR_DEVICE_INFO_",
    "KernelInfo": "UR_KERNEL_INFO_",
    "KernelGroupInfo": "UR_KERNEL_GROUP_INFO_",
    "KernelSubGroupInfo": "UR_KERNEL_SUB_GROUP_INFO_",
    "ProgramInfo": "UR_PROGRAM_INFO_",
    "StructureType": "UR_STRUCTURE_TYPE_",
    "ArgumentType": "UR_EXP_KERNEL_ARG_TYPE_",
    "Result": "UR_RESULT_ERROR_",
}
LEVEL_ZERO = {
    "StructureType": "ZE_STRUCTURE_TYPE_",
    "DeviceType": "ZE_DEVICE_TYPE_",
    "ModuleFormat": "ZE_MODULE_FORMAT_",
}
UNIFIED_RUNTIME_NUMBERS = {
    "UR_PROGRAM_BUILD_INFO_LOG": _ur_api.BUILD_INFO_LOG,
    "UR_PROFILING_INFO_COMMAND_END": _ur_api.PROFILING_COMMAND_END,
    "UR_QUEUE_FLAG_PROFILING_ENABLE": _ur_api.QUEUE_PROFILING,
}
LEVEL_ZERO_NUMBERS = {
    "ZE_MEMORY_TYPE_SHARED": ze_api.MEMORY_TYPE_SHARED,
    "ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS": ze_api.COMMAND_QUEUE_MODE_SYNCHRONOUS,
    "ZE_RESULT_ERROR_UNINITIALIZED": ze_api.UNINITIALIZED,
}
# Structure and enumerators of launching with arguments; the releases before have neither.
NEW_IN_2026 = (
    "UR_EXP_KERNEL_ARG_TYPE_",
    "UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_",
    "ur_exp_kernel_arg_properties_t",
)


def enumerators(module: ModuleType, prefixes: dict[str, str]) -> dict[str, int]:
    named: dict[str, int] = {}
    for name, value in vars(module).items():
        if isinstance(value, type) and issubclass(value, IntEnum) and value is not IntEnum:
            named |= {prefixes[name] + member.name: int(member) for member in value}
    return {name.replace("UR_RESULT_ERROR_SUCCESS", "UR_RESULT_SUCCESS"): at for name, at in named.items()}


def structures(module: ModuleType) -> dict[str, int]:
    """Return the size of each structure, by the header's name, which its docstring tells."""
    return {
        (value.__doc__ or "").split("`")[1]: ctypes.sizeof(value)
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, ctypes.Structure) and not name.startswith("_")
    }


def assert_equal(include: Path, header: str, checks: list[tuple[str, int]], folder: Path) -> None:
    """Let a C++ compiler compare expressions with numbers."""
    lines = [f'static_assert((long long)({what}) == {number}LL, "{what}");' for what, number in checks]
    source = folder / "checks.cpp"
    source.write_text("\n".join([f"#include <{header}>", *lines, ""]))
    compiler = program("g++", "clang++")
    command = [compiler, "-std=c++17", "-fsyntax-only", f"-I{include}", str(source)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("version", [release.version for release in catalogue.load().of("unified-runtime")])
def test_unified_runtime(version: str, tmp_path: Path) -> None:
    include = staged("unified-runtime", version, "linux_x86_64") / "include"
    named = enumerators(_ur_api, UNIFIED_RUNTIME) | UNIFIED_RUNTIME_NUMBERS
    sizes = structures(_ur_api)
    if version < "2026":
        named = {name: number for name, number in named.items() if not name.startswith(NEW_IN_2026)}
        sizes = {name: size for name, size in sizes.items() if name not in NEW_IN_2026}
    assert len(named) > 50
    checks = [*named.items(), *((f"sizeof({name})", size) for name, size in sizes.items())]
    assert_equal(include, "unified-runtime/ur_api.h", checks, tmp_path)


@pytest.mark.parametrize("version", [release.version for release in catalogue.load().of("unified-runtime")])
def test_unified_runtime_parameters(version: str) -> None:
    include = staged("unified-runtime", version, "linux_x86_64") / "include"
    declared = {function.name: function.prototype for function in declared_functions(include)}
    compared = {
        name: declared[name].count(",") + 1 if not declared[name].endswith("(void)") else 0
        for name in _ur_api.FUNCTIONS
        if name in declared
    }
    assert len(compared) > 30
    ours = {name: len(_ur_api.FUNCTIONS[name]) for name in compared}
    if version >= "2026":
        # One fewer there; the binding always passes those of 2025.3 (see `_ur.LaunchWithSetArguments`).
        ours.pop("urEnqueueKernelLaunch", None)
        compared.pop("urEnqueueKernelLaunch", None)
    assert ours == compared


@pytest.mark.parametrize("version", [release.version for release in catalogue.load().of("level-zero")])
def test_level_zero(version: str, tmp_path: Path) -> None:
    include = staged("level-zero", version, "linux_x86_64") / "include"
    named = enumerators(ze_api, LEVEL_ZERO) | LEVEL_ZERO_NUMBERS
    sizes = structures(ze_api)
    checks = [*named.items(), *((f"sizeof({name})", size) for name, size in sizes.items())]
    assert_equal(include, "level_zero/ze_api.h", checks, tmp_path)


def test_a_wrong_number_is_found(tmp_path: Path) -> None:
    include = staged("level-zero", "1.32.0", "linux_x86_64") / "include"
    with pytest.raises(AssertionError, match="ZE_DEVICE_TYPE_GPU"):
        assert_equal(include, "level_zero/ze_api.h", [("ZE_DEVICE_TYPE_GPU", 7)], tmp_path)
