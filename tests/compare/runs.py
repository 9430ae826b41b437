"""`xpu-dev compare` in an environment with SYCL, Intel's CPU device and our packages."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from tests.smoke.installs import Install
from tests.support import environments

RELEASE = "2026.2.0"


class Answer(NamedTuple):
    """How `xpu-dev compare` ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def report(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        report: dict[str, Any] = json.loads(self.stdout)
        return report


def compare(python: Path, *words: str, **variables: str) -> Answer:
    """Run it with an environment's interpreter; no traceback may come of it."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Install(RELEASE).packages),
        "PYTHONDONTWRITEBYTECODE": "1",
        **variables,
    }
    for name in ("CC", "CXX", "OCL_ICD_FILENAMES", "OCL_ICD_VENDORS"):
        environment.pop(name, None)
    environment.update(variables)
    command = [str(python), "-m", "intel_xpu_runtime_dev", "compare", *words]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    assert "Traceback" not in result.stdout + result.stderr, result.stdout + result.stderr
    return Answer(result.returncode, result.stdout, result.stderr)


def with_sycl() -> Path:
    """Return an interpreter whose environment has SYCL."""
    return environments.sycl_runtime(RELEASE)


def without_sycl() -> Path:
    """Return an interpreter whose environment has Unified Runtime and the CPU device, and no headers of Intel's."""
    return environments.intel_runtime(RELEASE)
