"""Read and rewrite SPIR-V modules: what Intel's CPU device refuses, and the parameters of a kernel."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ._errors import XpuDevError

MAGIC = 0x07230203
HEADER_WORDS = 5

# Numbers of the SPIR-V specification, section 3, "Binary Form".
OP_EXTENSION = 10
OP_ENTRY_POINT = 15
OP_EXECUTION_MODE = 16
OP_CAPABILITY = 17
OP_TYPE_BOOL = 20
OP_TYPE_INT = 21
OP_TYPE_FLOAT = 22
OP_TYPE_POINTER = 32
OP_FUNCTION = 54
OP_FUNCTION_PARAMETER = 55
OP_FUNCTION_END = 56
CAPABILITY_KERNEL_ATTRIBUTES_INTEL = 5892
MODE_MAX_WORKGROUP_SIZE_INTEL = 5893
STORAGE_WORKGROUP = 4
POINTER_BYTES = 8


class Parameter(NamedTuple):
    """A kernel's parameter: "int", "float", "pointer", or "local" (a pointer to work-group-local memory).

    `bytes` is 0 for types that are none of these.
    """

    kind: str
    bytes: int


def accepted_by_cpu(module: bytes) -> bytes:
    """Return the module without what Intel's OpenCL CPU device refuses and does not need.

    Triton declares SPV_INTEL_kernel_attributes for an upper bound of the work-group size.
    """
    kept = [struct.pack(f"<{HEADER_WORDS}I", *_words(module)[:HEADER_WORDS])]
    for opcode, operands in instructions(module):
        if opcode == OP_CAPABILITY and operands[0] == CAPABILITY_KERNEL_ATTRIBUTES_INTEL:
            continue
        if opcode == OP_EXTENSION and _text(operands) == "SPV_INTEL_kernel_attributes":
            continue
        if opcode == OP_EXECUTION_MODE and operands[1] == MODE_MAX_WORKGROUP_SIZE_INTEL:
            continue
        kept.append(struct.pack(f"<{len(operands) + 1}I", len(operands) + 1 << 16 | opcode, *operands))
    return b"".join(kept)


def kernel_parameters(module: bytes, kernel: str) -> tuple[Parameter, ...]:
    """Return the parameters of a kernel in the order of its arguments; raise XpuDevError when it has no such kernel."""
    types: dict[int, Parameter] = {}
    function: int | None = None
    parameters: list[Parameter] = []
    inside = False
    for opcode, operands in instructions(module):
        if opcode == OP_TYPE_BOOL:
            types[operands[0]] = Parameter("int", 1)
        elif opcode == OP_TYPE_INT:
            types[operands[0]] = Parameter("int", operands[1] // 8)
        elif opcode == OP_TYPE_FLOAT:
            types[operands[0]] = Parameter("float", operands[1] // 8)
        elif opcode == OP_TYPE_POINTER:
            kind = "local" if operands[1] == STORAGE_WORKGROUP else "pointer"
            types[operands[0]] = Parameter(kind, POINTER_BYTES)
        elif opcode == OP_ENTRY_POINT and _text(operands[2:]) == kernel:
            function = operands[1]
        elif opcode == OP_FUNCTION:
            inside = operands[1] == function
        elif opcode == OP_FUNCTION_PARAMETER and inside:
            parameters.append(types.get(operands[0], Parameter("other", 0)))
        elif opcode == OP_FUNCTION_END and inside:
            return tuple(parameters)
    raise XpuDevError(f"the SPIR-V module has no kernel {kernel!r}")


def instructions(module: bytes) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield the opcode and operand words of each instruction."""
    words = _words(module)
    at = HEADER_WORDS
    while at < len(words):
        count, opcode = words[at] >> 16, words[at] & 0xFFFF
        if not 0 < count <= len(words) - at:
            raise XpuDevError(f"the SPIR-V module is cut off or damaged at word {at}")
        yield opcode, words[at + 1 : at + count]
        at += count


def _words(module: bytes) -> tuple[int, ...]:
    words = struct.unpack(f"<{len(module) // 4}I", module[: len(module) // 4 * 4])
    if len(module) % 4 or len(words) < HEADER_WORDS or words[0] != MAGIC:
        raise XpuDevError("not a SPIR-V module", found=f"{len(module)} bytes, beginning with {module[:4]!r}")
    return words


def _text(words: Sequence[int]) -> str:
    return struct.pack(f"<{len(words)}I", *words).split(b"\0")[0].decode(errors="replace")
