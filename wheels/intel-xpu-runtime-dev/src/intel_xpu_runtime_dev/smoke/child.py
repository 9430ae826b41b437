"""The host as a child process: its events, the job it is given, a time limit, and how it ended."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

MARK = "@smoke\t"

# How Windows ends a process that did not end by itself, from ntstatus.h.
WINDOWS_ENDINGS = {
    0xC0000005: "access violation",
    0xC000001D: "illegal instruction",
    0xC00000FD: "stack overflow",
    0xC0000135: "a DLL was not found",
    0xC0000139: "a DLL lacks a function",
    0xC0000142: "a DLL failed to initialise",
    0xC0000374: "heap corruption",
    0xC0000409: "stack buffer overrun",
}


class Event(NamedTuple):
    """A line of the host, see hosts/channel.h."""

    kind: str
    fields: dict[str, str]


class Child:
    """A running host; leave it as a context, which ends it."""

    def __init__(
        self, command: Sequence[str], folder: Path, environment: Mapping[str, str], limit: float
    ) -> None:
        self.limit = limit
        self.timed_out = False
        # What the driver and the system's loader print among the events.
        self.noise: list[str] = []
        self._deadline = time.monotonic() + limit
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=os.name != "nt",
        )
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                # What was left to write may have no reader.
                with contextlib.suppress(OSError):
                    pipe.close()

    def events(self) -> Iterator[Event]:
        """Yield what the host says until it ends, or until the time limit, which kills it."""
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, self._deadline - time.monotonic()))
            except queue.Empty:
                self.timed_out = True
                self.kill()
                return
            if line is None:
                return
            if line.startswith(MARK):
                kind, *fields = line[len(MARK) :].split("\t")
                pairs = (field.partition("=") for field in fields)
                yield Event(kind, {key: value for key, _, value in pairs})
            elif line:
                self.noise.append(line)

    def answer(self, lines: Sequence[str]) -> None:
        """Give the host its job."""
        if self._process.stdin:
            try:
                self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
                self._process.stdin.flush()
            except OSError:  # it has died; how, `ending` tells
                pass

    def ending(self) -> str:
        """Return how the host ended, "" when as it should."""
        if self.timed_out:
            return f"no answer within {self.limit:g} s"
        try:
            code = self._process.wait(max(1.0, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.kill()
            return f"did not end within {self.limit:g} s"
        return _told(code)

    def kill(self) -> None:
        """End the host and what it has started."""
        if self._process.poll() is None:
            if os.name == "nt":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _read(self) -> None:
        if self._process.stdout:
            try:
                for line in self._process.stdout:
                    self._lines.put(line.decode(errors="replace").rstrip("\r\n"))
            except ValueError:  # closed by __exit__
                pass
        self._lines.put(None)


def _told(code: int) -> str:
    if code == 0:
        return ""
    if code < 0 and os.name != "nt":
        return f"signal {-code} ({signal.Signals(-code).name})"
    status = code & 0xFFFFFFFF
    if status >= 0xC0000000:
        return f"exit code 0x{status:08X} ({WINDOWS_ENDINGS.get(status, 'an NTSTATUS error')})"
    return f"exit code {code}"
