"""What can be found: one row a component, with the names of its files on each platform."""

# On the way of every include lookup: no typing, dataclasses or collections here, they cost more than the lookup.
from __future__ import annotations

import os

from ._errors import XpuDevError

WINDOWS = os.name == "nt"


class Component:
    """A development kit and its runtime: the names they go by, and the files that must be there."""

    __slots__ = (
        "cmake_name",
        "distribution",
        "dlls",
        "header",
        "include_folders",
        "libraries",
        "name",
        "package",
        "sonames",
        "system_folders",
        "variables",
    )

    def __init__(
        self,
        name: str,
        *,
        distribution: str,
        package: str,
        header: str,
        include_folders: tuple[str, ...],
        libraries: tuple[str, ...],
        sonames: tuple[str, ...],
        dlls: tuple[str, ...],
        cmake_name: str,
        variables: tuple[tuple[str, str], ...],
        system_folders: tuple[str, ...],
    ) -> None:
        self.name = name
        self.distribution = distribution
        # The import package that holds the files; empty when the distribution puts them into the prefix.
        self.package = package
        # Below the root's include folder.
        self.header = header
        # Below the root, in the order of the compiler's command line: users spell headers both ways.
        self.include_folders = include_folders
        # Names for the linker; releases differ, so the first that is there counts.
        self.libraries = libraries
        # The runtime's shared library on Linux and on Windows, the newest first.
        self.sonames = sonames
        self.dlls = dlls
        self.cmake_name = cmake_name
        # Environment variables that name a root, each with the folder below it where the root really is.
        self.variables = variables
        # Patterns with environment variables; the greatest match comes first.
        self.system_folders = system_folders

    @property
    def link_files(self) -> tuple[str, ...]:
        """The file names of `libraries` on this platform."""
        return tuple(f"{name}.lib" if WINDOWS else f"lib{name}.so" for name in self.libraries)

    @property
    def runtime_files(self) -> tuple[str, ...]:
        """The file names of the runtime on this platform."""
        return self.dlls if WINDOWS else self.sonames


ONEAPI_VARIABLES = (("CMPLR_ROOT", ""), ("ONEAPI_ROOT", "compiler/latest"))
ONEAPI_FOLDERS = (
    ("%ProgramFiles(x86)%/Intel/oneAPI/compiler/latest",)
    if WINDOWS
    else ("/opt/intel/oneapi/compiler/latest",)
)

COMPONENTS = {
    component.name: component
    for component in (
        Component(
            "level-zero",
            distribution="level-zero-devel",
            package="level_zero_devel",
            header="level_zero/ze_api.h",
            include_folders=("include", "include/level_zero"),
            libraries=("ze_loader",),
            sonames=("libze_loader.so.1",),
            dlls=("ze_loader.dll",),
            cmake_name="LevelZero",
            variables=(
                ("LEVEL_ZERO_V1_SDK_PATH", ""),
                ("ZE_PATH", ""),
                ("LEVEL_ZERO_ROOT", ""),
                ("LEVEL_ZERO_ROOT_DIR", ""),
                ("LEVEL_ZERO_DIR", ""),
            ),
            # Where the graphics driver's full installer puts it, and where Linux packages and `make install` do.
            system_folders=("%ProgramFiles%/LevelZeroSDK/*",) if WINDOWS else ("/usr/local", "/usr"),
        ),
        Component(
            "unified-runtime",
            distribution="unified-runtime-devel",
            package="unified_runtime_devel",
            header="unified-runtime/ur_api.h",
            include_folders=("include", "include/unified-runtime"),
            libraries=("ur_loader_shared", "ur_loader"),
            sonames=("libur_loader.so.0",),
            # The name changed with 2026.2.
            dlls=("ur_loader_shared.dll", "ur_loader.dll"),
            cmake_name="unified-runtime",
            variables=ONEAPI_VARIABLES,
            system_folders=ONEAPI_FOLDERS,
        ),
        Component(
            "sycl",
            distribution="intel-sycl-rt",
            package="",
            header="sycl/sycl.hpp",
            include_folders=("include",),
            libraries=("sycl", "sycl9", "sycl8", "sycl7"),
            sonames=("libsycl.so.9", "libsycl.so.8", "libsycl.so.7"),
            dlls=("sycl9.dll", "sycl8.dll", "sycl7.dll"),
            cmake_name="IntelSYCL",
            variables=ONEAPI_VARIABLES,
            system_folders=ONEAPI_FOLDERS,
        ),
    )
}


def component_named(name: str) -> Component:
    """Return the row of a component; raise `XpuDevError` for a name that is none."""
    try:
        return COMPONENTS[name]
    except KeyError:
        raise XpuDevError(
            f"there is no component {name!r}", wanted=f"one of: {', '.join(COMPONENTS)}"
        ) from None
