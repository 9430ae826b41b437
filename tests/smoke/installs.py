"""Our wheels in front of Intel's runtime of a release, and `xpu-dev smoke` there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tests.support import environments, wheels
from tests.support.cached import made_once

RELEASES = ("2025.3.3", "2026.1.2", "2026.2.0")
LEVEL_ZERO = "1.32.0"


class Answer(NamedTuple):
    """How `xpu-dev smoke` ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def report(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        assert self.stdout.startswith("{"), self.stdout + self.stderr
        report: dict[str, Any] = json.loads(self.stdout)
        return report

    @property
    def run(self) -> dict[str, Any]:
        """The only run of the report."""
        (only,) = self.report["runs"]
        assert isinstance(only, dict)
        return only

    @property
    def stages(self) -> dict[str, dict[str, Any]]:
        """The stages of the only run by name."""
        return {stage["name"]: stage for stage in self.run["stages"]}


class Install:
    """A release of Intel's runtime with CPU device, and the kit of a release, the same one unless it is named."""

    def __init__(self, runtime: str, kit: str = "") -> None:
        self.runtime = runtime
        self.kit = kit or runtime

    @cached_property
    def python(self) -> Path:
        """The interpreter, which has Intel's wheels."""
        return environments.intel_runtime(self.runtime)

    @cached_property
    def packages(self) -> Path:
        """The folder that has our wheels, as pip unpacks them."""
        files = [
            wheels.wheel("intel-xpu-runtime-dev", "*", "any"),
            wheels.wheel("level-zero-devel", LEVEL_ZERO, "linux_x86_64"),
            wheels.wheel("unified-runtime-devel", self.kit, "linux_x86_64"),
        ]

        def install(folder: Path) -> None:
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
            subprocess.run([*pip, "--target", str(folder), *map(str, files)], check=True)

        return made_once(f"smoke-{self.kit}-{files[0].parent.name}", install)

    def smoke(
        self, cache: Path, *words: str | Path, packages: Path | None = None, **variables: str
    ) -> Answer:
        """Run `xpu-dev smoke` on the CPU device with its cache folder here; no traceback may come of it."""
        environment = {
            **os.environ,
            "XPU_DEV_CACHE_DIR": str(cache),
            "PYTHONPATH": str(packages or self.packages),
            "PYTHONDONTWRITEBYTECODE": "1",
            **variables,
        }
        environment.pop("CC", None)
        command = [self.python, "-m", "intel_xpu_runtime_dev", "smoke", "--device", "cpu", *words]
        result = subprocess.run(
            list(map(str, command)), env=environment, capture_output=True, text=True, timeout=300
        )
        assert "Traceback" not in result.stdout + result.stderr, result.stdout + result.stderr
        return Answer(result.returncode, result.stdout, result.stderr)
