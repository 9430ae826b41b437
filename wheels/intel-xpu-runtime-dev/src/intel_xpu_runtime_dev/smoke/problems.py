"""What the kernels are given, what must come out, and the comparison of every number."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .stages import NOT_EXECUTED, RIGHT, WRONG

# A quiet NaN that no computation gives. It fills outputs before a launch, and the guard zones around every buffer: it
# passes no comparison, and whoever reads it spreads it.
SENTINEL = 0x7FC5A5A5
GUARD = 64  # numbers before and behind the data of a buffer
GUARD_BYTES = 4 * GUARD

Argument = tuple[str, int]  # ("pointer", buffer), ("integer", value)


class Problem(NamedTuple):
    """One launch. Buffers are lists of numbers with guard zones; None is the sentinel.

    `expected` holds every number of the output buffer, None where it must stay untouched. A number is right when it
    differs by no more than `tolerance` times its size.
    """

    grid: tuple[int, int, int]
    buffers: tuple[bytes, ...]
    arguments: tuple[Argument, ...]
    output: int
    expected: Sequence[float | None]
    tolerance: float


class Comparison(NamedTuple):
    """What a launch came to; `max_error` is None when the output holds no number at all."""

    verdict: str
    max_error: float | None
    detail: str


def add_problem(block: int) -> Problem:
    """Return the addition of two vectors that end within a block; every sum is exact in 32 bits."""
    count = 5 * block - 120
    x = _pattern(count, 7919, 65521, 16.0)
    y = _pattern(count, 4447, 65519, 16.0)
    output = _guarded([None] * count)
    return Problem(
        grid=(-(-count // block), 1, 1),
        buffers=(_packed(_guarded(x)), _packed(_guarded(y)), _packed(output)),
        arguments=(("pointer", 0), ("pointer", 1), ("pointer", 2), ("integer", count)),
        output=2,
        expected=_guarded([a + b for a, b in zip(x, y)]),
        tolerance=0.0,
    )


def softmax_problem(block: int) -> Problem:
    """Return the softmax of rows that end within a block and lie apart by more than their length."""
    rows, columns = 37, block - 243
    in_stride, out_stride = columns + 19, columns + 9
    values = _pattern(rows * columns, 7919, 509, 64.0)
    source: list[float | None] = []
    expected: list[float | None] = []
    for row in range(rows):
        numbers = values[row * columns : (row + 1) * columns]
        source += [*numbers, *[None] * (in_stride - columns)]
        greatest = max(numbers)
        exponentials = [math.exp(number - greatest) for number in numbers]
        total = sum(exponentials)
        expected += [*(one / total for one in exponentials), *[None] * (out_stride - columns)]
    return Problem(
        grid=(rows, 1, 1),
        buffers=(_packed(_guarded([None] * len(expected))), _packed(_guarded(source))),
        arguments=(
            ("pointer", 0), ("pointer", 1),
            ("integer", in_stride), ("integer", out_stride), ("integer", columns),
        ),
        output=0,
        expected=_guarded(expected),
        # The device's own exp: a few units in the last place, times a sum of hundreds of them.
        tolerance=2e-5,
    )  # fmt: skip


def matmul_problem(block: int) -> Problem:
    """Return the product of two matrices that end within a block on each side.

    The entries are multiples of 1/64 below 2: products and sums are exact in 32 bits, in whatever order.
    """
    m, n, k = 2 * block + 6, block + 18, 3 * block - 6
    a_stride, b_stride, c_stride = k + 6, n + 6, n + 10
    a = [_pattern(k, 7919, 251, 64.0, row * 37) for row in range(m)]
    b = [_pattern(n, 4447, 241, 64.0, row * 53) for row in range(k)]
    columns = list(zip(*b))
    expected: list[float | None] = []
    for row in a:
        expected += [sum(x * y for x, y in zip(row, column)) for column in columns]
        expected += [None] * (c_stride - n)
    return Problem(
        grid=(-(-m // block), -(-n // block), 1),
        buffers=(
            _packed(_guarded(_strided(a, a_stride))),
            _packed(_guarded(_strided(b, b_stride))),
            _packed(_guarded([None] * len(expected))),
        ),
        arguments=(
            ("pointer", 0), ("pointer", 1), ("pointer", 2), ("integer", m), ("integer", n), ("integer", k),
            ("integer", a_stride), ("integer", b_stride), ("integer", c_stride),
        ),
        output=2,
        expected=_guarded(expected),
        tolerance=0.0,
    )  # fmt: skip


# The kernel's name, and what makes its problem from the size of its blocks.
PROBLEMS: dict[str, Callable[[int], Problem]] = {
    "add": add_problem,
    "softmax": softmax_problem,
    "matmul": matmul_problem,
}


def compare(problem: Problem, after: bytes) -> Comparison:
    """Compare the buffers after a launch, one behind the other, with what they must hold."""
    wanted = sum(map(len, problem.buffers))
    if len(after) != wanted:
        return Comparison(WRONG, None, f"{len(after)} bytes came back, not {wanted}")
    start = 0
    for index, before in enumerate(problem.buffers):
        data = after[start : start + len(before)]
        start += len(before)
        if index == problem.output:
            output = data
        elif data != before:
            return Comparison(WRONG, None, f"the kernel changed input {index}")
    if output == problem.buffers[problem.output]:
        return Comparison(NOT_EXECUTED, None, "this device does not execute: the launch changed no memory")
    return _compared(problem, output)


def _compared(problem: Problem, output: bytes) -> Comparison:
    bits, numbers = array("I", output), array("f", output)
    errors, wrong = [], []
    for index, expected in enumerate(problem.expected):
        if expected is None:
            if bits[index] != SENTINEL:
                wrong.append(index)
            continue
        error = abs(numbers[index] - expected)
        errors.append(error)
        # Written so that NaN is wrong.
        if not error <= problem.tolerance * abs(expected):
            wrong.append(index)
    largest = max(errors) if all(map(math.isfinite, errors)) else None
    if wrong:
        first = wrong[0]
        told = "untouched memory" if problem.expected[first] is None else repr(problem.expected[first])
        detail = (
            f"{len(wrong)} of {len(bits)} are wrong, first [{first - GUARD}]: {numbers[first]!r}, not {told}"
        )
        return Comparison(WRONG, largest, detail)
    return Comparison(RIGHT, largest, f"all {len(errors)} numbers right, largest error {largest:.2g}")


def _pattern(count: int, step: int, modulus: int, scale: float, start: int = 0) -> list[float]:
    """Return multiples of 1/scale around zero that do not repeat within `modulus`; `step` is coprime to it."""
    middle = modulus // 2
    return [((start + index) * step % modulus - middle) / scale for index in range(count)]


def _guarded(numbers: Sequence[float | None]) -> list[float | None]:
    zone = [None] * GUARD
    return [*zone, *numbers, *zone]


def _strided(rows: Sequence[Sequence[float]], stride: int) -> list[float | None]:
    return [number for row in rows for number in [*row, *[None] * (stride - len(row))]]


def _packed(numbers: Sequence[float | None]) -> bytes:
    # The quiet NaN keeps its payload on its way through Python's floats.
    sentinel = array("f", array("I", [SENTINEL]).tobytes())[0]
    return array("f", [sentinel if number is None else number for number in numbers]).tobytes()
