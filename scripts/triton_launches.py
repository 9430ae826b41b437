"""Time launches of a Triton kernel when told to: run by scripts/bench/triton_driver.py in an environment with Triton.

`python triton_launches.py PLACE LIBRARY`: PLACE is cpu, with LIBRARY the compiled triton_nothing.c; gpu; or stock, Triton's
own launcher on the GPU, with LIBRARY the stand-in for torch's part. Answers each line `CASE N` of its input with the
microseconds that a launch takes, N in a row.
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import intel_xpu_runtime_dev.triton as ours
from intel_xpu_runtime_dev.triton import _driver, _layout
from intel_xpu_runtime_dev.triton._launch import ctypes_launcher
from intel_xpu_runtime_dev.triton._native import native_launcher

from tests.doubles.torch_xpu import Tensor, install

# As the C++ host of `xpu-dev compare` launches its own, of the same source.
ELEMENTS, BLOCK, GRID, SUB_GROUP = 5000, 1024, 5, 16
CL_QUEUE_CONTEXT, CL_COMPLETE = 0x1090, 0
WARM_UP = 50

Launch = Callable[..., None]
# The launches by name, each with its arguments; how to hold the device, which tells how to let it go; how to wait.
Cases = tuple[dict[str, tuple[Launch, list[Any]]], Callable[[], Callable[[], Any]], Callable[[], Any]]


def main(place: str, library: str) -> None:
    """Answer until the input ends."""
    cases, hold, finish = {"cpu": cpu_cases, "gpu": gpu_cases, "stock": stock_cases}[place](library)
    print("ready", flush=True)
    for line in sys.stdin:
        name, count = line.split()
        launch, arguments = cases[name]
        run(launch, arguments, WARM_UP)
        finish()
        let_go = hold() if name.startswith("held") else not_held()
        taken = run(launch, arguments, int(count))
        let_go()
        finish()
        print(taken / int(count) * 1e6, flush=True)


def run(launch: Launch, arguments: list[Any], count: int) -> float:
    """Return the seconds of so many calls, what the loop takes included."""
    started = time.perf_counter()
    for _ in range(count):
        launch(*arguments)
    return time.perf_counter() - started


def cpu_cases(library: str) -> Cases:
    """Return the cases on the CPU device: with a function that enqueues nothing, and with the device held."""
    driver = ours.activate("cpu", launcher="c")
    compiled = kernel()
    nothing = ctypes.PyDLL(library).enqueue_nothing
    address = ctypes.cast(nothing, ctypes.c_void_p).value or 0
    launchers = {
        "bare": extension(library).nothing,
        "c": native(compiled, (address, 0, 0, 0, 0)),
        "ctypes": in_ctypes(compiled, SimpleNamespace(bare_enqueue=nothing, has_launch_with_arguments=True)),
        "held-c": native(compiled, _driver._addresses(driver.runtime)),
        "held-ctypes": in_ctypes(compiled, driver.runtime),
    }
    arguments = launch_arguments(driver.session().queue, compiled.function, buffers())
    return {name: (launch, arguments) for name, launch in launchers.items()}, holder(driver), ours.synchronize


def gpu_cases(_: str) -> Cases:
    """Return the cases on the GPU that there is."""
    driver = ours.activate("gpu", launcher="c")
    compiled = kernel()
    launchers = {
        "c": native(compiled, _driver._addresses(driver.runtime)),
        "ctypes": in_ctypes(compiled, driver.runtime),
    }
    arguments = launch_arguments(driver.session().queue, compiled.function, buffers())
    return {name: (launch, arguments) for name, launch in launchers.items()}, not_held, ours.synchronize


def stock_cases(library: str) -> Cases:
    """Return the case of Triton's own launcher, which it compiles here, on the queue of the stand-in for torch."""
    xpu = install(Path(library))
    ours.activate("gpu", queue="own")
    compiled = kernel()
    import triton

    own = triton.backends.backends["intel"].driver.__init__.__globals__
    about = compiled.metadata
    loaded = own["XPUUtils"]().load_binary(
        about.name, compiled.asm["spv"], about.shared, about.build_flags, 0
    )
    arguments = launch_arguments(xpu.queue, loaded[1], [Tensor(xpu, ELEMENTS) for _ in range(3)])
    arguments[5] = compiled.packed_metadata
    case = own["XPULauncher"](compiled.src, about), arguments
    return {"stock": case}, not_held, lambda: xpu.sycl.wait_for(xpu.queue)


def not_held() -> Callable[[], None]:
    """Return what lets nothing go."""
    return lambda: None


def launch_arguments(queue: int, function: Any, arrays: list[Any]) -> list[Any]:
    """Return what Triton passes to a launcher: grid, queue, kernel, metadata, hooks, the kernel's arguments."""
    return [GRID, 1, 1, queue, function, None, None, None, None, *arrays, ELEMENTS, BLOCK]


def kernel() -> Any:
    """Return the kernel add, compiled and launched once."""
    from tests.triton_driver.kernels import add_kernel

    return add_kernel[(GRID,)](*buffers(), ELEMENTS, BLOCK=BLOCK, threads_per_warp=SUB_GROUP)


def buffers() -> list[Any]:
    """Return the kernel's arrays."""
    return [ours.empty(ELEMENTS) for _ in range(3)]


def plan(compiled: Any) -> _layout.Layout:
    """Return the layout of the kernel's arguments."""
    return _layout.layout(compiled.src, compiled.metadata, ours.active_driver().contract)


def native(compiled: Any, addresses: tuple[int, ...]) -> Launch:
    module: Any = native_launcher("c")
    made = plan(compiled)
    codes = "".join(slot.code for slot in made.slots).encode()
    paths = tuple(slot.path for slot in made.slots)
    launch: Launch = module.launcher(
        addresses, codes, paths, made.scratch_pointers, made.threads, lambda kernel: 0, failed
    )
    return launch


def in_ctypes(compiled: Any, runtime: Any) -> Launch:
    return ctypes_launcher(runtime, plan(compiled), lambda kernel: 0, failed)


def failed(result: int) -> None:
    """End: a launch that failed measures nothing."""
    raise SystemExit(f"error: a launch failed with {result}")


def extension(library: str) -> ModuleType:
    """Import the compiled triton_nothing.c."""
    loader = importlib.machinery.ExtensionFileLoader("triton_nothing", library)
    spec: Any = importlib.util.spec_from_loader("triton_nothing", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def holder(driver: Any) -> Callable[[], Callable[[], None]]:
    """Return a function that keeps the device from what is enqueued next, and returns one that lets it go."""
    opencl = ctypes.CDLL("libOpenCL.so.1")
    pointer = ctypes.c_void_p
    create = opencl.clCreateUserEvent
    create.restype, create.argtypes = pointer, (pointer, pointer)

    def called(library: ctypes.CDLL, function: str, types: tuple[Any, ...], *arguments: Any) -> None:
        code = ctypes.CFUNCTYPE(ctypes.c_int, *types)((function, library))(*arguments)
        if code:
            raise SystemExit(f"error: {function} failed with {code}")

    queue, context = pointer(), pointer()
    three, five = (pointer,) * 3, (pointer, ctypes.c_uint, ctypes.c_size_t, pointer, pointer)
    session, runtime = driver.session(), ctypes.CDLL(driver.runtime.path)
    called(runtime, "urQueueGetNativeHandle", three, session.queue, None, ctypes.addressof(queue))
    called(opencl, "clGetCommandQueueInfo", five, queue, CL_QUEUE_CONTEXT, 8, ctypes.addressof(context), None)

    def hold() -> Callable[[], None]:
        event = pointer(create(context, None))
        wait = (pointer, ctypes.c_uint, pointer, pointer)
        called(opencl, "clEnqueueBarrierWithWaitList", wait, queue, 1, ctypes.addressof(event), None)
        return lambda: called(opencl, "clSetUserEventStatus", (pointer, ctypes.c_int), event, CL_COMPLETE)

    return hold


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
