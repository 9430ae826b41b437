"""The messages that people paste into search engines, and the checks that explain them.

docs/troubleshooting.md is made from this table by scripts/troubleshooting.py.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Message(NamedTuple):
    """A message: how users see it, what is in every form of it, why it comes, what to do, which checks tell more."""

    text: str
    pattern: str
    reason: str
    fix: str
    checks: tuple[str, ...]


MESSAGES = (
    Message(
        "fatal error C1083: Cannot open include file: 'level_zero/ze_api.h'",
        r"(C1083|fatal error|file not found|No such file).*ze_api\.h|ze_api\.h.*(file not found|No such file)",
        "The compiler finds no Level Zero headers: the graphics driver brings the loader, not always the headers.",
        "`pip install intel-xpu-runtime-dev` into the environment of Triton; where icpx or ONEAPI_ROOT is set, or on "
        "Linux, also set the variables with `xpu-dev env`.",
        (
            "triton-level-zero",
            "triton-dead-variable",
            "triton-overlay",
            "triton-one-prefix",
            "level-zero-kit",
        ),
    ),
    Message(
        "LNK1181: cannot open input file 'ze_loader.lib'",
        r"(LNK1181|cannot open|could not open).*ze_loader",
        "The linker finds no import library of the Level Zero loader; a library path over 260 characters gives the same.",
        "`pip install intel-xpu-runtime-dev`, and set the variables with `xpu-dev env`.",
        ("triton-level-zero", "triton-one-kit", "triton-overlay", "long-paths"),
    ),
    Message(
        "cannot find -lze_loader",
        r"(cannot find|unable to find library|library not found for) -lze_loader",
        "The linker looks for libze_loader.so; the runtime's package has libze_loader.so.1 only.",
        "`xpu-dev run COMMAND` or `xpu-dev env`, whose kit has a link stub of that name.",
        ("link-name", "triton-level-zero"),
    ),
    Message(
        "OSError: Intel GPU driver is not properly installed",
        r"Intel GPU driver is not properly installed",
        "PyTorch Inductor's cpp_wrapper reads LEVEL_ZERO_V1_SDK_PATH and nothing else on Windows; on Linux it wants the "
        "loader. The driver itself may be in order.",
        "Set LEVEL_ZERO_V1_SDK_PATH with `xpu-dev env`; check the loader with `xpu-dev doctor --for inductor`.",
        ("inductor", "kit-variables", "loader"),
    ),
    Message(
        "AssertionError: sycl headers not found",
        r"sycl headers not found|sycl library not found|sycl.*not found, please install",
        "Triton finds no SYCL it takes: 3.3 to 3.6 need `intel-sycl-rt` 2025, whose successor has other file names.",
        '`pip install "intel-sycl-rt==2025.*"` for Triton 3.3 to 3.6, a current one for 3.7 and later.',
        ("triton-sycl", "triton-owner"),
    ),
    Message(
        "RuntimeError: Failed to find C compiler. Please specify via CC environment variable",
        r"Failed to find C compiler",
        "Triton compiles a small module on first use and finds no compiler.",
        "On Windows run in an x64 Native Tools prompt; on Linux install gcc and g++.",
        ("compiler", "compiler-variables", "python-headers"),
    ),
    Message(
        "fatal error C1083: Cannot open include file: 'cstddef'",
        r"(C1083|No such file|file not found).*cstddef|cstddef.*(file not found|No such file)",
        "cl runs without its developer environment: INCLUDE and LIB are not set.",
        "Run in an x64 Native Tools prompt, or call vcvars64.bat first.",
        ("compiler",),
    ),
    Message(
        "Cannot open include file: 'Python.h' / LNK1104: cannot open file 'python311.lib'",
        r"Python\.h|python3\d+\.lib",
        "Embedded Python, and a system Python without its development package, have neither.",
        "Use a full Python; on Linux install python3-dev.",
        ("python-headers",),
    ),
    Message(
        "ZE_RESULT_ERROR_UNINITIALIZED (0x78000001)",
        r"ZE_RESULT_ERROR_UNINITIALIZED|0x78000001|2013265921",
        "The Level Zero loader works and finds no driver that works: none is installed, the device file may not be "
        "opened, or a second loader was loaded.",
        "Install the graphics driver; on Linux join the group `render`; remove copies of the loader.",
        ("drivers", "render-nodes", "loader", "wsl"),
    ),
    Message(
        "undefined reference to `__spirv_...' / no member named '__spirv_...'",
        r"__spirv_",
        "Another release's SYCL headers come first: the root that Triton was given also holds `sycl/`.",
        "Point the variable at a kit that holds `level_zero` alone, as `xpu-dev env` does.",
        ("triton-shadowing",),
    ),
    Message(
        "cl : Command line error D8021 : invalid numeric argument",
        r"\bD8021\b",
        "CXX is set to cl: Triton gives it gcc's options.",
        "Unset CC and CXX.",
        ("compiler-variables",),
    ),
    Message(
        "ImportError: DLL load failed while importing: The specified procedure could not be found",
        r"specified procedure could not be found|undefined symbol: (ze|ur)|procedure entry point",
        "The module was built for a newer loader, or another Unified Runtime, than this machine has.",
        "`xpu-dev check FILE` names the function and the release; update the driver or Intel's runtime.",
        ("loader-release", "unified-runtime"),
    ),
    Message(
        "RuntimeError: 0 active drivers ([]). There should only be one.",
        r"0 active drivers",
        "Triton's Intel backend is not the one that is imported, or torch has no XPU.",
        "Install one distribution that owns `triton`, and torch's XPU build; or launch without torch: "
        "`xpu-dev run --triton-driver ur -- python script.py`.",
        ("triton-owner", "torch", "drivers"),
    ),
)


def explanations(text: str) -> list[Message]:
    """Return the messages that a text holds."""
    # Compilers break lines where they like.
    line = " ".join(text.split())
    return [message for message in MESSAGES if re.search(message.pattern, line, re.IGNORECASE)]
