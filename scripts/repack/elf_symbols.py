"""The symbol table of an ELF shared library, out of the file's first bytes.

lld puts .dynsym, .gnu.version, .gnu.version_d and .dynstr first: 60 KB of a loader that has 25 MB, and whose .dynamic
and section headers stand behind all its code. Those few bytes are enough to know every exported name and the
soname, so nothing else need be downloaded.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from .catalogue import Section
from .errors import BuildError

# Elf64_Ehdr, Elf64_Shdr, Elf64_Verdef with its first Elf64_Verdaux, Elf64_Dyn, from the System V ABI and the LSB.
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
VERSION_DEFINITION = struct.Struct("<HHHHIIIII")
DYNAMIC_ENTRY = struct.Struct("<QQ")
SYMBOL_SIZE = 24
SHT_STRTAB, SHT_DYNAMIC, SHT_DYNSYM, SHT_GNU_VERDEF, SHT_GNU_VERSYM = 3, 6, 11, 0x6FFFFFFD, 0x6FFFFFFF
DT_NULL, DT_SONAME = 0, 14
VER_FLG_BASE = 1
ET_DYN = 3
ORDER = (".dynsym", ".gnu.version", ".gnu.version_d", ".dynstr")


def needed_bytes(sections: Sequence[Section]) -> int:
    """Return how many bytes of the file, from its start, hold the sections."""
    return max(section.end for section in sections)


def symbols_only(head: bytes, sections: Sequence[Section]) -> bytes:
    """Return an ELF file that holds the symbol table and soname of the library which starts with `head`.

    Symbols keep their names, versions, types and bindings; there is no code and nothing to load. BuildError
    where the sections do not lie where they are said to.
    """
    if head[:6] != b"\x7fELF\x02\x01":
        raise BuildError("not a 64-bit little-endian ELF file", found=f"the first bytes {head[:6]!r}")
    if len(head) < needed_bytes(sections):
        raise BuildError(
            "the ELF file is cut off",
            wanted=f"at least {needed_bytes(sections)} bytes",
            found=f"{len(head)} bytes",
        )
    parts = {str(section.name): head[section.offset : section.end] for section in sections}
    symbols, versions, definitions, strings = (parts.get(name, b"") for name in ORDER)
    if not (
        symbols[:SYMBOL_SIZE] == bytes(SYMBOL_SIZE)
        and len(symbols) == SYMBOL_SIZE * (len(versions) // 2)
        and versions[:2] == bytes(2)
        and strings[:1] == strings[-1:] == b"\0"
        and len(definitions) >= VERSION_DEFINITION.size
    ):
        raise BuildError(
            "the symbol table is not where the catalogue says",
            found=", ".join(f"{section.name} at {section.offset:#x}" for section in sections),
            fix="read the offsets off `readelf -SW` of the whole file",
        )
    dynamic = DYNAMIC_ENTRY.pack(DT_SONAME, _soname(definitions)) + DYNAMIC_ENTRY.pack(DT_NULL, 0)
    number_of_definitions = _count_definitions(definitions)
    # name, type, bytes, section it links to, sh_info, alignment, entry size
    table = (
        (".dynsym", SHT_DYNSYM, symbols, 4, 1, 8, SYMBOL_SIZE),
        (".gnu.version", SHT_GNU_VERSYM, versions, 1, 0, 2, 2),
        (".gnu.version_d", SHT_GNU_VERDEF, definitions, 4, number_of_definitions, 4, 0),
        (".dynstr", SHT_STRTAB, strings, 0, 0, 1, 0),
        (".dynamic", SHT_DYNAMIC, dynamic, 4, 0, 8, DYNAMIC_ENTRY.size),
    )
    machine = HEADER.unpack_from(head)[2]
    return _elf_file(head[:16], machine, table)


def _elf_file(
    identity: bytes, machine: int, table: Sequence[tuple[str, int, bytes, int, int, int, int]]
) -> bytes:
    names = b"\0" + b"".join(name.encode() + b"\0" for name, *_ in table) + b".shstrtab\0"
    body = bytearray(HEADER.size)
    headers = [bytes(SECTION_HEADER.size)]
    for name, kind, content, link, info, alignment, entry in (
        *table,
        (".shstrtab", SHT_STRTAB, names, 0, 0, 1, 0),
    ):
        body += bytes(-len(body) % alignment)
        offset = names.index(b"\0" + name.encode() + b"\0") + 1
        headers.append(
            SECTION_HEADER.pack(offset, kind, 0, 0, len(body), len(content), link, info, alignment, entry)
        )
        body += content
    body += bytes(-len(body) % 8)
    body[: HEADER.size] = HEADER.pack(
        identity, ET_DYN, machine, 1, 0, 0, len(body), 0,
        HEADER.size, 0, 0, SECTION_HEADER.size, len(headers), len(headers) - 1,
    )  # fmt: skip
    return bytes(body) + b"".join(headers)


def _soname(definitions: bytes) -> int:
    """Return where in .dynstr the soname is: the base version of a library bears its name."""
    _, flags, *_, name, _ = VERSION_DEFINITION.unpack_from(definitions)
    if flags != VER_FLG_BASE:
        raise BuildError("the first version definition of the ELF file is not its base version")
    return int(name)


def _count_definitions(definitions: bytes) -> int:
    count, offset = 1, 0
    while step := VERSION_DEFINITION.unpack_from(definitions, offset)[6]:
        offset += step
        count += 1
    return count
