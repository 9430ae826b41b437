"""The command `api`."""

from __future__ import annotations

import json

import pytest
from intel_xpu_runtime_dev._cli import main


def test_function_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["api", "zeInitDrivers"]) == 0
    assert capsys.readouterr().out == "zeInitDrivers: Level Zero since 1.18.0, still in 1.32.0\n"


def test_function_that_went(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["api", "urEnqueueKernelLaunch"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("urEnqueueKernelLaunch: Unified Runtime 2024.2.0 to 2026.1.2, gone since\n")
    assert "  2025.3.0 to 2025.3.3: ur_result_t urEnqueueKernelLaunch(" in output


def test_unknown_function_names_its_neighbours(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["api", "zeInitDriver"]) == 1
    assert "close to it: zeInitDrivers" in capsys.readouterr().err


def test_functions_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["api", "--json", "zeInit", "urPlatformGet"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["zeInit"]["spans"] == [
        {"first": "1.0.12", "last": None, "prototype": None, "declaration": None}
    ]
    assert [span["first"] for span in data["urPlatformGet"]["spans"]] == ["2024.2.0", "2025.0.0", "2025.3.0"]


def test_difference_of_level_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["api", "--diff", "level-zero", "1.20.6", "1.32.0"]) == 0
    output = capsys.readouterr().out
    assert "+ zeCommandListAppendHostFunction\n" in output
    assert "zeInitDrivers" not in output
    assert "\n- " not in output


def test_difference_of_unified_runtime(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["api", "--diff", "unified-runtime", "2026.1.2", "2026.2.0"]) == 0
    output = capsys.readouterr().out
    assert output.startswith(
        "Unified Runtime 2026.1.2 to 2026.2.0: 30 added, 12 removed, 0 with another prototype\n"
    )
    assert "- urEnqueueKernelLaunch\n" in output


def test_changed_prototypes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["api", "--json", "--diff", "unified-runtime", "2025.3.3", "2026.1.2"]) == 0
    changed = json.loads(capsys.readouterr().out)["changed"]
    before, after = changed["urEnqueueKernelLaunch"]
    assert "const ur_kernel_launch_property_t *" in before
    assert "const ur_kernel_launch_ext_properties_t *" in after


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["opencl", "1.0", "2.0"], "no table of 'opencl'"),
        (["level-zero", "1.0.12", "9.0"], "Level Zero 9.0 is not in the table"),
        (["unified-runtime", "2025.3.3", "2025.3.9"], "Unified Runtime 2025.3.9 is not in the table"),
        (["level-zero", "old", "new"], "'old' is no release"),
    ],
)
def test_difference_of_what_is_not_there(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["api", "--diff", *words]) == 1
    assert message in capsys.readouterr().err


def test_parity(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["api", "--parity"]) == 0
    output = capsys.readouterr().out
    assert "UR_KERNEL_INFO_SPILL_MEM_SIZE (2025.2.0)" in output
    assert main(["api", "--parity", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["spill size"]
    assert row["sycl"] == [
        {"name": "kernel_device_specific::spill_memory_size", "first": "2025.2.0", "or_earlier": False}
    ]
