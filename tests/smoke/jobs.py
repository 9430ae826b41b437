"""A job for a host of smoke that runs by itself."""

from __future__ import annotations

from pathlib import Path

from intel_xpu_runtime_dev.smoke.flow import REPEAT
from intel_xpu_runtime_dev.smoke.problems import GUARD_BYTES, add_problem
from intel_xpu_runtime_dev.smoke.shipped import Kernel


def write_job(add: Kernel, folder: Path) -> str:
    """Write the files of a job for the kernel add; return what the host reads (hosts/channel.h)."""
    problem = add_problem(add.block)
    (folder / "kernel.spv").write_bytes(add.spirv)
    for index, content in enumerate(problem.buffers):
        (folder / f"buffer{index}").write_bytes(content)
    arguments = [
        f"{kind} {value} {GUARD_BYTES}" if kind == "pointer" else f"{kind} {value}"
        for kind, value in problem.arguments
    ]
    lines = [
        "device 0", "spirv kernel.spv", "save native.bin", f"entry {add.entry}", f"options {add.options}",
        f"work_group {add.work_group}", f"grid {' '.join(map(str, problem.grid))}", f"repeat {REPEAT}",
        *(f"buffer buffer{index}" for index in range(len(problem.buffers))), *arguments, "run",
    ]  # fmt: skip
    return "".join(f"{line}\n" for line in lines)
