"""A stand-in for `torch.xpu` on a real SYCL in-order queue, since no index here has a torch with an XPU.

`install(library)` makes it importable as torch. It offers what the driver asks for and no tensor operation; `library` is
`queue.cpp`, compiled. Runs in the environment with Triton: nothing but the standard library and numpy.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("queue.cpp")


def build(sycl: Path, folder: Path) -> Path:
    """Compile the queue with plain g++ against the SYCL of an environment's folder; return the library."""
    library = folder / "libtorch_xpu_double.so"
    paths = [f"-I{sycl / 'include'}", f"-L{sycl / 'lib'}", f"-Wl,-rpath,{sycl / 'lib'}"]
    flags = ["-std=c++17", "-O1", "-w", "-shared", "-fPIC"]
    subprocess.run(
        ["g++", *flags, str(SOURCE), *paths, "-lsycl", "-o", str(library)], check=True, capture_output=True
    )
    return library


class Stream:
    """What `torch.xpu.current_stream()` returns."""

    def __init__(self, sycl_queue: int) -> None:
        self.sycl_queue = sycl_queue


class Xpu:
    """The functions of `torch.xpu` that the driver calls, for one device."""

    def __init__(self, library: Path) -> None:
        self.sycl: Any = ctypes.CDLL(str(library))
        pointer = ctypes.c_void_p
        for name in ("make_queue", "make_foreign_queue", "shared_memory", "device_memory"):
            getattr(self.sycl, name).restype = pointer
        self.sycl.make_queue.argtypes = self.sycl.wait_for.argtypes = (pointer,)
        for name in ("shared_memory", "device_memory"):
            getattr(self.sycl, name).argtypes = (pointer, ctypes.c_size_t)
        self.sycl.copy.argtypes = (pointer, pointer, pointer, ctypes.c_size_t)
        self.queue = self.sycl.make_queue(None)

    def is_available(self) -> bool:
        """Say that there is a device."""
        return True

    def device_count(self) -> int:
        """Count the only device."""
        return 1

    def current_device(self) -> int:
        """Return the only device's number."""
        return 0

    def set_device(self, number: int) -> None:
        """Keep the only device."""
        assert number == 0

    def current_stream(self, number: int = 0) -> Stream:
        """Return the stream that is current."""
        assert number == 0
        return Stream(self.queue)


class Tensor:
    """float32 values in memory that SYCL allocated: the device's alone, as a tensor's are."""

    dtype = "float32"

    def __init__(self, xpu: Xpu, count: int, memory: str = "device_memory") -> None:
        self.bytes = 4 * count
        self._address = getattr(xpu.sycl, memory)(xpu.queue, self.bytes)

    def data_ptr(self) -> int:
        """Return the address, as torch does."""
        return int(self._address)


class SharedTensor(Tensor):
    """The same in memory that the host reads as well, as `values`."""

    def __init__(self, xpu: Xpu, count: int) -> None:
        import numpy as np

        super().__init__(xpu, count, "shared_memory")
        self.values = np.ctypeslib.as_array((ctypes.c_float * count).from_address(self._address))


def install(library: Path) -> Xpu:
    """Put the stand-in where `import torch` finds it; return its `xpu`."""
    xpu = Xpu(library)
    torch = types.ModuleType("torch")
    vars(torch)["xpu"] = xpu
    sys.modules["torch"] = torch
    return xpu
