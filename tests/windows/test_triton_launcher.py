"""Triton's kernels from Windows Python, compiled ahead on Linux: both launchers, the driver's own classes, every number.

No index has a triton with an XPU backend for Windows; a stand-in for what the driver asks of it is in
`tests/doubles/triton_package.py`. Everything else is what users run: Intel's runtime, our wheels, the extension.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import environments, wheels
from tests.support.wheels import ROOT
from tests.windows import prefix
from tests.windows.interpreters import WindowsPython
from tests.windows.sdk_installs import RELEASE, our_wheels
from tests.windows.wine import Wine

pytestmark = pytest.mark.xdist_group("windows-smoke")

GROUPS = (
    "add", "softmax", "matmul", "dropout", "layer_norm", "attention", "functions", "block_pointers",
    "arguments", "grids", "dtypes", "atomics",
)  # fmt: skip
REPLAY = Path(__file__).with_name("replay.py")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what the checks of tests/triton_driver launched on Linux, where they were right."""
    folder = tmp_path_factory.mktemp("recorded")
    environment = {
        "PATH": "",
        "HOME": str(folder),
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "wheels/intel-xpu-runtime-dev/src"), str(ROOT)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    script = ROOT / "tests" / "triton_driver" / "record.py"
    command = [str(environments.triton_with_runtime()), str(script), str(folder), *GROUPS]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture(scope="module", params=["3.11", "3.13"])
def installed(
    request: pytest.FixtureRequest, wine: Wine, tmp_path_factory: pytest.TempPathFactory
) -> WindowsPython:
    """Return a Windows Python with Intel's runtime, our wheels and the launcher's, by its own pip."""
    base = prefix.python(wine, request.param).with_intel_runtime(RELEASE)
    python = base.copy(tmp_path_factory.mktemp("triton") / "python")
    python.install(*our_wheels(), wheels.wheel("intel-xpu-triton-launcher", "*", "win_amd64"))
    return python


def replay(python: WindowsPython, folder: Path, launcher: str) -> dict[str, Any]:
    """Launch everything that was recorded; return the report."""
    result = python.run(
        REPLAY, folder, launcher, env={"PYTHONPATH": python.wine.windows_path(ROOT)}, timeout=300
    )
    report: dict[str, Any] = json.loads(result.stdout)
    return report


@pytest.mark.parametrize("launcher", ["c", "ctypes"])
def test_every_number_is_that_of_linux(installed: WindowsPython, recorded: Path, launcher: str) -> None:
    report = replay(installed, recorded, launcher)
    assert report["wrong"] == []
    assert report["groups"] == sorted(GROUPS)
    assert report["launches"] > 25
    launches = json.loads((recorded / "launches.json").read_text())
    assert sum(launch["shared"] > 0 for launch in launches) > 5  # work-group-local memory
    assert {1, 2, 3} == {sum(size > 1 for size in launch["grid"]) or 1 for launch in launches}


def test_a_wrong_number_is_found(installed: WindowsPython, recorded: Path, tmp_path: Path) -> None:
    """The comparison itself can fail."""
    (tmp_path / "one").mkdir()
    launches = json.loads((recorded / "launches.json").read_text())
    for path in recorded.glob("0.*"):
        (tmp_path / "one" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "one" / "launches.json").write_text(json.dumps(launches[:1]))
    place = next(
        index for index, argument in reversed([*enumerate(launches[0]["arguments"])]) if "array" in argument
    )
    after = tmp_path / "one" / f"0.{place}.after"
    after.write_bytes(b"\0\0\0\x42" + after.read_bytes()[4:])
    assert replay(installed, tmp_path / "one", "c")["wrong"] == [
        f"add: add_kernel, argument {place}, float32"
    ]
