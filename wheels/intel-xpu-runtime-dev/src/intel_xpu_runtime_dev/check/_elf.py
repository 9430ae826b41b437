"""The undefined dynamic symbols of ELF files, 32 and 64 bits, both byte orders, any machine.

Layout: https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html and, for symbol versions,
https://refspecs.linuxfoundation.org/LSB_5.0.0/LSB-Core-generic/LSB-Core-generic/symversion.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from ._binary import MOST_IMPORTS, Binary, Import
from ._window import MalformedError, Window

MACHINES = {3: "x86", 8: "MIPS", 20: "PowerPC", 21: "PowerPC 64", 22: "S/390", 40: "ARM", 62: "x86-64",
            183: "ARM64", 243: "RISC-V", 258: "LoongArch"}  # fmt: skip
ET_REL, PT_LOAD, PT_DYNAMIC, SHT_DYNSYM = 1, 1, 2, 11
DT_NULL, DT_NEEDED, DT_STRTAB, DT_SYMTAB, DT_STRSZ = 0, 1, 5, 6, 10
DT_VERSYM, DT_VERNEED, DT_VERNEEDNUM = 0x6FFFFFF0, 0x6FFFFFFE, 0x6FFFFFFF
# Tables that can follow the symbol table in memory: hash, strings, relocations, GNU hash, versions.
TABLES = (4, DT_STRTAB, 7, 17, 23, 36, 0x6FFFFEF5, DT_VERSYM, 0x6FFFFFFC, DT_VERNEED)
STB_WEAK, SHN_UNDEF = 2, 0
MOST_DYNAMIC_ENTRIES = 4096
MOST_LIBRARIES = 4096
MOST_SYMBOLS = 4_000_000
SYMBOLS_AT_ONCE = 2048


class Forms(NamedTuple):
    """The record formats of one class and byte order; field orders differ between the two classes."""

    order: str
    bits: int

    @property
    def header(self) -> str:
        """Format of e_phoff, e_shoff, e_phentsize, e_phnum, e_shentsize, e_shnum, from byte 24 on."""
        return self.order + ("8xQQ6xHHHH" if self.bits == 64 else "4xII6xHHHH")

    @property
    def dynamic(self) -> str:
        """Format of a dynamic entry: tag, value."""
        return self.order + ("QQ" if self.bits == 64 else "II")

    @property
    def symbol_size(self) -> int:
        """Size of a symbol in bytes."""
        return 24 if self.bits == 64 else 16

    @property
    def segment_size(self) -> int:
        """Size of a program header in bytes."""
        return 56 if self.bits == 64 else 32

    @property
    def section_size(self) -> int:
        """Size of a section header in bytes."""
        return 64 if self.bits == 64 else 40

    def segment(self, data: bytes) -> tuple[int, int, int, int]:
        """Return type, offset, address and size in the file of a program header."""
        if self.bits == 64:
            kind, offset, address, size = struct.unpack_from(self.order + "I4xQQ8xQ", data)
        else:
            kind, offset, address, size = struct.unpack_from(self.order + "III4xI", data)
        return kind, offset, address, size

    def section(self, data: bytes) -> tuple[int, int, int]:
        """Return type, address and size of a section header."""
        kind, address, size = struct.unpack_from(
            self.order + ("4xI8xQ8xQ" if self.bits == 64 else "4xI4xI4xI"), data
        )
        return kind, address, size

    def symbols(self, data: bytes) -> Iterator[tuple[int, int, int]]:
        """Yield name offset, info byte and section index of each symbol."""
        if self.bits == 64:
            yield from struct.iter_unpack(self.order + "IBxH16x", data)
        else:
            yield from struct.iter_unpack(self.order + "I8xBxH", data)


class Image(NamedTuple):
    """An ELF file as the dynamic linker sees it: loaded segments and the dynamic table."""

    window: Window
    forms: Forms
    segments: list[tuple[int, int, int]]  # address, size in the file, offset in the file
    needed: list[int]
    dynamic: dict[int, int]

    def available(self, address: int) -> tuple[int, int]:
        """Return the offset in the file of an address, and how many bytes of its segment follow."""
        for start, size, offset in self.segments:
            if start <= address < start + size:
                return offset + address - start, start + size - address
        raise MalformedError(f"the address {address:#x} lies in no loaded segment of the file")

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes at an address."""
        return self.window.read(self.available(address)[0], size)

    def string(self, offset: int) -> str:
        """Return a text of the string table."""
        if offset >= self.dynamic.get(DT_STRSZ, 0):
            raise MalformedError(f"a name lies outside the string table: offset {offset:#x}")
        return self.window.text(self.available(self.dynamic.get(DT_STRTAB, 0) + offset)[0])


def read_elf(window: Window) -> Binary:
    """Return the undefined dynamic symbols of an ELF file; a static program has none."""
    start = window.read(0, 20)
    if start[4] not in (1, 2) or start[5] not in (1, 2):
        raise MalformedError(f"unknown ELF class {start[4]} or byte order {start[5]}")
    forms = Forms("<" if start[5] == 1 else ">", 32 * start[4])
    kind, machine = struct.unpack(forms.order + "HH", start[16:20])
    if kind == ET_REL:
        raise MalformedError("this is an object file: its imports are settled when it is linked")
    header = struct.unpack(forms.header, window.read(24, struct.calcsize(forms.header)))
    segments_at, sections_at, segment_size, segment_count, section_size, section_count = header
    image = _image(
        window, forms, _headers(window, segments_at, segment_size, segment_count, forms.segment_size)
    )
    imports: list[Import] = []
    if DT_SYMTAB in image.dynamic:
        sections = _headers(window, sections_at, section_size, section_count, forms.section_size)
        imports = list(_imports(image, _symbol_count(image, sections)))
    libraries = [image.string(offset) for offset in image.needed]
    return Binary(
        f"ELF{forms.bits}", MACHINES.get(machine, f"machine {machine}"), "Linux", libraries, imports
    )


def _headers(window: Window, offset: int, size: int, count: int, smallest: int) -> Iterator[bytes]:
    """Yield the program or section headers."""
    if count and size < smallest:
        raise MalformedError(f"ELF headers of {size} bytes")
    for i in range(count):
        yield window.read(offset + i * size, size)


def _image(window: Window, forms: Forms, headers: Iterator[bytes]) -> Image:
    image = Image(window, forms, [], [], {})
    for header in headers:
        kind, offset, address, size = forms.segment(header)
        if kind == PT_LOAD:
            image.segments.append((address, size, offset))
        elif kind == PT_DYNAMIC:
            _read_dynamic(image, offset, size)
    return image


def _read_dynamic(image: Image, offset: int, size: int) -> None:
    record = struct.Struct(image.forms.dynamic)
    for i in range(min(size // record.size, MOST_DYNAMIC_ENTRIES)):
        tag, value = record.unpack(image.window.read(offset + i * record.size, record.size))
        if tag == DT_NULL:
            return
        if tag == DT_NEEDED:
            image.needed.append(value)
        else:
            image.dynamic[tag] = value


def _symbol_count(image: Image, sections: Iterator[bytes]) -> int:
    """Return how many dynamic symbols there are, which only the section headers say outright.

    Where those are stripped, the symbol table ends at the table that follows it. The hash tables are no
    help: GNU's leaves undefined symbols out.
    """
    start, size = image.dynamic[DT_SYMTAB], image.forms.symbol_size
    for header in sections:
        kind, address, length = image.forms.section(header)
        if kind == SHT_DYNSYM and address == start:
            return length // size
    following = [image.dynamic[tag] for tag in TABLES if image.dynamic.get(tag, 0) > start]
    end = min(following, default=start + image.available(start)[1])
    return (end - start) // size


def _imports(image: Image, count: int) -> Iterator[Import]:
    """Yield the undefined ones of the first `count` symbols."""
    if count > MOST_SYMBOLS:
        raise MalformedError(f"{count} dynamic symbols; no real file has over {MOST_SYMBOLS}")
    start, size = image.dynamic[DT_SYMTAB], image.forms.symbol_size
    versions = _versions(image)
    found = 0
    for first in range(0, count, SYMBOLS_AT_ONCE):
        data = image.read(start + first * size, min(SYMBOLS_AT_ONCE, count - first) * size)
        for index, (name, info, section) in enumerate(image.forms.symbols(data), first):
            if section != SHN_UNDEF or not name:
                continue
            library = _library(image, versions, index) if versions else ""
            yield Import(image.string(name), library, info >> 4 == STB_WEAK)
            found += 1
            if found > MOST_IMPORTS:
                raise MalformedError(f"over {MOST_IMPORTS} imports; no real file has so many")


def _library(image: Image, versions: dict[int, str], index: int) -> str:
    """Return the library that a versioned symbol is expected in."""
    address = image.dynamic[DT_VERSYM] + 2 * index
    (version,) = struct.unpack(image.forms.order + "H", image.read(address, 2))
    return versions.get(version & 0x7FFF, "")


def _versions(image: Image) -> dict[int, str]:
    """Return the library of each symbol version that the file asks for."""
    versions: dict[int, str] = {}
    if DT_VERSYM not in image.dynamic or DT_VERNEED not in image.dynamic:
        return versions
    order, address = image.forms.order, image.dynamic[DT_VERNEED]
    for _ in range(min(image.dynamic.get(DT_VERNEEDNUM, 0), MOST_LIBRARIES)):
        count, file, auxiliary, following = struct.unpack(order + "2xHIII", image.read(address, 16))
        library, at = image.string(file), address + auxiliary
        for _ in range(min(count, MOST_LIBRARIES)):
            index, step = struct.unpack(order + "6xH4xI", image.read(at, 16))
            versions[index & 0x7FFF] = library
            at += step
        address += following
    return versions
