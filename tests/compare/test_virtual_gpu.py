"""The layers on Level Zero, by Intel's driver on a virtual GPU: everything but the numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ON_LEVEL_ZERO = (
    "level-zero", "ur-v1", "ur-v2", "sycl-v1", "sycl-v2", "sycl-v1-interop", "sycl-v2-interop",
)  # fmt: skip
# What they do not answer, of all that the others do.
LACKS = {"sycl-v1": {"build-log"}, "sycl-v2": {"build-log"}, "sycl-v1-interop": {"spill"}}


@pytest.mark.nightly
def test_layers_on_level_zero_answer_and_are_not_said_to_execute(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    command = [sys.executable, str(ROOT / "scripts/bench/runtime.py"), "--short", "--json", str(file)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    report: dict[str, Any] = json.loads(file.read_text())
    rows = {row["name"]: row for row in report["layers"]}
    for name in ON_LEVEL_ZERO:
        row = rows[name]
        assert row["reason"] == ""
        verdicts = {question: answer["verdict"] for question, answer in row["answers"].items()}
        lacks = LACKS.get(name, set())
        assert verdicts == {
            "build-log": "no" if "build-log" in lacks else "yes",
            "spirv": "yes",
            "spill": "no" if "spill" in lacks else "yes",
            "properties": "yes",
            "launch": "not executed",
            "native-out": "yes",
            "native-in": "not executed",
        }
        assert "build-log" in lacks or "sub group size" in row["answers"]["build-log"]["detail"]
        # Of pvc, for a kernel that spills there; the same number by every way.
        assert "spill" in lacks or row["answers"]["spill"] == rows["level-zero"]["answers"]["spill"]
        assert not row["executes"]
        assert not row["launches"]["held"]
        assert row["launches"]["submit_ratio"]["median"] > 0
        assert row["cold"] == {}
    assert result.stdout.count("host side only") == len(ON_LEVEL_ZERO)
    assert int(rows["level-zero"]["answers"]["spill"]["detail"].split()[0]) > 1000
    assert "needs a device that executes" in report["order"]["level_zero"]
    # The launch of the first release puts the event where the second expects the list of events.
    (shifted,) = (
        row
        for row in report["compatibility"]
        if (row["layer"], row["built_with"], row["runs_on"]) == ("ur-opencl", "2025.3.3", "2026.1.2")
    )
    assert not shifted["right"]
    assert "success but returns no event" in shifted["detail"]
