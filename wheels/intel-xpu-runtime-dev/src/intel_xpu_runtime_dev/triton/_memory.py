"""Arrays in unified shared memory, which the host and the device both read and write."""

from __future__ import annotations

import ctypes
import math
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._errors import XpuDevError
from ._session import Session

if TYPE_CHECKING:
    import numpy as np

BFLOAT16 = "bfloat16"

# Triton's dtype names with the bytes of an element and numpy's name; types that numpy lacks show as raw bits.
DTYPES = {
    "bool": (1, "bool"),
    "int8": (1, "int8"), "int16": (2, "int16"), "int32": (4, "int32"), "int64": (8, "int64"),
    "uint8": (1, "uint8"), "uint16": (2, "uint16"), "uint32": (4, "uint32"), "uint64": (8, "uint64"),
    "float16": (2, "float16"), "float32": (4, "float32"), "float64": (8, "float64"),
    BFLOAT16: (2, "uint16"), "float8_e4m3fn": (1, "uint8"), "float8_e5m2": (1, "uint8"),
}  # fmt: skip


class Allocation:
    """A piece of unified shared memory, freed when nothing refers to it any more."""

    def __init__(self, session: Session, size: int) -> None:
        self.session = session
        session.has_memory = True
        self.address = session.runtime.created(
            "urUSMSharedAlloc", session.context, session.device.handle, None, None, max(size, 1)
        )
        self.bytes: Any = _bytes_at(self.address, size)
        # numpy views hold the ctypes object and nothing else.
        self.bytes.allocation = self
        self._free = weakref.finalize(self, _free, session, self.address)
        self._free.atexit = False


def _bytes_at(address: int, size: int) -> Any:
    return (ctypes.c_char * size).from_address(address)


def _free(session: Session, address: int) -> None:
    # A kernel that is still running may use it.
    session.synchronize()
    session.runtime.call("urUSMFree", session.context, address)


class Array:
    """An n-dimensional array that Triton takes as a pointer argument and numpy reads without a copy.

    `dtype` is the name that Triton and numpy have for the element type.
    """

    def __init__(
        self, allocation: Allocation, offset: int, shape: Sequence[int], strides: Sequence[int], dtype: str
    ) -> None:
        self._allocation = allocation
        self._offset = offset
        # Returns the address of the first element. Every launch calls it, so it is a builtin: an int's conjugate is itself.
        self.data_ptr: Callable[[], int] = (allocation.address + offset).conjugate
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"<Array {self.dtype}{list(self.shape)} on {self._allocation.session.device.name!r}>"

    def __len__(self) -> int:
        return self.shape[0]

    def element_size(self) -> int:
        """Return the bytes of an element."""
        return DTYPES[self.dtype][0]

    def numel(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)

    def size(self, dimension: int) -> int:
        """Return the length of a dimension."""
        return self.shape[dimension]

    def stride(self, dimension: int) -> int:
        """Return the elements from one index of a dimension to the next."""
        return self.strides[dimension]

    def is_contiguous(self) -> bool:
        """Return whether the elements lie in C order without gaps."""
        return self.strides == _c_strides(self.shape)

    def synchronize(self) -> None:
        """Wait for the kernels that were launched on this array's device."""
        self._allocation.session.synchronize()

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return the values once the device is done: a view, but a float32 copy of bfloat16 values."""
        raw = self.raw()
        if self.dtype != BFLOAT16:
            return raw
        import numpy as np

        return (raw.astype(np.uint32) << 16).view(np.float32)

    def raw(self) -> np.ndarray[Any, Any]:
        """Return a numpy view once the device is done; types that numpy lacks as unsigned integers."""
        import numpy as np

        self.synchronize()
        dtype = np.dtype(DTYPES[self.dtype][1])
        step = tuple(stride * dtype.itemsize for stride in self.strides)
        return np.ndarray(self.shape, dtype, self._allocation.bytes, self._offset, step)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        import numpy as np

        values = self.numpy()
        return np.array(values, dtype) if copy else np.asarray(values, dtype)

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._for_dlpack().__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self._for_dlpack().__dlpack_device__()

    def _for_dlpack(self) -> Any:
        if DTYPES[self.dtype][1] != self.dtype:
            raise BufferError(
                f"DLPack has no {self.dtype} through numpy: use .view({DTYPES[self.dtype][1]!r})"
            )
        return self.raw()

    def __getitem__(self, index: Any) -> Array:
        """Return a view on a part, as numpy selects it."""
        part = self.raw()[index if isinstance(index, tuple) else (index,)]
        address = part.__array_interface__["data"][0]
        if not isinstance(part, type(self.raw())) or not 0 <= address - self._allocation.address <= len(
            self._allocation.bytes
        ):
            raise XpuDevError("only slices and whole rows can be views", found=repr(index))
        strides = [step // self.element_size() for step in part.strides]
        return Array(self._allocation, address - self._allocation.address, part.shape, strides, self.dtype)

    def reshape(self, *shape: int) -> Array:
        """Return a view with another shape of the same number of elements."""
        if not self.is_contiguous() or math.prod(shape) != self.numel():
            raise XpuDevError(f"an array of shape {self.shape} cannot be seen as {shape}")
        return Array(self._allocation, self._offset, shape, _c_strides(shape), self.dtype)

    def view(self, dtype: Any) -> Array:
        """Return a view with another element type of the same size."""
        name = dtype_name(dtype)
        if DTYPES[name][0] != self.element_size():
            raise XpuDevError(f"{self.dtype} cannot be seen as {name}: the sizes differ")
        return Array(self._allocation, self._offset, self.shape, self.strides, name)

    def zero_(self) -> Array:
        """Fill with zeros, in order with the kernels of the array's own queue."""
        if not self.is_contiguous():
            self.raw()[...] = 0
            return self
        session, size = self._allocation.session, self.numel() * self.element_size()
        if size:
            session.runtime.call(
                "urEnqueueUSMFill", session.queue, self.data_ptr(), 1, b"\0", size, 0, None, None
            )
        return self

    def copy_(self, source: Array) -> Array:
        """Copy the values of another array of the same shape and type."""
        self.raw()[...] = source.raw()
        return self

    def clone(self) -> Array:
        """Return a copy."""
        return empty(self._allocation.session, self.shape, self.dtype).copy_(self)


def empty(session: Session, shape: Sequence[int], dtype: Any) -> Array:
    """Return an array with undefined values."""
    name = dtype_name(dtype)
    allocation = Allocation(session, math.prod(shape) * DTYPES[name][0])
    return Array(allocation, 0, shape, _c_strides(shape), name)


def array(session: Session, values: Any, dtype: Any) -> Array:
    """Return a copy of values that numpy understands; bfloat16 is rounded to nearest."""
    import numpy as np

    name = "" if dtype is None else dtype_name(dtype)
    if name == BFLOAT16:
        host = _bfloat16_bits(np.asarray(values, np.float32))
    else:
        host = np.asarray(values, DTYPES[name][1] if name else None)
    made = empty(session, host.shape, name or host.dtype)
    made.raw()[...] = host
    return made


def dtype_name(dtype: Any) -> str:
    """Return the name of an element type given as a name or a type of numpy, torch or Triton."""
    aliases = {"fp16": "float16", "bf16": BFLOAT16, "fp32": "float32", "fp64": "float64", "int1": "bool"}
    text = dtype.__name__ if isinstance(dtype, type) else str(dtype)
    name = text.rpartition(".")[2]
    name = aliases.get(name, name)
    if name not in DTYPES:
        raise XpuDevError(f"unknown element type {dtype!r}", wanted=", ".join(DTYPES))
    return name


def _c_strides(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(shape[index + 1 :]) for index in range(len(shape)))


def _bfloat16_bits(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the upper halves of binary32 numbers, rounded to nearest, ties to even."""
    import numpy as np

    bits = np.ascontiguousarray(values).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)
