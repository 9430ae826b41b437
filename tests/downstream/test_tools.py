"""Tools that ask for the kit in their own ways: pkgconf-pypi, CMake's package, make with the command line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.downstream.conftest import PROJECTS, User, output_with_loader
from tests.locator.installs import UV, call, virtual_environment
from tests.support.needs import program


def test_pkgconf_pypi(wheelhouse: Path, tmp_path: Path, loader_folder: Path) -> None:
    python = virtual_environment(tmp_path / "env")
    UV.install(python, wheelhouse)
    call([*UV.command(python), "pkgconf>=3.0.7"])
    pkgconf = python.with_name("pkgconf-pypi")

    for name in ("level-zero", "libze_loader"):
        flags = User(tmp_path / "env").run(pkgconf, "--cflags", "--libs", name)
        command = f"{program('gcc')} {PROJECTS / 'host.c'} -o {tmp_path / name} {flags}"
        subprocess.run(command, shell=True, check=True)  # noqa: S602  (flags are for a shell)
        assert output_with_loader(tmp_path / name, loader_folder).startswith("zeInit: ")
    version = User(tmp_path / "env").run(pkgconf, "--modversion", "level-zero").strip()
    assert version == User(tmp_path / "env").xpu_dev("config", "--version")


def test_cmake_is_told_the_folder(user: User, tmp_path: Path, loader_folder: Path) -> None:
    """No variable set, only `-DLevelZero_DIR`."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\n"
        "project(host C)\n"
        "find_package(LevelZero 1.20 CONFIG REQUIRED)\n"
        f"add_executable(host {PROJECTS / 'host.c'})\n"
        "target_link_libraries(host PRIVATE LevelZero::level-zero)\n"
    )
    option = f"-DLevelZero_DIR={user.xpu_dev('config', '--cmakedir')}"

    user.run("cmake", "-G", "Ninja", option, "-S", tmp_path, "-B", tmp_path / "build")
    user.run("cmake", "--build", tmp_path / "build")

    assert output_with_loader(tmp_path / "build" / "host", loader_folder).startswith("zeInit: ")


@pytest.mark.parametrize("way", ["prefix path", "folder"])
def test_cmake_finds_unified_runtime_in_its_wheel(way: str, user: User, tmp_path: Path) -> None:
    """Its config lies in a shorter folder there than in a prefix."""
    (tmp_path / "host.c").write_text(
        "#include <stdbool.h>\n#include <unified-runtime/ur_api.h>\n"
        "int main(void) { return urLoaderInit(0, 0) != UR_RESULT_SUCCESS; }\n"
    )
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\n"
        "project(host C)\n"
        "find_package(unified-runtime 2026.2.0 EXACT CONFIG REQUIRED)\n"
        "add_executable(host host.c)\n"
        "target_link_libraries(host PRIVATE unified-runtime::loader)\n"
    )
    name, question = {
        "prefix path": ("CMAKE_PREFIX_PATH", "--root"),
        "folder": ("unified-runtime_DIR", "--cmakedir"),
    }[way]
    option = f"-D{name}={user.xpu_dev('config', question, '--component', 'unified-runtime')}"

    user.run("cmake", "-G", "Ninja", option, "-S", tmp_path, "-B", tmp_path / "build")
    user.run("cmake", "--build", tmp_path / "build")

    needed = subprocess.run(
        ["readelf", "-d", str(tmp_path / "build" / "host")], capture_output=True, text=True, check=True
    )
    assert "[libur_loader.so.0]" in needed.stdout


def test_makefile_with_the_command_line(user: User, tmp_path: Path, loader_folder: Path) -> None:
    """The quotes are for the shell that make runs."""
    (tmp_path / "Makefile").write_text(
        "host: host.c\n"
        "\t$(CC) $< -o $@ $(shell xpu-dev config --cflags) $(shell xpu-dev config --libs)\n"
        f"host.c: {PROJECTS / 'host.c'}\n"
        "\tcp $< $@\n"
    )

    user.run("make", "-C", tmp_path)

    assert output_with_loader(tmp_path / "host", loader_folder).startswith("zeInit: ")
