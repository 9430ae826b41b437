"""Triton's kernels through Unified Runtime: no compiler, headers, SYCL or torch needed.

`activate()`, then call `@triton.jit` functions with arrays of this module, or with torch's XPU tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._errors import XpuDevError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._driver import Driver
    from ._memory import Array

__all__ = ["activate", "active_driver", "array", "empty", "synchronize"]


def activate(
    device: str | int = "auto", *, timing: str = "wall", launcher: str = "auto", queue: str = "auto"
) -> Driver:
    """Make Triton launch through Unified Runtime; call it before functions are decorated with `triton.autotune`.

    `device` is "auto" (a GPU, else Intel's CPU device), "gpu", "cpu", or a number in the runtime's list. `timing` is what
    `do_bench` measures: "wall", or "device" for the device's clock. `launcher` is "c" (the extension of
    intel-xpu-triton-launcher), "ctypes", or "auto" for the first that is there. `queue` is "auto" (on a GPU torch's
    current stream where torch with an XPU is imported, else our own), "torch" or "own". Raise XpuDevError when this version of
    Triton is unknown or other options are in use, NotFoundError when the runtime or device is not there. Called again with
    the same options, return the driver that is active.
    """
    from triton.runtime.driver import driver as config

    from . import _driver, _patches
    from ._native import native_launcher

    options = {"device": str(device), "timing": timing, "launcher": launcher, "queue": queue}
    previous = _ours()
    if previous is not None and previous.options == options:
        return previous
    if previous is not None and previous.is_used:
        raise XpuDevError(
            "this driver is active with other options, and kernels or arrays were made with it",
            wanted=", ".join(f"{name}={value!r}" for name, value in previous.options.items()),
            found=", ".join(f"{name}={value!r}" for name, value in options.items()),
            fix="activate once in a process, before the first array and kernel",
        )
    if timing not in ("wall", "device"):
        raise XpuDevError(f"unknown timing {timing!r}", wanted="wall or device")
    if queue not in ("auto", "torch", "own"):
        raise XpuDevError(f"unknown queue {queue!r}", wanted="auto, torch or own")
    made = _driver.create(
        str(device), profiling=timing == "device", queue=queue, native_launcher=native_launcher(launcher)
    )
    made.options = options
    _patches.apply(made)
    config.set_active(made)
    return made


def active_driver() -> Driver:
    """Return the driver that `activate` made; raise XpuDevError when another one is active."""
    found = _ours()
    if found is None:
        raise XpuDevError(
            "the Unified Runtime driver is not active", fix="intel_xpu_runtime_dev.triton.activate()"
        )
    return found


def _ours() -> Driver | None:
    from triton.runtime.driver import driver as config

    from ._driver import Driver

    # The attribute behind the property: asking that would make Triton's own driver where there is none yet.
    active = vars(config).get("_active", vars(config).get("active"))
    return active if isinstance(active, Driver) else None


def empty(shape: Sequence[int] | int, dtype: Any = "float32") -> Array:
    """Return an array in unified shared memory with undefined values."""
    from . import _memory

    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    return _memory.empty(active_driver().session(), sizes, dtype)


def array(values: Any, dtype: Any = None) -> Array:
    """Return an array in unified shared memory with a copy of values that numpy understands.

    `dtype` may be "bfloat16", which numpy lacks: values are rounded to nearest.
    """
    from . import _memory

    return _memory.array(active_driver().session(), values, dtype)


def synchronize() -> None:
    """Wait until every kernel launched on the current device has ended."""
    active_driver().session().synchronize()
