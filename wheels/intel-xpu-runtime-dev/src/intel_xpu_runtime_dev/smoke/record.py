"""The stages of a run while it goes: each timed, each able to fail on its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .._errors import XpuDevError
from .stages import FAILED, OK, SKIPPED, Stage

# Told of every stage as soon as it is known.
Listener = Callable[[Stage], None]


class StageError(Exception):
    """A stage has failed and is recorded; `no_device` when the machine has nothing to run on."""

    def __init__(self, stage: str, *, no_device: bool = False) -> None:
        super().__init__(stage)
        self.stage = stage
        self.no_device = no_device


class Note:
    """What a stage in this process has found, to be filled in while it goes."""

    def __init__(self) -> None:
        self.detail = ""
        self._start = time.perf_counter()

    def elapsed(self) -> float:
        """Return the seconds since the stage began."""
        return time.perf_counter() - self._start


class Record:
    """The stages that are known so far."""

    def __init__(self, listener: Listener) -> None:
        self.stages: dict[str, Stage] = {}
        self._listener = listener

    def add(self, name: str, status: str, seconds: float, detail: str) -> None:
        """Record a stage."""
        stage = Stage(name, status, seconds, detail)
        self.stages[name] = stage
        self._listener(stage)

    def skip(self, name: str, reason: str) -> None:
        """Record a stage that is not gone through."""
        self.add(name, SKIPPED, 0.0, reason)

    def fail(self, name: str, seconds: float, detail: str, *, no_device: bool = False) -> StageError:
        """Record a failure; return the exception to raise."""
        self.add(name, FAILED, seconds, detail)
        return StageError(name, no_device=no_device)

    @contextmanager
    def stage(self, name: str) -> Iterator[Note]:
        """Time a stage of this process; an `XpuDevError` in it is its failure."""
        note = Note()
        try:
            yield note
        except XpuDevError as error:
            raise self.fail(name, note.elapsed(), str(error)) from None
        self.add(name, OK, note.elapsed(), note.detail)
