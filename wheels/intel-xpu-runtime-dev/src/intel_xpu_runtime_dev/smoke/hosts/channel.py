"""What the ctypes hosts say to the parent and are given by it: channel.h in Python."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import NamedTuple, NoReturn


class CallError(Exception):
    """A call of the runtime that failed, or an answer that cannot be."""

    def __init__(self, call: str, result: int = 0, detail: str = "") -> None:
        super().__init__(call)
        self.call = call
        self.result = result
        self.detail = detail


class Argument(NamedTuple):
    """A kernel argument: "pointer" to a buffer and an offset in bytes, "integer" and its value, "local_memory" and bytes."""

    kind: str
    value: int
    offset: int = 0


class Job:
    """What to do; files are in the current folder."""

    def __init__(self) -> None:
        self.device = 0
        self.spirv = self.native = self.save = self.entry = self.options = ""
        self.work_group = 1
        self.grid = (1, 1, 1)
        self.repeat = 0
        self.buffers: list[bytes] = []
        self.arguments: list[Argument] = []

    def read_line(self, line: str) -> None:
        """Take one line of the job."""
        word, _, rest = line.partition(" ")
        if word in ("spirv", "native", "save", "entry", "options"):
            setattr(self, word, rest)
        elif word in ("device", "work_group", "repeat"):
            setattr(self, word, int(rest))
        elif word == "grid":
            x, y, z = map(int, rest.split())
            self.grid = (x, y, z)
        elif word == "buffer":
            self.buffers.append(Path(rest).read_bytes())
        elif word in ("pointer", "integer", "local_memory"):
            self.arguments.append(Argument(word, *map(int, rest.split())))
        else:
            raise CallError("job", detail=f"line not understood: {line}")


class Channel:
    """The lines to and from the parent."""

    def __init__(self) -> None:
        self.stage = "load"
        self._start = time.perf_counter()

    def say(self, kind: str, **fields: object) -> None:
        """Write one event on a line of its own."""
        pairs = [f"{name}={one_line(str(value))}" for name, value in fields.items()]
        line = "\t".join(["@smoke", kind, *pairs])
        # os.write, so that nothing is left in a buffer when a driver ends the process.
        os.write(sys.stdout.fileno(), f"\n{line}\n".encode(errors="replace"))

    def begin(self, stage: str) -> None:
        """Start a stage."""
        self.stage = stage
        self._start = time.perf_counter()
        self.say("begin", stage=stage)

    def done(self, detail: str) -> None:
        """End the stage well."""
        self.say("done", stage=self.stage, seconds=f"{self.elapsed():.6f}", detail=detail)

    def skipped(self, detail: str) -> None:
        """End the stage without having done what it is there for."""
        self.say("skipped", stage=self.stage, detail=detail)

    def fail(self, failure: CallError) -> NoReturn:
        """Report the stage's failure and end at once: a driver in trouble may hang in its exit handlers."""
        self.say(
            "failed",
            stage=self.stage,
            seconds=f"{self.elapsed():.6f}",
            call=failure.call,
            result=hex(failure.result & 0xFFFFFFFF),
            detail=failure.detail,
        )
        os._exit(1)

    def elapsed(self) -> float:
        """Return the seconds since the stage began."""
        return time.perf_counter() - self._start

    def read_job(self) -> Job:
        """Ask the parent what to do; end quietly when it has nothing."""
        self.say("ask")
        job = Job()
        for raw in sys.stdin.buffer:
            line = raw.decode().rstrip("\r\n")
            if line == "run":
                return job
            job.read_line(line)
        os._exit(0)


def one_line(text: str) -> str:
    """Return a text that fits into one field of one line."""
    return "".join(" " if character < " " else character for character in text)
