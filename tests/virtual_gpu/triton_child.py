"""Compile and submit Triton kernels through our driver on the GPU that there is: `python triton_child.py LAUNCHER [LIBRARY]`.

Runs in the environment with Triton and prints one JSON object. With LIBRARY, the stand-in for torch's part, launches go to
the native queue of a SYCL queue. Numbers are not looked at: a virtual GPU computes none.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import intel_xpu_runtime_dev.triton as ours

from tests.doubles.torch_xpu import Tensor, install

# Forbids the large register file, and with it the second build.
SMALL_REGISTERS = "-cl-intel-128-GRF-per-thread"
SIZE, BLOCK = 256, {"BM": 64, "BN": 64, "BK": 32}


def matrix_kernel(launcher: str) -> dict[str, Any]:
    """Return what the compiler made of a matrix product, and what the device says of it."""
    driver = ours.activate("gpu", launcher=launcher)
    from tests.triton_driver.kernels import dot_kernel

    a, b, c = (ours.empty((SIZE, SIZE), dtype) for dtype in ("float16", "float16", "float32"))
    kernel = dot_kernel[(SIZE // 64, SIZE // 64)](a, b, c, SIZE, SIZE, SIZE, **BLOCK, num_warps=4)
    ours.synchronize()
    name, spirv = kernel.metadata.name, kernel.asm["spv"]
    (native,) = Path.home().rglob(f"{name}.native")
    _, _, _, small = driver.utils.load_binary(name, spirv, kernel.metadata.shared, SMALL_REGISTERS, 0)
    return {
        "device": driver.devices[0].name,
        "layout": sorted(set(re.findall(r"#triton_intel_gpu\.(\w+)", kernel.asm["ttgir"]))),
        "matrix": bool(re.search(r"matrix_mad|MatrixMultiplyAccumulate|\bdpas", kernel.asm["llir"])),
        "block_reads": "2d_block_read" in kernel.asm["llir"] and b"2d_block_read" in spirv,
        "threads_per_warp": kernel.metadata.threads_per_warp,
        "small_spill": small,
        "spill": kernel.n_spills,
        "registers": kernel.n_regs,
        "flags": json.loads(native.read_bytes().partition(b"\n")[0])["flags"],
    }


def torch_queue(launcher: str, library: str) -> dict[str, Any]:
    """Launch between copies of SYCL's on its native queue; return what kind of queue that is."""
    xpu = install(Path(library))
    driver = ours.activate("gpu", launcher=launcher)
    from tests.triton_driver.kernels import add_kernel

    x, y, out = (Tensor(xpu, 4096) for _ in range(3))
    for _ in range(2):
        add_kernel[(4,)](x, y, out, 4096, BLOCK=1024)
        xpu.sycl.copy(xpu.queue, x.data_ptr(), out.data_ptr(), out.bytes)
    xpu.sycl.wait_for(xpu.queue)
    assert driver._torch
    native = driver._torch.native(0)
    return {
        "follows_torch": driver.follows_torch,
        "backend": native.backend,
        "description": native.description,
    }


if __name__ == "__main__":
    print(json.dumps(torch_queue(*sys.argv[1:]) if len(sys.argv) > 2 else matrix_kernel(sys.argv[1])))
