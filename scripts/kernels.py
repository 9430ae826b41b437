#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10,<3.13"
# dependencies = ["triton-xpu==3.3.0b1", "setuptools<81"]
# ///
"""Compile the smoke test's Triton kernels to SPIR-V: `uv run --script scripts/kernels.py [FOLDER]`.

Needs no GPU, no SYCL and no torch. FOLDER is the package that ships the results, unless another is given.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

SOURCES = Path(__file__).resolve().parent.parent / "wheels/intel-xpu-runtime-dev/src"
SHIPPED = SOURCES / "intel_xpu_runtime_dev/smoke/kernels"
SUB_GROUPS = (16, 32)
WARPS = 4


class Kernel(NamedTuple):
    """A kernel of source.py: its signature in Triton's type names, its constants."""

    name: str
    function: str
    signature: dict[str, str]
    constants: dict[str, int]


def _signature(pointers: str, integers: str) -> dict[str, str]:
    return dict.fromkeys(pointers.split(), "*fp32") | dict.fromkeys(integers.split(), "i32")


KERNELS = (
    Kernel("add", "add_kernel", _signature("x_ptr y_ptr out_ptr", "n"), {"BLOCK": 1024}),
    Kernel(
        "softmax",
        "softmax_kernel",
        _signature("out_ptr in_ptr", "in_stride out_stride columns"),
        {"BLOCK": 1024},
    ),
    Kernel(
        "matmul",
        "matmul_kernel",
        _signature("a_ptr b_ptr c_ptr", "m n k a_stride b_stride c_stride"),
        {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32},
    ),
)


def main(arguments: list[str]) -> int:
    """Compile every kernel for every sub-group size into the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=SHIPPED)
    folder = parser.parse_args(arguments).folder
    with tempfile.TemporaryDirectory() as cache:
        # Line information would put this machine's paths into the modules.
        os.environ.update(TRITON_CACHE_DIR=cache, TRITON_DISABLE_LINE_INFO="1")
        sys.path.insert(0, str(SOURCES))
        source = _loaded(SHIPPED / "source.py")
        for kernel in KERNELS:
            for sub_group in SUB_GROUPS:
                for name, content in compiled(kernel, source, sub_group):
                    (folder / name).write_bytes(content)
                    print(f"{name}: {len(content)} bytes")
    return 0


def compiled(kernel: Kernel, source: ModuleType, sub_group: int) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file of one kernel: SPIR-V for GPUs, for CPUs, and what a host must know."""
    import triton
    from intel_xpu_runtime_dev._spirv import accepted_by_cpu
    from triton.compiler import ASTSource

    _without_architecture_parser()
    function = getattr(source, kernel.function)
    signature = kernel.signature | dict.fromkeys(kernel.constants, "constexpr")
    result = triton.compile(
        ASTSource(fn=function, signature=signature, constexprs=kernel.constants),
        target=_target(sub_group),
        options={"num_warps": WARPS, "threads_per_warp": sub_group},
    )
    gpu: bytes = result.asm["spv"]
    cpu = accepted_by_cpu(gpu)
    about = {
        "entry": result.metadata.name,
        "sub_group": result.metadata.threads_per_warp,
        "work_group": result.metadata.threads_per_warp * result.metadata.num_warps,
        "local_memory": result.metadata.shared,
        "build_flags": result.metadata.build_flags,
        "constants": kernel.constants,
        "triton": triton.__version__,
        "sha256": {"gpu": hashlib.sha256(gpu).hexdigest(), "cpu": hashlib.sha256(cpu).hexdigest()},
    }
    stem = f"{kernel.name}_sg{sub_group}"
    yield f"{stem}.gpu.spv", gpu
    yield f"{stem}.cpu.spv", cpu
    yield f"{stem}.json", (json.dumps(about, indent=2) + "\n").encode()


def _target(sub_group: int) -> Any:
    from triton.backends.compiler import GPUTarget

    # What every device that runs SPIR-V kernels can do: no matrix engine, no block loads.
    properties = {
        "name": "any", "platform_name": "any", "vendor": "Intel", "version": "1", "driver_version": "1",
        "architecture": 0, "gpu_eu_count": 128, "gpu_subslice_count": 16,
        "max_work_group_size": 1024, "max_num_sub_groups": 64, "sub_group_sizes": [sub_group], "has_fp64": True,
        "has_subgroup_matrix_multiply_accumulate": False,
        "has_subgroup_matrix_multiply_accumulate_tensor_float32": False,
        "has_subgroup_2d_block_io": False, "has_bfloat16_conversions": False,
    }  # fmt: skip
    return GPUTarget("xpu", properties, sub_group)


def _without_architecture_parser() -> None:
    """Keep the backend from compiling its parser of device architectures, which wants SYCL; there is no device here."""
    import triton.backends

    class NoParser:
        @staticmethod
        def parse_device_arch(architecture: int) -> str:
            return ""

    # The backend's modules are loaded by path: only the class's own globals lead to the right copy.
    compiler: Any = triton.backends.backends["intel"].compiler
    compiler.__init__.__globals__["compile_module_from_src"] = lambda source, name: NoParser


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("kernels_source", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
