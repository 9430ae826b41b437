"""Exports of real binaries, made by real compilers for each machine, against what binutils says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from repack.binaries import Export, SharedLibrary, read_library
from repack.errors import BuildError

from tests.support import level_zero
from tests.support.needs import program

ZIG = (sys.executable, "-m", "ziglang")
ELF_SOURCE = """
int function(void) { return 1; }
int variable = 2;
const char text[] = "3";
static int local(void) { return 4; }
int elsewhere(void);
int caller(void) { return elsewhere() + local(); }
__attribute__((weak)) int weak(void) { return 5; }
__attribute__((visibility("hidden"))) int hidden(void) { return 6; }
__attribute__((visibility("protected"))) int guarded(void) { return 7; }
"""
DLL_SOURCE = """
__declspec(dllexport) int function(void) { return 1; }
__declspec(dllexport) int variable = 2;
__declspec(dllexport) const int constant = 3;
int hidden(void) { return 4; }
int by_number(void) { return 5; }
"""
DEFINITIONS = """EXPORTS
function
variable DATA
constant DATA
by_number @7 NONAME
passed_on = kernel32.Sleep
"""


def compiled(folder: Path, *command: str, source: str = ELF_SOURCE) -> Path:
    """Compile a library with a real compiler."""
    (folder / "library.c").write_text(source)
    subprocess.run([*command, "library.c", "-o", "made.bin"], cwd=folder, check=True)
    return folder / "made.bin"


@pytest.mark.parametrize(("triple", "machine"), [("x86_64-linux-gnu", "x64"), ("aarch64-linux-gnu", "arm64")])
def test_elf(triple: str, machine: str, tmp_path: Path) -> None:
    options = ("-shared", "-nostdlib", "-fPIC", "-Wl,-soname,libmade.so.3")

    library = read_library(compiled(tmp_path, *ZIG, "cc", "-target", triple, *options))

    assert library == SharedLibrary(
        "libmade.so.3",
        machine,
        (
            Export("caller"),
            Export("function"),
            Export("guarded"),
            Export("text", is_data=True),
            Export("variable", is_data=True),
            Export("weak"),
        ),
    )


def test_elf_versions(tmp_path: Path) -> None:
    """An old version kept for old programs is none that a new one can link."""
    source = """
    __asm__(".symver changed_old, changed@V_1");
    __asm__(".symver changed_new, changed@@V_2");
    int changed_old(void) { return 1; }
    int changed_new(void) { return 2; }
    int same(void) { return 3; }
    int unversioned(void) { return 4; }
    """
    (tmp_path / "map").write_text("V_1 { global: same; changed; }; V_2 { global: changed; } V_1;")
    command = (program("gcc"), "-shared", "-fPIC", "-Wl,-soname,libmade.so.1", "-Wl,--version-script=map")

    library = read_library(compiled(tmp_path, *command, source=source))

    assert [export for export in library.exports if not export.name.startswith("changed_")] == [
        Export("changed", version="V_2"),
        Export("same", version="V_1"),
        Export("unversioned"),
    ]
    assert not any(export.name.startswith("V_") for export in library.exports)


def test_elf_function_chosen_at_load_time(tmp_path: Path) -> None:
    source = "static int one(void) { return 1; } static void *choose(void) { return one; }\n"
    source += 'int chosen(void) __attribute__((ifunc("choose")));'
    command = (program("gcc"), "-shared", "-fPIC", "-nostdlib", "-Wl,-soname,libmade.so.1")

    assert read_library(compiled(tmp_path, *command, source=source)).exports == (Export("chosen"),)


def test_a_real_loader_against_nm() -> None:
    path = level_zero.loader_folder() / "libze_loader.so.1"
    command = [program("nm"), "--dynamic", "--defined-only", "--format=posix", str(path)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    library = read_library(path)

    assert library.name == "libze_loader.so.1"
    assert {export.name for export in library.exports} == {line.split("@")[0].split()[0] for line in lines}
    assert {export.name for export in library.exports if export.is_data} == {
        line.split()[0] for line in lines if line.split()[1] in "BDRVu"
    }


@pytest.mark.parametrize(
    ("triple", "machine"), [("x86_64-windows-gnu", "x64"), ("aarch64-windows-gnu", "arm64")]
)
def test_dll(triple: str, machine: str, tmp_path: Path) -> None:
    command = (*ZIG, "cc", "-target", triple, "-shared", "-nostdlib", "-Wl,--entry=function")

    library = read_library(compiled(tmp_path, *command, source=DLL_SOURCE))

    assert library.machine == machine
    assert library.exports == (
        Export("constant", is_data=True),
        Export("function"),
        Export("variable", is_data=True),
    )


def test_dll_with_forwarded_and_numbered_exports(tmp_path: Path) -> None:
    (tmp_path / "made.def").write_text(DEFINITIONS)
    command = (program("x86_64-w64-mingw32-gcc"), "-shared", "made.def")

    library = read_library(compiled(tmp_path, *command, source=DLL_SOURCE))

    assert library == SharedLibrary(
        "made.bin",
        "x64",
        (
            Export("constant", is_data=True),
            Export("function"),
            Export("passed_on"),
            Export("variable", is_data=True),
        ),
    )


def test_other_binaries_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="no name of its own"):
        read_library(compiled(tmp_path, *ZIG, "cc", "-target", "x86_64-linux-gnu", "-shared", "-nostdlib"))
    with pytest.raises(BuildError, match="no shared library"):
        read_library(compiled(tmp_path, program("gcc"), "-c"))
    with pytest.raises(BuildError, match="for another machine"):
        read_library(compiled(tmp_path, *ZIG, "cc", "-target", "riscv64-linux-gnu", "-shared", "-nostdlib"))
    with pytest.raises(BuildError, match="for another machine"):
        read_library(
            compiled(
                tmp_path,
                *ZIG,
                "cc",
                "-target",
                "x86-windows-gnu",
                "-shared",
                "-nostdlib",
                "-Wl,--entry=function",
                source=DLL_SOURCE,
            )
        )
    with pytest.raises(BuildError, match="it exports nothing"):
        read_library(
            compiled(tmp_path, program("x86_64-w64-mingw32-gcc"), source="int main(void) { return 0; }")
        )


@pytest.mark.parametrize("content", [b"", b"MZ", b"\x7fELF", b"!<arch>\n", b"text", b"MZ" + bytes(5000)])
def test_no_binary(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)

    with pytest.raises(BuildError):
        read_library(tmp_path / "file")


@pytest.mark.parametrize("kind", ["elf", "dll"])
def test_cut_off_anywhere(kind: str, tmp_path: Path) -> None:
    """A download that stopped is an error or, past the tables, still says the same."""
    if kind == "elf":
        command: tuple[str, ...] = (
            program("gcc"),
            "-shared",
            "-fPIC",
            "-nostdlib",
            "-Wl,-soname,libmade.so.1",
        )
        whole = compiled(tmp_path, *command)
    else:
        whole = compiled(tmp_path, program("x86_64-w64-mingw32-gcc"), "-shared", source=DLL_SOURCE)
    content, library = whole.read_bytes(), read_library(whole)
    refused = 0
    for size in range(0, len(content), max(1, len(content) // 150)):
        (tmp_path / "part").write_bytes(content[:size])
        try:
            assert read_library(tmp_path / "part") == library
        except BuildError:
            refused += 1
    assert refused > 10
