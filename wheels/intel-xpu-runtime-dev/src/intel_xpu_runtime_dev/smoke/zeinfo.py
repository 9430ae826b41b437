"""Registers of a kernel, from the native binary that Intel's GPU compiler writes."""

from __future__ import annotations

import re
import struct

# An ELF section of this type holds YAML that describes the kernels ("zeinfo" of the zebin format).
SECTION_TYPE = 0xFF000011
SECTION = struct.Struct("<4xI16xQQ24x")


def registers(binary: bytes) -> int | None:
    """Return the registers of a thread ("grf_count"), or None when the binary is not of that format."""
    if binary[:4] != b"\x7fELF" or len(binary) < 64:
        return None
    (table,) = struct.unpack_from("<Q", binary, 0x28)
    (count,) = struct.unpack_from("<H", binary, 0x3C)
    for index in range(count):
        if table + (index + 1) * SECTION.size > len(binary):
            return None
        kind, start, size = SECTION.unpack_from(binary, table + index * SECTION.size)
        if kind == SECTION_TYPE:
            found = re.search(rb"grf_count:\s*(\d+)", binary[start : start + size])
            return int(found.group(1)) if found else None
    return None
