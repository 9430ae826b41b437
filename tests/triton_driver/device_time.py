"""`do_bench` by the device's clock: `python device_time.py LAUNCHER`; the last line of a good run is `right`."""

from __future__ import annotations

import sys
import time
from typing import Any

import intel_xpu_runtime_dev.triton as xpu

driver = xpu.activate("cpu", timing="device", launcher=sys.argv[1])

from triton.testing import do_bench  # noqa: E402 - the driver comes first

from tests.triton_driver.kernels import add_kernel  # noqa: E402

N = 1 << 20
x, y, out = (xpu.array(range(N), "float32") for _ in range(3))


def launch() -> None:
    """Add a million numbers."""
    add_kernel[(N // 1024,)](x, y, out, N, BLOCK=1024)


launch()
xpu.synchronize()
event: Any = driver.get_device_interface().Event
before, after = event(enable_timing=True), event(enable_timing=True)
started = time.perf_counter()
before.record()
launch()
after.record()
xpu.synchronize()
outside = (time.perf_counter() - started) * 1000
inside = before.elapsed_time(after)
assert 0 < inside < outside, (inside, outside)  # milliseconds, the one interval in the other
assert after.elapsed_time(before) == -inside
assert do_bench(launch, warmup=2, rep=10) > 0
assert out.numpy().tolist() == (x.numpy() + y.numpy()).tolist()
print("right")
