"""Unified Runtime's faults, injected in front of Intel's real loader: each is told in its stage, with its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doubles.ur_loader import LIBRARIES, Settings, build, read_calls
from tests.doubles.ur_loader.flow import BEFORE, NEWEST, stage_of
from tests.smoke.installs import Answer, Install

pytestmark = pytest.mark.xdist_group("unified-runtime-faults")

CASES = [
    *((NEWEST, call) for call in stage_of(NEWEST)),
    *((BEFORE, call) for call in stage_of(BEFORE) if call not in stage_of(NEWEST)),
]


@pytest.fixture(scope="module")
def doubles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the double of each launch API's release."""
    folder = tmp_path_factory.mktemp("doubles")
    made = {}
    for release in (NEWEST, BEFORE):
        (folder / release).mkdir()
        made[release] = build(folder / release, release, "linux_x86_64")
    return made


def smoke(double: Path, folder: Path, release: str, *words: str, **changes: str | int) -> Answer:
    """Run smoke for the kernel add through the double, on the real CPU device behind it."""
    install = Install(release)
    real = install.python.parents[1] / "lib" / LIBRARIES["linux_x86_64"]
    settings = Settings(str(real), log=str(folder / "calls.log"))._replace(**changes)  # type: ignore[arg-type]
    variables = {**settings.variables(), "OCL_ICD_FILENAMES": str(real.with_name("libintelocl.so"))}
    fixed = ("--kernel", "add", "--json", "--runtime", double)
    return install.smoke(folder / "cache", *fixed, *words, packages=None, **variables)


def failed(answer: Answer) -> tuple[str, str]:
    """Return the only failed stage and what it says."""
    (stage,) = (stage for stage in answer.run["stages"] if stage["status"] == "failed")
    return stage["name"], stage["detail"]


@pytest.mark.parametrize("host", ["compiled", "ctypes"])
@pytest.mark.parametrize("release", [NEWEST, BEFORE])
def test_without_a_fault_every_call_is_passed_on(
    doubles: dict[str, Path], tmp_path: Path, release: str, host: str
) -> None:
    answer = smoke(doubles[release], tmp_path, release, "--host", host)
    assert answer.code == 0, answer.stdout
    assert set(read_calls(tmp_path / "calls.log")) == set(stage_of(release))


@pytest.mark.parametrize("host", ["compiled", "ctypes"])
@pytest.mark.parametrize(("release", "call"), CASES)
def test_error_of_each_call(
    doubles: dict[str, Path], tmp_path: Path, release: str, call: str, host: str
) -> None:
    answer = smoke(doubles[release], tmp_path, release, "--host", host, fail=f"{call}=14")
    stage, detail = failed(answer)
    assert answer.code == 1
    assert stage == stage_of(release)[call]
    assert "do this:" in detail
    if call == "urProgramCreateWithBinary":
        assert "the driver refuses the native binary that it has made" in detail
    else:
        assert f"{call} failed: UR_RESULT_ERROR_DEVICE_LOST (0x14)" in detail
    # Numbers that were compared and right stay so; what follows them has failed.
    assert answer.run["verdict"] == "failed"
    calls = read_calls(tmp_path / "calls.log")
    assert set(calls[calls.index(call) :]) <= {call, "urProgramGetBuildInfo", "urProgramRelease"}


@pytest.mark.parametrize("host", ["compiled", "ctypes"])
@pytest.mark.parametrize("call", ["urLoaderInit", "urProgramBuild", "urQueueFinish"])
def test_crash_and_hang_of_the_driver(doubles: dict[str, Path], tmp_path: Path, call: str, host: str) -> None:
    for fault, words in (("crash", "signal 11"), ("hang", "no answer within 3 s")):
        limits = ("--host", host, "--timeout", "3")
        stage, detail = failed(smoke(doubles[NEWEST], tmp_path, NEWEST, *limits, fail=f"{call}={fault}"))
        assert stage == stage_of(NEWEST)[call]
        assert words in detail


@pytest.mark.parametrize("host", ["compiled", "ctypes"])
@pytest.mark.parametrize("missing", ["platforms", "devices"])
def test_no_platform_and_no_device_are_exit_code_2(
    doubles: dict[str, Path], tmp_path: Path, missing: str, host: str
) -> None:
    answer = smoke(doubles[NEWEST], tmp_path, NEWEST, "--host", host, **{missing: "0"})
    assert answer.code == 2
    stage, detail = failed(answer)
    assert stage == "devices"
    assert 'pip install "intel-xpu-runtime-dev[cpu]"' in detail


@pytest.mark.parametrize("host", ["compiled", "ctypes"])
def test_wrong_numbers_are_wrong(doubles: dict[str, Path], tmp_path: Path, host: str) -> None:
    for buffer, words in ((2, "are wrong, first"), (0, "changed input 0")):
        answer = smoke(doubles[NEWEST], tmp_path, NEWEST, "--host", host, scribble=buffer, offset=4096)
        assert answer.code == 1
        assert answer.run["verdict"] == "wrong"
        stage, detail = failed(answer)
        assert stage == "launch"
        assert words in detail
    assert not (tmp_path / "cache" / "smoke").exists()  # nothing wrong is kept for the next run


@pytest.mark.parametrize("host", ["compiled", "ctypes"])
def test_a_loader_that_lacks_a_function_is_of_another_release(tmp_path: Path, host: str) -> None:
    lacking = "urEnqueueKernelLaunchWithArgsExp"
    old = build(tmp_path, NEWEST, "linux_x86_64", without=lacking)
    stage, detail = failed(smoke(old, tmp_path, NEWEST, "--host", host))
    assert stage == "load"
    assert lacking in detail
    assert "the loader is of another release, most likely too old" in detail
