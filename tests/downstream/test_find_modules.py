"""Projects with their own way to find Level Zero, one for each convention that is out there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.downstream.conftest import PROJECTS, User, imported_libraries, output_with_loader
from tests.support.needs import program

CONVENTIONS = sorted(folder.name for folder in (PROJECTS / "find_modules").iterdir() if folder.is_dir())


def dpctl_option(root: Path | str) -> str:
    """Return what dpctl's users put on CMake's command line; the other conventions do not look at it."""
    return f"-DDPCTL_LEVEL_ZERO_INCLUDE_DIR={root}/include/level_zero"


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_linux_build_and_run(convention: str, user: User, tmp_path: Path, loader_folder: Path) -> None:
    configure = [program("cmake"), "-G", "Ninja", f"-DCONVENTION={convention}"]
    root = user.xpu_dev("config", "--root")

    output = user.run(
        "xpu-dev", "run", "--", *configure, dpctl_option(root), "-S", PROJECTS / "find_modules", "-B", tmp_path
    )  # fmt: skip
    user.run("xpu-dev", "run", "--", "cmake", "--build", tmp_path)

    assert "libze_loader.so.1" in imported_libraries(tmp_path / "host")
    assert output_with_loader(tmp_path / "host", loader_folder).startswith("zeInit: ")
    if convention == "pti":
        assert f"version {user.xpu_dev('config', '--version')}" in output


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_windows_cross_build(convention: str, user: User, tmp_path: Path, windows_kit: Path) -> None:
    """The variables are those of `env`, by hand: this machine's own kit is the Linux one."""
    root = str(windows_kit)
    variables = {
        **dict.fromkeys(
            ("LEVEL_ZERO_V1_SDK_PATH", "ZE_PATH", "LEVEL_ZERO_ROOT", "LEVEL_ZERO_ROOT_DIR", "LEVEL_ZERO_DIR"),
            root,
        ),
        "CMAKE_PREFIX_PATH": root,
        "PKG_CONFIG_PATH": f"{root}/lib/pkgconfig",
    }
    toolchain = ["-DCMAKE_SYSTEM_NAME=Windows", f"-DCMAKE_C_COMPILER={program('x86_64-w64-mingw32-gcc')}"]
    configure = [
        program("cmake"),
        "-G",
        "Ninja",
        *toolchain,
        f"-DCONVENTION={convention}",
        dpctl_option(root),
    ]

    user.run(*configure, "-S", PROJECTS / "find_modules", "-B", tmp_path, variables=variables)
    user.run("cmake", "--build", tmp_path, variables=variables)

    assert "ze_loader.dll" in imported_libraries(tmp_path / "host.exe")


@pytest.mark.parametrize("spelling", ["", "-DBARE_SPELLING"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_compiler_search_paths_alone(
    compiler: str, spelling: str, user: User, tmp_path: Path, loader_folder: Path
) -> None:
    """As vllm-xpu-kernels and IPEX look: what the compiler finds by itself."""
    command: list[str | Path] = [
        program(compiler),
        PROJECTS / "host.c",
        "-o",
        tmp_path / "host",
        "-lze_loader",
    ]
    if spelling:
        include = user.xpu_dev("config", "--root") + "/include/level_zero"
        command += [spelling, f"-I{include}"]

    user.run("xpu-dev", "run", "--", *command)

    assert output_with_loader(tmp_path / "host", loader_folder).startswith("zeInit: ")


def test_meson(user: User, tmp_path: Path, loader_folder: Path) -> None:
    project = meson_project(tmp_path)

    user.run("xpu-dev", "run", "--", "meson", "setup", tmp_path / "build", project)
    user.run("meson", "compile", "-C", tmp_path / "build")

    assert output_with_loader(tmp_path / "build" / "host", loader_folder).startswith("zeInit: ")


def test_meson_cross_build(user: User, tmp_path: Path, windows_kit: Path) -> None:
    (tmp_path / "mingw.ini").write_text(
        f"""
[binaries]
c = '{program("x86_64-w64-mingw32-gcc")}'
pkg-config = '{program("pkg-config")}'
[properties]
pkg_config_libdir = '{windows_kit}/lib/pkgconfig'
[host_machine]
system = 'windows'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
"""
    )

    user.run(
        "meson", "setup", "--cross-file", tmp_path / "mingw.ini", tmp_path / "build", meson_project(tmp_path)
    )
    user.run("meson", "compile", "-C", tmp_path / "build")

    assert "ze_loader.dll" in imported_libraries(tmp_path / "build" / "host.exe")


def meson_project(folder: Path) -> Path:
    project = shutil.copytree(PROJECTS / "meson_project", folder / "project")
    shutil.copy(PROJECTS / "host.c", project)
    return project
