"""The launcher in ctypes, for wherever the C extension of intel-xpu-triton-launcher is not installed."""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from .._ur import UnifiedRuntime
from .._ur_api import ArgumentType, KernelArgument, StructureType
from ._layout import BFLOAT16, BYTES, POINTER, Layout

# Answers for a kernel's handle: how many bytes of local memory to pass. Raises when the kernel does not fit.
Verify = Callable[[int], int]
# Raises the exception for a `ur_result_t`.
Fail = Callable[[int], None]

_WORDS = ctypes.sizeof(KernelArgument) // 8
_VALUE_WORD = KernelArgument.value.offset // 8


class Frame(NamedTuple):
    """The memory of one launch, so that launches of several threads share nothing."""

    arguments: Any
    words: Any
    values: Any
    grid: Any
    grid_address: int
    arguments_address: int


class CtypesLauncher:
    """Launch one kernel; called as Triton calls a launcher.

    The runtime's function is called with the interpreter lock held, so that no other thread's launch of the same kernel
    comes between its setting of arguments and its enqueueing.
    """

    def __init__(self, runtime: UnifiedRuntime, layout: Layout, verify: Verify, fail: Fail) -> None:
        self._layout = layout
        self._verify = verify
        self._fail = fail
        self._enqueue = _serialised(runtime.enqueue)
        self._count = len(layout.slots) + layout.scratch_pointers
        self._pointers = [
            (_WORDS * index + _VALUE_WORD, _getter(slot.path))
            for index, slot in enumerate(layout.slots)
            if slot.code == POINTER
        ]
        self._scalars = [
            (8 * index, _packer(slot.code), _getter(slot.path))
            for index, slot in enumerate(layout.slots)
            if slot.code != POINTER
        ]
        self._local_size = (ctypes.c_size_t * 3)(layout.threads, 1, 1)
        self._local_size_address = ctypes.addressof(self._local_size)
        self._verified = 0
        self._passed = 0
        self._frames: list[Frame] = []

    def __call__(
        self,
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
        if enter is not None:
            enter(launch_metadata)
        if function != self._verified:
            self._adopt(function)
        if grid_x > 0 and grid_y > 0 and grid_z > 0:
            try:
                frame = self._frames.pop()
            except IndexError:
                frame = self._new_frame()
            words, values, grid = frame.words, frame.values, frame.grid
            for word, get in self._pointers:
                words[word] = _address(get(arguments))
            for offset, pack, get in self._scalars:
                pack(values, offset, get(arguments))
            grid[0] = grid_x * self._layout.threads
            grid[1] = grid_y
            grid[2] = grid_z
            result = self._enqueue(
                stream, function, 3, None, frame.grid_address, self._local_size_address,
                self._passed, frame.arguments_address, None, 0, None, None,
            )  # fmt: skip
            self._frames.append(frame)
            if result:
                self._fail(result)
        if leave is not None:
            leave(launch_metadata)

    def _adopt(self, function: int) -> None:
        """Check a kernel before its first launch, and forget frames that were made for another."""
        self._local = self._verify(function)
        self._passed = self._count + bool(self._local)
        self._frames = []
        self._verified = function

    def _new_frame(self) -> Frame:
        arguments = (KernelArgument * (self._count + 1))()
        values = (ctypes.c_uint64 * (self._count + 1))()
        for index in range(self._count + 1):
            argument = arguments[index]
            argument.stype = StructureType.EXP_KERNEL_ARG_PROPERTIES
            argument.index = index
            argument.type, argument.size = ArgumentType.POINTER, BYTES[POINTER]
        for index, slot in enumerate(self._layout.slots):
            if slot.code != POINTER:
                argument = arguments[index]
                argument.type, argument.size = ArgumentType.VALUE, BYTES[slot.code]
                argument.value = ctypes.addressof(values) + 8 * index
        arguments[self._count].type = ArgumentType.LOCAL
        arguments[self._count].size = self._local
        grid = (ctypes.c_size_t * 3)()
        words = (ctypes.c_uint64 * (_WORDS * len(arguments))).from_buffer(arguments)
        return Frame(arguments, words, values, grid, ctypes.addressof(grid), ctypes.addressof(arguments))


def _serialised(enqueue: Callable[..., int]) -> Callable[..., int]:
    """Return the function itself where the interpreter lock serialises its calls, else one that takes a lock."""
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        return enqueue
    import threading

    lock = threading.Lock()

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


def _getter(path: tuple[int, ...]) -> Callable[[Any], Any]:
    from operator import getitem, itemgetter

    return (
        itemgetter(path[0])
        if len(path) == 1
        else lambda arguments: functools.reduce(getitem, path, arguments)
    )


def _packer(code: str) -> Callable[[Any, int, Any], None]:
    """Return a function (buffer, offset, value) that writes a value as the kernel reads it."""
    if code in "fe":
        return functools.partial(_pack_float, struct.Struct("<" + code).pack_into)
    if code == BFLOAT16:
        return _pack_bfloat16
    return struct.Struct("<" + code).pack_into if code in "d?" else functools.partial(_pack_integer, code)


def _pack_integer(code: str, buffer: Any, offset: int, value: Any) -> None:
    try:
        struct.pack_into("<" + code, buffer, offset, value)
    except struct.error as error:
        if isinstance(value, int):
            raise OverflowError(f"kernel argument {value} does not fit: {error}") from None
        raise TypeError(f"kernel argument {value!r} is not an integer") from None


def _pack_float(pack: Callable[[Any, int, float], None], buffer: Any, offset: int, value: float) -> None:
    try:
        pack(buffer, offset, value)
    except OverflowError:  # IEEE 754: too large a number becomes infinity
        pack(buffer, offset, float("inf") if value > 0 else float("-inf"))


def _pack_bfloat16(buffer: Any, offset: int, value: float) -> None:
    """Write the upper half of the binary32 number: towards zero, as Triton's own launchers do."""
    single = bytearray(4)
    _pack_float(struct.Struct("<f").pack_into, single, 0, value)
    struct.pack_into("<2s", buffer, offset, bytes(single[2:]))
