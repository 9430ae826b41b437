"""The readers against binaries of every format, class, byte order and linker."""

from __future__ import annotations

import struct
import subprocess
from io import FileIO
from pathlib import Path

import pefile
import pytest
from elftools.elf.elffile import ELFFile
from intel_xpu_runtime_dev.check import _window
from intel_xpu_runtime_dev.check._binary import Binary, Import, read_binary
from intel_xpu_runtime_dev.check._window import MalformedError, Window

from tests.check.linking import DELAY_HELPER, LEVEL_ZERO, UNIFIED_RUNTIME, dll, elf, source
from tests.support.needs import program

LIBRARIES = {"ze_loader.dll": LEVEL_ZERO, "ur_loader.dll": UNIFIED_RUNTIME}
WINDOWS = [
    ("x86_64-pc-windows-msvc", "i386:x86-64", "PE32+", "x86-64"),
    ("aarch64-pc-windows-msvc", "arm64", "PE32+", "ARM64"),
]
LINUX = [
    ("x86_64-linux-gnu", "ELF64", "x86-64"),
    ("x86-linux-gnu", "ELF32", "x86"),
    ("aarch64-linux-gnu", "ELF64", "ARM64"),
    ("s390x-linux-gnu", "ELF64", "S/390"),  # big endian
    ("powerpc-linux-gnueabihf", "ELF32", "PowerPC"),  # big endian
]


def read(path: Path) -> Binary:
    with path.open("rb") as file:
        return read_binary(Window(file))


def functions(binary: Binary) -> set[str]:
    return {each.name for each in binary.imports}


@pytest.mark.parametrize(("triple", "machine", "kind", "name"), WINDOWS)
def test_dll(tmp_path: Path, triple: str, machine: str, kind: str, name: str) -> None:
    binary = read(dll(tmp_path, triple, LIBRARIES, machine=machine))
    assert (binary.kind, binary.machine, binary.system) == (kind, name, "Windows")
    assert set(binary.imports) == {
        Import(function, library) for library, names in LIBRARIES.items() for function in names
    }


def test_dll_of_32_bits(tmp_path: Path) -> None:
    """Its 32-bit thunks; mingw also writes names without the leading underscore of the symbols."""
    code, definition = tmp_path / "code.c", tmp_path / "ze.def"
    code.write_text(source("zeInit", before="__declspec(dllimport) "))
    definition.write_text("LIBRARY ze_loader.dll\nEXPORTS\nzeInit\n")
    library, result = tmp_path / "libze_loader.a", tmp_path / "code.dll"
    subprocess.run([program("i686-w64-mingw32-dlltool"), "-d", definition, "-l", library], check=True)
    subprocess.run([program("i686-w64-mingw32-gcc"), "-shared", code, library, "-o", result], check=True)
    binary = read(result)
    assert (binary.kind, binary.machine) == ("PE32", "x86")
    assert Import("zeInit", "ze_loader.dll") in binary.imports


@pytest.mark.parametrize(("triple", "machine", "kind", "name"), WINDOWS)
def test_delayed_import(tmp_path: Path, triple: str, machine: str, kind: str, name: str) -> None:
    binary = read(dll(tmp_path, triple, LIBRARIES, "/delayload:ze_loader.dll", machine=machine))
    assert {each for each in binary.imports if each.library == "ze_loader.dll"} == {
        Import(function, "ze_loader.dll", optional=True) for function in LEVEL_ZERO
    }
    assert all(not each.optional for each in binary.imports if each.library == "ur_loader.dll")


def test_delayed_import_with_addresses_in_memory(tmp_path: Path) -> None:
    """Visual C++ 6 wrote them so: without the attribute that says that they are relative."""
    path = dll(
        tmp_path, WINDOWS[0][0], {"ze_loader.dll": LEVEL_ZERO}, "/delayload:ze_loader.dll", "/base:0x10000000",
        machine="i386:x86-64",
    )  # fmt: skip
    data = bytearray(path.read_bytes())
    at = _delay_descriptor(bytes(data))
    fields = list(struct.unpack_from("<8I", data, at))
    assert fields[0] == 1
    struct.pack_into("<8I", data, at, 0, *(each + 0x10000000 if each else 0 for each in fields[1:]))
    path.write_bytes(data)
    assert functions(read(path)) == set(LEVEL_ZERO)


def _delay_descriptor(data: bytes) -> int:
    """Return where the first delayed import is described, by Microsoft's documented layout."""
    image = pefile.PE(data=data, fast_load=True)
    address = image.OPTIONAL_HEADER.DATA_DIRECTORY[13].VirtualAddress
    return int(image.get_offset_from_rva(address))


def test_import_by_number(tmp_path: Path) -> None:
    definition = ("zeInit @7 NONAME",)
    code = source("zeInit", before="__declspec(dllimport) ") + DELAY_HELPER
    binary = read(
        dll(tmp_path, WINDOWS[0][0], {"ze_loader.dll": definition}, machine="i386:x86-64", code=code)
    )
    assert binary.imports == [Import("#7", "ze_loader.dll")]


@pytest.mark.parametrize(("triple", "kind", "name"), LINUX)
@pytest.mark.parametrize("hashes", ["gnu", "sysv"])
def test_shared_library(tmp_path: Path, triple: str, kind: str, name: str, hashes: str) -> None:
    path = elf(tmp_path, triple, source(*LEVEL_ZERO, *UNIFIED_RUNTIME), f"-Wl,--hash-style={hashes}")
    binary = read(path)
    assert (binary.kind, binary.machine, binary.system) == (kind, name, "Linux")
    assert functions(binary) >= {*LEVEL_ZERO, *UNIFIED_RUNTIME}


@pytest.mark.parametrize(("triple", "kind", "name"), LINUX)
def test_shared_library_without_section_headers(tmp_path: Path, triple: str, kind: str, name: str) -> None:
    path = elf(tmp_path, triple, source(*LEVEL_ZERO))
    whole = functions(read(path))
    without_section_headers(path, kind)
    assert functions(read(path)) == whole


def without_section_headers(path: Path, kind: str) -> None:
    """Take away what some protectors strip: e_shoff and e_shnum become 0."""
    data = bytearray(path.read_bytes())
    start, size, count = (40, 8, 60) if kind == "ELF64" else (32, 4, 48)
    data[start : start + size] = bytes(size)
    data[count : count + 2] = bytes(2)
    path.write_bytes(data)


def test_weak_import(tmp_path: Path) -> None:
    path = elf(tmp_path, "x86_64-linux-gnu", source(*LEVEL_ZERO, before="__attribute__((weak)) "))
    assert set(read(path).imports) >= {Import(name, optional=True) for name in LEVEL_ZERO}


def test_symbol_versions_name_the_library(tmp_path: Path) -> None:
    script, code = tmp_path / "versions", tmp_path / "library.c"
    script.write_text("LIBUR_LOADER_0.12 { global: *; };")
    code.write_text("int urLoaderInit(void) { return 0; }")
    library, user = tmp_path / "libur_loader.so.0", tmp_path / "user.c"
    gcc = program("gcc")
    subprocess.run(
        [
            gcc,
            "-shared",
            code,
            "-o",
            library,
            f"-Wl,--version-script={script}",
            f"-Wl,-soname,{library.name}",
        ],
        check=True,
    )
    user.write_text(source("urLoaderInit"))
    subprocess.run([gcc, "-shared", "-fPIC", user, library, "-o", tmp_path / "user.so"], check=True)
    assert Import("urLoaderInit", "libur_loader.so.0") in read(tmp_path / "user.so").imports


def test_program_of_gnu_ld_that_exports_nothing(tmp_path: Path) -> None:
    """Its GNU hash table is empty and counts no symbol, whether or not section headers do."""
    library, code = tmp_path / "libze_loader.so.1", tmp_path / "main.c"
    code.write_text("int zeInit(void) { return 0; }")
    subprocess.run([program("gcc"), "-shared", "-x", "c", code, "-o", library], check=True)
    code.write_text(source("zeInit") + "int main(void) { return called(); }")
    path = tmp_path / "main"
    subprocess.run([program("gcc"), code, library, "-o", path, "-Wl,--hash-style=gnu"], check=True)
    assert "zeInit" in functions(read(path))
    without_section_headers(path, "ELF64")
    assert "zeInit" in functions(read(path))


def test_static_program_imports_nothing(tmp_path: Path) -> None:
    code = tmp_path / "main.c"
    code.write_text("void _start(void) {}")
    path = tmp_path / "main"
    subprocess.run([program("gcc"), "-static", "-no-pie", "-nostdlib", code, "-o", path], check=True)
    assert read(path).imports == []


def test_object_file_is_refused(tmp_path: Path) -> None:
    code, path = tmp_path / "code.c", tmp_path / "code.o"
    code.write_text(source("zeInit"))
    subprocess.run([program("gcc"), "-c", code, "-o", path], check=True)
    with pytest.raises(MalformedError, match="object file"):
        read(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "neither a PE nor an ELF file"),
        (b"M", "neither a PE nor an ELF file"),
        (b"MZ", "truncated"),
        (b"MZ" + bytes(62), "no PE header"),
        (b"\x7fELF", "truncated"),
        (b"\x7fELF\x03\x01" + bytes(60), "unknown ELF class"),
        (b"#!/bin/sh\n", "neither a PE nor an ELF file"),
    ],
)
def test_what_is_no_binary(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(MalformedError, match=message):
        read(path)


@pytest.mark.parametrize("system", ["Windows", "Linux"])
def test_only_tables_are_read(tmp_path: Path, system: str) -> None:
    """So the time does not grow with the file: scripts/bench/check.py measures it."""
    path = (
        dll(tmp_path, WINDOWS[0][0], LIBRARIES, machine=WINDOWS[0][1])
        if system == "Windows"
        else elf(tmp_path, LINUX[0][0], source(*LEVEL_ZERO))
    )
    whole = functions(read(path))
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(100 << 20)
    with Counted(path) as file:
        assert functions(read_binary(Window(file))) == whole
        assert file.count < size + 4 * 65536


class Counted(FileIO):
    """A file that counts the bytes read from it."""

    count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(-1 if size is None else size)
        self.count += len(data or b"")
        return data or b""


@pytest.mark.parametrize(("place", "what"), [(54, "program"), (58, "section")])
def test_elf_headers_that_are_too_small(place: int, what: str, tmp_path: Path) -> None:
    """A 64-bit file that calls its headers as long as those of a 32-bit one, which fuzzing found."""
    path = elf(tmp_path, "x86_64-linux-gnu", source(*LEVEL_ZERO))
    content = bytearray(path.read_bytes())
    content[place : place + 2] = (40).to_bytes(2, "little")
    path.write_bytes(content)
    with pytest.raises(MalformedError, match="ELF headers of 40 bytes"):
        read(path)


def test_imports_without_a_lookup_table(tmp_path: Path) -> None:
    """Borland's linker left it out; the address table holds the same until the file is loaded."""
    path = dll(tmp_path, WINDOWS[0][0], LIBRARIES, machine=WINDOWS[0][1])
    whole = read(path).imports
    data = bytearray(path.read_bytes())
    image = pefile.PE(data=bytes(data))
    for library in image.DIRECTORY_ENTRY_IMPORT:
        struct.pack_into("<I", data, library.struct.get_file_offset(), 0)
    path.write_bytes(data)
    assert read(path).imports == whole


def test_section_offset_is_rounded_down_as_windows_does(tmp_path: Path) -> None:
    path = dll(tmp_path, WINDOWS[0][0], LIBRARIES, machine=WINDOWS[0][1])
    whole = read(path).imports
    data = bytearray(path.read_bytes())
    for section in pefile.PE(data=bytes(data)).sections:
        offset = section.get_field_absolute_offset("PointerToRawData")
        struct.pack_into("<I", data, offset, section.PointerToRawData + 0x10)
    path.write_bytes(data)
    assert read(path).imports == whole


def test_section_header_says_how_many_symbols_there_are(tmp_path: Path) -> None:
    path = elf(tmp_path, LINUX[0][0], source(*LEVEL_ZERO))
    with path.open("rb") as file:
        whole = ELFFile(file)
        headers, size = whole["e_shoff"], whole["e_shentsize"]
        names = [section.name for section in whole.iter_sections()]
    data = bytearray(path.read_bytes())
    # sh_size: the symbol that every table begins with, and one more.
    struct.pack_into("<Q", data, headers + names.index(".dynsym") * size + 32, 2 * 24)
    path.write_bytes(data)
    assert len(read(path).imports) == 1


def test_reading_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_window, "MOST_BYTES", 3 * _window.BLOCK)
    path = tmp_path / "file"
    path.write_bytes(bytes(10 * _window.BLOCK))
    with path.open("rb") as file:
        window = Window(file)
        for block in range(3):
            window.read(block * _window.BLOCK, 1)
        with pytest.raises(MalformedError, match="go over"):
            window.read(4 * _window.BLOCK, 1)
