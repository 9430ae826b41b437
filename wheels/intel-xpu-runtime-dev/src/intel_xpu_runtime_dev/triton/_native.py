"""The choice between the launcher as a C extension and the one in ctypes."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from .._errors import NotFoundError, XpuDevError

DISTRIBUTION = "intel-xpu-triton-launcher"
INTERFACE = 1


def native_launcher(wanted: str) -> ModuleType | None:
    """Return the C extension for "c", None for "ctypes", whichever is there for "auto".

    Raise NotFoundError when it is wanted and missing, XpuDevError when it is of another release.
    """
    if wanted == "ctypes":
        return None
    if wanted not in ("auto", "c"):
        raise XpuDevError(f"unknown launcher {wanted!r}", wanted="auto, c or ctypes")
    try:
        module = import_module("intel_xpu_triton_launcher")
    except ImportError as error:
        if wanted == "auto":
            return None
        raise NotFoundError(
            "the C launcher for Triton kernels cannot be imported",
            wanted=DISTRIBUTION,
            found=str(error),
            fix='pip install "intel-xpu-runtime-dev[triton]"',
        ) from None
    if module.INTERFACE != INTERFACE:
        raise XpuDevError(
            f"{DISTRIBUTION} does not go with this intel-xpu-runtime-dev",
            wanted=f"interface {INTERFACE}",
            found=f"interface {module.INTERFACE}",
            fix=f"pip install --upgrade intel-xpu-runtime-dev {DISTRIBUTION}",
        )
    return module
