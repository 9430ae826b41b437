"""The launcher in ctypes, for wherever the C extension of intel-xpu-triton-launcher is not installed."""

from __future__ import annotations

import ctypes
import functools
import math
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .._ur import UnifiedRuntime
from .._ur_api import ArgumentType, KernelArgument, StructureType
from ._layout import BFLOAT16, BYTES, POINTER, Layout

# Answers for a kernel's handle: how many bytes of local memory to pass. Raises when the kernel does not fit.
Verify = Callable[[int], int]
# Raises the exception for a `ur_result_t`.
Fail = Callable[[int], None]

# A program's number is a signed integer of 32 bits.
LARGEST_GRID = 2**31 - 1

_WORDS = ctypes.sizeof(KernelArgument) // 8
_VALUE_WORD = KernelArgument.value.offset // 8


# The memory of one launch, so that launches of several threads share nothing: a reference to the arguments, the same as
# numbers, the global size followed by the scalars in 8 bytes each, and a reference to that. A plain tuple, the fastest to take apart.
Frame = tuple[Any, Any, Any, Any]


def ctypes_launcher(
    runtime: UnifiedRuntime, layout: Layout, verify: Verify, fail: Fail
) -> Callable[..., None]:
    """Return a function that launches one kernel, to be called as Triton calls a launcher.

    No other thread's launch of the same kernel comes between its setting of arguments and its enqueueing.
    """
    # A closure: its variables are nearer than the attributes of an object, and the call of a function is cheaper.
    enqueue = _serialised(runtime)
    threads = layout.threads
    pointers = [(index, slot) for index, slot in enumerate(layout.slots) if slot.code == POINTER]
    pointer_words = [_WORDS * index + _VALUE_WORD for index, _ in pointers]
    pointers_of = _getter([slot.path for _, slot in pointers])
    codes = [slot.code for slot in layout.slots if slot.code != POINTER]
    scalars_of = _getter([slot.path for slot in layout.slots if slot.code != POINTER])
    pack = struct.Struct("<3Q" + "".join(map(_padded, codes))).pack_into
    needs_conversion = BFLOAT16 in codes
    local_size = ctypes.byref((ctypes.c_size_t * 3)(threads, 1, 1))
    # Queues and kernels as ctypes passes them, by their number: to convert a number costs more.
    handles: dict[int, Any] = {}
    adopted: tuple[int, int, int, list[Frame]] = (0, 0, 0, [])

    def launch(
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: int,
        function: int,
        packed_metadata: Any,
        launch_metadata: Any,
        enter: Callable[[Any], Any] | None,
        leave: Callable[[Any], Any] | None,
        *arguments: Any,
    ) -> None:
        """Enqueue the kernel; an empty grid enqueues nothing."""
        nonlocal adopted
        if enter is not None:
            enter(launch_metadata)
        kernel, count, local, frames = adopted
        if function != kernel:
            # Before its first launch a kernel is checked; frames that were made for another do not serve it.
            adopted = kernel, count, local, frames = _adopt(layout, verify, function)
        if 0 < grid_x <= LARGEST_GRID and 0 < grid_y <= LARGEST_GRID and 0 < grid_z <= LARGEST_GRID:
            try:
                frame = frames.pop()
            except IndexError:
                frame = _new_frame(layout, local)
            passed, words, values, global_size = frame
            try:
                for word, value in zip(pointer_words, pointers_of(arguments)):
                    words[word] = value.data_ptr()
            except AttributeError:
                for word, value in zip(pointer_words, pointers_of(arguments)):
                    words[word] = _address(value)
            scalars = scalars_of(arguments)
            if needs_conversion:
                scalars = _converted(codes, scalars)
            try:
                pack(values, 0, grid_x * threads, grid_y, grid_z, *scalars)
            except (struct.error, OverflowError):
                pack(values, 0, grid_x * threads, grid_y, grid_z, *_converted(codes, scalars))
            try:
                to, what = handles[stream], handles[function]
            except KeyError:
                to, what = (
                    handles.setdefault(one, ctypes.c_void_p.from_param(one)) for one in (stream, function)
                )
            result = enqueue(
                to, what, 3, None, global_size, local_size, count, passed, None, 0, None, None
            )  # fmt: skip
            frames.append(frame)
            if result:
                fail(result)
        elif max(grid_x, grid_y, grid_z) > LARGEST_GRID:
            raise OverflowError(
                f"a grid of {grid_x}, {grid_y}, {grid_z} programs: at most {LARGEST_GRID} each"
            )
        if leave is not None:
            leave(launch_metadata)

    return launch


def _adopt(layout: Layout, verify: Verify, function: int) -> tuple[int, int, int, list[Frame]]:
    """Return the kernel, the number of its arguments, the bytes of local memory among them, and no frames yet."""
    local = verify(function)
    return function, len(layout.slots) + layout.scratch_pointers + bool(local), local, []


def _new_frame(layout: Layout, local: int) -> Frame:
    count = len(layout.slots) + layout.scratch_pointers
    scalars = [index for index, slot in enumerate(layout.slots) if slot.code != POINTER]
    arguments = (KernelArgument * (count + 1))()
    values = (ctypes.c_uint64 * (3 + len(scalars)))()
    for index, argument in enumerate(arguments):
        argument.stype = StructureType.EXP_KERNEL_ARG_PROPERTIES
        argument.index = index
        argument.type, argument.size = ArgumentType.POINTER, BYTES[POINTER]
    for place, index in enumerate(scalars, start=3):
        argument = arguments[index]
        argument.type, argument.size = ArgumentType.VALUE, BYTES[layout.slots[index].code]
        argument.value = ctypes.addressof(values) + 8 * place
    arguments[count].type, arguments[count].size = ArgumentType.LOCAL, local
    words = (ctypes.c_uint64 * (_WORDS * len(arguments))).from_buffer(arguments)
    return ctypes.byref(arguments), words, values, ctypes.byref(values)


def _serialised(runtime: UnifiedRuntime) -> Callable[..., int]:
    """Return the function that enqueues, with a lock where two threads could be in it at once.

    They cannot where it is one call that keeps the interpreter lock; before release 2026.0 it is one for each argument.
    """
    enqueue: Callable[..., int] = runtime.bare_enqueue
    if runtime.has_launch_with_arguments and getattr(sys, "_is_gil_enabled", lambda: True)():
        return enqueue
    # Of the runtime: two launchers may have one kernel.
    lock = runtime.launch_lock

    def locked(*arguments: Any) -> int:
        with lock:
            return enqueue(*arguments)

    return locked


def _address(value: Any) -> int:
    """Return the address that a pointer argument means: a number, None for null, or an object with `data_ptr()`."""
    if value is None:
        return 0
    if value.__class__ is int:
        return value & 0xFFFF_FFFF_FFFF_FFFF
    try:
        return int(value.data_ptr())
    except AttributeError:
        raise TypeError(
            f"a pointer argument must be None, an integer or have data_ptr(), not {type(value).__name__}"
        ) from None


def _getter(paths: Sequence[tuple[int, ...]]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that takes the values at these paths out of a launch's arguments."""
    from operator import getitem, itemgetter

    if all(len(path) == 1 for path in paths):
        indices = [path[0] for path in paths]
        first = indices[0] if indices else 0
        if indices == list(range(first, first + len(indices))):
            return itemgetter(slice(first, first + len(indices)))
        return itemgetter(*indices)
    return lambda arguments: tuple(functools.reduce(getitem, path, arguments) for path in paths)


def _padded(code: str) -> str:
    """Return the format of a scalar in 8 bytes."""
    return f"{'H' if code == BFLOAT16 else code}{8 - BYTES[code]}x"


def _converted(codes: Sequence[str], scalars: Sequence[Any]) -> tuple[Any, ...]:
    """Return scalars as `struct` takes them; raise OverflowError or TypeError for one that does not fit."""
    return tuple(_scalar(code, value) for code, value in zip(codes, scalars))


def _scalar(code: str, value: Any) -> Any:
    """Return a value that `struct` takes for a code: too large a number becomes infinity, as IEEE 754 has it."""
    if code == BFLOAT16:
        # The upper half of the binary32 number: towards zero, as Triton's own launchers do.
        single = struct.pack("<f", _scalar("f", value))
        return int.from_bytes(single[2:], "little")
    try:
        struct.pack(f"<{code}", value)
    except OverflowError:
        return math.copysign(math.inf, value)
    except struct.error as error:
        if code in "efd" or not isinstance(value, int):
            kind = "a number" if code in "efd" else "an integer"
            raise TypeError(f"kernel argument {value!r} is not {kind}") from None
        raise OverflowError(f"kernel argument {value} does not fit: {error}") from None
    return value
