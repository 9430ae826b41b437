"""A command line to run: the locator in a process of its own, with kits in a folder of any name."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.locator.installs import clean_environment
from tests.locator.trees import UNIFIED_RUNTIME, touch, wheel_kit

SOURCE = Path(__file__).resolve().parents[2] / "wheels" / "intel-xpu-runtime-dev" / "src"
COMMAND = (sys.executable, "-m", "intel_xpu_runtime_dev")


class CommandLine:
    """The locator beside kits in `site`; `root` is Level Zero's."""

    def __init__(self, site: Path):
        for component in ("level-zero.pc", "libze_loader.pc"):
            touch(wheel_kit(site) / "lib" / "pkgconfig" / component)
        wheel_kit(site, UNIFIED_RUNTIME, "2026.2.0")
        touch(site / "level_zero_devel" / "lib" / "cmake" / "LevelZero" / "LevelZeroConfig.cmake")
        self.site = site
        self.root = site / "level_zero_devel"
        self.variables = {
            **clean_environment(),
            "PYTHONPATH": os.pathsep.join([str(SOURCE), str(site)]),
        }

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
        """Run it to its end, whatever that is."""
        return subprocess.run(
            [*COMMAND, *words], env={**self.variables, **variables}, capture_output=True, check=False
        )

    def __call__(self, *words: str, **variables: str) -> str:
        """Run it, which must succeed, and return what it prints."""
        result = self.run(*words, **variables)
        assert result.returncode == 0, os.fsdecode(result.stderr)
        return os.fsdecode(result.stdout)


@pytest.fixture(scope="session")
def command_line_in(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], CommandLine]:
    """Return a function that gives the command line with its kits in a folder of a name."""
    made: dict[str, CommandLine] = {}

    def make(name: str) -> CommandLine:
        if name not in made:
            made[name] = CommandLine(tmp_path_factory.mktemp("site") / name)
        return made[name]

    return make


@pytest.fixture
def xpu_dev(command_line_in: Callable[[str], CommandLine]) -> CommandLine:
    """Return the command line with its kits in a folder of a plain name."""
    return command_line_in("site")
