"""Checks of the loaders, drivers and devices that a process would meet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .._components import COMPONENTS
from .._errors import NotFoundError
from .._files import is_file
from .._runtime import SOURCES, find_runtime
from .._sdk import find_sdk
from .._versions import file_version, soname_version
from ..api._history import release_key
from .findings import BROKEN, WARNING, Finding, not_applicable, ok
from .machine import Machine

DRIVER_FIX = "install Intel's graphics driver"
# Registry keys of display and compute devices; each has its driver's folder.
DEVICE_CLASSES = (
    r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}",
    r"SYSTEM\CurrentControlSet\Control\Class\{f01a9d53-3ff6-48d2-9f97-c8a7004be10c}",
)
DRIVER_VALUE = "LevelZeroDriverPath"
MOST_DEVICES = 16
# What the loader opens on Linux; the last two are of neural processors, which run no kernels.
GPU_DRIVERS = ("libze_intel_gpu.so.1", "libze_intel_gpu_legacy1.so.1")
LINUX_DRIVERS = (*GPU_DRIVERS, "libze_intel_npu.so.1", "libze_intel_vpu.so.1")


def copies(machine: Machine) -> list[tuple[str, Path]]:
    """Return the Level Zero loaders that a process could load, in load order, each file once."""
    found: dict[Path, tuple[str, Path]] = {}
    for via, path in _candidates(machine):
        if is_file(path):
            found.setdefault(path.resolve(), (via, path))
    return list(found.values())


def _candidates(machine: Machine) -> Iterator[tuple[str, Path]]:
    name = "ze_loader.dll" if machine.windows else "libze_loader.so.1"
    if machine.windows:
        yield "System32", machine.root / "Windows" / "System32" / name
        yield from (("PATH", folder / name) for folder in machine.folders("PATH"))
        yield "environment", machine.overlay / "bin" / name
    else:
        yield from (("LD_LIBRARY_PATH", folder / name) for folder in machine.folders("LD_LIBRARY_PATH"))
        yield from (("system loader", path) for soname, path in machine.linker_cache if soname == name)
        yield "environment", machine.prefix / "lib" / name
    for distribution in ("level-zero", "level-zero-devel", "intel-sycl-rt"):
        for each in machine.distributions(distribution):
            yield from ((f"wheel {distribution}", path) for path in machine.files(each, name))


def version(path: Path) -> str | None:
    """Return the version of a loader's file."""
    return file_version(str(path)) if path.suffix == ".dll" else soname_version(str(path))


def loader(machine: Machine) -> Finding:
    """The Level Zero loader, and copies beside the driver's."""
    found = copies(machine)
    details = tuple(f"{via}: {path} {version(path) or '(version unknown)'}" for via, path in found)
    if not found:
        return Finding(
            BROKEN,
            "no Level Zero loader",
            "ze_loader.dll in System32" if machine.windows else "libze_loader.so.1",
            f"{DRIVER_FIX}, which brings it" if machine.windows else f"{DRIVER_FIX} and the package libze1",
        )
    if len(found) > 1:
        return Finding(
            WARNING,
            f"{len(found)} Level Zero loaders: the first that is loaded decides, and drivers or layers may miss it",
            "the driver's own and no other",
            f"remove {found[1][1]} or take its folder out of the search",
            details,
        )
    return ok(f"{version(found[0][1]) or 'unknown version'} in {found[0][1]} ({found[0][0]})")


def loader_and_kit(machine: Machine) -> Finding:
    """The loader's release against the development kit's: the headers may declare more than the loader has."""
    found = copies(machine)
    try:
        kit = find_sdk("level-zero")
    except NotFoundError:
        return not_applicable("no development kit of Level Zero")
    has = version(found[0][1]) if found else None
    if not has or not kit.version:
        return not_applicable("no loader, or its version is unknown")
    # Windows counts a fourth number.
    if release_key(has)[:3] >= release_key(kit.version):
        return ok(f"loader {has}, development kit {kit.version}")
    return Finding(
        WARNING,
        f"the loader is {has}, the development kit {kit.version}: a program that calls newer functions will not load",
        "a loader that is not older",
        "update the driver, or use only older functions: xpu-dev check FILE tells which a file needs",
    )


def drivers(machine: Machine) -> Finding:
    """The drivers that the loader would load."""
    found = list(_windows_drivers(machine) if machine.windows else _linux_drivers(machine))
    there = [path for path in found if is_file(path)]
    if any(not _is_npu(path) for path in there):
        return ok(f"{len(there)} Level Zero driver{'s' if len(there) > 1 else ''}", *map(str, there))
    if there:
        return Finding(
            BROKEN, f"{there[0]} is the driver of a neural processor, which runs no kernels",
            "the driver of a GPU", DRIVER_FIX,
        )  # fmt: skip
    if found:
        return Finding(
            BROKEN, f"{found[0]} is registered but not there", "an installed driver", f"{DRIVER_FIX} again"
        )
    where = f"the registry ({DRIVER_VALUE})" if machine.windows else "what the system's loader knows"
    return Finding(
        BROKEN,
        f"no Level Zero driver in {where}",
        "a display or compute device with a Level Zero driver"
        if machine.windows
        else " or ".join(GPU_DRIVERS),
        DRIVER_FIX if machine.windows else f"{DRIVER_FIX}: the packages libze-intel-gpu1 and libze1",
    )


def _is_npu(path: Path) -> bool:
    return "npu" in path.name or "vpu" in path.name


def _windows_drivers(machine: Machine) -> Iterator[Path]:
    for key in DEVICE_CLASSES:
        for index in range(MOST_DEVICES):
            value = machine.read_registry(rf"{key}\{index:04}").get(DRIVER_VALUE)
            paths = value if isinstance(value, list) else str(value or "").split(";")
            yield from (Path(path) for path in paths if path)


def _linux_drivers(machine: Machine) -> Iterator[Path]:
    alternatives = machine.environ.get("ZE_ENABLE_ALT_DRIVERS")
    for name in alternatives.split(",") if alternatives else LINUX_DRIVERS:
        known = [path for soname, path in machine.linker_cache if soname == name]
        # The loader takes a path as well as a name.
        yield from known or ([Path(name)] if alternatives else [])


def unified_runtime(machine: Machine) -> Finding:
    """The Unified Runtime loader, its adapters, and its release against the development kit's."""
    try:
        found = find_runtime("unified-runtime")
    except NotFoundError as error:
        return not_applicable(f"{error.problem}: {SOURCES['unified-runtime'].fix}")
    pattern = "ur_adapter_*.dll" if machine.windows else "libur_adapter_*.so.0"
    adapters = tuple(f"adapter {path.name}" for path in sorted(Path(found.path).parent.glob(pattern)))
    has = f"{found.version or 'unknown release'} in {found.path} ({found.via})"
    try:
        kit = find_sdk("unified-runtime")
    except NotFoundError:
        return ok(has, *adapters)
    if found.version and kit.version and found.version.split(".")[:2] != kit.version.split(".")[:2]:
        return Finding(
            BROKEN,
            f"the runtime is {found.version}, the development kit {kit.version}: functions and numbers differ",
            "both of one release",
            f"pip install {COMPONENTS['unified-runtime'].distribution}=={found.version}",
            (has, *adapters),
        )
    return ok(has, *adapters)


def cpu_device(machine: Machine) -> Finding:
    """Intel's OpenCL CPU device, for `smoke --device cpu`."""
    from ..smoke.cpu_device import SPACE, offer

    try:
        found = find_runtime("unified-runtime")
    except NotFoundError:
        return not_applicable("needs Unified Runtime")
    remark = offer(found.path).remark
    if "no " in remark.partition("CPU device: ")[2][:3]:
        return not_applicable(f"{remark}: pip install intel-opencl-rt")
    if SPACE in remark:
        return Finding(WARNING, remark, "a path without spaces", "make the environment in another folder")
    return ok(remark)
