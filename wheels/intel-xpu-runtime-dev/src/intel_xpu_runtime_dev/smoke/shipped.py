"""The kernels that the package ships: SPIR-V that Triton made, and what a host must know about it.

`scripts/kernels.py` makes them from kernels/source.py.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "kernels"
SUB_GROUPS = (16, 32)


class Kernel(NamedTuple):
    """A compiled kernel. Sizes are in work-items and bytes; `block` is the length of its (square) blocks."""

    spirv: bytes
    intact: bool
    entry: str
    options: str
    work_group: int
    local_memory: int
    block: int


def kernel(name: str, sub_group: int, device_type: str) -> Kernel:
    """Return a kernel for "cpu", or for any other type of device."""
    variant = "cpu" if device_type == "cpu" else "gpu"
    about = json.loads((FOLDER / f"{name}_sg{sub_group}.json").read_text(encoding="utf-8"))
    spirv = (FOLDER / f"{name}_sg{sub_group}.{variant}.spv").read_bytes()
    return Kernel(
        spirv=spirv,
        intact=hashlib.sha256(spirv).hexdigest() == about["sha256"][variant],
        entry=about["entry"],
        options=about["build_flags"],
        work_group=about["work_group"],
        local_memory=about["local_memory"],
        block=max(about["constants"].values()),
    )


def constants(name: str) -> dict[str, int]:
    """Return the compile-time constants that a kernel is compiled with, the same for every sub-group size."""
    about = json.loads((FOLDER / f"{name}_sg{SUB_GROUPS[0]}.json").read_text(encoding="utf-8"))
    found: dict[str, int] = about["constants"]
    return found
