"""Bounded reading of a file that may lie about itself."""

from __future__ import annotations

from typing import IO

from .._errors import XpuDevError

BLOCK = 1 << 16
# A real import table takes a few hundred KB; only a hostile file makes a reader come near these.
MOST_BLOCKS = 64
MOST_BYTES = 512 << 20


class MalformedError(XpuDevError):
    """A file is truncated, contradicts itself or goes beyond what a real file of its kind has."""


class Window:
    """Reads ranges of a file, keeping a few blocks; a range outside the file is a `MalformedError`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._blocks: dict[int, bytes] = {}
        self._left = MOST_BYTES
        self.size = file.seek(0, 2)

    def read(self, offset: int, size: int) -> bytes:
        """Return exactly `size` bytes from `offset` on."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise MalformedError(
                f"the file is truncated or damaged: it places {size} bytes at {offset:#x}, its size is {self.size}"
            )
        first, last = offset // BLOCK, (offset + size - 1) // BLOCK
        if first == last:
            start = offset - first * BLOCK
            return self._block(first)[start : start + size]
        self._spend(size)
        self._file.seek(offset)
        return self._file.read(size)

    def text(self, offset: int, limit: int = 512) -> str:
        """Return the NUL-terminated ASCII text at `offset`, cut at `limit` bytes."""
        data = self.read(offset, max(0, min(limit, self.size - offset)))
        return data.partition(b"\0")[0].decode("ascii", "replace")

    def _block(self, index: int) -> bytes:
        block = self._blocks.get(index)
        if block is None:
            if len(self._blocks) >= MOST_BLOCKS:
                self._blocks.clear()
            self._spend(BLOCK)
            self._file.seek(index * BLOCK)
            block = self._blocks[index] = self._file.read(BLOCK)
        return block

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise MalformedError(
                f"the file's tables make a reader go over {MOST_BYTES >> 20} MB; no real file does"
            )
