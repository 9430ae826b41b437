"""Checks of the system: compilers, Python's own headers, devices, paths."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .._distributions import recorded
from .._files import is_file
from .findings import BROKEN, WARNING, Finding, not_applicable, ok
from .machine import Machine

WINDOWS_COMPILERS = ("cl", "icx", "icpx", "clang-cl", "clang", "gcc", "zig")
LINUX_COMPILERS = ("cc", "gcc", "clang", "icpx", "icx", "zig")
PROMPT = "run this in an x64 Native Tools prompt of Visual Studio, or call vcvars64.bat first"
INSTALL_MSVC = "install Visual Studio's Build Tools with the C++ workload, or pip install ziglang"
SDK_KEY = r"SOFTWARE\WOW6432Node\Microsoft\Microsoft SDKs\Windows\v10.0"
LONG_PATHS_KEY = r"SYSTEM\CurrentControlSet\Control\FileSystem"
MAX_PATH = 260
# The files of these are what Triton and the linker open.
LONG_PATH_DISTRIBUTIONS = (
    "level-zero-devel",
    "unified-runtime-devel",
    "intel-sycl-rt",
    "triton-xpu",
    "triton",
)


def compiler(machine: Machine) -> Finding:
    """A C and C++ compiler that Triton would use, with its headers and libraries."""
    found = [path for name in _names(machine) if (path := machine.which(name))]
    if machine.distribution("ziglang"):
        found.append(Path("ziglang (wheel)"))
    details = tuple(map(str, found))
    if machine.windows:
        return _windows_compiler(machine, details)
    if found:
        return ok(f"{found[0]}", *details[1:])
    return Finding(
        BROKEN,
        "no compiler on PATH",
        " or ".join(LINUX_COMPILERS),
        "install gcc and g++, or pip install ziglang",
    )


def _names(machine: Machine) -> tuple[str, ...]:
    return WINDOWS_COMPILERS if machine.windows else LINUX_COMPILERS


def _windows_compiler(machine: Machine, details: tuple[str, ...]) -> Finding:
    has_headers = any(is_file(folder / "cstddef") for folder in machine.folders("INCLUDE"))
    has_libraries = any(is_file(folder / "ucrt.lib") for folder in machine.folders("LIB"))
    cl = machine.which("cl")
    if cl and has_headers and has_libraries:
        target = machine.environ.get("VSCMD_ARG_TGT_ARCH", "x64")
        if target != "x64":
            return Finding(WARNING, f"cl compiles for {target}", "a 64-bit target", PROMPT, details)
        return ok(f"{cl}, with its headers and the Windows SDK", *details)
    if cl:
        lacks = " and ".join(
            name
            for name, has in (("INCLUDE (cstddef)", has_headers), ("LIB (ucrt.lib)", has_libraries))
            if not has
        )
        return Finding(
            BROKEN, f"{cl} is on PATH but {lacks} is not set up", "a developer prompt", PROMPT, details
        )
    studios = machine.read_visual_studios()
    if studios:
        sdk = machine.read_registry(SDK_KEY).get("ProductVersion")
        if not sdk:
            return Finding(
                BROKEN, f"{studios[0]} is there, the Windows SDK is not", "the Windows SDK of Visual Studio",
                "add the Windows SDK in the Visual Studio Installer", details,
            )  # fmt: skip
        return Finding(
            WARNING, f"{studios[0]} is there (Windows SDK {sdk}), cl is not on PATH", "a developer prompt", PROMPT, details
        )  # fmt: skip
    if details:
        return ok(f"no Microsoft compiler, but {details[0]}", *details[1:])
    return Finding(
        BROKEN, "no compiler: neither on PATH nor by vswhere", "cl, icx, clang-cl or zig", INSTALL_MSVC
    )


def compiler_variables(machine: Machine) -> Finding:
    """CC and CXX override the search; and Triton knows Microsoft's compiler by the text cl.EXE."""
    chosen = {name: machine.environ[name] for name in ("CC", "CXX") if machine.environ.get(name)}
    if machine.windows and ".EXE" not in machine.environ.get("PATHEXT", ".EXE").split(";"):
        return Finding(
            WARNING, f"PATHEXT has no .EXE in capitals: {machine.environ.get('PATHEXT')}",
            "cl to be found as cl.EXE, by which Triton knows it", "restore PATHEXT to .COM;.EXE;.BAT;.CMD",
        )  # fmt: skip
    if not chosen:
        return ok("CC and CXX are not set")
    told = ", ".join(f"{name}={value}" for name, value in chosen.items())
    missing = [
        value for value in chosen.values() if not is_file(Path(value)) and not machine.which(value.split()[0])
    ]
    if missing:
        return Finding(
            BROKEN, f"{told}: there is no {missing[0]}", "a compiler that exists", "unset CC and CXX"
        )
    return Finding(
        WARNING,
        f"{told}: Triton takes these as they are, and treats what is not cl.EXE or icpx as gcc",
        "CC and CXX not set",
        "unset them unless you need that very compiler",
    )


def python_headers(machine: Machine) -> Finding:
    """Python.h and, on Windows, pythonXY.lib: embedded Python has neither."""
    lacks = [str(path) for path in _python_files(machine) if not is_file(path)]
    if not lacks:
        return ok(f"{machine.python_include}")
    return Finding(
        BROKEN,
        f"there is no {' and no '.join(lacks)}",
        "Python with its headers: Triton compiles an extension module",
        "use the full installer from python.org, uv or conda instead of the embedded package"
        if machine.windows
        else "install your system's python3-dev",
    )


def _python_files(machine: Machine) -> Iterator[Path]:
    yield machine.python_include / "Python.h"
    if machine.windows:
        major, minor = machine.python_version.split(".")[:2]
        yield machine.python_libraries / f"python{major}{minor}.lib"


def render_nodes(machine: Machine) -> Finding:
    """The device files of GPUs, and whether this user may open them."""
    if machine.windows:
        return not_applicable("Windows")
    nodes = sorted((machine.root / "dev" / "dri").glob("renderD*"))
    if _is_wsl(machine) and (machine.root / "dev" / "dxg").exists():
        return not_applicable("WSL uses /dev/dxg")
    if not nodes:
        return Finding(
            BROKEN, "no /dev/dri/renderD*", "a GPU whose kernel driver (i915 or xe) is loaded",
            "load the kernel driver; in a container pass --device /dev/dri",
        )  # fmt: skip
    closed = [node for node in nodes if not machine.can_open(node)]
    if len(closed) == len(nodes):
        return Finding(
            BROKEN, f"{closed[0]} is there, but you may not open it", "membership of its group, mostly `render`",
            "sudo usermod -aG render $USER, then log in again",
        )  # fmt: skip
    return ok(f"{', '.join(str(node) for node in nodes if node not in closed)}")


def wsl(machine: Machine) -> Finding:
    """The Windows Subsystem for Linux has a device file of its own."""
    if machine.windows or not _is_wsl(machine):
        return not_applicable("not WSL")
    if (machine.root / "dev" / "dxg").exists():
        return ok("WSL with /dev/dxg")
    return Finding(
        BROKEN, "WSL without /dev/dxg", "WSL 2 with GPU support",
        "wsl --update, and install Intel's current graphics driver on Windows",
    )  # fmt: skip


def _is_wsl(machine: Machine) -> bool:
    try:
        text = (machine.root / "proc" / "version").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return "microsoft" in text.lower()


def link_name(machine: Machine) -> Finding:
    """The name without a version, which the linker looks for and only development packages bring."""
    if machine.windows:
        return not_applicable("Windows")
    from .triton_lookup import RULES, library, lookup

    found = library(machine, lookup(machine, RULES[-1]))
    if found:
        return ok(f"{found.path} ({found.via})")
    versioned = [path for name, path in machine.linker_cache if name == "libze_loader.so.1"]
    also = f"; {versioned[0]} is there, but the linker does not look for that name" if versioned else ""
    return Finding(
        WARNING,
        f"the linker finds no libze_loader.so{also}",
        "libze_loader.so in LIBRARY_PATH or a system folder",
        "use xpu-dev env or xpu-dev run, or install your system's libze-dev",
    )


def long_paths(machine: Machine) -> Finding:
    """Paths over 259 characters: Python can be told to take them, Microsoft's link.exe cannot."""
    if not machine.windows:
        return not_applicable("Linux")
    longest = max(_paths(machine), key=len, default="")
    enabled = machine.read_registry(LONG_PATHS_KEY).get("LongPathsEnabled") == 1
    told = f"long paths are {'on' if enabled else 'off'}, the longest here has {len(longest)} characters"
    if len(longest) < MAX_PATH:
        return ok(told)
    return Finding(
        WARNING if enabled else BROKEN,
        f"{told}: {longest}",
        f"paths below {MAX_PATH} characters, which is all that link.exe takes",
        "make the environment in a folder with a shorter path",
    )


def _paths(machine: Machine) -> Iterator[str]:
    # Lengths need no look at the disk.
    for name in LONG_PATH_DISTRIBUTIONS:
        for distribution in machine.distributions(name)[:1]:
            folder = str(distribution.locate_file(""))
            yield from (os.path.normpath(f"{folder}/{entry}") for entry in recorded(distribution))


def unusual_paths(machine: Machine) -> Finding:
    """Letters outside ASCII in the paths that compilers are given."""
    if not machine.windows:
        return not_applicable("Linux")
    paths = {
        "environment": str(machine.prefix),
        **{name: machine.environ.get(name, "") for name in ("TEMP", "TRITON_CACHE_DIR")},
    }
    found = [f"{name} {path}" for name, path in paths.items() if not path.isascii()]
    if not found:
        return ok("the environment's path and TEMP are plain ASCII")
    return Finding(
        WARNING,
        f"letters outside ASCII: {', '.join(found)}",
        "plain paths, where older tools are used: cl and link of today take any",
        "if a compiler names a path that does not exist, set TEMP and TRITON_CACHE_DIR to plain folders",
    )
