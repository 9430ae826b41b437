"""A stand-in for the `triton` package where no index has one with an XPU backend: Windows.

It has what the driver asks of Triton once kernels are compiled, and compiles nothing. Standard library only.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path


class OutOfResources(Exception):  # noqa: N818 - Triton's name
    """What Triton raises for a configuration that is too large."""

    def __init__(self, required: int, limit: int, name: str) -> None:
        super().__init__(f"out of resource: {name}, Required: {required}, Hardware limit: {limit}")


class CacheManager:
    """Files of one key."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get_file(self, name: str) -> str | None:
        """Return the path of a file that is there."""
        path = self._folder / name
        return str(path) if path.is_file() else None

    def put(self, data: bytes, name: str) -> str:
        """Write a file."""
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / name).write_bytes(data)
        return str(self._folder / name)


def install(version: str, cache: Path) -> None:
    """Make the stand-in importable as `triton` of a version, with its cache in a folder."""
    names = ("triton", "triton.runtime", "triton.runtime.cache", "triton.runtime.errors")
    modules = {name: types.ModuleType(name) for name in names}
    vars(modules["triton"])["__version__"] = version
    vars(modules["triton.runtime.cache"])["get_cache_manager"] = lambda key: CacheManager(cache / key)
    vars(modules["triton.runtime.errors"])["OutOfResources"] = OutOfResources
    sys.modules.update(modules)
