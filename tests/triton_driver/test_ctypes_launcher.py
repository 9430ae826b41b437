"""The launcher in ctypes by itself, in front of a function that enqueues nothing."""

from __future__ import annotations

import ctypes
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from intel_xpu_runtime_dev._ur_api import KernelArgument
from intel_xpu_runtime_dev.triton._launch import ctypes_launcher
from intel_xpu_runtime_dev.triton._layout import Layout, Slot

HEAD = (1, 1, 1, 7, 8, None, None, None, None)


def launcher(codes: str, enqueue: Any) -> Any:
    """Return a launcher for a kernel with arguments of these codes, on a runtime of before 2026.0."""
    slots = tuple(Slot(code, (index,)) for index, code in enumerate(codes))
    runtime: Any = SimpleNamespace(
        bare_enqueue=enqueue, has_launch_with_arguments=False, launch_lock=threading.Lock()
    )
    return ctypes_launcher(runtime, Layout("kernel", slots, 0, 0, False, 32), lambda kernel: 0, failed)


def failed(result: int) -> None:
    """Fail the test: the function that enqueues nothing succeeds."""
    pytest.fail(f"a launch ended with {result}")


def passed(codes: str, *values: object) -> list[bytes]:
    """Return the bytes of each argument that a launch passes."""
    seen: list[bytes] = []

    def enqueue(*given: Any) -> int:
        arguments = ctypes.cast(given[7], ctypes.POINTER(KernelArgument))
        for argument in arguments[: given[6]]:
            if codes[argument.index] == "P":
                seen.append((argument.value or 0).to_bytes(8, "little"))
            else:
                seen.append(ctypes.string_at(argument.value, argument.size))
        return 0

    launcher(codes, enqueue)(*HEAD, *values)
    return seen


class Pointed:
    """An object with an address."""

    def data_ptr(self) -> int:
        """Return it."""
        return 0x1234_5678_9ABC


@pytest.mark.parametrize(
    ("code", "value", "expected"),
    [
        ("P", Pointed(), "bc9a785634120000"),
        ("P", 2**64 - 1, "ffffffffffffffff"),
        ("P", None, "0000000000000000"),
        ("?", 3, "01"),
        ("b", -1, "ff"),
        ("I", 2**32 - 1, "ffffffff"),
        ("q", -(2**63), "0000000000000080"),
        ("e", 1e6, "007c"),  # infinity
        ("f", -1e300, "000080ff"),
        ("d", 0.5, "000000000000e03f"),
        ("y", 1.0, "803f"),
        ("y", -1e300, "80ff"),
    ],
)
def test_values_are_passed_as_the_kernel_reads_them(code: str, value: object, expected: str) -> None:
    assert [one.hex() for one in passed(code, value)] == [expected]
    mixed = passed(f"i{code}P", 5, value, 6)
    assert [one.hex() for one in mixed] == ["05000000", expected, "0600000000000000"]


@pytest.mark.parametrize(
    ("code", "value", "error"),
    [
        ("i", 2**31, OverflowError),
        ("B", -1, OverflowError),
        ("i", "text", TypeError),
        ("f", "text", TypeError),
        ("y", "text", TypeError),
        ("P", "text", TypeError),
    ],
)
def test_a_value_that_does_not_fit_is_refused(code: str, value: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"does not fit|is not|must be"):
        passed(code, value)


def test_setting_arguments_and_launching_is_one_step() -> None:
    """Before 2026.0 arguments are state of the kernel: no second thread may be at it."""
    inside = threading.Semaphore(1)
    met = []

    def enqueue(*_: object) -> int:
        met.append(not inside.acquire(blocking=False))
        time.sleep(0.01)
        inside.release()
        return 0

    launch = launcher("i", enqueue)
    threads = [threading.Thread(target=launch, args=(*HEAD, 1)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert met == [False] * 8
