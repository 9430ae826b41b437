"""Launch a Triton kernel on the CPU device and compare its numbers: run by scripts/bench/triton_driver.py."""

import intel_xpu_runtime_dev.triton as xpu
import numpy as np

xpu.activate("cpu")

from tests.triton_driver.kernels import add_kernel  # noqa: E402 - the driver comes first

x, y, out = xpu.array(np.arange(5000), "float32"), xpu.array(np.ones(5000), "float32"), xpu.empty(5000)
add_kernel[(5,)](x, y, out, 5000, BLOCK=1024)
if (out.numpy() == np.arange(1, 5001)).all():
    print("right", flush=True)
