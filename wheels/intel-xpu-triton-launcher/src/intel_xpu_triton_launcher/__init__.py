"""The launcher of `intel_xpu_runtime_dev.triton` as a C extension."""

from ._launcher import INTERFACE, MAX_ARGUMENTS, launcher

__all__ = ["INTERFACE", "MAX_ARGUMENTS", "launcher"]
