"""Threads that begin everything at once: `python threads.py LAUNCHER ROUNDS`; the last line of a good run is `right`.

Each round has a driver of its own and kernels that were never launched, so that sessions and kernels are made by several
threads at the same time.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import intel_xpu_runtime_dev.triton as xpu
import numpy as np

driver = xpu.activate("cpu", launcher=sys.argv[1])

import triton  # noqa: E402 - the driver comes first
import triton.language as tl  # noqa: E402

THREADS, N = 6, 4096


@triton.jit
def slow_kernel(x, out, n, rounds, BLOCK: tl.constexpr, CONSTANT: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n)
    for _ in range(rounds):
        values = values + 1.0
    tl.store(out + at, values + CONSTANT, mask=at < n)


def work(number: int, constant: int, begin: threading.Barrier, wrong: list[str]) -> None:
    begin.wait()
    try:
        for again in range(3):
            x, out = xpu.array(np.full(N, number, np.float32)), xpu.array(np.zeros(N, np.float32))
            slow_kernel[(N // 256,)](x, out, N, 2000, BLOCK=256, CONSTANT=constant)
            if not (out.numpy() == number + 2000 + constant).all():
                wrong.append(f"thread {number}, launch {again}: {out.numpy()[:3]}")
    except Exception as error:
        wrong.append(repr(error))


def main() -> None:
    wrong: list[str] = []
    for constant in range(int(sys.argv[2])):
        # Compiled, not loaded: CPython 3.11 cannot parse in several threads, which is what Triton's compiler begins with.
        pointer = xpu.empty(N)
        slow_kernel.warmup(pointer, pointer, N, 2000, BLOCK=256, CONSTANT=constant, grid=(1,))
        del pointer
        # As after activate(): no session yet.
        sessions: Any = driver._sessions
        sessions.clear()
        begin = threading.Barrier(THREADS)
        workers = [threading.Thread(target=work, args=(i, constant, begin, wrong)) for i in range(THREADS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert len(sessions) == 1
    assert not wrong, wrong
    print("right")


if __name__ == "__main__":
    main()
