"""The stages that a ctypes host goes through, the same on both backends: flow.h in Python."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple, Protocol

from .channel import CallError, Channel, Job

# NTSTATUS by ctypes' words for it.
CRASHES = {"exception: access violation": 0xC0000005, "exception: stack overflow": 0xC00000FD}


class Listed(NamedTuple):
    """A device as its backend lists it; `type` is "cpu", "gpu" or "other"."""

    type: str
    name: str
    driver: str


class Module(NamedTuple):
    """A program and its kernel, as the backend's handles."""

    program: int
    kernel: int


class Backend(Protocol):
    """One of the runtimes by ctypes. Every method raises `CallError` for a call that fails."""

    name: str

    def load(self, path: str) -> str:
        """Load the runtime from a file; return what is known of it."""

    def devices(self) -> tuple[list[Listed], str]:
        """Return the devices, and a remark on drivers or adapters."""

    def open(self, index: int, work_group: int) -> None:
        """Make a context and a queue on a device."""

    def from_spirv(self, spirv: bytes, entry: str, options: str) -> Module:
        """JIT-compile a module."""

    def from_native(self, native: bytes, entry: str, options: str) -> Module | None:
        """Load a native binary; return None when the driver does not take it."""

    def native_binary(self, module: Module) -> bytes:
        """Return a module's native binary."""

    def properties(self, module: Module, job: Job) -> str:
        """Return what the driver tells of a kernel."""

    def shared_memory(self, size: int) -> int:
        """Return the address of memory that host and device share."""

    def launch(self, module: Module, job: Job, buffers: list[int]) -> None:
        """Launch a kernel and wait for its end."""

    def close(self, modules: list[Module], buffers: list[int]) -> None:
        """Release everything."""


def run(backend: Backend) -> None:
    """Go through the stages with the runtime that the command line names."""
    channel = Channel()
    try:
        _run(backend, channel, sys.argv[-1])
    except CallError as failure:
        channel.fail(failure)
    except OSError as error:
        # What ends a program on Windows, ctypes makes an exception of: end as the program would have.
        for text, status in CRASHES.items():
            if str(error).startswith(text):
                os._exit(status - (1 << 32))
        raise


def _run(backend: Backend, channel: Channel, path: str) -> None:
    channel.say("hello", backend=backend.name, version="")
    channel.begin("load")
    channel.done(backend.load(path))

    channel.begin("devices")
    listed, remark = backend.devices()
    for index, device in enumerate(listed):
        channel.say("device", index=index, **device._asdict())
    channel.done(f"{remark}, {len(listed)} devices")
    job = channel.read_job()

    channel.begin("build")
    backend.open(job.device, job.work_group)
    modules = {}
    cached = (
        backend.from_native(Path(job.native).read_bytes(), job.entry, job.options) if job.native else None
    )
    if cached:
        channel.skipped("started from the cached native binary")
    else:
        modules["jit"] = backend.from_spirv(Path(job.spirv).read_bytes(), job.entry, job.options)
        channel.done(f"{job.spirv}, {job.entry}")

    channel.begin("properties")
    channel.done(backend.properties(cached or modules["jit"], job))

    channel.begin("native-binary")
    if cached:
        channel.done("loaded from the cache")
        modules["native"] = cached
    else:
        modules["native"] = _reloaded(backend, channel, job, modules["jit"])

    channel.begin("launch")
    buffers = [backend.shared_memory(len(content)) for content in job.buffers]
    for name, module in modules.items():
        _launch_once(backend, channel, job, module, buffers, f"{name}.out")
    channel.done(f"grid {' '.join(map(str, job.grid))}, work-group {job.work_group}")

    channel.begin("timing")
    warm = sorted(_timed(backend, modules["native"], job, buffers) for _ in range(job.repeat))
    channel.done(f"warm {warm[len(warm) // 2] * 1e6:.1f} us, median of {len(warm)}")

    backend.close(list(modules.values()), buffers)
    channel.say("end")


def _reloaded(backend: Backend, channel: Channel, job: Job, jit: Module) -> Module:
    binary = backend.native_binary(jit)
    Path(job.save).write_bytes(binary)
    native = backend.from_native(binary, job.entry, job.options)
    if not native:
        raise CallError("native binary", detail="the driver refuses the native binary that it has made")
    refused = "; the cached one was refused" if job.native else ""
    channel.done(f"{len(binary)} bytes out and in again{refused}")
    return native


def _timed(backend: Backend, module: Module, job: Job, buffers: list[int]) -> float:
    start = time.perf_counter()
    backend.launch(module, job, buffers)
    return time.perf_counter() - start


def _launch_once(
    backend: Backend, channel: Channel, job: Job, module: Module, buffers: list[int], name: str
) -> None:
    for address, content in zip(buffers, job.buffers):
        ctypes.memmove(address, content, len(content))
    cold = _timed(backend, module, job, buffers)
    with Path(name).open("wb") as file:
        for address, content in zip(buffers, job.buffers):
            file.write(ctypes.string_at(address, len(content)))
    channel.say("output", file=name, cold=f"{cold:.9f}")
