"""Import libraries against Intel's own bytes, zig's, and real linkers whose programs run under Wine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import pefile
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repack.binaries import read_library
from repack.catalogue import load
from repack.errors import BuildError
from repack.fetch import obtain
from repack.import_library import import_library
from repack.transfer import UnreachableError

from tests.support.needs import lacking, program
from tests.windows.wine import Wine

ZIG = (sys.executable, "-m", "ziglang")
DLLTOOL_MACHINES = {"x64": "i386:x86-64", "arm64": "arm64"}
# A .def file gives other characters a meaning of their own.
NAMES = st.from_regex(r"[A-Za-z_?][A-Za-z0-9_?@$.]{0,80}", fullmatch=True)
LONG_NAMES = st.integers(200, 4000).map(lambda size: "n" * size)
DLLS = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,60}(\.[a-z0-9]{1,3})?\.dll", fullmatch=True)


def zig_dlltool(folder: Path, dll: str, names: Sequence[str], data: Collection[str], machine: str) -> bytes:
    """Return the import library that zig's dlltool makes."""
    exports = "".join(f"  {name}{' DATA' if name in data else ''}\n" for name in names)
    (folder / "names.def").write_text(f'LIBRARY "{dll}"\nEXPORTS\n{exports}')
    command = [*ZIG, "dlltool", "-m", DLLTOOL_MACHINES[machine], "-D", dll, "-d", "names.def", "-l", "x.lib"]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "x.lib").read_bytes()


def test_intels_own_library_byte_for_byte() -> None:
    release = load().release("unified-runtime", "2026.2.0")
    theirs, binary = release.import_library(), release.loader_binary("win_amd64")
    assert theirs is not None
    try:
        folders = obtain([theirs, binary])
    except UnreachableError as error:
        lacking(str(error))
    exports = read_library(folders[binary] / binary.files[0]).exports

    library = import_library("UR_LOADER_SHARED.dll", [export.name for export in exports])

    assert len(exports) == 685
    assert library == (folders[theirs] / theirs.files[0]).read_bytes()


@given(
    names=st.lists(st.one_of(NAMES, LONG_NAMES), min_size=1, max_size=40, unique=True),
    dll=DLLS,
    machine=st.sampled_from(sorted(DLLTOOL_MACHINES)),
    chosen=st.data(),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_equals_zigs(tmp_path: Path, names: list[str], dll: str, machine: str, chosen: st.DataObject) -> None:
    data = chosen.draw(st.sets(st.sampled_from(names)))

    library = import_library(dll, names, data=data, machine=machine)

    assert library == zig_dlltool(tmp_path, dll, names, data, machine)


@pytest.mark.parametrize("length", range(1, 40))
def test_equals_zigs_for_dll_names_of_any_length(length: int, tmp_path: Path) -> None:
    """Names over 15 characters are kept elsewhere."""
    dll = f"{'d' * length}.dll"

    assert import_library(dll, ["f"]) == zig_dlltool(tmp_path, dll, ["f"], (), "x64")


@pytest.mark.parametrize("machine", sorted(DLLTOOL_MACHINES))
@pytest.mark.parametrize("count", [1, 824, 5000, 30_000])
def test_equals_zigs_at_any_size(count: int, machine: str, tmp_path: Path) -> None:
    names = [f"function_{number:x}" for number in range(count)]
    data = set(names[::7])

    library = import_library("loader.dll", names, data=data, machine=machine)

    assert library == zig_dlltool(tmp_path, "loader.dll", names, data, machine)


NUMBERS = {"zeInit": 3, "zeDriverGet": 5, "zetMetricGet": 7}
LOADER = "ze_loader.dll"
CALLER = """
int zeInit(void);
int zeDriverGet(void);
int zetMetricGet(void);
extern __declspec(dllimport) int tableVersion;
int answer(void) { return zeInit() + 10 * zeDriverGet() + zetMetricGet() + 100 * (tableVersion == 9); }
"""
# Without a C library the program starts and ends by itself, with another generated library for Windows' own.
BARE = CALLER + "void ExitProcess(unsigned); void start(void) { ExitProcess(answer()); }\n"


def call(folder: Path, *command: str | Path) -> None:
    """Run a tool that must succeed."""
    subprocess.run(command, cwd=folder, check=True)


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a real DLL of Level Zero's size and the generated library for it."""
    folder = tmp_path_factory.mktemp("loader")
    names = [f"zeFiller{number}" for number in range(820)] + list(NUMBERS)
    functions = "".join(
        f"__declspec(dllexport) int {name}(void) {{ return {NUMBERS.get(name, 0)}; }}\n" for name in names
    )
    (folder / "loader.c").write_text(f"{functions}__declspec(dllexport) int tableVersion = 9;\n")
    call(folder, program("x86_64-w64-mingw32-gcc"), "-shared", "loader.c", "-o", LOADER)
    exports = read_library(folder / LOADER).exports
    assert [export.name for export in exports if export.is_data] == ["tableVersion"]
    library = import_library(LOADER, [export.name for export in exports], data={"tableVersion"})
    (folder / "ze_loader.lib").write_bytes(library)
    (folder / "bare.c").write_text(BARE)
    (folder / "main.c").write_text(f"{CALLER}int main(void) {{ return answer(); }}\n")
    return folder


def link_with_zig(folder: Path) -> None:
    """Link a program as zig does for Windows."""
    call(folder, *ZIG, "cc", "-target", "x86_64-windows-gnu", "main.c", "ze_loader.lib", "-o", "main.exe")


def link_with_mingw(folder: Path) -> None:
    """Link a program with GNU ld."""
    call(folder, program("x86_64-w64-mingw32-gcc"), "main.c", "-L.", "-l:ze_loader.lib", "-o", "main.exe")


def link_with_lld_link(folder: Path) -> None:
    """Link a program by Microsoft's conventions, with no library but generated ones."""
    (folder / "kernel32.lib").write_bytes(import_library("kernel32.dll", ["ExitProcess"]))
    call(folder, program("clang"), "--target=x86_64-pc-windows-msvc", "-c", "-ffreestanding", "bare.c")
    objects = ("bare.o", "ze_loader.lib", "kernel32.lib")
    call(folder, program("lld-link"), "/entry:start", "/subsystem:console", "/out:main.exe", *objects)


@pytest.mark.parametrize("link", [link_with_zig, link_with_mingw, link_with_lld_link])
def test_linked_programs_run(link: Callable[[Path], None], loader: Path, wine: Wine) -> None:
    (loader / "main.exe").unlink(missing_ok=True)
    link(loader)

    assert wine.run([loader / "main.exe"], cwd=loader, check=False).returncode == 160


def test_links_for_arm64(loader: Path, tmp_path: Path) -> None:
    (tmp_path / "bare.c").write_text(BARE)
    for dll, names in ((LOADER, [*NUMBERS, "tableVersion"]), ("kernel32.dll", ["ExitProcess"])):
        library = import_library(dll, names, data={"tableVersion"} & set(names), machine="arm64")
        (tmp_path / dll).with_suffix(".lib").write_bytes(library)
    call(tmp_path, program("clang"), "--target=aarch64-pc-windows-msvc", "-c", "-ffreestanding", "bare.c")
    objects = ("bare.o", "ze_loader.lib", "kernel32.lib")
    call(tmp_path, program("lld-link"), "/entry:start", "/subsystem:console", "/out:main.exe", *objects)

    with pefile.PE(str(tmp_path / "main.exe")) as parsed:
        imports = {
            entry.dll.decode(): [i.name.decode() for i in entry.imports]
            for entry in parsed.DIRECTORY_ENTRY_IMPORT
        }
    assert {name: sorted(names) for name, names in imports.items()} == {
        LOADER: sorted([*NUMBERS, "tableVersion"]),
        "kernel32.dll": ["ExitProcess"],
    }


def test_a_name_that_is_not_in_it_does_not_link(loader: Path, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int zeGone(void);\nint main(void) { return zeGone(); }\n")
    command = [program("x86_64-w64-mingw32-gcc"), "main.c", str(loader / "ze_loader.lib")]

    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert result.returncode != 0
    assert "undefined reference to `zeGone'" in result.stderr


@pytest.mark.parametrize(
    ("dll", "names", "options", "problem"),
    [
        ("a.dll", [], {}, "a.dll would be empty"),
        ("a.dll", ["f", "g", "f"], {}, "defined twice"),
        ("a.dll", ["f", "__imp_f"], {}, "defined twice"),
        ("a.dll", ["__IMPORT_DESCRIPTOR_a"], {}, "defined twice"),
        ("a.dll", ["zeInit\0"], {}, "no symbol name"),
        ("a.dll", ["zeInit\n"], {}, "no symbol name"),
        ("a.dll", ["ze Init"], {}, "no symbol name"),
        ("a.dll", [""], {}, "no symbol name"),
        ("a.dll", ["größe"], {}, "no symbol name"),
        ("a.dll", ["n" * 4097], {}, "too long"),
        ("", ["f"], {}, "no name for a library"),
        ("loader", ["f"], {}, "no name for a library"),
        ("C:\\a.dll", ["f"], {}, "no name for a library"),
        ("ä.dll", ["f"], {}, "no name for a library"),
        ("a\0.dll", ["f"], {}, "no name for a library"),
        ("n" * 252 + ".dll", ["f"], {}, "no name for a library"),
        ("a.dll", ["f"], {"data": {"g"}}, "variables that are not exported: g"),
        ("a.dll", ["f"], {"machine": "arm"}, "no import libraries for the machine 'arm'"),
        ("a.dll", [f"f{number}" for number in range(65533)], {}, "too many names"),
    ],
)  # fmt: skip
def test_bad_input(dll: str, names: list[str], options: dict[str, Any], problem: str) -> None:
    with pytest.raises(BuildError, match=problem):
        import_library(dll, names, **options)


def test_the_largest_library() -> None:
    assert import_library("a.dll", [f"f{number}" for number in range(65532)])
