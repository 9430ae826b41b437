"""What a shared library offers to a linker: read from the binary itself, ELF or PE, on any machine.

`read_library(path)` -> `SharedLibrary(name, machine, exports)`, each export with name, kind and version.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pefile
from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerDefSection, GNUVerSymSection
from elftools.elf.sections import SymbolTableSection

from .errors import BuildError

ELF_MACHINES = {"EM_X86_64": "x64", "EM_AARCH64": "arm64"}
PE_MACHINES = {0x8664: "x64", 0xAA64: "arm64"}
# STB_GNU_UNIQUE (C++ inline variables) has no name of its own in pyelftools.
ELF_EXPORTED_BINDINGS = ("STB_GLOBAL", "STB_WEAK", "STB_LOOS")
ELF_FUNCTION_TYPES = ("STT_FUNC", "STT_LOOS")  # STT_LOOS is STT_GNU_IFUNC: a function chosen at load time
# Bits of an entry in .gnu.version, from the LSB's symbol versioning chapter.
VERSION_HIDDEN, VERSION_UNNAMED = 0x8000, 1


@dataclass(frozen=True, order=True)
class Export:
    """A name that a program can link to; `version` is the ELF symbol version, empty where there is none."""

    name: str
    is_data: bool = False
    version: str = ""


@dataclass(frozen=True)
class SharedLibrary:
    """A library's own name (ELF soname, DLL name), machine (`x64`, `arm64`) and exports, sorted by name."""

    name: str
    machine: str
    exports: tuple[Export, ...]


def read_library(path: Path) -> SharedLibrary:
    """Read the name and exports of an ELF shared library or a Windows DLL; BuildError where it is neither."""
    with path.open("rb") as file:
        magic = file.read(4)
    try:
        if magic == b"\x7fELF":
            return _read_elf(path)
        if magic[:2] == b"MZ":
            return _read_pe(path)
    except (ELFError, pefile.PEFormatError, UnicodeDecodeError) as error:
        raise BuildError(f"{path.name} is damaged: {error}", looked_in=[str(path)]) from error
    raise _unusable(path, "neither an ELF nor a PE file", f"the first bytes {magic!r}")


def _unusable(path: Path, problem: str, found: str) -> BuildError:
    return BuildError(
        f"{path.name}: {problem}",
        wanted="a 64-bit shared library for x86-64 or arm64 with exports and a name of its own",
        looked_in=[str(path)],
        found=found,
    )


def _read_elf(path: Path) -> SharedLibrary:
    with path.open("rb") as file:
        elf = ELFFile(file)
        machine = ELF_MACHINES.get(elf["e_machine"])
        if machine is None or elf.elfclass != 64 or not elf.little_endian:
            raise _unusable(path, "an ELF file for another machine", str(elf["e_machine"]))
        dynamic = elf.get_section_by_name(".dynamic")
        symbols = elf.get_section_by_name(".dynsym")
        if not isinstance(dynamic, DynamicSection) or not isinstance(symbols, SymbolTableSection):
            raise _unusable(path, "no shared library", f"an ELF file of type {elf['e_type']}")
        sonames = [str(vars(tag)["soname"]) for tag in dynamic.iter_tags("DT_SONAME")]
        if not sonames:
            raise _unusable(path, "no name of its own", "a shared library without DT_SONAME")
        return SharedLibrary(sonames[0], machine, tuple(sorted(_elf_exports(elf, symbols))))


def _elf_exports(elf: ELFFile, symbols: SymbolTableSection) -> Iterator[Export]:
    versions = _elf_version_names(elf)
    symbol_versions = elf.get_section_by_name(".gnu.version")
    for number, symbol in enumerate(symbols.iter_symbols()):
        if symbol["st_shndx"] == "SHN_UNDEF" or symbol["st_info"]["bind"] not in ELF_EXPORTED_BINDINGS:
            continue
        index = 0
        if isinstance(symbol_versions, GNUVerSymSection):
            index = _version_index(symbol_versions.get_symbol(number)["ndx"])
        if index & VERSION_HIDDEN:
            continue  # an old version kept for old programs: no linker offers it to new ones
        version = versions.get(index, "")
        if symbol["st_shndx"] == "SHN_ABS" and symbol.name == version:
            continue  # the version's own marker
        yield Export(symbol.name, symbol["st_info"]["type"] not in ELF_FUNCTION_TYPES, version)


def _version_index(entry: int | str) -> int:
    named = {"VER_NDX_LOCAL": 0, "VER_NDX_GLOBAL": VERSION_UNNAMED}
    return entry if isinstance(entry, int) else named[entry]


def _elf_version_names(elf: ELFFile) -> dict[int, str]:
    """Return the versions the library defines, by index; its base version, the file's own name, is no version."""
    section = elf.get_section_by_name(".gnu.version_d")
    if not isinstance(section, GNUVerDefSection):
        return {}
    definitions = ((entry["vd_ndx"], next(names).name) for entry, names in section.iter_versions())
    return {index: name for index, name in definitions if index > VERSION_UNNAMED}


def _read_pe(path: Path) -> SharedLibrary:
    with pefile.PE(str(path), fast_load=True) as pe:
        machine = PE_MACHINES.get(pe.FILE_HEADER.Machine)
        if machine is None:
            raise _unusable(path, "a DLL for another machine", hex(pe.FILE_HEADER.Machine))
        pe.parse_data_directories(directories=[pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_EXPORT"]])
        table = getattr(pe, "DIRECTORY_ENTRY_EXPORT", None)
        if table is None or not table.name:
            raise _unusable(path, "it exports nothing", "a PE file without an export table")
        return SharedLibrary(table.name.decode("ascii"), machine, tuple(sorted(_pe_exports(pe, table))))


def _pe_exports(pe: pefile.PE, table: pefile.ExportDirData) -> Iterator[Export]:
    for symbol in table.symbols:
        if symbol.name is None:
            continue  # exported by number alone
        section = None if symbol.forwarder else pe.get_section_by_rva(symbol.address)
        is_data = section is not None and not section.IMAGE_SCN_MEM_EXECUTE
        yield Export(symbol.name.decode("ascii"), is_data)
