"""Write ELF link stubs: what a linker needs to know of a shared library, with no compiler.

`link_stub(soname, exports, machine=...)` -> the bytes of the `.so`.

A stub holds the names, their versions and the soname, and neither code nor dependencies. A program linked
against it asks for the soname and so gets the real library. The stub can never stand in for it: `dlopen`
refuses the file (DF_1_NOOPEN), and without a hash table the dynamic loader finds no symbol in it, which ends
in "undefined symbol" and not in a crash. Layouts are those of the ELF-64 object file format, of the System V
ABI and of the symbol versioning chapter of the Linux Standard Base.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from .binaries import Export
from .errors import BuildError
from .symbol_names import check_file_name, check_names

MACHINES = {"x64": 62, "arm64": 183}

FILE_HEADER, PROGRAM_HEADER, SECTION_HEADER, SYMBOL, DYNAMIC_ENTRY = 64, 56, 64, 24, 16
ELFCLASS64, ELFDATA2LSB, EV_CURRENT, ELFOSABI_NONE, ET_DYN = 2, 1, 1, 0, 3
PROGRAM_HEADERS = 3
PT_LOAD, PT_DYNAMIC, PT_GNU_STACK = 1, 2, 0x6474E551
PF_W, PF_R = 2, 4
# The largest page of any machine here.
PAGE = 0x10000
SHT_STRTAB, SHT_DYNAMIC, SHT_NOBITS, SHT_DYNSYM = 3, 6, 8, 11
SHT_GNU_VERDEF, SHT_GNU_VERSYM = 0x6FFFFFFD, 0x6FFFFFFF
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR = 1, 2, 4
DT_NULL, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SYMENT, DT_SONAME = 0, 5, 6, 10, 11, 14
DT_VERSYM, DT_VERDEF, DT_VERDEFNUM = 0x6FFFFFF0, 0x6FFFFFFC, 0x6FFFFFFD
DT_FLAGS_1, DF_1_NOOPEN = 0x6FFFFFFB, 0x40
STB_GLOBAL_STT_FUNC = 1 << 4 | 2
VER_NDX_LOCAL, VER_NDX_GLOBAL, FIRST_VERSION, VER_FLG_BASE = 0, 1, 2, 1

# Numbers of the sections that others refer to; `link_stub` adds them in this order.
DYNSTR, TEXT, DYNSYM = 1, 2, 3
# The functions' addresses: beyond every file offset, one each so that no tool takes them for aliases.
TEXT_ADDRESS, FUNCTION_SIZE = 1 << 32, 16


class _Strings:
    """An ELF string table in the making."""

    def __init__(self) -> None:
        self.content = bytearray(b"\0")

    def add(self, text: str) -> int:
        """Append a string; return its offset."""
        offset = len(self.content)
        self.content += text.encode() + b"\0"
        return offset


class _Image:
    """An ELF file in the making; a section's address is its offset in the file."""

    def __init__(self) -> None:
        self.content = bytearray(FILE_HEADER + PROGRAM_HEADERS * PROGRAM_HEADER)
        self.names = _Strings()
        self.headers = [bytes(SECTION_HEADER)]

    def add(
        self, name: str, kind: int, content: bytes | bytearray, *,
        flags: int = SHF_ALLOC, link: int = 0, info: int = 0, entry_size: int = 0,
    ) -> int:  # fmt: skip
        """Append a section; return its address."""
        name_at = self.names.add(name)
        self.align()
        offset = len(self.content)
        self.content += content
        address = offset if flags & SHF_ALLOC else 0
        self._describe(name_at, kind, flags, address, offset, len(content), link, info, 8, entry_size)
        return offset

    def add_text(self, functions: int) -> None:
        """Append a section of addresses for functions, which has no content."""
        flags, offset, size = SHF_ALLOC | SHF_EXECINSTR, len(self.content), FUNCTION_SIZE * functions
        name_at = self.names.add(".text")
        self._describe(name_at, SHT_NOBITS, flags, TEXT_ADDRESS, offset, size, 0, 0, FUNCTION_SIZE, 0)

    def align(self) -> None:
        """Fill up to the next multiple of 8."""
        self.content += bytes(-len(self.content) % 8)

    def _describe(self, *fields: int) -> None:
        self.headers.append(struct.pack("<2I4Q2I2Q", *fields))


def link_stub(soname: str, exports: Sequence[Export], *, machine: str = "x64") -> bytes:
    """Return a stub of the shared library `soname` with these functions, in this order.

    BuildError for an empty list, duplicates, names that no linker takes, variables (a stub would have to know
    their size), another machine.
    """
    if machine not in MACHINES:
        raise BuildError(f"no link stubs for the machine {machine!r}", wanted=" or ".join(MACHINES))
    check_file_name(soname)
    check_names([export.name for export in exports], soname)
    if data := [export.name for export in exports if export.is_data]:
        raise BuildError(f"{soname}: a link stub cannot hold variables", found=", ".join(data[:5]))

    strings, image = _Strings(), _Image()
    soname_at = strings.add(soname)
    names = [strings.add(export.name) for export in exports]
    versions = sorted({export.version for export in exports} - {""})
    definitions = _version_definitions(soname, versions, strings)

    dynamic = [(DT_SONAME, soname_at)]
    dynamic += [(DT_STRTAB, image.add(".dynstr", SHT_STRTAB, strings.content))]
    image.add_text(len(exports))
    symbols = _symbols(names)
    dynamic += [
        (DT_STRSZ, len(strings.content)),
        (DT_SYMTAB, image.add(".dynsym", SHT_DYNSYM, symbols, link=DYNSTR, info=1, entry_size=SYMBOL)),
        (DT_SYMENT, SYMBOL),
    ]
    if versions:
        used = _symbol_versions(exports, versions)
        count = len(versions) + 1
        dynamic += [
            (DT_VERSYM, image.add(".gnu.version", SHT_GNU_VERSYM, used, link=DYNSYM, entry_size=2)),
            (DT_VERDEF, image.add(".gnu.version_d", SHT_GNU_VERDEF, definitions, link=DYNSTR, info=count)),
            (DT_VERDEFNUM, count),
        ]
    dynamic += [(DT_FLAGS_1, DF_1_NOOPEN), (DT_NULL, 0)]
    table = b"".join(struct.pack("<2Q", *entry) for entry in dynamic)
    flags = SHF_ALLOC | SHF_WRITE
    at = image.add(".dynamic", SHT_DYNAMIC, table, flags=flags, link=DYNSTR, entry_size=DYNAMIC_ENTRY)
    return _finish(image, MACHINES[machine], at, len(table))


def _symbols(names: list[int]) -> bytes:
    """Return the symbol table: an empty entry, then a global function for each offset of a name."""
    return bytes(SYMBOL) + b"".join(
        struct.pack("<I2BH2Q", name, STB_GLOBAL_STT_FUNC, 0, TEXT, address, 0)
        for address, name in zip(range(TEXT_ADDRESS, 1 << 63, FUNCTION_SIZE), names)
    )


def _symbol_versions(exports: Sequence[Export], versions: list[str]) -> bytes:
    """Return each symbol's version number, in the order of the symbol table."""
    numbers = {version: number for number, version in enumerate(versions, FIRST_VERSION)}
    used = [numbers.get(export.version, VER_NDX_GLOBAL) for export in exports]
    return struct.pack(f"<{len(used) + 1}H", VER_NDX_LOCAL, *used)


def _version_definitions(soname: str, versions: list[str], strings: _Strings) -> bytes:
    """Return the definitions: the library itself as the base, then each version, none built on another."""
    definitions = b""
    for number, name in enumerate([soname, *versions], VER_NDX_GLOBAL):
        flags = VER_FLG_BASE if number == VER_NDX_GLOBAL else 0
        more = number <= len(versions)
        definitions += struct.pack("<4H3I", 1, flags, number, 1, _hash(name), 20, 28 if more else 0)
        definitions += struct.pack("<2I", strings.add(name), 0)
    return definitions


def _hash(name: str) -> int:
    """Return the System V ABI's hash of a symbol or version name."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high
    return value


def _finish(image: _Image, machine: int, dynamic: int, dynamic_size: int) -> bytes:
    """Return the file: add the section names, the section headers and the headers that find them."""
    loaded = len(image.content)
    image.add(".shstrtab", SHT_STRTAB, image.names.content, flags=0)
    image.align()
    section_headers = len(image.content)
    image.content += b"".join(image.headers)
    header = struct.pack(
        "<4s4B8x2HI3QI6H",
        *(b"\x7fELF", ELFCLASS64, ELFDATA2LSB, EV_CURRENT, ELFOSABI_NONE),
        *(ET_DYN, machine, EV_CURRENT, 0, FILE_HEADER, section_headers, 0),
        *(FILE_HEADER, PROGRAM_HEADER, PROGRAM_HEADERS),
        *(SECTION_HEADER, len(image.headers), len(image.headers) - 1),
    )
    for kind, offset, size, alignment in (
        (PT_LOAD, 0, loaded, PAGE),
        (PT_DYNAMIC, dynamic, dynamic_size, 8),
        (PT_GNU_STACK, 0, 0, 16),
    ):
        header += struct.pack("<2I6Q", kind, PF_R | PF_W, *[offset] * 3, *[size] * 2, alignment)
    image.content[: len(header)] = header
    return bytes(image.content)
