"""Faults of Unified Runtime on Windows, injected in front of Intel's real loader: told in their stage, with their name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.ur_loader import LIBRARIES, Settings, build
from tests.doubles.ur_loader.flow import NEWEST, stage_of
from tests.windows import prefix
from tests.windows.interpreters import WindowsPython
from tests.windows.sdk_installs import RELEASE, compiled_ahead, our_wheels
from tests.windows.wine import Wine

pytestmark = pytest.mark.xdist_group("windows-smoke")


@pytest.fixture(scope="module")
def installed(wine: Wine, tmp_path_factory: pytest.TempPathFactory) -> WindowsPython:
    """Return a Windows Python with Intel's runtime and our wheels."""
    base = prefix.python(wine, "3.13").with_intel_runtime(RELEASE)
    python = base.copy(tmp_path_factory.mktemp("faults") / "python")
    python.install(*our_wheels())
    return python


@pytest.fixture(scope="module")
def double(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the double's `ur_loader_shared.dll`."""
    return build(tmp_path_factory.mktemp("double"), NEWEST, "win_amd64")


@pytest.fixture(scope="module")
def stub(installed: WindowsPython, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the host, compiled ahead by mingw-w64."""
    return compiled_ahead(installed, "unified-runtime", "mingw-w64", tmp_path_factory.mktemp("stub"))


def smoke(
    python: WindowsPython, double: Path, *words: str | Path, **changes: str | int
) -> tuple[int, dict[str, Any]]:
    """Run smoke for the kernel add through the double, on the real CPU device behind it; return exit code and run."""
    (real,) = python.folder.rglob(LIBRARIES["win_amd64"])
    settings = Settings(python.wine.windows_path(real))._replace(**changes)  # type: ignore[arg-type]
    variables = {**settings.variables(), "WINEPATH": python.wine.windows_path(real.parent)}
    fixed = ("--device", "cpu", "--kernel", "add", "--no-cache", "--json", "--runtime", double)
    result = python.run(
        "-m", "intel_xpu_runtime_dev", "smoke", *fixed, *words, env=variables, check=False, timeout=300
    )
    assert "Traceback" not in result.stderr, result.stderr
    (run,) = json.loads(result.stdout)["runs"]
    return result.returncode, run


def failed(run: dict[str, Any]) -> tuple[str, str]:
    """Return the only failed stage and what it says."""
    (stage,) = (stage for stage in run["stages"] if stage["status"] == "failed")
    return stage["name"], stage["detail"]


@pytest.mark.parametrize("host", ["compiled", "ctypes"])
def test_without_a_fault_every_number_is_right(
    installed: WindowsPython, double: Path, stub: Path, host: str
) -> None:
    words: tuple[str | Path, ...] = ("--stub", stub) if host == "compiled" else ("--host", "ctypes")
    code, run = smoke(installed, double, *words)
    assert (code, run["verdict"]) == (0, "right"), run


@pytest.mark.parametrize("call", stage_of(NEWEST))
def test_error_of_each_call(installed: WindowsPython, double: Path, stub: Path, call: str) -> None:
    code, run = smoke(installed, double, "--stub", stub, fail=f"{call}=14")
    stage, detail = failed(run)
    assert (code, stage) == (1, stage_of(NEWEST)[call])
    if call == "urProgramCreateWithBinary":
        assert "the driver refuses the native binary that it has made" in detail
    else:
        assert f"{call} failed: UR_RESULT_ERROR_DEVICE_LOST (0x14)" in detail


@pytest.mark.parametrize("host", ["compiled", "ctypes"])
@pytest.mark.parametrize(
    ("changes", "code", "stage", "words"),
    [
        ({"fail": "urProgramBuild=crash"}, 1, "build", "0xC0000005 (access violation)"),
        ({"fail": "urQueueFinish=hang"}, 1, "launch", "no answer within 5 s"),
        ({"devices": "0"}, 2, "devices", "no device for --device cpu"),
        ({"scribble": 2, "offset": 4096}, 1, "launch", "are wrong, first"),
    ],
    ids=["crash", "hang", "no-device", "wrong-numbers"],
)
def test_faults_are_told_in_their_stage(
    installed: WindowsPython, double: Path, stub: Path, host: str,
    changes: dict[str, str | int], code: int, stage: str, words: str,
) -> None:  # fmt: skip
    host_words: tuple[str | Path, ...] = ("--stub", stub) if host == "compiled" else ("--host", "ctypes")
    answer, run = smoke(installed, double, *host_words, "--timeout", "5", **changes)
    told, detail = failed(run)
    assert (answer, told) == (code, stage)
    assert words in detail


def test_a_loader_that_lacks_a_function_is_of_another_release(
    installed: WindowsPython, tmp_path: Path
) -> None:
    """By ctypes: Wine starts a program whose imports are missing, Windows does not (0xC0000139)."""
    old = build(tmp_path, NEWEST, "win_amd64", without="urEnqueueKernelLaunchWithArgsExp")
    code, run = smoke(installed, old, "--host", "ctypes")
    stage, detail = failed(run)
    assert (code, stage) == (1, "load")
    assert "the loader is of another release, most likely too old" in detail


def test_a_kit_without_its_import_library(wine: Wine, tmp_path_factory: pytest.TempPathFactory) -> None:
    python = prefix.python(wine, "3.13").copy(tmp_path_factory.mktemp("no-library") / "python")
    python.install(*our_wheels())
    for library in python.folder.rglob("ze_loader.lib"):
        library.unlink()
    shutil.rmtree(python.folder / "Library", ignore_errors=True)
    result = python.run(
        "-m", "intel_xpu_runtime_dev", "smoke", "--backend", "level-zero", "--kernel", "add", "--json", check=False
    )  # fmt: skip
    (run,) = json.loads(result.stdout)["runs"]
    stage, detail = failed(run)
    assert (result.returncode, stage) == (1, "locate")
    assert "has the header but no ze_loader.lib" in detail
