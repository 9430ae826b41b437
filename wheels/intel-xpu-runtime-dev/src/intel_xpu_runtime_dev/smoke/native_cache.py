"""Native binaries of earlier runs, in the user's cache folder, by device, driver and SPIR-V."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from .shipped import Kernel
from .stages import Device

# A file is the SHA-256 of the binary, then the binary: a driver may crash on a damaged one.
DIGEST_BYTES = 32
# Part of every key: a change of the format or of the keys makes the old files unknown.
FORMAT = "1"


class DamagedError(Exception):
    """A kept file is not the one that was written."""


def folder() -> Path | None:
    """Return the folder of everything cached: `XPU_DEV_CACHE_DIR`, else the platform's own, None without a home."""
    if override := os.environ.get("XPU_DEV_CACHE_DIR"):
        return Path(override)
    if os.name == "nt" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local, "intel-xpu-runtime-dev")
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base, "intel-xpu-runtime-dev")
    try:
        return Path.home() / ".cache" / "intel-xpu-runtime-dev"
    except RuntimeError:  # a container's user of whom the system knows nothing
        return None


def entry(backend: str, device: Device, kernel: Kernel) -> Path | None:
    """Return the file for the native binary of a kernel on a device, which may not exist; None without a home."""
    parts = (FORMAT, backend, device.type, device.name, device.driver, kernel.options)
    key = hashlib.sha256("\0".join(parts).encode() + b"\0" + kernel.spirv).hexdigest()
    cached = folder()
    return cached / "smoke" / f"{key[:32]}.bin" if cached else None


def load(path: Path) -> bytes | None:
    """Return the binary that an entry holds, None when there is none; raise `DamagedError` for other bytes."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, binary = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    if hashlib.sha256(binary).digest() != digest:
        raise DamagedError
    return binary


def store(path: Path, binary: bytes) -> str:
    """Keep a binary under a temporary name first; return what kept it from being kept, "" when nothing did."""
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(hashlib.sha256(binary).digest() + binary)
        partial.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        return f"{path.parent}: {error.strerror}"
    return ""
