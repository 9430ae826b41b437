"""The import tables of PE files, 32 and 64 bits, any machine.

Layout: https://learn.microsoft.com/windows/win32/debug/pe-format
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from ._binary import MOST_IMPORTS, Binary, Import
from ._window import MalformedError, Window

MACHINES = {
    0x14C: "x86",
    0x8664: "x86-64",
    0xAA64: "ARM64",
    0xA641: "ARM64EC",
    0x1C4: "ARM",
    0x5064: "RISC-V 64",
}
IMPORT_DIRECTORY, DELAY_IMPORT_DIRECTORY = 1, 13
MOST_SECTIONS = 1024
MOST_LIBRARIES = 4096
THUNKS_AT_ONCE = 256


class Layout(NamedTuple):
    """Where the loader would place the parts of the file, and its (address, size) data directories."""

    window: Window
    bits: int
    machine: int
    image_base: int
    header_size: int
    sections: list[tuple[int, int, int]]  # address, size in the file, offset in the file
    directories: list[tuple[int, int]]

    def available(self, address: int) -> tuple[int, int]:
        """Return the offset in the file of an image address, and how many bytes of its section follow."""
        if 0 <= address < self.header_size:
            return address, self.header_size - address
        for start, size, offset in self.sections:
            if start <= address < start + size:
                return offset + address - start, start + size - address
        raise MalformedError(f"the image address {address:#x} lies in no section of the file")

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes at an image address."""
        return self.window.read(self.available(address)[0], size)

    def text(self, address: int) -> str:
        """Return the NUL-terminated text at an image address."""
        return self.window.text(self.available(address)[0])


def read_pe(window: Window) -> Binary:
    """Return the imports of a PE file, those at load and the delayed ones."""
    layout = _layout(window)
    libraries: list[str] = []
    imports: list[Import] = []
    for library, thunks, delayed in _descriptors(layout):
        libraries.append(library)
        for name in _names(layout, thunks):
            imports.append(Import(name, library, delayed))
            if len(imports) > MOST_IMPORTS:
                raise MalformedError(f"over {MOST_IMPORTS} imports; no real file has so many")
    machine = MACHINES.get(layout.machine, f"machine {layout.machine:#x}")
    return Binary("PE32+" if layout.bits == 64 else "PE32", machine, "Windows", libraries, imports)


def _layout(window: Window) -> Layout:
    (start,) = struct.unpack("<I", window.read(0x3C, 4))
    if window.read(start, 4) != b"PE\0\0":
        raise MalformedError("this is an old DOS or 16-bit Windows program, or damaged: it has no PE header")
    machine, section_count, optional_size = struct.unpack("<HH12xH2x", window.read(start + 4, 20))
    optional = window.read(start + 24, optional_size)
    magic = optional[:2]
    if magic not in (b"\x0b\x01", b"\x0b\x02"):
        raise MalformedError(f"unknown kind of PE file: its optional header begins with {magic!r}")
    bits = 64 if magic == b"\x0b\x02" else 32
    directories_at = 112 if bits == 64 else 96
    if optional_size < directories_at:
        raise MalformedError(f"the PE optional header is cut: {optional_size} bytes")
    if section_count > MOST_SECTIONS:
        raise MalformedError(f"{section_count} sections; no real PE file has over {MOST_SECTIONS}")
    image_base = (
        struct.unpack_from("<Q", optional, 24)[0] if bits == 64 else struct.unpack_from("<I", optional, 28)[0]
    )
    header_size, directory_count = (
        struct.unpack_from("<I", optional, 60)[0],
        struct.unpack_from("<I", optional, directories_at - 4)[0],
    )
    directory_count = min(directory_count, 16, (optional_size - directories_at) // 8)
    directories = [
        struct.unpack_from("<II", optional, directories_at + 8 * i) for i in range(directory_count)
    ]
    table = window.read(start + 24 + optional_size, 40 * section_count)
    sections = []
    for i in range(section_count):
        address, size, offset = struct.unpack_from("<12xIII", table, 40 * i)
        # The Windows loader rounds the offset down to a sector.
        sections.append((address, size, offset & ~0x1FF))
    return Layout(window, bits, machine, image_base, header_size, sections, directories)


def _descriptors(layout: Layout) -> Iterator[tuple[str, int, bool]]:
    """Yield each imported library: its name, the address of its list of functions, whether it is delayed."""
    for lookup, name, table in _records(layout, IMPORT_DIRECTORY, "<I8xII"):
        # Old linkers leave the lookup table out; on disk the address table holds the same.
        yield layout.text(name), lookup or table, False
    for attributes, name, lookup in _records(layout, DELAY_IMPORT_DIRECTORY, "<II8xI12x"):
        # Without the first bit, as Visual C++ 6 wrote it, these are addresses in memory.
        base = 0 if attributes & 1 else layout.image_base
        yield layout.text(name - base), lookup - base, True


def _records(layout: Layout, directory: int, form: str) -> Iterator[tuple[int, int, int]]:
    """Yield the descriptors of an import directory, up to the first without a library name."""
    if directory >= len(layout.directories) or not layout.directories[directory][0]:
        return
    start, size = layout.directories[directory][0], struct.calcsize(form)
    for i in range(MOST_LIBRARIES):
        record = struct.unpack(form, layout.read(start + i * size, size))
        if not record[1]:
            return
        yield record
    raise MalformedError(f"over {MOST_LIBRARIES} imported libraries; no real file has so many")


def _names(layout: Layout, address: int) -> Iterator[str]:
    """Yield the function names of a list of thunks; `#7` stands for an import by number."""
    size, by_number = (8, 1 << 63) if layout.bits == 64 else (4, 1 << 31)
    while True:
        offset, available = layout.available(address)
        count = min(THUNKS_AT_ONCE, available // size)
        if not count:
            raise MalformedError("a list of imported functions runs out of its section")
        thunks = layout.window.read(offset, count * size)
        for (thunk,) in struct.iter_unpack("<Q" if size == 8 else "<I", thunks):
            if not thunk:
                return
            yield f"#{thunk & 0xFFFF}" if thunk & by_number else layout.text((thunk & 0x7FFFFFFF) + 2)
        address += count * size
