"""The command, on real files and wheels."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pefile
import pytest
from intel_xpu_runtime_dev._cli import main
from intel_xpu_runtime_dev.check import _command
from intel_xpu_runtime_dev.check._verdict import Available

from tests.check.downloads import LINKED_RELEASE, LINUX, WINDOWS, wheel
from tests.check.linking import LEVEL_ZERO, UNIFIED_RUNTIME, dll, elf, source
from tests.support.environments import triton
from tests.support.needs import program


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return elf(tmp_path, "x86_64-linux-gnu", source(*LEVEL_ZERO, *UNIFIED_RUNTIME))


def test_verdict_names_function_release_and_machine(
    library: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = {
        "level-zero": Available("this machine", "1.17.28", "/usr/lib/libze_loader.so.1"),
        "unified-runtime": None,
    }
    monkeypatch.setattr(_command, "_on_this_machine", machine.__getitem__)
    assert main(["check", str(library)]) == 1
    output = capsys.readouterr().out
    assert (
        "broken: needs zeInitDrivers (1.18.0), this machine has 1.17.28: update the driver, or load it dynamically"
        in output
    )
    assert "lowest loader that has them all: 1.18.0 (zeInitDrivers)" in output
    assert "broken: this machine has no Unified Runtime" in output


def test_releases_asked_for(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release = ["--level-zero", "1.18.0", "--unified-runtime", "2025.3.3"]
    assert main(["check", str(library), *release]) == 0
    output = capsys.readouterr().out
    assert "ok: the release asked about has 1.18.0" in output
    assert (
        "warning: the release asked about has 2025.3.3: right if it was built for 2025.3.0 to 2025.3.3"
        in output
    )
    assert "2026.0.0 to 2026.1.2: ur_result_t urEnqueueKernelLaunch(" in output


def test_release_that_is_none(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(library), "--level-zero", "new"]) == 1
    assert "'new' is no release" in capsys.readouterr().err


def test_file_for_another_system_is_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = dll(tmp_path, "x86_64-pc-windows-msvc", {"ze_loader.dll": LEVEL_ZERO}, machine="i386:x86-64")
    assert main(["check", "--json", str(path)]) == 0
    (checked,) = json.loads(capsys.readouterr().out)["files"]
    assert checked["system"] == "Windows"
    assert checked["level-zero"]["lowest"] == "1.18.0"
    assert checked["level-zero"]["verdict"] is None
    assert {each["name"]: each["first_release"] for each in checked["level-zero"]["functions"]} == {
        "zeInit": "1.0.12",
        "zeInitDrivers": "1.18.0",
    }


def test_every_function_on_request(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(library), "--functions", "--level-zero", "1.18.0", "--unified-runtime", "2026.1.2"])
    assert "    zeInit 1.0.12\n" in capsys.readouterr().out


def test_one_bad_file_does_not_hide_the_others(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes(library.read_bytes()[:200])
    releases = ["--level-zero", "1.32.0", "--unified-runtime", "2026.1.2"]
    assert (
        main(["check", str(damaged), str(tmp_path / "absent"), str(tmp_path), str(library), *releases]) == 1
    )
    output = capsys.readouterr().out
    assert f"{damaged}: error: the file is truncated or damaged" in output
    assert f"{tmp_path / 'absent'}: error: cannot be read: No such file or directory" in output
    assert f"{tmp_path}: error: cannot be read: Is a directory" in output
    assert f"{library}: ELF64 x86-64, Linux" in output


@pytest.mark.parametrize("platform", [LINUX, WINDOWS])
def test_intels_wheels(platform: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = wheel(f"intel-cmplr-lib-ur=={LINKED_RELEASE}", platform)
    main(["check", str(path), "--json", "--level-zero", "1.12.0", "--unified-runtime", LINKED_RELEASE])
    files = {each["name"].rpartition("/")[2]: each for each in json.loads(capsys.readouterr().out)["files"]}
    adapter = files["ur_adapter_level_zero.dll" if platform == WINDOWS else "libur_adapter_level_zero.so.0"]
    assert len(adapter["level-zero"]["functions"]) == 106
    assert adapter["level-zero"]["lowest"] == "1.13.0"
    assert adapter["level-zero"]["verdict"]["state"] == "broken"
    if platform == WINDOWS:
        assert files["pi_unified_runtime.dll"]["unified-runtime"]["verdict"]["state"] == "ok"


def test_same_as_other_readers_find(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """GNU nm and pefile on the members of Intel's wheels."""
    for platform, member in ((LINUX, "libpi_level_zero.so"), (WINDOWS, "pi_level_zero.dll")):
        with zipfile.ZipFile(wheel(f"intel-cmplr-lib-ur=={LINKED_RELEASE}", platform)) as archive:
            name = next(each for each in archive.namelist() if each.endswith(f"/{member}"))
            path = tmp_path / member
            path.write_bytes(archive.read(name))
        main(["check", str(path), "--json", "--level-zero", "1.32.0"])
        (checked,) = json.loads(capsys.readouterr().out)["files"]
        ours = {each["name"] for each in checked["level-zero"]["functions"]}
        assert ours == (_by_nm(path) if platform == LINUX else _by_pefile(path))
        assert len(ours) > 100


def _by_nm(path: Path) -> set[str]:
    lines = subprocess.run([program("nm"), "-D", path], capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in lines.splitlines()]
    return {each[1] for each in words if each[0] == "U" and each[1].startswith("ze")}


def _by_pefile(path: Path) -> set[str]:
    return {
        function.name.decode()
        for library in pefile.PE(str(path)).DIRECTORY_ENTRY_IMPORT
        if library.dll == b"ze_loader.dll"
        for function in library.imports
    }


def test_triton_itself_imports_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """It compiles what it needs on the user's machine."""
    (path,) = triton().parent.parent.glob("lib/python*/site-packages/triton/_C/libtriton.so")
    assert main(["check", str(path)]) == 0
    assert "imports nothing of Level Zero or Unified Runtime" in capsys.readouterr().out


def test_wheel_without_binaries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pure-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pure/__init__.py", "")
    assert main(["check", str(path)]) == 0
    assert "0 PE and ELF files" in capsys.readouterr().out
