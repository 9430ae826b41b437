"""Find and load runtimes: already loaded, Intel's wheels, the conda prefix, the system's loader."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ._components import COMPONENTS, WINDOWS, component_named
from ._distributions import copies, files_of
from ._errors import MismatchError, XpuDevError
from ._results import LoadedRuntime, Runtime
from ._sdk import find_sdk
from ._search import Attempt, conda_prefixes, first_hit, hit, miss, skipped
from ._versions import runtime_version


class RuntimeFiles(NamedTuple):
    """The files of a runtime: the loader's names by platform, and who brings them.

    `neighbours` are distributions with libraries that the loader needs or opens.
    """

    component: str
    soname: str
    dlls: tuple[str, ...]
    distributions: tuple[str, ...]
    neighbours: tuple[str, ...]
    fix: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names on this platform."""
        return self.dlls if WINDOWS else (self.soname,)


RUNTIMES = {
    files.component: files
    for files in (
        RuntimeFiles(
            "level-zero",
            soname="libze_loader.so.1",
            dlls=("ze_loader.dll",),
            # The driver owns the loader: a copy beside it breaks the loading of layers and drivers.
            distributions=(),
            neighbours=(),
            fix="install Intel's graphics driver, which brings the Level Zero loader",
        ),
        RuntimeFiles(
            "unified-runtime",
            soname="libur_loader.so.0",
            # In 2026.2 the DLL got a new name and moved from intel-cmplr-lib-ur to intel-cmplr-lib-rt.
            dlls=("ur_loader_shared.dll", "ur_loader.dll"),
            distributions=("intel-cmplr-lib-ur", "intel-cmplr-lib-rt"),
            neighbours=("intel-cmplr-lib-rt", "intel-cmplr-lib-ur", "umf", "tcmlib"),
            fix="pip install intel-cmplr-lib-ur intel-cmplr-lib-rt in the release of the development kit",
        ),
        RuntimeFiles(
            "sycl",
            soname="libsycl.so",
            dlls=("sycl9.dll", "sycl8.dll", "sycl7.dll"),
            distributions=("intel-sycl-rt",),
            neighbours=(),
            fix="pip install intel-sycl-rt",
        ),
    )
}


def find_runtime(component: str, *, verify: bool = False) -> Runtime:
    """Return the shared library of a runtime that `load_runtime` would load, without loading it.

    With `verify`, compare it with the development kit: raise `MismatchError`, naming both versions, when programs built
    with the one cannot run on the other. Raise `NotFoundError` when either is nowhere.
    """
    files = _files_of(component)
    found = first_hit(runtime_attempts(component), f"the {component} runtime", files.fix)
    runtime = Runtime(found.place, runtime_version(files.distributions, found.place), found.via)
    return _verified(component, runtime) if verify else runtime


def load_runtime(component: str) -> LoadedRuntime:
    """Load a runtime into this process, with the libraries it needs from the packages beside it.

    Raise `NotFoundError` when it is nowhere, `XpuDevError` when the system's loader refuses it.
    """
    if component == "sycl":
        raise XpuDevError("sycl can be found but not loaded", found="a C++ library with no C interface")
    runtime = find_runtime(component)
    if WINDOWS:
        for folder in _dll_folders(_files_of(component), runtime.path):
            os.add_dll_directory(folder)  # type: ignore[attr-defined,unused-ignore]
    try:
        library = ctypes.CDLL(runtime.path)
    except OSError as error:
        raise XpuDevError(
            f"the {component} runtime cannot be loaded", found=f"{runtime.path}: {error}"
        ) from None
    return LoadedRuntime(library, *runtime[:3])


def runtime_attempts(component: str) -> Iterator[Attempt]:
    """Yield what each step of the search does, also after the first hit, which is the one that counts."""
    files = _files_of(component)
    for step in RUNTIME_STEPS:
        yield from step(files)


def _files_of(component: str) -> RuntimeFiles:
    return RUNTIMES[component_named(component).name]


def _verified(component: str, runtime: Runtime) -> Runtime:
    sdk = find_sdk(component)
    runtime = runtime._replace(sdk_version=sdk.version)
    if component == "unified-runtime" and _release(sdk.version) != _release(runtime.version):
        # Its interface moves between releases under one file name: functions go, enumerators shift.
        raise MismatchError(
            f"the {component} development kit is {sdk.version} but the runtime is {runtime.version}",
            wanted="both of one release",
            found=f"{sdk.root} and {runtime.path}",
            fix=f"pip install {COMPONENTS[component].distribution}=={runtime.version}",
        )
    return runtime


def _release(version: str | None) -> list[str]:
    return (version or "").split(".")[:2]


def _loaded(files: RuntimeFiles) -> Iterator[Attempt]:
    via = "already loaded"
    for path in _loaded_paths(files.names):
        yield hit(via, path)
        return
    yield miss(via, f"this process holds no {' or '.join(files.names)}")


def _loaded_paths(names: tuple[str, ...]) -> Iterator[str]:
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


def _wheels(files: RuntimeFiles) -> Iterator[Attempt]:
    if not files.distributions:
        yield skipped("wheel", f"no wheel may bring {files.names[0]}")
    for name in files.distributions:
        via = f"wheel {name}"
        paths = [path for copy in copies(name) for tail in files.names for path in files_of(copy, tail)]
        if not paths:
            yield miss(via, f"not installed, or without {' or '.join(files.names)}")
        for path in paths:
            yield hit(via, path)


def _conda(files: RuntimeFiles) -> Iterator[Attempt]:
    via = "conda prefix"
    prefixes = list(conda_prefixes())
    if not prefixes:
        yield skipped(via, "no conda environment is active")
    for prefix in prefixes:
        yield _in_folder(via, Path(prefix, "Library/bin" if WINDOWS else "lib"), files.names)


def _system(files: RuntimeFiles) -> Iterator[Attempt]:
    if WINDOWS:
        # Never by name alone: Windows would look into the current directory and PATH as well.
        yield _in_folder("System32", Path(_system32()), files.names)
        return
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if folder:
            yield _in_folder("LD_LIBRARY_PATH", Path(folder), files.names)
    yield _in_linker_cache(files.soname)


def _in_folder(via: str, folder: Path, names: tuple[str, ...]) -> Attempt:
    for name in names:
        path = folder.absolute() / name
        if path.is_file():
            return hit(via, str(path))
    return miss(via, f"no {' or '.join(names)}", str(folder))


def _in_linker_cache(soname: str) -> Attempt:
    via = "system loader"
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, check=False).stdout
    pattern = rb"\t" + re.escape(os.fsencode(soname)) + rb" \(.*x86-64.*\) => (.*)"
    for path in re.findall(pattern, listing):
        if Path(os.fsdecode(path)).is_file():
            return hit(via, os.fsdecode(path))
    return miss(via, f"ldconfig lists no {soname}")


def _system32() -> str:
    buffer = ctypes.create_unicode_buffer(260)
    ctypes.WinDLL("kernel32").GetSystemDirectoryW(buffer, len(buffer))  # type: ignore[attr-defined,unused-ignore]
    return buffer.value


def _dll_folders(files: RuntimeFiles, path: str) -> list[str]:
    """Return the folders of the DLLs that the loader needs: its own, and those of its neighbours elsewhere."""
    dlls = [Path(path)]
    for name in files.neighbours:
        for copy in copies(name):
            dlls += [
                Path(str(copy.locate_file(entry))) for entry in copy.files or () if entry.suffix == ".dll"
            ]
    return [str(folder) for folder in dict.fromkeys(dll.resolve().parent for dll in dlls) if folder.is_dir()]


# The search order. `doctor` prints the same tuple.
RUNTIME_STEPS = (_loaded, _wheels, _conda, _system)
