"""The command, its explanations and the page made from them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from intel_xpu_runtime_dev._cli import main
from intel_xpu_runtime_dev.doctor import command
from intel_xpu_runtime_dev.doctor.checks import AUDIENCES, CHECKS
from intel_xpu_runtime_dev.doctor.findings import BROKEN, NOT_APPLICABLE, OK, WARNING
from intel_xpu_runtime_dev.doctor.messages import MESSAGES, explanations
from troubleshooting import PAGE, page

from tests.doctor.machines import Layout, write
from tests.support.needs import program

PACKAGE = Path(__file__).parents[2] / "wheels" / "intel-xpu-runtime-dev" / "src"


@pytest.fixture
def examined(linux: Layout, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A Linux machine with Triton in its home folder, and nothing else."""
    linux.folder = linux.folder / "home" / "me"
    linux.install("triton-xpu", "3.7.2")
    machine = linux.machine()
    machine.home = str(linux.folder)
    monkeypatch.setattr(command, "this_machine", lambda: machine)
    return linux


def test_report(examined: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--for", "triton"]) == 1
    output = capsys.readouterr().out
    assert "broken   triton-level-zero: Triton 3.7.2 finds no level_zero/ze_api.h" in output
    assert "         do this: pip install intel-xpu-runtime-dev" in output
    assert "ok       triton-owner: triton-xpu 3.7.2" in output
    assert "prefix: ~" in output


def test_home_folder_is_shortened_everywhere(examined: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    examined.environ["ZE_PATH"] = str(examined.folder / "kit")
    for words in (["doctor"], ["doctor", "--json"], ["doctor", "--verbose"]):
        main(words)
        output = capsys.readouterr().out
        assert "~" in output
        assert str(examined.folder) not in output


def test_json(examined: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["about"].keys() == {"xpu-dev", "python", "system", "prefix"}
    assert [each["check"] for each in data["checks"]] == [check.name for check in CHECKS]
    for each in data["checks"]:
        assert each["verdict"] in (OK, WARNING, BROKEN, NOT_APPLICABLE)
        assert each["found"]
        if each["verdict"] in (WARNING, BROKEN):
            assert each["wanted"], each["check"]
            assert each["fix"], each["check"]


def test_well_machine_ends_with_0(examined: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    examined.install_sycl("2026.2.0")
    examined.environ["LIBRARY_PATH"] = str(examined.kit("kit") / "lib")
    examined.environ["LEVEL_ZERO_V1_SDK_PATH"] = str(examined.folder / "kit")
    examined.program("gcc")
    write(examined.prefix / "include" / "Python.h")
    write(examined.root / "dev" / "dri" / "renderD128")
    for name in ("libze_loader.so.1", "libze_intel_gpu.so.1"):
        examined.cache.append((name, write(examined.folder / "usr" / name)))
    assert main(["doctor", "--for", "triton"]) == 0, capsys.readouterr().out


def test_nothing_of_the_environment_leaks(examined: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    examined.environ.update(
        {"HF_TOKEN": "secret-1", "PIP_INDEX_URL": "https://me:secret-2@example.org/simple"}
    )
    main(["doctor", "--json", "--verbose"])
    assert "secret" not in capsys.readouterr().out


@pytest.mark.parametrize("audience", AUDIENCES)
def test_each_audience_has_its_checks(
    audience: str, examined: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["doctor", "--json", "--for", audience])
    names = {each["check"] for each in json.loads(capsys.readouterr().out)["checks"]}
    assert names == {check.name for check in CHECKS if audience in check.audiences}
    assert 5 < len(names) < len(CHECKS)


@pytest.mark.parametrize(
    ("pasted", "check"),
    [
        (
            "x.c(2): fatal error C1083: Cannot open include file: 'level_zero/ze_api.h': No such file",
            "triton-level-zero",
        ),
        ("driver.c:12:10: fatal error: level_zero/ze_api.h: No such file or directory", "triton-level-zero"),
        ("driver.c:12:10: fatal error: 'level_zero/ze_api.h' file not found", "triton-level-zero"),
        ("LINK : fatal error LNK1181: cannot open input file 'ze_loader.lib'", "triton-one-kit"),
        ("lld-link: error: could not open 'ze_loader.lib': no such file or directory", "triton-one-kit"),
        ("/usr/bin/ld: cannot find -lze_loader: No such file or directory", "link-name"),
        ("ld.lld: error: unable to find library -lze_loader", "link-name"),
        ("OSError: Intel GPU driver is not properly installed, please follow the instruction", "inductor"),
        ("AssertionError: sycl headers not found, please install `icpx` compiler", "triton-sycl"),
        (
            "RuntimeError: Failed to find C compiler. Please specify via CC environment variable or set",
            "compiler",
        ),
        ("RuntimeError: ZE_RESULT_ERROR_UNINITIALIZED", "drivers"),
        ("zeInit failed with code 0x78000001", "render-nodes"),
        ("Triton Error [ZE]: 0x78000001", "loader"),
        ("C1083: Cannot open include file: 'cstddef'", "compiler"),
        ("LNK1104: cannot open file 'python311.lib'", "python-headers"),
        ("cl : Command line error D8021 : invalid numeric argument '/Wno-psabi'", "compiler-variables"),
        ("ImportError: x.so: undefined symbol: zeInitDrivers", "loader-release"),
        ("error: use of undeclared identifier '__spirv_SubgroupLocalInvocationId'", "triton-shadowing"),
    ],
)
def test_message_leads_to_its_check(pasted: str, check: str) -> None:
    (message,) = explanations(pasted)
    assert check in message.checks


def test_message_broken_over_lines() -> None:
    assert explanations("fatal error C1083: Cannot open\n   include file: 'level_zero/ze_api.h'")


def test_explanation(examined: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--explain", "LNK1181: cannot open input file 'ze_loader.lib'"]) == 1
    output = capsys.readouterr().out
    assert output.startswith("LNK1181: cannot open input file 'ze_loader.lib'\n")
    assert "broken   triton-level-zero" in output
    assert main(["doctor", "--json", "--explain", "D8021"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [each["check"] for each in data["checks"]] == ["compiler-variables"]


def test_message_that_nobody_knows(examined: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--explain", "Segmentation fault"]) == 1
    assert "no explanation of this message" in capsys.readouterr().err


def test_messages_name_checks_that_exist_and_match_themselves() -> None:
    names = {check.name for check in CHECKS}
    for message in MESSAGES:
        assert names.issuperset(message.checks), message.text
        assert explanations(message.text) == [message]


def test_page_is_made_from_the_tables() -> None:
    """Else run `python3 scripts/dev.py troubleshooting`."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_same_as_env(tmp_path: Path) -> None:
    kit = Layout(tmp_path, windows=False).kit("kit")
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "LEVEL_ZERO_V1_SDK_PATH": str(kit)}
    environment.pop("XPU_DEV_ENV", None)
    outputs = [
        subprocess.run(
            [sys.executable, "-m", "intel_xpu_runtime_dev", *words],
            env=environment,
            capture_output=True,
            check=True,
        ).stdout
        for words in (["doctor", "--fix-env", "bash"], ["env", "--shell", "bash"])
    ]
    assert outputs[0] == outputs[1]
    assert b"LEVEL_ZERO_V1_SDK_PATH" in outputs[0] or b"ZE_PATH" in outputs[0]


def test_smoke_is_part_of_the_report(
    examined: Layout, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On this machine it may fail: it must be run and told."""
    main(["doctor", "--smoke", "--json", "--for", "build"])
    data = json.loads(capsys.readouterr().out)
    assert {"runs", "sdk", "runtime"} <= data["smoke"].keys()


def test_only_reads(tmp_path: Path) -> None:
    """A strace of the command shows no file opened for writing and at most one child."""
    log = tmp_path / "trace"
    strace = [program("strace"), "-f", "-qq", "-e", "trace=openat,execve,mkdir,unlink,rename", "-o", str(log)]
    words = [sys.executable, "-B", "-m", "intel_xpu_runtime_dev", "doctor"]
    subprocess.run([*strace, *words], env={**os.environ, "PYTHONPATH": str(PACKAGE)}, capture_output=True)
    trace = log.read_text(errors="replace")
    written = re.findall(r"openat\(.*O_(?:WRONLY|RDWR|CREAT).*|(?:mkdir|unlink|rename)\(.*", trace)
    assert [line for line in written if "/dev/" not in line] == []
    assert trace.count("ldconfig") >= 1
