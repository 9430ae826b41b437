"""The host of `--triton`: a real `@triton.jit` kernel, by the Triton that is installed, on the device asked for.

Where torch has an XPU and no other device is asked for, Triton's own driver launches, which compiles its stub on the way;
else ours on Unified Runtime does, which compiles nothing.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from ..._errors import NotFoundError
from ..problems import GUARD_BYTES, PROBLEMS, Problem
from ..shipped import constants
from .channel import CallError, Channel

OWN, OURS = "triton", "triton-unified-runtime"
NO_DEVICE = "no device"
REPEAT = 20


class Pointer:
    """What Triton takes for a pointer to numbers of 32 bits; no tuple, which would be several arguments."""

    dtype = "float32"

    def __init__(self, address: int) -> None:
        self._address = address

    def data_ptr(self) -> int:
        """Return the address."""
        return self._address


class Memory(Protocol):
    """Where the buffers are, for one of the drivers."""

    def given(self, content: bytes) -> Any:
        """Return a buffer with this content."""

    def pointer(self, buffer: Any) -> Any:
        """Return the kernel's argument for a buffer, behind its guard zone."""

    def taken(self, buffer: Any) -> bytes:
        """Return the content of a buffer once the device is done."""

    def synchronize(self) -> None:
        """Wait for the device."""


class TorchMemory:
    """Tensors on torch's XPU."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def given(self, content: bytes) -> Any:
        """Return a tensor with this content."""
        host = self._torch.empty(len(content) // 4, dtype=self._torch.float32)
        ctypes.memmove(host.data_ptr(), content, len(content))
        return host.to("xpu")

    def pointer(self, buffer: Any) -> Any:
        """Return the tensor behind the guard zone."""
        return buffer[GUARD_BYTES // 4 :]

    def taken(self, buffer: Any) -> bytes:
        """Return the numbers of a tensor."""
        host = buffer.cpu()
        return ctypes.string_at(host.data_ptr(), host.numel() * 4)

    def synchronize(self) -> None:
        """Wait for the device."""
        self._torch.xpu.synchronize()


class SharedMemory:
    """Arrays of our driver."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def given(self, content: bytes) -> Any:
        """Return an array with this content."""
        made = self._module.empty(len(content) // 4)
        ctypes.memmove(made.data_ptr(), content, len(content))
        return made

    def pointer(self, buffer: Any) -> Any:
        """Return the address behind the guard zone."""
        return Pointer(buffer.data_ptr() + GUARD_BYTES)

    def taken(self, buffer: Any) -> bytes:
        """Return the numbers of an array."""
        self.synchronize()
        return ctypes.string_at(buffer.data_ptr(), buffer.numel() * 4)

    def synchronize(self) -> None:
        """Wait for the device."""
        self._module.synchronize()


def main(kernel: str, device: str) -> None:
    """Go through the stages with one kernel."""
    channel = Channel()
    channel.begin("locate")
    try:
        _run(channel, kernel, device)
    except CallError as failure:
        channel.fail(failure)
    except subprocess.CalledProcessError as error:
        channel.fail(CallError(str(error.cmd[0]), detail=f"ended with exit code {error.returncode}"))
    except Exception as error:
        # Triton's, torch's and the compiler's own errors, of whatever type.
        channel.fail(CallError(type(error).__name__, detail=str(error)))


def _run(channel: Channel, kernel: str, device: str) -> None:
    try:
        triton = import_module("triton")
    except ImportError as error:
        raise CallError("import triton", detail=str(error)) from None
    torch = _torch_with_xpu(device)
    channel.say("hello", backend=OWN if torch else OURS, version="")
    versions = [f"Triton {triton.__version__}", f"torch {torch.__version__}" if torch else "torch not needed"]
    channel.done(", ".join(versions))

    channel.begin("driver")
    memory = _with_own_driver(channel, torch, device) if torch else _with_ours(channel, device)

    channel.begin("build")
    problem = PROBLEMS[kernel](max(constants(kernel).values()))
    buffers = [memory.given(content) for content in problem.buffers]
    launch = _launch(kernel, problem, [memory.pointer(buffer) for buffer in buffers])
    launch(warmup=True)
    channel.done(f"{kernel}_kernel compiled")

    channel.begin("launch")
    cold = _timed(launch, memory)
    Path("triton.out").write_bytes(b"".join(map(memory.taken, buffers)))
    channel.say("output", file="triton.out", cold=f"{cold:.9f}")
    channel.done(f"grid {' '.join(map(str, problem.grid))}")

    channel.begin("timing")
    warm = sorted(_timed(launch, memory) for _ in range(REPEAT))
    channel.done(f"warm {warm[REPEAT // 2] * 1e6:.1f} us, median of {REPEAT}")
    channel.say("end")


def _torch_with_xpu(device: str) -> Any:
    """Return torch where it has an XPU and that is what is asked for, else None."""
    if device == "cpu":
        return None
    try:
        torch = import_module("torch")
    except ImportError:
        return None
    return torch if hasattr(torch, "xpu") and torch.xpu.is_available() else None


def _with_own_driver(channel: Channel, torch: Any, device: str) -> Memory:
    if device.isdigit():
        torch.xpu.set_device(int(device))
    driver = import_module("triton.runtime.driver").driver
    # Compiles and loads what asks the device, Triton's stub.
    driver.active.get_current_target()
    number = torch.xpu.current_device()
    about = torch.xpu.get_device_properties(number)
    told = {"index": number, "type": "gpu", "name": about.name, "driver": about.driver_version}
    channel.say("device", **told)
    cache = Path(os.environ["TRITON_CACHE_DIR"])
    made = sorted({path.name for path in cache.rglob("*") if path.suffix in (".so", ".pyd", ".dll")})
    channel.done(f"{type(driver.active).__name__} by {', '.join(made) or 'no compilation'}")
    return TorchMemory(torch)


def _with_ours(channel: Channel, device: str) -> Memory:
    module = import_module("intel_xpu_runtime_dev.triton")
    from ..._ur_api import DeviceInfo, DeviceType

    try:
        driver = module.activate(device)
    except NotFoundError as error:
        raise CallError(NO_DEVICE, detail=f"{error.problem}; there is: {error.found or 'none'}") from None
    number = driver.get_current_device()
    found = driver.devices[number]
    kind = {int(DeviceType.CPU): "cpu", int(DeviceType.GPU): "gpu"}.get(found.type, "other")
    channel.say(
        "device", index=number, type=kind, name=found.name, driver=found.text(DeviceInfo.DRIVER_VERSION)
    )
    launcher = driver.native_launcher.__name__ if driver.native_launcher else "ctypes"
    channel.done(f"Unified Runtime {driver.runtime.version or ''} {driver.runtime.path}, launcher {launcher}")
    return SharedMemory(module)


def _launch(kernel: str, problem: Problem, pointers: list[Any]) -> Callable[..., None]:
    """Return what compiles the kernel, with `warmup`, or launches it."""
    function = getattr(import_module("intel_xpu_runtime_dev.smoke.kernels.source"), f"{kernel}_kernel")
    arguments = [pointers[value] if kind == "pointer" else value for kind, value in problem.arguments]
    named = {**constants(kernel), "num_warps": 4}

    def launch(*, warmup: bool = False) -> None:
        if warmup:
            function.warmup(*arguments, grid=problem.grid, **named)
        else:
            function[problem.grid](*arguments, **named)

    return launch


def _timed(launch: Callable[[], None], memory: Memory) -> float:
    start = time.perf_counter()
    launch()
    memory.synchronize()
    return time.perf_counter() - start


if __name__ == "__main__":
    main(*sys.argv[-2:])
