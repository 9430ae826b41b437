"""Level Zero on Windows against the stand-in loader: every call of the flow, in order, with its arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from intel_xpu_runtime_dev.smoke.preparation import CTYPES_HOST
from intel_xpu_runtime_dev.smoke.shipped import kernel

from tests.doubles.ze_loader import DEVICE_NAME, LEVEL_ZERO, Settings, build, read_calls
from tests.doubles.ze_loader.flow import add_calls, without_versions
from tests.smoke.jobs import write_job
from tests.windows import prefix
from tests.windows.interpreters import WindowsPython
from tests.windows.sdk_installs import compiled_ahead, our_wheels
from tests.windows.wine import Wine

pytestmark = pytest.mark.xdist_group("windows-level-zero")


@pytest.fixture(scope="module")
def double(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the stand-in `ze_loader.dll`."""
    return build(tmp_path_factory.mktemp("double"), "win_amd64")


@pytest.fixture(scope="module", params=["3.11", "3.13"])
def installed(
    request: pytest.FixtureRequest, wine: Wine, tmp_path_factory: pytest.TempPathFactory
) -> WindowsPython:
    """Return a Windows Python with our wheels."""
    python = prefix.python(wine, request.param).copy(tmp_path_factory.mktemp("level-zero") / "python")
    python.install(*our_wheels())
    return python


def smoke(
    python: WindowsPython, double: Path, settings: Settings, *words: str | Path
) -> tuple[int, dict[str, Any]]:
    """Run smoke for the kernel add on the double; return exit code and run."""
    result = python.run(
        "-m", "intel_xpu_runtime_dev", "smoke", "--backend", "level-zero", "--device", "gpu", "--no-cache",
        "--kernel", "add", "--json", "--runtime", double, *words,
        env=settings.variables(), check=False,
    )  # fmt: skip
    assert "Traceback" not in result.stderr, result.stderr
    (run,) = json.loads(result.stdout)["runs"]
    return result.returncode, run


@pytest.mark.parametrize("host", ["mingw-w64", "zig", "ctypes"])
def test_every_call_in_order_with_its_arguments(
    installed: WindowsPython, double: Path, tmp_path: Path, host: str
) -> None:
    words: list[str | Path] = ["--host", "ctypes"]
    if host != "ctypes":
        words = ["--stub", compiled_ahead(installed, "level-zero", host, tmp_path)]
    log = tmp_path / "calls.log"
    code, run = smoke(installed, double, Settings(installed.wine.windows_path(log), spill=4242), *words)
    # Smoke ends the host as soon as it sees that nothing was executed: the rest is the next test's.
    calls, expected = without_versions(read_calls(log))[:-1], add_calls(kernel("add", 16, "gpu"))
    assert calls == expected[: len(calls)]
    launches = [one.arguments[1] for one in calls if one.name == "zeCommandListAppendLaunchKernel"]
    assert launches[:2] == ["kernel 1", "kernel 2"]
    stages = {stage["name"]: stage for stage in run["stages"]}
    assert code == 1
    assert run["verdict"] == "not executed"
    assert run["device"] == DEVICE_NAME
    assert f"loader {LEVEL_ZERO}, 1 drivers, 1 devices" in stages["devices"]["detail"]
    assert stages["properties"]["detail"].startswith("spill 4242 bytes, sub-group 16,")
    assert "this device does not execute" in stages["launch"]["detail"]


@pytest.mark.parametrize("host", ["mingw-w64", "zig", "ctypes"])
def test_a_host_left_alone_goes_through_to_the_end(
    installed: WindowsPython, double: Path, tmp_path: Path, host: str
) -> None:
    """Timing and the release of everything, in the program that smoke would have ended before."""
    if host == "ctypes":
        packages = installed.wine.windows_path(installed.site_packages)
        boot = CTYPES_HOST.format(packages=packages, module="level_zero")
        command: list[str | Path] = [installed.executable, "-S", "-c", boot, double]
    else:
        command = [compiled_ahead(installed, "level-zero", host, tmp_path)]
    log, add = tmp_path / "calls.log", kernel("add", 16, "gpu")
    settings = Settings(installed.wine.windows_path(log))
    variables = {**settings.variables(), "WINEPATH": installed.wine.windows_path(double.parent)}
    result = installed.wine.run(command, stdin=write_job(add, tmp_path), cwd=tmp_path, env=variables)
    assert result.stdout.rstrip().endswith("@smoke\tend")
    assert without_versions(read_calls(log)) == add_calls(add)


@pytest.mark.parametrize(
    ("settings", "stage", "words"),
    [
        (Settings("", fail="zeModuleCreate=0x70000004"), "build", "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE"),
        (Settings("", fail="zeKernelGetProperties=crash"), "properties", "0xC0000005 (access violation)"),
        (Settings("", fail="zeCommandListAppendLaunchKernel=hang"), "launch", "no answer within 5 s"),
        (Settings("", devices=0), "devices", "no device for --device gpu"),
    ],
)
def test_faults_are_told_in_their_stage(
    installed: WindowsPython, double: Path, tmp_path: Path, settings: Settings, stage: str, words: str
) -> None:
    stub = compiled_ahead(installed, "level-zero", "mingw-w64", tmp_path)
    log = installed.wine.windows_path(tmp_path / "calls.log")
    code, run = smoke(installed, double, settings._replace(log=log), "--stub", stub, "--timeout", "5")
    failed = [found for found in run["stages"] if found["status"] == "failed"]
    assert [found["name"] for found in failed] == [stage], run
    assert words in failed[0]["detail"]
    assert code == (2 if stage == "devices" else 1)
