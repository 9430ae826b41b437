"""The environment variables through which builds find the development kits, and how to take them back."""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path

from ._components import WINDOWS
from ._errors import NotFoundError
from ._results import SDK
from ._sdk import SYSTEM_FOLDER, find_sdk

# One root serves all: Triton reads the first two, PyTorch the first, the others are CMake projects' own names.
ROOT_VARIABLES = (
    "LEVEL_ZERO_V1_SDK_PATH",
    "ZE_PATH",
    "LEVEL_ZERO_ROOT",
    "LEVEL_ZERO_ROOT_DIR",
    "LEVEL_ZERO_DIR",
)
# Holds what was set and what was there before, so that a second `env` adds nothing and `env --unset` restores.
RECORD = "XPU_DEV_ENV"


def activated(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with the variables set; raise `NotFoundError` without a Level Zero development kit."""
    before = deactivated(environment)
    level_zero = find_sdk("level-zero")
    try:
        kits = [level_zero, find_sdk("unified-runtime")]
    except NotFoundError:
        kits = [level_zero]
    values = dict.fromkeys(ROOT_VARIABLES, level_zero.root)
    for name, folders in _prepended(kits).items():
        values[name] = os.pathsep.join([*folders, *filter(None, [before.get(name)])])
    for name, folders in _appended(level_zero).items():
        # Clang-like compilers take a set INCLUDE as complete, so it must not be set for this alone.
        if before.get(name):
            values[name] = os.pathsep.join([before[name], *folders])
    record = {name: (value, before.get(name)) for name, value in values.items()}
    return {**before, **values, RECORD: _encoded(record)}


def deactivated(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment as it was before `activated`, with what was changed since then kept."""
    result = dict(environment)
    for name, (ours, previous) in _decoded(result.pop(RECORD, "")).items():
        if name not in result:
            continue
        restored = previous if result[name] == ours else _without(result[name], ours, previous)
        if restored is None:
            del result[name]
        else:
            result[name] = restored
    return result


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables to set, and with None those to unset, that make one environment the other."""
    names = [*after, *(name for name in before if name not in after)]
    return {name: after.get(name) for name in names if before.get(name) != after.get(name)}


def _prepended(kits: list[SDK]) -> dict[str, list[str]]:
    level_zero = kits[0]
    pkg_config = [Path(kit.library_dirs[0], "pkgconfig") for kit in kits]
    folders = {
        "CMAKE_PREFIX_PATH": [kit.root for kit in kits],
        "PKG_CONFIG_PATH": [str(folder) for folder in pkg_config if folder.is_dir()],
    }
    # Compilers search system folders anyway, and a second mention would change their order.
    if not WINDOWS and level_zero.via != SYSTEM_FOLDER:
        # Unified Runtime's headers stay out: they could hide those of another release that come with SYCL.
        folders["CPATH"] = [level_zero.include_dirs[0]]
        folders["LIBRARY_PATH"] = list(level_zero.library_dirs)
    return _separable(folders)


def _appended(level_zero: SDK) -> dict[str, list[str]]:
    if not WINDOWS:
        return {}
    return _separable({"INCLUDE": [level_zero.include_dirs[0]], "LIB": list(level_zero.library_dirs)})


def _separable(folders: dict[str, list[str]]) -> dict[str, list[str]]:
    """Leave out paths with the list's separator in them: they would be read as two folders, which may be anybody's."""
    kept = {name: [path for path in paths if os.pathsep not in path] for name, paths in folders.items()}
    return {name: paths for name, paths in kept.items() if paths}


def _without(value: str, ours: str, previous: str | None) -> str | None:
    """Return a list of folders that was changed since, without those that `activated` had added."""
    kept = (previous or "").split(os.pathsep)
    added = [part for part in ours.split(os.pathsep) if part not in kept]
    left = [part for part in value.split(os.pathsep) if part not in added]
    return os.pathsep.join(left) if left else None


def _encoded(record: Mapping[str, tuple[str, str | None]]) -> str:
    # No character that any shell would take for its own, and short: cmd takes 8191 characters a line.
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(record).encode(), 9)).decode()


def _decoded(text: str) -> dict[str, tuple[str, str | None]]:
    """Return the record, empty when there is none or it is not ours."""
    try:
        data = json.loads(zlib.decompress(base64.urlsafe_b64decode(text)))
        return {str(name): (str(ours), previous) for name, (ours, previous) in data.items()}
    except (ValueError, AttributeError, TypeError, zlib.error):
        return {}
