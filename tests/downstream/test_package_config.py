"""Projects that use the CMake package configs of staged trees, with GNU-style and MSVC-style linkers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from repack.catalogue import Platform

from tests.downstream.conftest import PROJECTS, imported_libraries
from tests.support.needs import program
from tests.support.wheels import staged

PROJECT = PROJECTS / "package_config"


@dataclass(frozen=True)
class Kit:
    """A kit as a CMake project knows it: its package, targets to link, and a source file that uses it."""

    component: str
    version: str
    package: str
    targets: tuple[str, ...]
    source: str


LEVEL_ZERO = Kit(
    "level-zero",
    "1.32.0",
    "LevelZero",
    ("LevelZero::ze_loader", "LevelZero::level-zero", "LevelZero::LevelZero"),
    "level_zero.c",
)
UNIFIED_RUNTIME = Kit(
    "unified-runtime", "2026.2.0", "unified-runtime", ("unified-runtime::loader",), "unified_runtime.cpp"
)
KITS = pytest.mark.parametrize("kit", [LEVEL_ZERO, UNIFIED_RUNTIME], ids=lambda kit: kit.component)
WINDOWS = "-DCMAKE_SYSTEM_NAME=Windows"


def configure(
    tree: Path, build: Path, kit: Kit, *options: str, request: str = "REQUIRED", path: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Configure the project against a tree; `request` is what follows the package in find_package."""
    command = [program("cmake"), "-G", "Ninja", "-S", str(PROJECT), "-B", str(build)]
    command += [f"-DCMAKE_PREFIX_PATH={tree}", f"-DREQUEST={kit.package};{request}", f"-DSOURCE={kit.source}"]
    environment = {**os.environ, "PATH": path or os.environ["PATH"]}
    return subprocess.run([*command, *options], env=environment, capture_output=True, text=True)


def build_programs(
    tree: Path, build: Path, kit: Kit, *options: str, path: str | None = None
) -> Sequence[Path]:
    """Build a program for each target of the kit and one by its variables; return them."""
    wanted = [f"-DTARGETS={';'.join(kit.targets)}", "-DCONSUMED_BY_VARIABLES=ON"]
    configured = configure(tree, build, kit, *wanted, *options, path=path)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    environment = {**os.environ, "PATH": path or os.environ["PATH"]}
    built = subprocess.run(["cmake", "--build", build], env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout
    names = [f"use_{re.sub('[^A-Za-z0-9]', '_', target)}" for target in (*kit.targets, "variables")]
    return [
        path
        for name in dict.fromkeys(names)
        for path in (build / name, build / f"{name}.exe")
        if path.exists()
    ]


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    """Return a folder with a space in its name, for a tree that is moved after it was staged."""
    return tmp_path / "a kit"


@KITS
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_linux(kit: Kit, compiler: str, moved: Path, tmp_path: Path) -> None:
    tree = shutil.copytree(staged(kit.component, kit.version, "linux_x86_64"), moved)
    cxx = {"gcc": "g++", "clang": "clang++"}[compiler]
    options = [f"-DCMAKE_C_COMPILER={program(compiler)}", f"-DCMAKE_CXX_COMPILER={program(cxx)}"]
    soname = {"level-zero": "libze_loader.so.1", "unified-runtime": "libur_loader.so.0"}[kit.component]

    programs = build_programs(tree, tmp_path / "build", kit, *options)

    assert len(programs) == len(kit.targets) + 1
    for each in programs:
        assert soname in imported_libraries(each)
        assert not run_paths(each), "the stub's folder must not be where a program looks for the loader"


def run_paths(file: Path) -> list[str]:
    """Return where an ELF file looks for libraries."""
    with file.open("rb") as stream:
        dynamic = ELFFile(stream).get_section_by_name(".dynamic")
        assert isinstance(dynamic, DynamicSection)
        return [str(tag) for tag in dynamic.iter_tags() if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH")]


@KITS
def test_windows_with_mingw(kit: Kit, moved: Path, tmp_path: Path) -> None:
    tree = shutil.copytree(staged(kit.component, kit.version, "win_amd64"), moved)
    gnu = "x86_64-w64-mingw32-"
    compilers = [f"-DCMAKE_C_COMPILER={program(f'{gnu}gcc')}", f"-DCMAKE_CXX_COMPILER={program(f'{gnu}g++')}"]

    programs = build_programs(tree, tmp_path / "build", kit, WINDOWS, *compilers)

    assert len(programs) == len(kit.targets) + 1
    assert all(dll_of(kit) in imported_libraries(each) for each in programs)


@KITS
def test_windows_with_the_tools_of_msvc_style(kit: Kit, moved: Path, tmp_path: Path) -> None:
    tree = shutil.copytree(staged(kit.component, kit.version, "win_amd64"), moved)
    tools = tmp_path / "tools"
    tools.mkdir()
    # Each is a link whose name tells clang and lld which tool to be.
    clang = Path(program("clang")).resolve().parent
    for name, target in {"clang-cl": "clang", "lld-link": "lld", "llvm-lib": "llvm-ar"}.items():
        (tools / name).symlink_to(clang / target)
    for name in ("llvm-mt", "llvm-rc"):
        (tools / name).symlink_to(clang / name)
    toolchain = ["--toolchain", str(PROJECT / "msvc.cmake")]

    programs = build_programs(
        tree, tmp_path / "build", kit, *toolchain, path=f"{tools}{os.pathsep}{os.environ['PATH']}"
    )

    assert len(programs) == len(kit.targets) + 1
    assert all(dll_of(kit) in imported_libraries(each) for each in programs)


def dll_of(kit: Kit) -> str:
    """Return the DLL that programs ask for."""
    return {"level-zero": "ze_loader.dll", "unified-runtime": "ur_loader_shared.dll"}[kit.component]


@pytest.mark.parametrize(
    ("kit", "request_", "found"),
    [
        (LEVEL_ZERO, "", True),
        (LEVEL_ZERO, "1", True),
        (LEVEL_ZERO, "1.20", True),
        (LEVEL_ZERO, "1.32.0", True),
        (LEVEL_ZERO, "1.32;EXACT", True),
        (LEVEL_ZERO, "1.20...<2", True),
        (LEVEL_ZERO, "1.20...1.32.0", True),
        (LEVEL_ZERO, "1.20...<1.32.0", False),
        (LEVEL_ZERO, "1.32.1", False),
        (LEVEL_ZERO, "1.3;EXACT", False),
        (LEVEL_ZERO, "0.9", False),
        (LEVEL_ZERO, "2.0", False),
        (UNIFIED_RUNTIME, "", True),
        (UNIFIED_RUNTIME, "2026", True),
        (UNIFIED_RUNTIME, "2026.2", True),
        (UNIFIED_RUNTIME, "2026.2.0", True),
        (UNIFIED_RUNTIME, "2026.2.0;EXACT", True),
        (UNIFIED_RUNTIME, "2025.3...2026.2.0", True),
        (UNIFIED_RUNTIME, "2025.3...<2026.2", False),
        (UNIFIED_RUNTIME, "2026.1", False),
        (UNIFIED_RUNTIME, "2026.2.1", False),
        (UNIFIED_RUNTIME, "20.6.2", False),
        (LEVEL_ZERO, "1.20;COMPONENTS;headers;ze_loader", True),
        (LEVEL_ZERO, "1.20;OPTIONAL_COMPONENTS;sycl", True),
        (LEVEL_ZERO, "1.20;COMPONENTS;sycl", False),
    ],
)
def test_what_serves_a_request(kit: Kit, request_: str, found: bool, tmp_path: Path) -> None:
    tree = staged(kit.component, kit.version, "linux_x86_64")

    result = configure(tree, tmp_path, kit, request=request_ or "QUIET")

    assert result.returncode == 0, result.stderr
    if found:
        assert f"found=1 version={kit.version}\n" in result.stdout
        assert f"include={tree}/include library={tree}/lib/" in result.stdout
    else:
        assert "found=0" in result.stdout


@pytest.mark.parametrize(
    ("platform", "options", "said"),
    [("win_amd64", (), "for 64-bit Windows"), ("linux_x86_64", (WINDOWS,), "for 64-bit Linux")],
)
def test_a_kit_for_another_system_is_refused(
    platform: Platform, options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    cross = [
        f"-DCMAKE_{lang}_COMPILER={program(f'x86_64-w64-mingw32-{name}')}"
        for lang, name in (("C", "gcc"), ("CXX", "g++"))
    ]

    result = configure(
        staged("level-zero", "1.32.0", platform), tmp_path, LEVEL_ZERO, *options, *(cross if options else [])
    )

    assert result.returncode == 1
    assert said in result.stderr


@pytest.mark.parametrize("lost", ["lib/libze_loader.so", "include/level_zero/ze_api.h"])
def test_a_damaged_installation_says_which_file_it_lacks(lost: str, moved: Path, tmp_path: Path) -> None:
    tree = shutil.copytree(staged("level-zero", "1.32.0", "linux_x86_64"), moved)
    (tree / lost).unlink()

    result = configure(tree, tmp_path / "build", LEVEL_ZERO)

    assert result.returncode == 1
    assert "the installation is damaged: there is no" in result.stderr
    assert Path(lost).name in result.stderr


def test_both_kits_and_a_second_find_package(tmp_path: Path) -> None:
    """A project and its dependency may both ask, in either order."""
    prefixes = [
        str(staged(kit.component, kit.version, "linux_x86_64")) for kit in (LEVEL_ZERO, UNIFIED_RUNTIME)
    ]
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(twice C)\n"
        + "find_package(LevelZero REQUIRED)\nfind_package(unified-runtime REQUIRED)\n" * 2
        + "if(NOT TARGET LevelZero::headers OR NOT TARGET unified-runtime::headers)\n"
        "  message(FATAL_ERROR targets)\nendif()\n"
    )
    command = [program("cmake"), "-S", str(tmp_path), "-B", str(tmp_path / "build")]

    result = subprocess.run(
        [*command, f"-DCMAKE_PREFIX_PATH={';'.join(prefixes)}"], capture_output=True, text=True
    )

    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("root", ["LevelZero_ROOT", "LevelZero_DIR"])
def test_hints_by_which_projects_are_led_there(root: str, tmp_path: Path) -> None:
    tree = staged("level-zero", "1.32.0", "linux_x86_64")
    hint = tree / "lib" / "cmake" / "LevelZero" if root.endswith("DIR") else tree

    result = configure(tmp_path / "nothing", tmp_path, LEVEL_ZERO, f"-D{root}={hint}")

    assert result.returncode == 0, result.stderr
