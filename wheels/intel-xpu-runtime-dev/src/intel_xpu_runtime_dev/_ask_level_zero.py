"""Ask a loaded Level Zero loader for versions. This starts the driver, so only those who want it ask."""

from __future__ import annotations

import ctypes
from typing import NamedTuple


class Versions(NamedTuple):
    """What the loader says: its own version (None when it tells none), and the API version of each driver."""

    loader: str | None
    drivers: tuple[str, ...]


class _ComponentVersion(ctypes.Structure):
    # zel_component_version_t in loader/ze_loader.h
    _fields_ = [
        ("component_name", ctypes.c_char * 64),
        ("spec_version", ctypes.c_uint32),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("patch", ctypes.c_int),
    ]


def ask_versions(library: ctypes.CDLL) -> Versions:
    """Return the versions that the loader and its drivers tell; nothing of what fails."""
    library.zeInit(0)
    return Versions(loader_version(library), tuple(_driver_versions(library)))


def loader_version(library: ctypes.CDLL) -> str | None:
    """Return the version that an initialised loader tells of itself; None when it tells none."""
    count = ctypes.c_size_t()
    # Not in loaders before 1.3.
    if not hasattr(library, "zelLoaderGetVersions") or library.zelLoaderGetVersions(
        ctypes.byref(count), None
    ):
        return None
    components = (_ComponentVersion * count.value)()
    library.zelLoaderGetVersions(ctypes.byref(count), components)
    for component in components:
        if component.component_name == b"loader":
            return f"{component.major}.{component.minor}.{component.patch}"
    return None


def _driver_versions(library: ctypes.CDLL) -> list[str]:
    count = ctypes.c_uint32()
    if library.zeDriverGet(ctypes.byref(count), None):
        return []
    drivers = (ctypes.c_void_p * count.value)()
    library.zeDriverGet(ctypes.byref(count), drivers)
    versions = []
    for driver in drivers:
        version = ctypes.c_uint32()
        if not library.zeDriverGetApiVersion(ctypes.c_void_p(driver), ctypes.byref(version)):
            versions.append(f"{version.value >> 16}.{version.value & 0xFFFF}")
    return versions
