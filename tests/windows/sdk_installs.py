"""Our wheels in Windows Pythons, and hosts for Windows compiled ahead on Linux."""

from __future__ import annotations

import sys
from pathlib import Path

from intel_xpu_runtime_dev._results import SDK
from intel_xpu_runtime_dev.smoke.compilers import Compiler
from intel_xpu_runtime_dev.smoke.stub import Stub

from tests.support import wheels
from tests.support.needs import program

from .interpreters import WindowsPython

RELEASE = "2026.2.0"  # of Intel's runtime
LEVEL_ZERO = "1.32.0"
# What each component is linked with on Windows.
LIBRARIES = {
    "level-zero": ("level_zero_devel", LEVEL_ZERO, "ze_loader"),
    "unified-runtime": ("unified_runtime_devel", RELEASE, "ur_loader_shared"),
}


def our_wheels() -> list[Path]:
    """Return the wheels that a user of Windows installs."""
    (command_line,) = wheels.built().glob("intel_xpu_runtime_dev-*-none-any.whl")
    return [
        command_line,
        wheels.wheel("level-zero-devel", LEVEL_ZERO, "win_amd64"),
        wheels.wheel("unified-runtime-devel", RELEASE, "win_amd64"),
    ]


def compiled_ahead(python: WindowsPython, component: str, compiler: str, folder: Path) -> Path:
    """Compile smoke's host for Windows against the kit that pip installed in `python`; `compiler`: mingw-w64, zig."""
    package, version, library = LIBRARIES[component]
    root = python.site_packages / package
    sdk = SDK(
        component, version, str(root), (str(root / "include"),), (str(root / "lib"),), (library,), "test"
    )
    command = (
        (sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu")
        if compiler == "zig"
        else (program("x86_64-w64-mingw32-gcc"),)
    )
    stub = Stub(sdk, folder, windows=True, limit=300)
    for step in (stub.compile, stub.link):
        outcome = step(Compiler(command))
        assert outcome.succeeded, outcome.output
    return stub.program
