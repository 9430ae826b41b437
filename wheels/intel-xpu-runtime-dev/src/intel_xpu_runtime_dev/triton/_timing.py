"""Timers for Triton's `do_bench`: wall time, or the device's own clock."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any

from .._ur_api import HANDLE, PROFILING_COMMAND_END
from ._session import Session


class DeviceInterface:
    """What Triton takes for `torch.xpu`: `Event(enable_timing=True)`, `synchronize()`, `current_device()`."""

    def __init__(self, session: Callable[[], Session], current_device: Callable[[], int]) -> None:
        self._session = session
        self._current_device = current_device

    def Event(self, enable_timing: bool = True) -> WallEvent | DeviceEvent:  # noqa: N802 - the name that Triton calls
        """Return a timer: of the device where the queue was made for it, else of the host."""
        session = self._session()
        return DeviceEvent(session) if session.profiling else WallEvent(session)

    def synchronize(self) -> None:
        """Wait for the current device."""
        self._session().synchronize()

    def current_device(self) -> int:
        """Return the number of the device that launches go to."""
        return self._current_device()


class WallEvent:
    """The host's clock once the device is idle."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seconds = 0.0

    def record(self) -> None:
        """Wait for the device, then read the clock."""
        self._session.synchronize()
        self._seconds = time.perf_counter()

    def elapsed_time(self, end: Any) -> float:
        """Return the milliseconds from this event to another."""
        return float((end._seconds - self._seconds) * 1e3)


class DeviceEvent:
    """The device's clock at the end of a barrier in the queue."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._event = HANDLE()

    def __del__(self) -> None:
        self._release()

    def _release(self) -> None:
        if self._event:
            self._session.runtime.call("urEventRelease", self._event)
            self._event = HANDLE()

    def record(self) -> None:
        """Enqueue the barrier."""
        self._release()
        self._session.runtime.call(
            "urEnqueueEventsWaitWithBarrier", self._session.queue, 0, None, ctypes.byref(self._event)
        )

    def nanoseconds(self) -> int:
        """Return the device's clock at this event, after waiting for it."""
        self._session.synchronize()
        clock = self._session.runtime.told("urEventGetProfilingInfo", self._event, PROFILING_COMMAND_END)
        return int.from_bytes(clock, "little")

    def elapsed_time(self, end: DeviceEvent) -> float:
        """Return the milliseconds from this event to another."""
        return (end.nanoseconds() - self.nanoseconds()) / 1e6
