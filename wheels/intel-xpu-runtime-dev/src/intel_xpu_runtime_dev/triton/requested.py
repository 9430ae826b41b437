"""What asks for our driver from outside of a script: a variable, `ur` or `ur:` and a device.

`xpu-dev run --triton-driver` sets it. Standard library only: this also runs at the start of interpreters.
"""

from __future__ import annotations

import importlib.abc
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .._errors import XpuDevError

VARIABLE = "XPU_DEV_TRITON_DRIVER"
NAME = "ur"


def is_ours(value: str) -> bool:
    """Return whether the variable's value asks for our driver."""
    return value.partition(":")[0] == NAME


def device(value: str) -> str:
    """Return the device that the variable's value names, else "auto"."""
    return value.partition(":")[2] or "auto"


def activate_with_triton(value: str) -> None:
    """Have our driver activated as soon as this process has imported Triton; cost nothing where it does not."""
    sys.meta_path.insert(0, _Finder(value))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds Triton as the finders behind it do, with a loader that activates our driver at the end."""

    def __init__(self, value: str) -> None:
        self._value = value

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of Triton, None of everything else."""
        if name != "triton":
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Loader(spec.loader, self._value)
                return spec
        return None


class _Loader(importlib.abc.Loader):
    """Loads Triton as its own loader does, then activates our driver."""

    def __init__(self, loader: Any, value: str) -> None:
        self._loader = loader
        self._value = value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return the module as Triton's own loader makes it."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Import Triton, then activate our driver; end the process with a message where that cannot be."""
        self._loader.exec_module(module)
        from . import activate

        try:
            activate(device(self._value))
        except XpuDevError as error:
            raise SystemExit(f"xpu-dev: error: {error}") from None
