"""The checks of compilers, Python's headers, devices and paths."""

from __future__ import annotations

from pathlib import Path

import pytest
from intel_xpu_runtime_dev.doctor import system_checks
from intel_xpu_runtime_dev.doctor.findings import BROKEN, NOT_APPLICABLE, OK, WARNING

from tests.doctor.machines import IMPORT_LIBRARY, LINK_NAME, Layout, write

WSL = "Linux version 6.6.87.2-microsoft-standard-WSL2"


def test_linux_compiler(linux: Layout) -> None:
    assert system_checks.compiler(linux.machine()).verdict == BROKEN
    linux.program("clang")
    assert system_checks.compiler(linux.machine()).verdict == OK


@pytest.mark.parametrize("system", ["linux", "windows"])
def test_zig_from_a_wheel(system: str, request: pytest.FixtureRequest) -> None:
    layout: Layout = request.getfixturevalue(system)
    layout.install("ziglang", "0.15.1")
    finding = system_checks.compiler(layout.machine())
    assert finding.verdict == OK
    assert "ziglang (wheel)" in finding.found


def developer_prompt(windows: Layout) -> None:
    windows.program("cl")
    windows.environ["INCLUDE"] = str(write(windows.folder / "vc/include/cstddef").parent)
    windows.environ["LIB"] = str(write(windows.folder / "kits/lib/ucrt.lib").parent)


def test_developer_prompt(windows: Layout) -> None:
    developer_prompt(windows)
    assert system_checks.compiler(windows.machine()).verdict == OK
    windows.environ["VSCMD_ARG_TGT_ARCH"] = "x86"
    finding = system_checks.compiler(windows.machine())
    assert finding.verdict == WARNING
    assert "cl compiles for x86" in finding.found


@pytest.mark.parametrize(("variable", "told"), [("INCLUDE", "cstddef"), ("LIB", r"ucrt\.lib")])
def test_cl_without_its_environment(windows: Layout, variable: str, told: str) -> None:
    developer_prompt(windows)
    del windows.environ[variable]
    finding = system_checks.compiler(windows.machine())
    assert finding.verdict == BROKEN
    assert f"{variable} ({told})".replace("\\", "") in finding.found
    assert "x64 Native Tools prompt" in finding.fix


def test_visual_studio_outside_of_a_prompt(windows: Layout) -> None:
    windows.studios = (Path(r"C:\BuildTools"),)
    finding = system_checks.compiler(windows.machine())
    assert finding.verdict == BROKEN
    assert "the Windows SDK is not" in finding.found
    windows.registry[system_checks.SDK_KEY] = {"ProductVersion": "10.0.26100"}
    finding = system_checks.compiler(windows.machine())
    assert finding.verdict == WARNING
    assert "x64 Native Tools prompt" in finding.fix


def test_no_compiler_on_windows(windows: Layout) -> None:
    assert system_checks.compiler(windows.machine()).verdict == BROKEN


def test_compiler_variables(linux: Layout) -> None:
    assert system_checks.compiler_variables(linux.machine()).verdict == OK
    linux.environ["CC"] = str(linux.program("gcc"))
    assert system_checks.compiler_variables(linux.machine()).verdict == WARNING
    linux.environ["CC"] = "gcc"
    assert system_checks.compiler_variables(linux.machine()).verdict == WARNING
    linux.environ["CXX"] = "/nowhere/g++"
    finding = system_checks.compiler_variables(linux.machine())
    assert finding.verdict == BROKEN
    assert "there is no /nowhere/g++" in finding.found


def test_suffixes_in_small_letters(windows: Layout) -> None:
    windows.environ["PATHEXT"] = ".COM;.EXE;.BAT"
    assert system_checks.compiler_variables(windows.machine()).verdict == OK
    windows.environ["PATHEXT"] = ".com;.exe;.bat"
    assert system_checks.compiler_variables(windows.machine()).verdict == WARNING


def test_python_headers_on_linux(linux: Layout) -> None:
    finding = system_checks.python_headers(linux.machine())
    assert finding.verdict == BROKEN
    assert "python3-dev" in finding.fix
    write(linux.prefix / "include" / "Python.h")
    assert system_checks.python_headers(linux.machine()).verdict == OK


def test_embedded_python(windows: Layout) -> None:
    write(windows.prefix / "include" / "Python.h")
    finding = system_checks.python_headers(windows.machine())
    assert finding.verdict == BROKEN
    assert "python311.lib" in finding.found
    write(windows.prefix / "libs" / "python311.lib")
    assert system_checks.python_headers(windows.machine()).verdict == OK


def test_render_nodes(linux: Layout) -> None:
    assert system_checks.render_nodes(linux.machine()).verdict == BROKEN
    write(linux.root / "dev" / "dri" / "renderD128")
    assert system_checks.render_nodes(linux.machine()).verdict == OK
    linux.closed.add("renderD128")
    finding = system_checks.render_nodes(linux.machine())
    assert finding.verdict == BROKEN
    assert "render" in finding.fix


def test_wsl(linux: Layout) -> None:
    assert system_checks.wsl(linux.machine()).verdict == NOT_APPLICABLE
    write(linux.root / "proc" / "version", WSL)
    assert system_checks.wsl(linux.machine()).verdict == BROKEN
    write(linux.root / "dev" / "dxg")
    assert system_checks.wsl(linux.machine()).verdict == OK
    assert system_checks.render_nodes(linux.machine()).verdict == NOT_APPLICABLE


def test_link_name(linux: Layout) -> None:
    library = write(linux.root / "usr/lib/libze_loader.so.1")
    linux.cache.append((library.name, library))
    finding = system_checks.link_name(linux.machine())
    assert finding.verdict == WARNING
    assert str(library) in finding.found
    linux.environ["LIBRARY_PATH"] = str(write(linux.folder / "kit" / LINK_NAME).parent)
    assert system_checks.link_name(linux.machine()).verdict == OK


def test_long_paths(windows: Layout) -> None:
    windows.install_overlay()
    assert system_checks.long_paths(windows.machine()).verdict == OK
    windows.install("intel-sycl-rt", "2025.3.3")
    record = next(windows.site.glob("intel_sycl_rt-*/RECORD"))
    record.write_text(f"../../Library/include/{'x' * 100}/{'y' * 100}/z.hpp,,\n" * 2)
    finding = system_checks.long_paths(windows.machine())
    assert finding.verdict == BROKEN
    windows.registry[system_checks.LONG_PATHS_KEY] = {"LongPathsEnabled": 1}
    finding = system_checks.long_paths(windows.machine())
    assert finding.verdict == WARNING
    assert "long paths are on" in finding.found


def test_unusual_paths(windows: Layout) -> None:
    windows.environ["TEMP"] = r"C:\Temp"
    assert system_checks.unusual_paths(windows.machine()).verdict == OK
    windows.environ["TEMP"] = r"C:\Users\Zoë Müller\Temp"
    finding = system_checks.unusual_paths(windows.machine())
    assert finding.verdict == WARNING
    assert "Zoë" in finding.found


@pytest.mark.parametrize("check", ["long_paths", "unusual_paths"])
def test_windows_only(linux: Layout, check: str) -> None:
    assert getattr(system_checks, check)(linux.machine()).verdict == NOT_APPLICABLE


@pytest.mark.parametrize("check", ["render_nodes", "wsl", "link_name"])
def test_linux_only(windows: Layout, check: str) -> None:
    write(windows.overlay / IMPORT_LIBRARY)
    assert getattr(system_checks, check)(windows.machine()).verdict == NOT_APPLICABLE
