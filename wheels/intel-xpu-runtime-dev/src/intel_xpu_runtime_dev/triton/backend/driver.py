"""The driver that Triton makes when it is asked for: by `XPU_DEV_TRITON_DRIVER=ur` or `TRITON_DEFAULT_BACKEND=xpu_ur`."""

from __future__ import annotations

import os
from typing import Any

from triton.backends import driver as base


class UnifiedRuntimeDriver(base.DriverBase):  # type: ignore[misc,name-defined,unused-ignore]
    """Stands for our driver until Triton makes one. Being installed is not being asked for."""

    def __new__(cls) -> Any:
        """Return our driver, activated."""
        from .. import activate
        from ..requested import VARIABLE, device

        return activate(device(os.environ.get(VARIABLE, "")))

    @staticmethod
    def is_active() -> bool:
        """Return whether the user has asked for it."""
        from ..requested import VARIABLE, is_ours

        return is_ours(os.environ.get(VARIABLE, "")) or os.environ.get("TRITON_DEFAULT_BACKEND") == "xpu_ur"


# Its other abstract methods, which differ by version, are those of the driver that `__new__` returns.
UnifiedRuntimeDriver.__abstractmethods__ = frozenset()
