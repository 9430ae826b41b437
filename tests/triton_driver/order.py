"""Rounds of SYCL copies and Triton kernels that need each other's results: `python order.py LIBRARY QUEUE LAUNCHER ROUNDS`.

Runs inside the environment with Triton and prints `wrong N of ROUNDS`. QUEUE is "torch" or "own"; with "torch" there are
lines on another stream and on what is refused as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tests.doubles.torch_xpu import SharedTensor, Xpu, install

ELEMENTS = 1 << 17
BLOCK = 1024


def main(library: str, queue: str, launcher: str, rounds: int) -> None:
    """Count the rounds whose numbers are wrong."""
    xpu = install(Path(library))
    import intel_xpu_runtime_dev.triton as ours

    driver = ours.activate("cpu", queue=queue, launcher=launcher)
    assert driver.follows_torch == (queue == "torch")
    print(f"wrong {wrong_rounds(xpu, rounds)} of {rounds}")
    if queue == "torch":
        second_stream(xpu)
        refused("foreign stream", lambda: foreign_stream(xpu))
        from triton.runtime.driver import driver as config

        config.reset_active()  # else the next one is refused because of this one
        refused("device time", lambda: ours.activate("cpu", queue="torch", timing="device"))
        late = ours.activate("cpu", queue="own")
        late.session()
        late._watches_for_torch = True  # as on a GPU, where torch is looked for unless told otherwise
        refused("late torch", lambda: late.get_current_stream(0))
        del sys.modules["torch"]
        refused("no torch", lambda: ours.activate("cpu", queue="torch"))


def wrong_rounds(xpu: Xpu, rounds: int) -> int:
    """Each round adds one twice: SYCL copies the sum to where the kernel reads it, and only SYCL is waited for."""
    from tests.triton_driver.kernels import add_kernel

    x, one, out = (SharedTensor(xpu, ELEMENTS) for _ in range(3))
    one.values[:] = 1
    out.values[:] = x.values[:] = 0
    grid = (ELEMENTS // BLOCK, 1, 1)
    wrong, value = 0, 0.0
    for _ in range(rounds):
        for _ in range(2):
            xpu.sycl.copy(xpu.queue, x.data_ptr(), out.data_ptr(), out.bytes)
            add_kernel[grid](x, one, out, ELEMENTS, BLOCK=BLOCK)
        xpu.sycl.wait_for(xpu.queue)
        seen = out.values.copy()
        wrong += not (seen == value + 2).all()
        value += 2
    return wrong


def second_stream(xpu: Xpu) -> None:
    """Another stream of torch's, as in `with torch.xpu.stream(...)`: launches go there, in order as well."""
    first = xpu.queue
    xpu.queue = xpu.sycl.make_queue(first)
    print(f"second stream wrong {wrong_rounds(xpu, 50)} of 50")
    xpu.queue = first


def foreign_stream(xpu: Xpu) -> None:
    """Launch on a stream in another context."""
    own = xpu.queue
    xpu.queue = xpu.sycl.make_foreign_queue()
    try:
        wrong_rounds(xpu, 1)
    finally:
        xpu.queue = own


def refused(what: str, call: Callable[[], object]) -> None:
    """Say how a call is refused."""
    from intel_xpu_runtime_dev import XpuDevError

    try:
        call()
    except XpuDevError as error:
        print(f"{what}: {error.problem}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
