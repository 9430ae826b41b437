"""Where Triton's XPU backend looks for Level Zero and SYCL, by its version; read from its sources."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from .._files import is_file
from .machine import Machine

# All of them own the import package `triton`; the first two bring no XPU backend of their own.
OWNERS = ("triton", "triton-windows", "triton-xpu", "pytorch-triton-xpu")
HEADER = Path("level_zero", "ze_api.h")
DEFAULT_ROOT = "/usr/local"


class Rules(NamedTuple):
    """How a version of Triton looks: from this version on, until the next row."""

    since: tuple[int, int, int]
    variables: tuple[str, ...]
    # Whether <root>/lib is searched, which is so on Windows only.
    root_library: bool
    # The files of `intel-sycl-rt` that it accepts as the SYCL library, and the SYCL that it needs.
    sycl_libraries: tuple[str, ...]
    sycl_releases: tuple[str, ...]


BOTH = ("LEVEL_ZERO_V1_SDK_PATH", "ZE_PATH")
SYCL_8 = ("sycl8.dll", "sycl8.lib", "libsycl.so")
RULES = (
    Rules((3, 2, 0), ("ZE_PATH",), False, ("sycl.lib", "libsycl.so"), ()),
    Rules((3, 3, 0), ("ZE_PATH",), True, SYCL_8, ("2025",)),
    Rules((3, 3, 1), BOTH, True, SYCL_8, ("2025",)),
    Rules((3, 7, 0), BOTH, True, ("sycl.lib", "libsycl.so"), ("2025", "2026")),
)


class Lookup(NamedTuple):
    """What Triton would put on the compiler's command line, in order, each folder with how it was found."""

    root: str
    via: str
    includes: list[tuple[Path, str]]
    libraries: list[tuple[Path, str]]
    sycl: str


class Found(NamedTuple):
    """A file, and which of the folders had it."""

    path: Path
    via: str


def installed(machine: Machine) -> tuple[str, str] | None:
    """Return name and version of the distribution that owns `triton`, None without one."""
    for name in reversed(OWNERS):
        distribution = machine.distribution(name)
        if distribution:
            return name, distribution.version
    return None


def rules(version: str) -> Rules:
    """Return the rules of a version of Triton; those of the oldest for older ones."""
    wanted = numbers(version)
    return next((row for row in reversed(RULES) if row.since <= wanted), RULES[0])


def numbers(version: str) -> tuple[int, ...]:
    """Return the first three numbers of a version: (3, 3, 0) for 3.3.0b1+xpu."""
    found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(part or 0) for part in found.groups()) if found else (0, 0, 0)


def lookup(machine: Machine, row: Rules) -> Lookup:
    """Return the folders that Triton would search."""
    via = next((name for name in row.variables if name in machine.environ), "default")
    root = machine.environ.get(via, DEFAULT_ROOT)
    sycl, include_folders, library_folders = _sycl(machine, row)
    includes = [(Path(root, "include"), via), *((folder, sycl) for folder in include_folders)]
    libraries = []
    # 3.2 on Windows adds no library folder at all.
    if row.root_library or not machine.windows:
        libraries += [(folder, sycl) for folder in library_folders]
    # Behind SYCL's: an import library in the prefix is taken even when the variable leads elsewhere.
    if row.root_library and machine.windows:
        libraries.append((Path(root, "lib"), via))
    return Lookup(root, via, includes, libraries, sycl)


def header(machine: Machine, found: Lookup) -> Found | None:
    """Return the ze_api.h that the compiler would read."""
    return _first(HEADER, [*found.includes, *_compiler_folders(machine, "include")])


def library(machine: Machine, found: Lookup) -> Found | None:
    """Return the library that the linker would take for ze_loader."""
    name = Path("ze_loader.lib" if machine.windows else "libze_loader.so")
    return _first(name, [*found.libraries, *_compiler_folders(machine, "lib")])


def sycl_files(machine: Machine, row: Rules) -> tuple[list[Path], list[Path]]:
    """Return the files sycl.hpp and the SYCL library that Triton finds in the distribution `intel-sycl-rt`."""
    distribution = machine.distribution("intel-sycl-rt")
    if distribution is None:
        return [], []
    return (
        list(machine.files(distribution, "sycl.hpp")),
        list(machine.files(distribution, *row.sycl_libraries)),
    )


def _sycl(machine: Machine, row: Rules) -> tuple[str, list[Path], list[Path]]:
    """Return how SYCL is found, and its folders: icpx on PATH, else ONEAPI_ROOT, else the wheel."""
    icpx = machine.which("icpx")
    if icpx:
        root = icpx.parent.parent
        return "icpx on PATH", [root / "include", root / "include" / "sycl"], [root / "lib"]
    oneapi = machine.environ.get("ONEAPI_ROOT")
    if oneapi:
        root = Path(oneapi, "compiler", "latest")
        return "ONEAPI_ROOT", [root / "include", root / "include" / "sycl"], [root / "lib"]
    headers, files = sycl_files(machine, row)
    return "intel-sycl-rt", [path.parent.parent for path in headers], [path.parent for path in files]


def _compiler_folders(machine: Machine, kind: str) -> list[tuple[Path, str]]:
    """Return the folders that compiler and linker search by themselves."""
    if machine.windows:
        variable = "INCLUDE" if kind == "include" else "LIB"
        return [(folder, variable) for folder in machine.folders(variable)]
    variable = "CPATH" if kind == "include" else "LIBRARY_PATH"
    system = (
        ("usr/local/include", "usr/include")
        if kind == "include"
        else ("usr/local/lib", "usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib")
    )
    return [
        *((folder, variable) for folder in machine.folders(variable)),
        *((machine.root / folder, "system folder") for folder in system),
    ]


def _first(name: Path, folders: list[tuple[Path, str]]) -> Found | None:
    for folder, via in folders:
        if is_file(folder / name):
            return Found(folder / name, via)
    return None
