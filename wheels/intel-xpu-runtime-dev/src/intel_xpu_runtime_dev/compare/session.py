"""A host at work: its answers to the questions, its time to the first right result, its times of launches."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .._errors import XpuDevError
from ..smoke.child import Child, Event

LIMIT = 120.0  # seconds


class Answer(NamedTuple):
    """What a test of a layer came to: "yes", "no", or "not executed" by a device that only seems to launch."""

    verdict: str
    detail: str


class Spread(NamedTuple):
    """Median and quartiles, in seconds."""

    median: float
    lower: float
    upper: float


class Program(NamedTuple):
    """How to start a host: command, folder with its files, environment."""

    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]

    def start(self, *words: str) -> Child:
        """Start it; raise `XpuDevError` when the system cannot."""
        try:
            return Child((*self.command, *words), self.folder, self.environment, LIMIT)
        except OSError as error:
            raise XpuDevError(f"{self.command[0]}: {error.strerror}") from None


class Questioned(NamedTuple):
    """The answers of a layer; `reason` tells why there are no more of them, empty when there are all."""

    device: str
    answers: Mapping[str, Answer]
    reason: str


def ask(program: Program, adapter: str) -> Questioned:
    """Let a host answer all questions."""
    device, answers, stage, reason, ended = "", {}, "start", "", False
    with program.start("questions", adapter) as child:
        for event in child.events():
            fields = event.fields
            if event.kind == "begin":
                stage = fields["stage"]
            elif event.kind == "device":
                device = fields["name"]
            elif event.kind == "answer":
                answers[fields["question"]] = Answer(fields["verdict"], fields["detail"].strip())
            elif event.kind == "failed":
                reason = told(event)
            elif event.kind == "end":
                ended = True
        if not ended and not reason:
            reason = f"{stage}: {child.ending() or 'ended early'}; {'; '.join(child.noise[-2:])}".strip("; ")
    return Questioned(device, answers, reason)


def told(event: Event) -> str:
    """Return what a host says of its failure."""
    fields = event.fields
    code = "" if int(fields["result"], 16) == 0 else f" gives {fields['result']}"
    return f"{fields['call']}{code}{': ' if fields['detail'] else ''}{fields['detail']}"


def first_right_result(program: Program, adapter: str, form: str) -> float:
    """Return the seconds from the start of the process to a right result; raise `XpuDevError` when none comes."""
    start = time.perf_counter()
    with program.start("cold", adapter, form) as child:
        for event in child.events():
            if event.kind == "answer":
                if event.fields["verdict"] == "yes":
                    return time.perf_counter() - start
                raise XpuDevError(event.fields["detail"])
            if event.kind == "failed":
                raise XpuDevError(told(event))
        raise XpuDevError(child.ending() or "no result")


class Timed:
    """A host that launches when it is told to; leave it as a context."""

    def __init__(self, program: Program, adapter: str, processor: int | None) -> None:
        allowed = os.sched_getaffinity(0) if processor is not None else set()
        if processor is not None:
            # The child and all its threads inherit it.
            os.sched_setaffinity(0, {processor})
        try:
            self._child = program.start("time", adapter)
        finally:
            if allowed:
                os.sched_setaffinity(0, allowed)
        self._events: Iterator[Event] = self._child.events()
        self._next("ask")

    def __enter__(self) -> Timed:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.answer(["quit"])
        self._child.__exit__()

    def seconds(self, what: str, launches: int) -> float:
        """Return the seconds of one launch: "submit", "held" (submit, the device being held), or "finish" (with it)."""
        self._child.answer([f"{what} {launches}"])
        return float(self._next("time").fields["seconds"])

    def right(self) -> Answer:
        """Return whether a launch gives right numbers now."""
        self._child.answer(["check"])
        fields = self._next("answer").fields
        return Answer(fields["verdict"], fields["detail"])

    def _next(self, kind: str) -> Event:
        for event in self._events:
            if event.kind == kind:
                return event
            if event.kind == "failed":
                raise XpuDevError(told(event))
        raise XpuDevError(self._child.ending() or "the host ended early")


def spread(values: Sequence[float]) -> Spread:
    """Return median and quartiles."""
    if len(values) < 2:
        return Spread(values[0], values[0], values[0])
    lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, lower, upper)
