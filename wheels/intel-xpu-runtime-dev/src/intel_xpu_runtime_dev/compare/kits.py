"""Where headers, libraries and runtimes of the layers are on this machine, or in the root of another release."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .._components import COMPONENTS
from .._errors import XpuDevError
from .._files import is_file
from .._results import Runtime
from ..smoke import cpu_device

OPENCL_HEADER = Path("CL", "cl.h")
OPENCL_LIBRARIES = ("libOpenCL.so", "libOpenCL.so.1")
SYSTEM_ROOTS = ("/usr", "/usr/local")


class Kit(NamedTuple):
    """What a component brings to a host: flags of the compiler and linker, the release, the runtime's folder."""

    release: str
    include_dirs: tuple[str, ...]
    link: tuple[str, ...]
    runtime_dir: str


class Kits(NamedTuple):
    """The kits by component; for those that are not there, why."""

    found: Mapping[str, Kit]
    missing: Mapping[str, str]

    def environment(self) -> dict[str, str]:
        """Return the variables with which a host finds the runtimes and the CPU device."""
        environment = dict(os.environ)
        folders = dict.fromkeys(kit.runtime_dir for kit in self.found.values() if kit.runtime_dir)
        if folders:
            folders[os.environ.get("LD_LIBRARY_PATH", "")] = None
            environment["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, folders))
        for component in ("unified-runtime", "sycl"):
            kit = self.found.get(component)
            if kit and kit.runtime_dir:
                environment.update(cpu_device.offer(str(Path(kit.runtime_dir, "any"))).variables)
        return environment


def installed(elsewhere: Sequence[str] = ()) -> Kits:
    """Return the kits that this Python and this machine have; runtimes of the components `elsewhere` are not needed."""
    from .._runtime import find_runtime
    from .._sdk import find_sdk

    found: dict[str, Kit] = {}
    missing: dict[str, str] = {}
    for name in COMPONENTS:
        try:
            sdk = find_sdk(name)
            runtime = None if name in elsewhere else find_runtime(name)
        except XpuDevError as error:
            missing[name] = f"{error.problem}{'; ' + error.fix if error.fix else ''}"
            continue
        link = (f"-L{sdk.library_dirs[0]}", f"-l{sdk.libraries[0]}")
        # Intel's own folders do not tell the release of their headers, but it is the runtime's.
        release = sdk.version or (runtime and runtime.version) or "unknown"
        found[name] = Kit(release, sdk.include_dirs, link, _folder(runtime) if runtime else "")
    roots = [str(Path(kit.include_dirs[0]).parent) for kit in found.values()]
    _add_opencl([*roots, *SYSTEM_ROOTS], [kit.runtime_dir for kit in found.values()], found, missing)
    return Kits(found, missing)


def of_root(root: str) -> Kits:
    """Return the kits below a folder where Intel's `intel-sycl-rt` wheel was installed, of whatever release."""
    from .._results import sdk_at

    found: dict[str, Kit] = {}
    missing: dict[str, str] = {}
    for name in ("unified-runtime", "sycl"):
        component = COMPONENTS[name]
        libraries = [folder for folder in (Path(root, "lib"),) if _library(folder, component.sonames)]
        if not libraries:
            missing[name] = f"no {' or '.join(component.sonames)} in {root}/lib"
            continue
        sdk = sdk_at(component, root, "--other")
        # The wheels of 2025 bring no lib*.so of their own: the linker takes the runtime itself.
        link = (f"-L{libraries[0]}", f"-l:{_library(libraries[0], component.sonames)}")
        found[name] = Kit(
            _release(Path(root)) or sdk.version or "unknown", sdk.include_dirs, link, str(libraries[0])
        )
    _add_opencl([root], [str(Path(root, "lib"))], found, missing)
    return Kits(found, missing)


def _add_opencl(
    roots: list[str], libraries: list[str], found: dict[str, Kit], missing: dict[str, str]
) -> None:
    include = next(
        (f"{root}/include" for root in roots if is_file(Path(root, "include", OPENCL_HEADER))), None
    )
    if include is None:
        missing["opencl"] = "no CL/cl.h; pip install intel-sycl-rt, or the system's OpenCL headers"
        return
    folders = [Path(folder) for folder in [*libraries, "/usr/lib/x86_64-linux-gnu", "/usr/lib64"] if folder]
    folder = next((folder for folder in folders if _library(folder, OPENCL_LIBRARIES)), None)
    if folder is None:
        missing["opencl"] = "no libOpenCL.so; pip install intel-opencl-rt, or the system's OpenCL loader"
        return
    link = (f"-L{folder}", f"-l:{_library(folder, OPENCL_LIBRARIES)}")
    found["opencl"] = Kit("", (include,), link, str(folder) if str(folder) in libraries else "")


def _folder(runtime: Runtime) -> str:
    """Return the folder to search for a runtime, empty when the system finds it."""
    return "" if runtime.via in ("system loader", "System32") else str(Path(runtime.path).parent)


def _library(folder: Path, names: tuple[str, ...]) -> str:
    return next((name for name in names if is_file(Path(folder, name))), "")


def _release(root: Path) -> str:
    """Return the release of Intel's runtime that pip has installed below a root."""
    for about in root.glob("lib*/python*/site-packages/intel_cmplr_lib_ur-*.dist-info"):
        return about.name.split("-")[1][: -len(".dist")]
    return ""
