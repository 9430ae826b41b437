"""Write Windows import libraries in the short-import format, with no Windows tool.

`import_library(dll, names, data=..., machine=...)` -> the bytes of the `.lib`.

The format is Microsoft's (PE format, "Archive (Library) File Format" and "Import Library Format"): an archive
with two symbol tables, three small COFF objects that frame the import table, and one record a symbol. Dates,
hints, owners are 0 as in LLVM's writer, so the bytes depend on the arguments alone and equal those of
llvm-dlltool and of Intel's own libraries.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from .errors import BuildError
from .symbol_names import check_file_name, check_names, check_unique


class Machine(NamedTuple):
    """A COFF machine: its number and its relocation for a 32-bit address relative to the image."""

    number: int
    address_relocation: int


MACHINES = {"x64": Machine(0x8664, 3), "arm64": Machine(0xAA64, 2)}

SIGNATURE = b"!<arch>\n"
# A longer member name goes to the archive's table of long names.
LONGEST_MEMBER_NAME = 15
# The second symbol table numbers members in 16 bits.
MOST_MEMBERS = 0xFFFF

IMPORT_CODE, IMPORT_DATA, IMPORT_BY_NAME = 0, 1, 1 << 2
INITIALIZED_READ_WRITE = 0xC0000040
ALIGN_2, ALIGN_4, ALIGN_8 = 0x00200000, 0x00300000, 0x00400000
EXTERNAL, STATIC, SECTION = 2, 3, 104
UNDEFINED = 0


class Section(NamedTuple):
    """A COFF section; each relocation is (offset, index of the symbol)."""

    name: str
    content: bytes
    alignment: int
    relocations: tuple[tuple[int, int], ...] = ()


class Symbol(NamedTuple):
    """A COFF symbol with value 0; sections are numbered from 1."""

    name: str
    section: int
    storage: int


class Member(NamedTuple):
    """An archive member and the symbols that the archive's tables list for it."""

    symbols: tuple[str, ...]
    content: bytes


def import_library(
    dll: str, names: Sequence[str], *, data: Collection[str] = (), machine: str = "x64"
) -> bytes:
    """Return the import library through which programs link to `dll`.

    `names` are the exported names, kept in this order; those also in `data` are variables, reached through
    `__imp_NAME` only. BuildError for an empty list, duplicates, names that no linker takes, another machine.
    """
    if machine not in MACHINES:
        raise BuildError(f"no import libraries for the machine {machine!r}", wanted=" or ".join(MACHINES))
    check_file_name(dll)
    check_names(names, dll)
    if unknown := sorted(set(data) - set(names)):
        raise BuildError(f"{dll}: variables that are not exported: {', '.join(unknown[:5])}")
    members = [*_frame(dll, MACHINES[machine]), *_imports(dll, names, frozenset(data), MACHINES[machine])]
    check_unique((symbol for member in members for symbol in member.symbols), dll)
    if len(members) > MOST_MEMBERS:
        raise BuildError(
            f"{dll} has too many names for one import library",
            wanted=f"at most {MOST_MEMBERS - len(members) + len(names)}",
            found=str(len(names)),
        )
    return _archive(dll, members)


def _frame(dll: str, machine: Machine) -> list[Member]:
    """Return the three objects that begin, end and null-terminate the DLL's part of the import table."""
    stem = dll.rpartition(".")[0]
    descriptor, end = f"__IMPORT_DESCRIPTOR_{stem}", "__NULL_IMPORT_DESCRIPTOR"
    thunk_end = f"\x7f{stem}_NULL_THUNK_DATA"
    # An IMAGE_IMPORT_DESCRIPTOR: at 0 the lookup table, at 12 the DLL's name, at 16 the address table.
    first = _coff(
        machine,
        [
            Section(".idata$2", bytes(20), ALIGN_4, ((12, 2), (0, 3), (16, 4))),
            Section(".idata$6", dll.encode() + b"\0", ALIGN_2),
        ],
        [
            Symbol(descriptor, 1, EXTERNAL),
            Symbol(".idata$2", 1, SECTION),
            Symbol(".idata$6", 2, STATIC),
            Symbol(".idata$4", UNDEFINED, SECTION),
            Symbol(".idata$5", UNDEFINED, SECTION),
            Symbol(end, UNDEFINED, EXTERNAL),
            Symbol(thunk_end, UNDEFINED, EXTERNAL),
        ],
    )
    last = _coff(machine, [Section(".idata$3", bytes(20), ALIGN_4)], [Symbol(end, 1, EXTERNAL)])
    thunks = _coff(
        machine,
        [Section(".idata$5", bytes(8), ALIGN_8), Section(".idata$4", bytes(8), ALIGN_8)],
        [Symbol(thunk_end, 1, EXTERNAL)],
    )
    return [Member((descriptor,), first), Member((end,), last), Member((thunk_end,), thunks)]


def _coff(machine: Machine, sections: list[Section], symbols: list[Symbol]) -> bytes:
    """Return an object file: headers, then each section's content and relocations, then the symbols."""
    offset = 20 + 40 * len(sections)
    headers, contents = b"", b""
    for section in sections:
        at = offset + len(contents)
        relocations = b"".join(
            struct.pack("<IIH", place, symbol, machine.address_relocation)
            for place, symbol in section.relocations
        )
        headers += section.name.encode().ljust(8, b"\0") + struct.pack(
            "<6I2HI",
            *(0, 0, len(section.content), at, at + len(section.content) if relocations else 0, 0),
            *(len(section.relocations), 0, INITIALIZED_READ_WRITE | section.alignment),
        )
        contents += section.content + relocations
    table, strings = b"", b""
    for symbol in symbols:
        name = symbol.name.encode()
        if len(name) > 8:
            field = struct.pack("<II", 0, 4 + len(strings))
            strings += name + b"\0"
        else:
            field = name.ljust(8, b"\0")
        table += field + struct.pack("<IhHBB", 0, symbol.section, 0, symbol.storage, 0)
    header = struct.pack(
        "<2H3I2H", machine.number, len(sections), 0, offset + len(contents), len(symbols), 0, 0
    )
    return header + headers + contents + table + struct.pack("<I", 4 + len(strings)) + strings


def _imports(dll: str, names: Iterable[str], data: frozenset[str], machine: Machine) -> list[Member]:
    """Return one import record a name."""
    suffix = b"\0" + dll.encode() + b"\0"
    members = []
    for name in names:
        strings = name.encode() + suffix
        kind = IMPORT_DATA if name in data else IMPORT_CODE
        header = struct.pack(
            "<4H2I2H", 0, 0xFFFF, 0, machine.number, 0, len(strings), 0, IMPORT_BY_NAME | kind
        )
        pointer = f"__imp_{name}"
        members.append(Member((pointer,) if name in data else (pointer, name), header + strings))
    return members


def _archive(dll: str, members: list[Member]) -> bytes:
    """Return the archive; both symbol tables hold file offsets, so sizes are settled before contents."""
    long_names = _even(dll.encode() + b"\0") if len(dll) > LONGEST_MEMBER_NAME else b""
    member_name = "/0" if long_names else f"{dll}/"
    blocks = [
        _header(member_name, len(member.content), mode=644) + _even(member.content) for member in members
    ]
    symbols = [(symbol, number) for number, member in enumerate(members) for symbol in member.symbols]
    strings = sum(len(symbol) + 1 for symbol, _ in symbols)
    first_size = _even_size(4 + 4 * len(symbols) + strings)
    second_size = _even_size(4 + 4 * len(members) + 4 + 2 * len(symbols) + strings)
    start = len(SIGNATURE) + 60 + first_size + 60 + second_size + (60 + len(long_names) if long_names else 0)
    offsets = [0, *accumulate(len(block) for block in blocks)]
    offsets = [start + offset for offset in offsets[:-1]]
    parts = [
        SIGNATURE,
        _header("/", first_size, mode=0),
        _first_table(symbols, offsets).ljust(first_size, b"\0"),
        _header("/", second_size, mode=0),
        _second_table(symbols, offsets).ljust(second_size, b"\0"),
    ]
    if long_names:
        parts += [f"{'//':<48}{len(long_names):<10}`\n".encode(), long_names]
    return b"".join(parts + blocks)


def _first_table(symbols: list[tuple[str, int]], offsets: list[int]) -> bytes:
    """Return the table that every `ar` reads: symbols in the order of the members, big-endian offsets."""
    numbers = struct.pack(f">{len(symbols) + 1}I", len(symbols), *(offsets[member] for _, member in symbols))
    return numbers + _strings(symbols)


def _second_table(symbols: list[tuple[str, int]], offsets: list[int]) -> bytes:
    """Return Microsoft's table: offsets of the members, then sorted symbols with their member's number."""
    by_name = sorted(symbols)
    members = struct.pack(f"<{len(offsets) + 1}I", len(offsets), *offsets)
    numbers = struct.pack(f"<I{len(symbols)}H", len(symbols), *(member + 1 for _, member in by_name))
    return members + numbers + _strings(by_name)


def _strings(symbols: list[tuple[str, int]]) -> bytes:
    return "".join([f"{symbol}\0" for symbol, _ in symbols]).encode()


def _header(name: str, size: int, *, mode: int) -> bytes:
    # Date, owner and group are 0, in fields of 12, 6 and 6 characters.
    return f"{name:<16}0           0     0     {mode:<8}{size:<10}`\n".encode()


def _even(content: bytes) -> bytes:
    return content + b"\n" if len(content) % 2 else content


def _even_size(size: int) -> int:
    return size + size % 2
