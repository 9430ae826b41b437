"""What a failure means and what to do: results by name, and a fix for each stage."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .stages import number

# ze_result_t, those that users meet.
LEVEL_ZERO_RESULTS = {
    0x70000001: "ZE_RESULT_ERROR_DEVICE_LOST",
    0x70000002: "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY",
    0x70000003: "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY",
    0x70000004: "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE",
    0x70000005: "ZE_RESULT_ERROR_MODULE_LINK_FAILURE",
    0x70010000: "ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS",
    0x70010001: "ZE_RESULT_ERROR_NOT_AVAILABLE",
    0x70020000: "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE",
    0x78000001: "ZE_RESULT_ERROR_UNINITIALIZED",
    0x78000002: "ZE_RESULT_ERROR_UNSUPPORTED_VERSION",
    0x78000003: "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE",
    0x78000004: "ZE_RESULT_ERROR_INVALID_ARGUMENT",
    0x7800000F: "ZE_RESULT_ERROR_INVALID_NATIVE_BINARY",
    0x78000011: "ZE_RESULT_ERROR_INVALID_KERNEL_NAME",
    0x7FFFFFFE: "ZE_RESULT_ERROR_UNKNOWN",
}

DRIVER = "update the graphics driver; if it stays so, report it with the files of --keep"
FIXES = {
    "load": "install the runtime in the release of the development kit",
    "devices": "check that the driver is installed, and on Linux that you may open /dev/dri/renderD*",
    "build": DRIVER,
    "properties": DRIVER,
    "native-binary": DRIVER,
    "launch": DRIVER,
    "timing": DRIVER,
}
RUNTIME_FIXES = {
    "level-zero": "install or update Intel's graphics driver, which brings the Level Zero loader",
    "unified-runtime": "pip install intel-cmplr-lib-ur and intel-cmplr-lib-rt in the release of unified-runtime-devel",
}
TRITON_FIXES = {
    "locate": "pip install triton-xpu; for Triton's own driver also torch for XPU",
    "driver": "xpu-dev doctor --for triton; intel_xpu_runtime_dev.triton needs no compiler: xpu-dev smoke --triton --device cpu",
    "build": "update Triton; if it stays so, report it with the files of --keep",
}
NO_DEVICE = (
    "install Intel's graphics driver, or pip install \"intel-xpu-runtime-dev[cpu]\" for Intel's CPU device"
)

# What a system's loader says of a function that a library lacks: Linux, ctypes, Windows.
LACKS_FUNCTION = ("undefined symbol", "not found', 127", "lacks a function", "function '")


LAUNCHER = "name a program that starts the command behind it; without --launcher nothing is put in front"
# What keeps devices from being seen, when a user has set it.
HIDING = (
    "OCL_ICD_FILENAMES", "OCL_ICD_VENDORS", "ONEAPI_DEVICE_SELECTOR", "UR_ADAPTERS_FORCE_LOAD",
    "UR_ADAPTERS_SEARCH_PATH", "ZE_AFFINITY_MASK", "ZE_ENABLE_ALT_DRIVERS",
)  # fmt: skip


def no_device() -> str:
    """Return what to do where there is no device, with the variables that may be hiding one."""
    hiding = [f"{name}={os.environ[name]}" for name in HIDING if os.environ.get(name)]
    return f"{NO_DEVICE}; or unset what hides devices: {', '.join(hiding)}" if hiding else NO_DEVICE


def of_machine(text: str) -> str:
    """Return what to do where words of the system say that the machine itself is short of something, else ""."""
    if "No space left on device" in text or "disk full" in text.lower():
        return "make room in the folder for temporary files, or set TMPDIR (Windows: TEMP) to another"
    if "Too many open files" in text:
        return "allow more open files: ulimit -n 1024"
    return ""


def result_name(backend: str, result: int) -> str:
    """Return a result as its header calls it, "" when that is not known here."""
    if backend == "level-zero":
        return LEVEL_ZERO_RESULTS.get(result, "")
    from .._ur_api import Result

    return next((f"UR_RESULT_ERROR_{member.name}" for member in Result if member == result), "")


def failed_call(backend: str, stage: str, call: str, result: int, detail: str) -> str:
    """Return the text of a stage in which a call failed."""
    what = f"{call} failed" if result else call
    if result:
        name = result_name(backend, result)
        what += f": {name} ({result:#x})" if name else f": {result:#x}"
    return _with_fix(what, detail, _fix(backend, stage, detail))


def died(backend: str, stage: str, ending: str, found: str) -> str:
    """Return the text of a stage in which the host died or was killed; `found`: its last words."""
    return _with_fix(ending, found, _fix(backend, stage, f"{ending} {found}"))


def _fix(backend: str, stage: str, detail: str) -> str:
    if short := of_machine(detail):
        return short
    if "no answer within" in detail or "did not end within" in detail:
        return f"give it more time with --timeout; when it hangs: {_fix(backend, stage, '')}"
    if backend.startswith("triton"):
        return TRITON_FIXES.get(stage, DRIVER)
    if stage == "load":
        if any(text in detail for text in LACKS_FUNCTION):
            return f"the loader is of another release, most likely too old: {RUNTIME_FIXES[backend]}"
        return RUNTIME_FIXES[backend]
    return FIXES.get(stage, DRIVER)


def _with_fix(what: str, detail: str, fix: str) -> str:
    lines = [what]
    if detail:
        lines.append(f"  found: {detail}")
    lines.append(f"  do this: {fix}")
    return "\n".join(lines)


def unreached(stage: str, order: Iterable[str]) -> str:
    """Return why the stages behind a failed one were skipped."""
    return f"not reached: stage {number(stage, order)} ({stage}) failed"
