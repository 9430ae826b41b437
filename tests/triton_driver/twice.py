"""`activate` called again, as notebooks and test fixtures do: `python twice.py LAUNCHER`."""

from __future__ import annotations

import sys

import intel_xpu_runtime_dev.triton as xpu
from intel_xpu_runtime_dev import XpuDevError

first = xpu.activate("cpu", launcher=sys.argv[1])
other = xpu.activate("cpu", timing="device", launcher=sys.argv[1])  # nothing was made yet
assert other is not first

from tests.triton_driver.kernels import add_kernel  # noqa: E402 - the driver comes first


def launch() -> None:
    """Add and compare."""
    x, out = xpu.array([1.0, 2.0, 3.0]), xpu.empty(3)
    add_kernel[(1,)](x, x, out, 3, BLOCK=4)
    assert out.numpy().tolist() == [2, 4, 6]


launch()
assert xpu.activate("cpu", timing="device", launcher=sys.argv[1]) is other
launch()
try:
    xpu.activate("cpu", launcher=sys.argv[1])
except XpuDevError as error:
    print(error)
launch()
for wanted in (99, -1, None, 1.5, "²", "gpu"):
    try:
        xpu.activate(wanted)  # type: ignore[arg-type]
    except XpuDevError:
        continue
    raise AssertionError(wanted)
try:
    add_kernel[(2**31, 1, 1)](xpu.empty(3), xpu.empty(3), xpu.empty(3), 3, BLOCK=4)
except OverflowError as error:
    print(error)
print("right")
