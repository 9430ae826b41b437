"""The rows of Triton's versions, each launched with the argument layout of its kernels; the wrong ones never."""

from __future__ import annotations

from pathlib import Path

import pytest
from intel_xpu_runtime_dev.triton._versions import CONTRACTS

from tests.triton_driver.test_driver import folder, run  # noqa: F401 - a fixture

pytestmark = pytest.mark.xdist_group("triton-driver")


@pytest.mark.parametrize("launcher", ["ctypes", "c"])
def test_every_row_launches_its_layout_and_no_other(launcher: str, folder: Path) -> None:  # noqa: F811
    program = Path(__file__).with_name("layouts.py")
    result = run(folder, launcher, program=program)
    assert result.returncode == 0, result.stdout + result.stderr
    lines = result.stdout.splitlines()
    assert lines[-1] == "right"
    assert len(lines) == 5 * len(CONTRACTS) + 1
