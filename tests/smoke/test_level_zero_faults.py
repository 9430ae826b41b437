"""Level Zero's faults, injected by the stand-in loader: each call's failure is told in its stage, with its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doubles.ze_loader import DEVICE_NAME, Settings, build, read_calls
from tests.doubles.ze_loader.flow import STAGE_OF
from tests.smoke.installs import Answer, Install

pytestmark = pytest.mark.xdist_group("level-zero-faults")


@pytest.fixture(scope="module")
def double(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the stand-in `libze_loader.so.1`."""
    return build(tmp_path_factory.mktemp("double"), "linux_x86_64")


def smoke(double: Path, folder: Path, settings: Settings, *words: str | Path) -> Answer:
    """Run smoke for the kernel add on the double."""
    variables = settings._replace(log=str(folder / "calls.log")).variables()
    fixed = ("--backend", "level-zero", "--device", "gpu", "--kernel", "add", "--json", "--runtime", double)
    return Install("2026.2.0").smoke(folder / "cache", *fixed, *words, packages=None, **variables)


def failed(answer: Answer) -> tuple[str, str]:
    """Return the only failed stage and what it says."""
    (stage,) = (stage for stage in answer.run["stages"] if stage["status"] == "failed")
    return stage["name"], stage["detail"]


@pytest.mark.parametrize("host", ["compiled", "ctypes"])
@pytest.mark.parametrize("call", STAGE_OF)
def test_error_of_each_call(double: Path, tmp_path: Path, call: str, host: str) -> None:
    answer = smoke(double, tmp_path, Settings("", fail=f"{call}=0x70000001"), "--host", host)
    stage, detail = failed(answer)
    assert answer.code == 1
    assert stage == STAGE_OF[call]
    assert call in detail
    assert "ZE_RESULT_ERROR_DEVICE_LOST" in detail
    assert answer.run["verdict"] == "failed"
    made = [one.name for one in read_calls(tmp_path / "calls.log") if one.name != "zelLoaderGetVersions"]
    assert made[-1] == call


@pytest.mark.parametrize("host", ["compiled", "ctypes"])
@pytest.mark.parametrize("call", ["zeInit", "zeModuleCreate", "zeCommandListAppendLaunchKernel"])
def test_crash_and_hang_of_the_driver(double: Path, tmp_path: Path, call: str, host: str) -> None:
    for fault, words in (("crash", "signal 11"), ("hang", "no answer within 2 s")):
        settings = Settings("", fail=f"{call}={fault}")
        stage, detail = failed(smoke(double, tmp_path, settings, "--host", host, "--timeout", "2"))
        assert stage == STAGE_OF[call]
        assert words in detail


@pytest.mark.parametrize(
    "settings", [Settings("", drivers=0), Settings("", devices=0)], ids=["drivers", "devices"]
)
def test_no_driver_and_no_device_are_exit_code_2(double: Path, tmp_path: Path, settings: Settings) -> None:
    answer = smoke(double, tmp_path, settings)
    assert answer.code == 2
    stage, detail = failed(answer)
    assert stage == "devices"
    assert "install Intel's graphics driver" in detail


def test_wrong_numbers_are_wrong(double: Path, tmp_path: Path) -> None:
    answer = smoke(double, tmp_path, Settings("", scribble=2))
    assert answer.code == 1
    assert answer.run["verdict"] == "wrong"
    assert answer.run["device"] == DEVICE_NAME
    stage, detail = failed(answer)
    assert stage == "launch"
    assert "are wrong, first" in detail


def test_a_kernel_that_writes_to_its_inputs_is_wrong(double: Path, tmp_path: Path) -> None:
    answer = smoke(double, tmp_path, Settings("", scribble=0))
    assert answer.run["verdict"] == "wrong"
    assert "changed input 0" in failed(answer)[1]


def test_spill_size_is_told(double: Path, tmp_path: Path) -> None:
    answer = smoke(double, tmp_path, Settings("", spill=31337))
    assert answer.stages["properties"]["detail"].startswith("spill 31337 bytes, ")


def test_loader_version_is_told(double: Path, tmp_path: Path) -> None:
    answer = smoke(double, tmp_path, Settings("", version="1.3.9"))
    assert "loader 1.3.9" in answer.stages["devices"]["detail"]


@pytest.mark.parametrize("host", ["compiled", "ctypes"])
def test_a_loader_that_lacks_a_function_is_too_old(tmp_path: Path, host: str) -> None:
    old = build(tmp_path, "linux_x86_64", without="zeCommandListCreateImmediate")
    answer = smoke(old, tmp_path, Settings(""), "--host", host)
    stage, detail = failed(answer)
    assert stage == "load"
    assert "zeCommandListCreateImmediate" in detail
