"""pkg-config files of staged trees, in folders with blanks, quotes and other letters."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repack.catalogue import Platform

from tests.downstream.conftest import PROJECTS, imported_libraries
from tests.support.needs import program
from tests.support.wheels import staged

PROJECT = PROJECTS / "package_config"
TOOLS = {
    "pkg-config": lambda: [program("pkg-config")],
    "pkgconf-pypi": lambda: [sys.executable, "-m", "pkgconf"],
}
EACH_TOOL = pytest.mark.parametrize("tool", TOOLS)
FOLDERS = ["plain", "with a blank", "Zoë Müller 中文", "paren(theses) & more"]
FILES = [
    ("level-zero", "1.32.0", "level-zero", "level_zero.c", "libze_loader.so.1"),
    ("level-zero", "1.32.0", "libze_loader", "level_zero.c", "libze_loader.so.1"),
    ("unified-runtime", "2026.2.0", "libur_loader", "unified_runtime.cpp", "libur_loader.so.0"),
]


def ask(tool: str, tree: Path, *arguments: str) -> str:
    """Return what a pkg-config says with the tree's files on its path.

    pkgconf puts a backslash before every byte of a letter outside ASCII, so this is text of single bytes.
    """
    environment = {**os.environ, "PKG_CONFIG_PATH": str(tree / "lib" / "pkgconfig")}
    result = subprocess.run([*TOOLS[tool](), *arguments], env=environment, capture_output=True, check=True)
    return result.stdout.decode("latin-1").strip()


def split_as_a_shell(flags: str) -> list[str]:
    """Return the words that a shell makes of flags."""
    return [os.fsdecode(word.encode("latin-1")) for word in shlex.split(flags)]


@EACH_TOOL
@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize(("component", "version", "module", "source", "soname"), FILES)
def test_a_program_is_built_with_the_flags(
    component: str,
    version: str,
    module: str,
    source: str,
    soname: str,
    folder: str,
    tool: str,
    tmp_path: Path,
) -> None:
    tree = shutil.copytree(staged(component, version, "linux_x86_64"), tmp_path / folder)
    compiler = program("gcc" if source.endswith(".c") else "g++")

    flags = split_as_a_shell(ask(tool, tree, "--cflags", "--libs", module))
    subprocess.run([compiler, PROJECT / source, *flags, "-o", tmp_path / "program"], check=True)

    assert f"-L{tree}/lib" in flags or f"-L{tree}/lib/pkgconfig/../../lib" in flags
    assert soname in imported_libraries(tmp_path / "program")


@EACH_TOOL
@pytest.mark.parametrize("module", ["level-zero", "libze_loader"])
def test_versions(module: str, tool: str) -> None:
    tree = staged("level-zero", "1.20.6", "linux_x86_64")

    assert ask(tool, tree, "--modversion", module) == "1.20.6"
    ask(tool, tree, f"{module} >= 1.20", "--exists")
    with pytest.raises(subprocess.CalledProcessError):
        ask(tool, tree, "--exists", f"{module} >= 1.32")


@EACH_TOOL
@pytest.mark.parametrize(
    ("component", "version", "module", "library"),
    [
        ("level-zero", "1.32.0", "level-zero", "ze_loader"),
        ("unified-runtime", "2026.2.0", "libur_loader", "ur_loader_shared"),
        ("unified-runtime", "2026.1.2", "libur_loader", "ur_loader"),
    ],
)
def test_windows_kits_name_their_import_library(
    component: str, version: str, module: str, library: str, tool: str
) -> None:
    platform: Platform = "win_amd64"
    tree = staged(component, version, platform)

    assert ask(tool, tree, "--libs-only-l", module) == f"-l{library}"
    assert (tree / "lib" / f"{library}.lib").is_file()
