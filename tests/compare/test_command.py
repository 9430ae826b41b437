"""`xpu-dev compare` on Intel's CPU device: each layer's answers, the order of launches, builds of other releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from intel_xpu_runtime_dev.compare.command import exit_code
from intel_xpu_runtime_dev.compare.layers import QUESTIONS

from tests.compare.runs import RELEASE, compare, with_sycl, without_sycl
from tests.support import environments
from tests.support.needs import program

pytestmark = pytest.mark.xdist_group("compare")
ON_CPU = ("ur-opencl", "sycl-compiler", "sycl-interop", "opencl")
OLDER = "2025.3.3"
# No hardware, no driver: what tests do not know of must not make a difference.
NO_GPU = {"ZE_ENABLE_ALT_DRIVERS": "none"}

Report = dict[str, Any]


@pytest.fixture(name="report", scope="module")
def _report() -> Report:
    program("g++", "c++")
    older = environments.sycl_runtime(OLDER).parents[1]
    answer = compare(with_sycl(), "--json", "--other", str(older), **NO_GPU)
    assert answer.code == 0, answer.stderr
    return answer.report


def layer(report: Report, name: str) -> dict[str, Any]:
    """Return a layer's row."""
    (row,) = (row for row in report["layers"] if row["name"] == name)
    assert isinstance(row, dict)
    return row


def verdicts(report: Report, name: str) -> dict[str, str]:
    """Return a layer's verdicts by question."""
    return {question: answer["verdict"] for question, answer in layer(report, name)["answers"].items()}


@pytest.mark.parametrize("name", ON_CPU)
def test_each_layer_answers_every_question_and_launches_right(report: Report, name: str) -> None:
    found = verdicts(report, name)
    assert found.keys() == QUESTIONS.keys()
    for question in ("spirv", "native-out", "native-in", "properties", "launch"):
        assert found[question] == "yes", layer(report, name)["answers"][question]
    assert ": 0 of 5000 elements are wrong" in layer(report, name)["answers"]["launch"]["detail"]
    assert layer(report, name)["executes"]


def test_only_sycls_kernel_compiler_loses_the_build_log(report: Report) -> None:
    logs = {name: verdicts(report, name)["build-log"] for name in ON_CPU}
    assert logs == {"ur-opencl": "yes", "sycl-compiler": "no", "sycl-interop": "yes", "opencl": "yes"}
    assert "width 7" in layer(report, "ur-opencl")["answers"]["build-log"]["detail"]


def test_layers_that_are_not_here_say_why(report: Report) -> None:
    for name in ("level-zero", "ur-v1", "ur-v2", "sycl-v1", "sycl-v2"):
        row = layer(report, name)
        assert row["reason"], row
        assert row["answers"] == {}
        assert row["launches"] == {}
        assert not row["executes"]


@pytest.mark.parametrize("name", ON_CPU)
def test_times_are_there_and_the_numbers_are_right_afterwards(report: Report, name: str) -> None:
    launches = layer(report, name)["launches"]
    assert launches["held"]
    assert launches["right_afterwards"]
    for what in ("submit", "finish", "submit_ratio", "finish_ratio"):
        spread = launches[what]
        assert 0 < spread["lower"] <= spread["median"] <= spread["upper"]
    for form in ("spirv", "native"):
        assert layer(report, name)["cold"][form]["median"] > 0


def test_the_baselines_ratio_is_1(report: Report) -> None:
    for what in ("submit_ratio", "finish_ratio"):
        assert layer(report, "opencl")["launches"][what] == {"median": 1.0, "lower": 1.0, "upper": 1.0}


@pytest.mark.parametrize("launcher", ["opencl", "unified-runtime"])
def test_order_needs_both_waits(report: Report, launcher: str) -> None:
    rows = {
        (row["before"], row["after"]): row for row in report["order"]["rows"] if row["launcher"] == launcher
    }
    rounds = report["plan"]["rounds"]
    assert rows.keys() == {(0, 0), (1, 0), (0, 1), (1, 1)}
    both = rows[1, 1]
    assert (both["rounds"], both["wrong_native"], both["wrong_final"]) == (rounds, 0, 0)
    # Without the first wait the launch reads what an earlier round has left.
    assert rows[0, 0]["wrong_native"] > 0
    assert rows[0, 1]["wrong_native"] > 0
    # With it the launch is right, but without the second the queue goes on too early.
    assert rows[1, 0]["wrong_native"] == 0
    assert rows[1, 0]["wrong_final"] > 0


def test_order_within_sycl_needs_nothing(report: Report) -> None:
    (row,) = (row for row in report["order"]["rows"] if row["launcher"] == "sycl")
    assert (row["wrong_native"], row["wrong_final"]) == (0, 0)


def test_what_is_built_with_one_release_on_the_runtime_of_another(report: Report) -> None:
    right = {
        (row["layer"], row["built_with"], row["runs_on"]): row["right"] for row in report["compatibility"]
    }
    details = {
        (row["layer"], row["built_with"], row["runs_on"]): row["detail"] for row in report["compatibility"]
    }
    for name in ("ur-opencl", "sycl-compiler", "opencl"):
        for release in (RELEASE, OLDER):
            assert right[name, release, release], details[name, release, release]
        for built, runs_on in ((RELEASE, OLDER), (OLDER, RELEASE)):
            assert right[name, built, runs_on] == (name == "opencl"), details[name, built, runs_on]
    assert "urEnqueueKernelLaunchWithArgsExp" in details["ur-opencl", RELEASE, OLDER]
    assert "urKernelSetArg" in details["ur-opencl", OLDER, RELEASE]
    assert "libsycl.so.9" in details["sycl-compiler", RELEASE, OLDER]
    assert "libsycl.so.8" in details["sycl-compiler", OLDER, RELEASE]


def test_compiling_tells_time_and_memory(report: Report) -> None:
    for name in ("opencl", "unified-runtime", "sycl", "order"):
        host = report["hosts"][name]
        assert host["seconds"] > 0
        assert host["peak_bytes"] > 10e6
    assert report["hosts"]["sycl"]["peak_bytes"] > 2 * report["hosts"]["unified-runtime"]["peak_bytes"]


def test_without_sycl_the_rest_runs() -> None:
    answer = compare(without_sycl(), "--json", **NO_GPU)
    assert answer.code == 0, answer.stderr
    for name in ("sycl-compiler", "sycl-interop", "sycl-v1", "sycl-v2"):
        assert "pip install intel-sycl-rt" in layer(answer.report, name)["reason"]
    assert "pip install intel-sycl-rt" in answer.report["order"]["reason"]
    there = layer(answer.report, "ur-opencl")
    assert there["reason"] == ""
    assert there["right"]
    assert there["launches"]["right_afterwards"]
    assert there["launches"]["submit"]["median"] > 0


def test_without_sycl_the_text_says_why() -> None:
    answer = compare(without_sycl(), **NO_GPU)
    lines = {line.split("  ")[0]: line for line in answer.stdout.splitlines()}
    assert "not here: " in lines["SYCL, OpenCL"]
    assert "pip install intel-sycl-rt" in lines["SYCL, OpenCL"]
    assert " us " in answer.stdout


def test_without_a_compiler_each_layer_says_so(tmp_path: Path) -> None:
    answer = compare(with_sycl(), PATH=str(tmp_path), **NO_GPU)
    assert answer.code == 1
    assert "there is no C compiler" in answer.stdout
    assert "there is no C++ compiler" in answer.stdout


def row(*, right: bool, executes: bool, afterwards: bool = True) -> dict[str, Any]:
    """Return as much of a layer's row as decides on the exit code."""
    return {"right": right, "executes": executes, "launches": {"right_afterwards": afterwards}}


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([], 1),
        ([row(right=False, executes=False)], 1),
        ([row(right=True, executes=True)], 0),
        ([row(right=True, executes=True), row(right=False, executes=False, afterwards=False)], 0),
        ([row(right=True, executes=True), row(right=False, executes=True)], 1),
        ([row(right=True, executes=True, afterwards=False)], 1),
    ],
)
def test_exit_code(rows: list[dict[str, Any]], code: int) -> None:
    assert exit_code({"layers": rows}) == code
