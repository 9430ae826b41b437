"""The arguments of a kernel launch: what a signature says, and whether the compiled kernel agrees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .._errors import XpuDevError
from .._spirv import Parameter
from ._versions import Contract

POINTER = "P"
BFLOAT16 = "y"

# Triton's names of scalar types; the codes are those of `struct`, with "y" for bfloat16.
CODES = {
    "i1": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q",
    "u1": "?", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "fp16": "e", "bf16": BFLOAT16, "fp32": "f", "f32": "f", "fp64": "d",
}  # fmt: skip
BYTES = {
    "?": 1,
    "b": 1,
    "B": 1,
    "h": 2,
    "H": 2,
    "e": 2,
    "y": 2,
    "i": 4,
    "I": 4,
    "f": 4,
    "q": 8,
    "Q": 8,
    "d": 8,
    "P": 8,
}
KINDS = {"e": "float", "y": "float", "f": "float", "d": "float", "P": "pointer"}

# Where Triton's launch puts the kernel's own arguments.
LEADING_ARGUMENTS = 9

_DESCRIPTOR = re.compile(r"tensordesc<(\w+)\[([^\]]*)\]")


class Slot(NamedTuple):
    """One kernel parameter: a code of `BYTES`, and the indices that lead to its value among a launch's arguments."""

    code: str
    path: tuple[int, ...]


class Layout(NamedTuple):
    """The parameters that a launch fills, in their order.

    After the slots come `scratch_pointers` null pointers, then `shared` bytes of work-group-local memory unless that is 0
    or the module holds it. `descriptors` are the paths of tensor descriptors, whose parts the slots count as a tuple.
    """

    name: str
    slots: tuple[Slot, ...]
    scratch_pointers: int
    shared: int
    local_memory_in_module: bool
    threads: int
    descriptors: tuple[tuple[int, ...], ...] = ()


class Loaded(NamedTuple):
    """What a compiled kernel says about itself; `parameters` is None when only its machine code is known."""

    arguments: int
    parameters: tuple[Parameter, ...] | None
    max_threads: int


def layout(src: Any, metadata: Any, contract: Contract) -> Layout:
    """Return the layout of a kernel from Triton's source object and metadata."""
    types = _types(src, contract)
    return Layout(
        name=metadata.name,
        slots=tuple(_slots(tuple(types), (), contract)),
        scratch_pointers=contract.scratch_pointers,
        shared=metadata.shared,
        local_memory_in_module=contract.local_memory_in_module,
        threads=metadata.num_warps * metadata.threads_per_warp,
        descriptors=tuple(_descriptors(tuple(types), ())),
    )


def local_bytes(layout: Layout, loaded: Loaded) -> int:
    """Return the bytes of local memory that a launch passes as the last argument, 0 for no such argument.

    Raise XpuDevError when the kernel's parameters are not those that the launch would fill.
    """
    passed = len(layout.slots) + layout.scratch_pointers
    local = layout.shared
    if layout.local_memory_in_module and loaded.arguments == passed:
        local = 0
    expected = passed + bool(local)
    if loaded.arguments != expected:
        raise _mismatch(layout, f"{expected} arguments", f"a kernel with {loaded.arguments}")
    for index, parameter in enumerate(loaded.parameters or ()):
        _check_parameter(layout, index, parameter)
    return local


def _check_parameter(layout: Layout, index: int, parameter: Parameter) -> None:
    if index < len(layout.slots):
        code = layout.slots[index].code
        wanted = Parameter(KINDS.get(code, "int"), BYTES[code])
    elif index < len(layout.slots) + layout.scratch_pointers:
        wanted = Parameter("pointer", BYTES[POINTER])
    else:
        wanted = Parameter("local", BYTES[POINTER])
    if parameter != wanted:
        raise _mismatch(
            layout,
            f"argument {index} as {wanted.kind} of {wanted.bytes} bytes",
            f"{parameter.kind} of {parameter.bytes} bytes",
        )


def _mismatch(layout: Layout, wanted: str, found: str) -> XpuDevError:
    return XpuDevError(
        f"the compiled kernel {layout.name!r} has other parameters than this driver would fill; nothing was launched",
        wanted=wanted,
        found=found,
        fix="clear Triton's cache; if it stays, this build of Triton is unknown to the driver: please report it",
    )


def _types(src: Any, contract: Contract) -> list[Any]:
    """Return the type of each argument that a launch passes, "constexpr" for those that the kernel does not take."""
    signature: Mapping[Any, Any] = src.signature
    if contract.lists_constants:
        return list(signature.values())
    names = src.fn.arg_names if hasattr(src, "fn") else []

    def index(key: Any) -> Any:
        return names.index(key) if isinstance(key, str) else key

    constants = {index(key) for key in getattr(src, "constants", {})}
    return ["constexpr" if index(key) in constants else kind for key, kind in signature.items()]


def _slots(types: tuple[Any, ...], path: tuple[int, ...], contract: Contract) -> Iterator[Slot]:
    for index, kind in enumerate(types):
        here = (*path, index)
        if isinstance(kind, (tuple, list)):
            yield from _slots(tuple(kind), here, contract)
        elif kind.startswith("tensordesc"):
            codes = _descriptor_codes(kind, contract)
            yield from (Slot(code, (*here, part)) for part, code in enumerate(codes))
        elif kind.startswith("*"):
            yield Slot(POINTER, here)
        elif kind != "constexpr":
            yield Slot(_code(kind), here)


def _code(kind: str) -> str:
    if kind not in CODES:
        raise XpuDevError(
            f"a kernel argument of type {kind!r} is unknown to this driver", wanted=", ".join(CODES)
        )
    return CODES[kind]


def _descriptor_codes(kind: str, contract: Contract) -> str:
    """Return the codes of a descriptor's parts: base, shape, strides, flags, shape, strides (triton/backends/driver.py)."""
    found = _DESCRIPTOR.match(kind)
    if contract.descriptor_flags is None or not found:
        version = ".".join(map(str, contract.version))
        raise XpuDevError(f"Triton {version} with a kernel argument {kind!r} is unknown to this driver")
    dimensions = found.group(2).count(",") + 1
    return (
        POINTER + "q" * 2 * dimensions + "?" * contract.descriptor_flags + "i" * dimensions + "q" * dimensions
    )


def _descriptors(types: tuple[Any, ...], path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for index, kind in enumerate(types):
        if isinstance(kind, (tuple, list)):
            yield from _descriptors(tuple(kind), (*path, index))
        elif kind.startswith("tensordesc"):
            yield (*path, index)


def with_expanded_descriptors(
    arguments: tuple[Any, ...], paths: tuple[tuple[int, ...], ...], flags: int
) -> tuple[Any, ...]:
    """Return a launch's arguments with each tensor descriptor replaced by a tuple of its parts."""
    expanded = list(arguments)
    for path in paths:
        expanded[path[0]] = _replaced(expanded[path[0]], path[1:], flags)
    return tuple(expanded)


def _replaced(value: Any, path: tuple[int, ...], flags: int) -> Any:
    if path:
        parts = list(value)
        parts[path[0]] = _replaced(parts[path[0]], path[1:], flags)
        return parts
    both = (*value.shape, *value.strides)
    named = (getattr(value, "padding", "zero") == "nan", getattr(value, "round_f32_to_tf32", False))
    return (value.base, *both, *named[:flags], *both)
