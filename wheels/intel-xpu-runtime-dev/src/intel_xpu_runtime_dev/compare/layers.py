"""The layers that are compared, one row each, and the questions they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Host(NamedTuple):
    """A program that speaks one API: its source in hosts/, the kits it needs, and those it makes use of."""

    source: str
    components: tuple[str, ...]
    optional: tuple[str, ...] = ()


class Layer(NamedTuple):
    """A way to launch a kernel. `baseline` names the row that its times are divided by."""

    name: str
    title: str
    host: str
    adapter: str
    baseline: str
    variables: Mapping[str, str] = {}

    @property
    def on_level_zero(self) -> bool:
        """Whether its device comes from Level Zero, else from OpenCL."""
        return self.baseline == "level-zero"


HOSTS = {
    "opencl": Host("opencl.c", ("opencl",)),
    "level-zero": Host("level_zero.c", ("level-zero",)),
    "unified-runtime": Host("unified_runtime.cpp", ("unified-runtime",), optional=("opencl",)),
    "sycl": Host("sycl.cpp", ("sycl", "opencl")),
    "sycl-level-zero": Host("sycl_level_zero.cpp", ("sycl", "level-zero")),
    "order": Host("order.cpp", ("sycl", "unified-runtime", "opencl")),
}
_OPENCL, _LEVEL_ZERO = ({"ONEAPI_DEVICE_SELECTOR": f"{backend}:*"} for backend in ("opencl", "level_zero"))
_V1, _V2 = ({"UR_LOADER_USE_LEVEL_ZERO_V2": value} for value in "01")
_SYCL_V1, _SYCL_V2 = ({**_LEVEL_ZERO, **version} for version in (_V1, _V2))
LAYERS = (
    Layer("level-zero", "Level Zero", "level-zero", "", "level-zero"),
    Layer("ur-v1", "Unified Runtime, Level Zero v1", "unified-runtime", "level-zero", "level-zero", _V1),
    Layer("ur-v2", "Unified Runtime, Level Zero v2", "unified-runtime", "level-zero", "level-zero", _V2),
    Layer("sycl-v1", "SYCL, Level Zero v1", "sycl-level-zero", "compiler", "level-zero", _SYCL_V1),
    Layer("sycl-v2", "SYCL, Level Zero v2", "sycl-level-zero", "compiler", "level-zero", _SYCL_V2),
    Layer(
        "sycl-v1-interop",
        "SYCL, Level Zero v1 interoperation",
        "sycl-level-zero",
        "interop",
        "level-zero",
        _SYCL_V1,
    ),
    Layer(
        "sycl-v2-interop",
        "SYCL, Level Zero v2 interoperation",
        "sycl-level-zero",
        "interop",
        "level-zero",
        _SYCL_V2,
    ),
    Layer("ur-opencl", "Unified Runtime, OpenCL", "unified-runtime", "opencl", "opencl"),
    Layer("sycl-compiler", "SYCL, OpenCL", "sycl", "compiler", "opencl", _OPENCL),
    Layer("sycl-interop", "SYCL, OpenCL interoperation", "sycl", "interop", "opencl", _OPENCL),
    Layer("opencl", "OpenCL", "opencl", "", "opencl"),
)
# Questions that the hosts answer, see hosts/layer.h, with the heads of their columns.
QUESTIONS = {
    "spirv": "SPIR-V in",
    "build-log": "build log",
    "native-out": "binary out",
    "native-in": "binary in",
    "spill": "spill size",
    "properties": "properties",
    "launch": "launch right",
}
