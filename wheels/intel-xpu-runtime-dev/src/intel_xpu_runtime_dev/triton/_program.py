"""Load a compiled kernel: build it on the device, keep its machine code in Triton's cache."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import weakref
from typing import Any, NamedTuple

from .. import _spirv
from .._spirv import MAGIC
from .._ur import URError
from .._ur_api import DeviceInfo, DeviceType, KernelGroupInfo, KernelInfo, Result
from ._layout import Loaded
from ._session import Session

LARGE_REGISTERS = "-cl-intel-256-GRF-per-thread"
# From this many bytes of spilled registers on, Triton's own driver builds again with the large register file.
SPILL_LIMIT = 1000
_CACHE_FORMAT = 2

# Results that mean: this configuration is too large for the device, another may do.
TOO_LARGE = {
    Result.INVALID_WORK_GROUP_SIZE: "work-group size",
    Result.OUT_OF_HOST_MEMORY: "host memory",
    Result.OUT_OF_DEVICE_MEMORY: "device memory",
    Result.OUT_OF_RESOURCES: "device resources",
}


class Module:
    """A program and its kernel, released with this object; commands that are under way keep their own hold."""

    def __init__(self, session: Session, program: int, kernel: int) -> None:
        self.kernel = kernel
        self.release = weakref.finalize(self, _release, session, program, kernel)
        # At exit the runtime may already be gone.
        self.release.atexit = False


class Built(NamedTuple):
    """A built program: how, and what the device says of its kernel. `spill` is in bytes, 0 where it is unknown."""

    program: int
    kernel: int
    flags: str
    spill: int

    @property
    def registers(self) -> int:
        """Registers per thread that the build flags ask for, 0 for the compiler's choice."""
        return next((count for count in (256, 128) if f"-{count}-GRF" in self.flags), 0)


def load(session: Session, name: str, binary: bytes, flags: str) -> tuple[Module, Loaded, Built]:
    """Return a kernel that can be launched, from SPIR-V or machine code that Triton hands over.

    Raise URError with the device's build log, or Triton's OutOfResources.
    """
    is_spirv = int.from_bytes(binary[:4], "little") == MAGIC
    try:
        built = (
            _from_cache_or_source(session, name, binary, flags)
            if is_spirv
            else _native(session, name, binary, flags)
        )
    except URError as error:
        raise out_of_resources(error.result) or error from None
    arguments = session.runtime.info("urKernelGetInfo", built.kernel, KernelInfo.NUM_ARGS) or b""
    threads = session.runtime.info(
        "urKernelGetGroupInfo", built.kernel, session.device.handle, KernelGroupInfo.WORK_GROUP_SIZE
    )
    loaded = Loaded(
        arguments=int.from_bytes(arguments[:4], "little"),
        parameters=_spirv.kernel_parameters(binary, name) if is_spirv else None,
        max_threads=int.from_bytes((threads or b"")[:8], "little")
        or session.device.number(DeviceInfo.MAX_WORK_GROUP_SIZE),
    )
    return Module(session, built.program, built.kernel), loaded, built


def out_of_resources(result: int, required: int = 0, limit: int = 0) -> Exception | None:
    """Return Triton's OutOfResources, which autotune takes as "skip this configuration", if the result means that."""
    if result not in TOO_LARGE:
        return None
    from triton.runtime.errors import OutOfResources

    error: Exception = OutOfResources(required, limit, TOO_LARGE[Result(result)])
    return error


def _release(session: Session, program: int, kernel: int) -> None:
    session.runtime.call("urKernelRelease", kernel)
    session.runtime.call("urProgramRelease", program)


def _from_cache_or_source(session: Session, name: str, spirv: bytes, flags: str) -> Built:
    cache, file = _cache(session, spirv, flags), f"{name[:150]}.native"
    path = cache.get_file(file)
    if path is not None:
        built = _from_cache(session, name, path)
        if built is not None:
            return built
    accepted = _spirv.accepted_by_cpu(spirv) if session.device.type == DeviceType.CPU else spirv
    built = _built(
        session,
        session.runtime.program_from_spirv(session.context, session.device, accepted, flags),
        name,
        flags,
    )
    if built.spill > SPILL_LIMIT and "-GRF" not in flags:
        flags = f"{flags} {LARGE_REGISTERS}".strip()
        _release(session, built.program, built.kernel)
        program = session.runtime.program_from_spirv(session.context, session.device, accepted, flags)
        built = _built(session, program, name, flags)
    # Without a binary, or room for it, the next process builds the kernel again.
    with contextlib.suppress(URError, OSError):
        native = session.runtime.native_binary(built.program)
        digest = hashlib.sha256(native).hexdigest()
        header = json.dumps({"flags": built.flags, "spill": built.spill, "sha256": digest}).encode()
        if native:
            cache.put(header + b"\n" + native, file)
    return built


def _from_cache(session: Session, name: str, path: str) -> Built | None:
    """Return the kernel of a cached binary; None when it is damaged or the device does not take it: build the source."""
    from pathlib import Path

    try:
        header, _, native = Path(path).read_bytes().partition(b"\n")
        facts = json.loads(header)
        # Drivers trust machine code: a changed byte can end the process.
        if facts["sha256"] != hashlib.sha256(native).hexdigest():
            return None
        flags, spill = facts["flags"], facts["spill"]
        program = session.runtime.program_from_native(session.context, session.device, native, flags)
        return Built(program, _kernel(session, program, name), flags, spill)
    except (URError, OSError, ValueError, KeyError, TypeError):
        return None


def _native(session: Session, name: str, binary: bytes, flags: str) -> Built:
    return _built(
        session,
        session.runtime.program_from_native(session.context, session.device, binary, flags),
        name,
        flags,
    )


def _built(session: Session, program: int, name: str, flags: str) -> Built:
    kernel = _kernel(session, program, name)
    spill = session.runtime.info("urKernelGetInfo", kernel, KernelInfo.SPILL_MEM_SIZE) or b""
    return Built(program, kernel, flags, int.from_bytes(spill[:8], "little"))


def _kernel(session: Session, program: int, name: str) -> int:
    """Return the kernel of a program, which is released when there is none of that name."""
    try:
        return session.runtime.created("urKernelCreate", program, name.encode())
    except URError:
        session.runtime.call("urProgramRelease", program)
        raise


def _cache(session: Session, spirv: bytes, flags: str) -> Any:
    """Return Triton's cache folder for one module on one device with one driver."""
    from triton.runtime.cache import get_cache_manager

    digest = hashlib.sha256(spirv)
    for part in (_CACHE_FORMAT, flags, session.fingerprint, ctypes.sizeof(ctypes.c_void_p)):
        digest.update(repr(part).encode() + b"\0")
    return get_cache_manager(digest.hexdigest())
