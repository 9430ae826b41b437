"""What the searches return, and how the version of a development kit is known."""

from __future__ import annotations

import json
from ctypes import CDLL
from pathlib import Path
from typing import NamedTuple

from ._components import Component
from ._sdk import link_library
from ._versions import conda_version


class SDK(NamedTuple):
    """A development kit. Folders are strings, because setuptools takes nothing else.

    `version` is None when the root does not tell it; `via` names the step of the search that found it.
    """

    component: str
    version: str | None
    root: str
    include_dirs: tuple[str, ...]
    library_dirs: tuple[str, ...]
    libraries: tuple[str, ...]
    via: str


class Runtime(NamedTuple):
    """A runtime's shared library. `sdk_version` is known after `find_runtime(..., verify=True)` only."""

    path: str
    version: str | None
    via: str
    sdk_version: str | None = None


class LoadedRuntime(NamedTuple):
    """A runtime that is loaded into this process."""

    library: CDLL
    path: str
    version: str | None
    via: str


def sdk_at(component: Component, root: str, via: str) -> SDK:
    """Return the development kit whose root was found."""
    folder, library = link_library(component, root) or ("", "")
    return SDK(
        component=component.name,
        version=_version(component, root),
        root=root,
        include_dirs=tuple(str(Path(root, name)) for name in component.include_folders),
        library_dirs=(folder,),
        libraries=(library,),
        via=via,
    )


def _version(component: Component, root: str) -> str | None:
    """Return the version that the root itself tells: another copy's metadata may be first on `sys.path`."""
    for read in (_manifest_version, _conda_version, _pkg_config_version, _distribution_version):
        version = read(component, root)
        if version:
            return version
    return None


def _manifest_version(component: Component, root: str) -> str | None:
    try:
        return str(json.loads(Path(root, "manifest.json").read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError):
        return None


def _conda_version(component: Component, root: str) -> str | None:
    prefix = Path(root).parent if Path(root).name == "Library" else Path(root)
    return conda_version(component.distribution, prefix)


def _pkg_config_version(component: Component, root: str) -> str | None:
    folder, library = link_library(component, root) or ("", "")
    try:
        text = Path(folder, "pkgconfig", f"lib{library}.pc").read_text(encoding="utf-8")
    except OSError:
        return None
    found = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("Version:")]
    return found[0] if found else None


def _distribution_version(component: Component, root: str) -> str | None:
    """Return the version of the distribution that owns the header in the root."""
    if component.package:
        return None
    from ._distributions import copies, files_of

    header = str(Path(root, "include", component.header))
    for distribution in copies(component.distribution):
        if header in files_of(distribution, f"include/{component.header}"):
            return distribution.version
    return None
