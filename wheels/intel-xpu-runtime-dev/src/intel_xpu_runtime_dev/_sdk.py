"""Find development kits: our wheels, the conda prefix, environment variables, system folders."""

# get_include is called by every build: what only find_sdk needs is imported there.
from __future__ import annotations

import os

from ._components import WINDOWS, component_named
from ._search import conda_prefixes, first_hit, hit, miss, skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._components import Component
    from ._results import SDK
    from ._search import Attempt

# Where a root keeps its libraries; in /usr only the first that applies holds those of this architecture.
LIBRARY_FOLDERS = ("lib",) if WINDOWS else ("lib/x86_64-linux-gnu", "lib64", "lib")

SYSTEM_FOLDER = "system folder"


def get_include(component: str = "level-zero") -> str:
    """Return the folder to give to a compiler: `#include <level_zero/ze_api.h>` works with it.

    Raise `NotFoundError` when the development kit is nowhere.
    """
    return _join(locate(component_named(component)).place, "include")


def find_sdk(component: str) -> SDK:
    """Return the development kit of "level-zero", "unified-runtime" or "sycl".

    Raise `NotFoundError`, which tells every place that was looked in, when it is nowhere.
    """
    from ._results import sdk_at

    row = component_named(component)
    found = locate(row)
    return sdk_at(row, found.place, found.via)


def locate(component: Component) -> Attempt:
    """Return the hit that counts; raise `NotFoundError` when there is none."""
    return first_hit(
        sdk_attempts(component),
        f"{component.name} development kit not found",
        wanted=f"a folder with include/{component.header} and lib/{' or '.join(component.link_files)}",
        fix=f"pip install {component.distribution}",
    )


def sdk_attempts(component: Component) -> Iterator[Attempt]:
    """Yield what each step of the search does, also after the first hit, which is the one that counts."""
    for step in SDK_STEPS:
        yield from step(component)


def link_library(component: Component, root: str) -> tuple[str, str] | None:
    """Return the folder and the linker's name of the library to link with, or None when the root has none."""
    for folder in LIBRARY_FOLDERS:
        for library, name in zip(component.libraries, component.link_files):
            if os.path.isfile(_join(root, folder, name)):
                return _join(root, folder), library
    return None


def _join(*parts: str) -> str:
    return os.path.normpath(os.path.join(*parts))


def _examined(via: str, component: Component, root: str) -> Attempt:
    """Return a hit when both the header and the library are below `root`."""
    root = os.path.normpath(root)
    if not os.path.isfile(_join(root, "include", component.header)):
        return miss(via, f"no include/{component.header}", root)
    if link_library(component, root) is None:
        return miss(via, f"has the header but no {' or '.join(component.link_files)}", root)
    return hit(via, root)


def _wheel(component: Component) -> Iterator[Attempt]:
    via = f"wheel {component.distribution}"
    if component.package:
        try:
            origin = __import__(component.package).__file__
        except ImportError:
            yield miss(via, f"{component.package} cannot be imported")
            return
        if origin is None:
            yield miss(via, f"{component.package} is a folder without __init__.py, left by an uninstall")
            return
        yield _examined(via, component, os.path.dirname(os.path.abspath(origin)))
        return

    from ._distributions import copies, files_of

    tail = f"/include/{component.header}"
    paths = [path for copy in copies(component.distribution) for path in files_of(copy, tail[1:])]
    for path in paths:
        yield _examined(via, component, path[: -len(tail)])
    if not paths:
        yield miss(via, f"not installed, or without {tail[1:]}")


def _conda(component: Component) -> Iterator[Attempt]:
    prefixes = list(conda_prefixes())
    for prefix in prefixes:
        base = os.path.join(prefix, "Library") if WINDOWS else prefix
        # Our packages have a root of their own, conda-forge's share the prefix with everything else.
        yield _examined("conda prefix", component, os.path.join(base, "opt", component.name))
        yield _examined("conda prefix", component, base)
    if not prefixes:
        yield skipped("conda prefix", "no conda environment is active")


def _variables(component: Component) -> Iterator[Attempt]:
    for name, below in component.variables:
        root = os.environ.get(name, "")
        if root:
            yield _examined(name, component, os.path.join(root, below))
        else:
            yield skipped(name, "not set" if name not in os.environ else "set to nothing")


def _system(component: Component) -> Iterator[Attempt]:
    for pattern in component.system_folders:
        if "*" in pattern:
            from glob import glob

            roots = sorted(glob(os.path.expandvars(pattern)), key=_version_key, reverse=True)
        else:
            roots = [os.path.expandvars(pattern)]
        for root in roots:
            yield _examined(SYSTEM_FOLDER, component, root)
        if not roots:
            yield miss(SYSTEM_FOLDER, "no such folder", pattern)


def _version_key(path: str) -> list[int]:
    return [int(part) for part in os.path.basename(path).split(".") if part.isdigit()]


# The search order. `doctor` prints the same tuple.
SDK_STEPS = (_wheel, _conda, _variables, _system)
