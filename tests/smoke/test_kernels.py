"""The shipped kernels are what their source compiles to."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support import environments
from tests.support.wheels import ROOT

SHIPPED = ROOT / "wheels/intel-xpu-runtime-dev/src/intel_xpu_runtime_dev/smoke/kernels"


def test_kernels_come_out_the_same(tmp_path: Path) -> None:
    """Triton makes the same SPIR-V and metadata again, byte for byte."""
    command = [str(environments.triton()), str(ROOT / "scripts" / "kernels.py"), str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made
    assert made == {path.name: path.read_bytes() for path in SHIPPED.iterdir() if path.name in made}
    assert {path.name for path in SHIPPED.glob("*sg*")} == made.keys()
