"""No compiler: kernels for the target `xpu` are compiled by Triton's backend for Intel GPUs."""

from __future__ import annotations

from typing import Any

from triton.backends import compiler as base


class NoCompiler(base.BaseBackend):  # type: ignore[misc,name-defined,unused-ignore]
    """What Triton wants beside a driver: it supports no target."""

    @staticmethod
    def supports_target(target: Any) -> bool:
        """Return False."""
        return False


# Its other abstract methods, which differ by version, are those of a compiler and never called.
NoCompiler.__abstractmethods__ = frozenset()
