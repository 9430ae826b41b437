"""The README's first command, from sources to numbers."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.wheels import ROOT

pytestmark = pytest.mark.xdist_group("smoke")


@pytest.mark.parametrize(
    ("device", "code", "verdict"),
    [("cpu", 0, "right"), pytest.param("gpu", 2, "failed", marks=pytest.mark.nightly)],
)
def test_dev_smoke_passes_arguments_on_and_the_exit_code_back(device: str, code: int, verdict: str) -> None:
    command = [sys.executable, "scripts/dev.py", "smoke", "--backend", "unified-runtime", "--device", device]
    result = subprocess.run(
        [*command, "--kernel", "add", "--json"], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert result.returncode == code, result.stdout + result.stderr
    report = json.loads(result.stdout)
    assert report["sdk"]["via"] == "wheel unified-runtime-devel"
    assert [run["verdict"] for run in report["runs"]] == [verdict]
