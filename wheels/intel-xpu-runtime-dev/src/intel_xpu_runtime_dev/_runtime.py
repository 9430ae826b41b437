"""Find and load runtimes: already loaded, Intel's wheels, the conda prefix, the system's loader."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ._components import WINDOWS, Component, component_named
from ._distributions import copies, files_of, folders_of
from ._errors import MismatchError, XpuDevError
from ._results import SDK, LoadedRuntime, Runtime
from ._sdk import find_sdk
from ._search import Attempt, conda_prefixes, first_hit, hit, miss, skipped
from ._versions import runtime_version


class Source(NamedTuple):
    """Who brings a runtime: the distributions with its loader, and those with libraries that the loader needs."""

    distributions: tuple[str, ...]
    neighbours: tuple[str, ...]
    fix: str


# By its path: a user's PATH often lacks the folder.
LDCONFIG = "/sbin/ldconfig"

SOURCES = {
    # The driver owns the loader: a copy beside it breaks the loading of layers and drivers.
    "level-zero": Source((), (), "install Intel's graphics driver, which brings the Level Zero loader"),
    # On Windows the loader moved from the first to the second with 2026.2.
    "unified-runtime": Source(
        ("intel-cmplr-lib-ur", "intel-cmplr-lib-rt"),
        ("intel-cmplr-lib-ur", "intel-cmplr-lib-rt", "umf", "tcmlib"),
        "pip install intel-cmplr-lib-ur intel-cmplr-lib-rt, in the release of the development kit",
    ),
    "sycl": Source(("intel-sycl-rt",), (), "pip install intel-sycl-rt"),
}


def find_runtime(component: str, *, verify: bool = False) -> Runtime:
    """Return the shared library of a runtime that `load_runtime` would load, without loading it.

    With `verify`, compare it with the development kit: raise `MismatchError`, naming both versions, when programs built
    with the one cannot run on the other. Raise `NotFoundError` when either is nowhere.
    """
    row = component_named(component)
    source = SOURCES[component]
    found = first_hit(
        runtime_attempts(row),
        f"{component} runtime not found",
        wanted=" or ".join(row.runtime_files),
        fix=source.fix,
    )
    runtime = Runtime(found.place, runtime_version(source.distributions, found.place), found.via)
    return _verified(row, runtime) if verify else runtime


def load_runtime(component: str) -> LoadedRuntime:
    """Load a runtime into this process, with the libraries it needs from the packages beside it.

    Raise `NotFoundError` when it is nowhere, `XpuDevError` when the system's loader refuses it.
    """
    if component == "sycl":
        raise XpuDevError("sycl can be found but not loaded", found="a C++ library with no C interface")
    runtime = find_runtime(component)
    if WINDOWS:
        folders = _dll_folders(SOURCES[component].neighbours, runtime.path)
        for folder in folders:
            os.add_dll_directory(folder)  # type: ignore[attr-defined,unused-ignore]
        if component == "unified-runtime":
            # It loads adapters and OpenCL by name, which Windows looks for on PATH and not in the folders added above.
            os.environ["PATH"] = os.pathsep.join([*folders, os.environ.get("PATH", "")])
    try:
        library = ctypes.CDLL(runtime.path)
    except OSError as error:
        raise XpuDevError(
            f"the {component} runtime cannot be loaded", found=f"{runtime.path}: {error}"
        ) from None
    return LoadedRuntime(library, *runtime[:3])


def runtime_attempts(component: Component) -> Iterator[Attempt]:
    """Yield what each step of the search does, also after the first hit, which is the one that counts."""
    for step in RUNTIME_STEPS:
        yield from step(component)


def _verified(component: Component, runtime: Runtime) -> Runtime:
    sdk = find_sdk(component.name)
    if component.name == "unified-runtime":
        _check_release(component, sdk, runtime)
    return runtime._replace(sdk_version=sdk.version)


def _check_release(component: Component, sdk: SDK, runtime: Runtime) -> None:
    # Its interface moves between releases under one file name: functions go, enumerators shift. Within one release, as
    # from 2026.1.0 to 2026.1.1, it only grows.
    of_sdk, of_runtime = (
        ".".join((version or "").split(".")[:2]) for version in (sdk.version, runtime.version)
    )
    found = f"{sdk.root} and {runtime.path}"
    if not of_sdk or not of_runtime:
        raise MismatchError(
            f"the {component.name} development kit is {sdk.version or 'of an unknown release'},"
            f" the runtime {runtime.version or 'of an unknown release'}",
            wanted="a runtime and a development kit that tell their release, as those from wheels and conda do",
            found=found,
        )
    if of_sdk != of_runtime:
        raise MismatchError(
            f"the {component.name} development kit is {sdk.version} but the runtime is {runtime.version}",
            wanted="both of one release",
            found=found,
            fix=f"pip install {component.distribution}=={of_runtime}.*",
        )


def _loaded(component: Component) -> Iterator[Attempt]:
    via = "already loaded"
    for path in loaded_paths(component.runtime_files):
        yield hit(via, path)
        return
    yield miss(via, f"this process holds no {' or '.join(component.runtime_files)}")


def loaded_paths(names: tuple[str, ...]) -> Iterator[str]:
    """Yield the path of the library of one of these names that this process holds, if any."""
    if WINDOWS:
        yield from _loaded_dlls(names)
        return
    try:
        lines = Path("/proc/self/maps").read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        path = Path(os.fsdecode(line.split(maxsplit=5)[-1]))
        # Mapped under its own name: libze_loader.so.1.20.6 for libze_loader.so.1.
        if path.is_absolute() and path.name.startswith(names):
            yield str(path)
            return


def _loaded_dlls(names: tuple[str, ...]) -> Iterator[str]:
    kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    kernel32.GetModuleHandleW.restype = ctypes.c_void_p
    kernel32.GetModuleFileNameW.argtypes = [ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_uint32]
    for name in names:
        handle = kernel32.GetModuleHandleW(ctypes.c_wchar_p(name))
        if handle:
            path = ctypes.create_unicode_buffer(32768)
            kernel32.GetModuleFileNameW(handle, path, len(path))
            yield path.value


def _wheels(component: Component) -> Iterator[Attempt]:
    distributions = SOURCES[component.name].distributions
    if not distributions:
        yield skipped("wheel", f"no wheel may bring {component.runtime_files[0]}")
    for name in distributions:
        via = f"wheel {name}"
        paths = [
            path for copy in copies(name) for tail in component.runtime_files for path in files_of(copy, tail)
        ]
        if not paths:
            yield miss(via, f"not installed, or without {' or '.join(component.runtime_files)}")
        for path in paths:
            yield hit(via, path)


def _conda(component: Component) -> Iterator[Attempt]:
    via = "conda prefix"
    prefixes = list(conda_prefixes())
    if not prefixes:
        yield skipped(via, "no conda environment is active")
    for prefix in prefixes:
        yield _in_folder(via, Path(prefix, "Library/bin" if WINDOWS else "lib"), component.runtime_files)


def _system(component: Component) -> Iterator[Attempt]:
    if WINDOWS:
        # Never by name alone: Windows would look into the current directory and PATH as well.
        yield _in_folder("System32", Path(_system32()), component.runtime_files)
        return
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if folder:
            yield _in_folder("LD_LIBRARY_PATH", Path(folder), component.runtime_files)
    yield _in_linker_cache(component.sonames)


def _in_folder(via: str, folder: Path, names: tuple[str, ...]) -> Attempt:
    for name in names:
        path = folder.absolute() / name
        if path.is_file():
            return hit(via, str(path))
    return miss(via, f"no {' or '.join(names)}", str(folder))


def _in_linker_cache(sonames: tuple[str, ...]) -> Attempt:
    via = "system loader"
    try:
        listing = subprocess.run([LDCONFIG, "-p"], capture_output=True, check=False).stdout
    except OSError as error:
        return miss(via, f"{LDCONFIG}: {error.strerror}")
    for soname in sonames:
        pattern = rf"\t{re.escape(soname)} \(.*x86-64.*\) => (.*)"
        for path in re.findall(pattern, os.fsdecode(listing)):
            if Path(path).is_file():
                return hit(via, path)
    return miss(via, f"ldconfig lists no {' or '.join(sonames)}")


def _system32() -> str:
    buffer = ctypes.create_unicode_buffer(260)
    ctypes.WinDLL("kernel32").GetSystemDirectoryW(buffer, len(buffer))  # type: ignore[attr-defined,unused-ignore]
    return buffer.value


def _dll_folders(neighbours: tuple[str, ...], path: str) -> list[str]:
    """Return the folders of the DLLs that the loader needs: its own, and those of its neighbours elsewhere."""
    folders = [str(Path(path).parent)]
    for name in neighbours:
        for copy in copies(name):
            folders += folders_of(copy, ".dll")
    return list(dict.fromkeys(folders))


# The search order. `doctor` prints the same tuple.
RUNTIME_STEPS = (_loaded, _wheels, _conda, _system)
