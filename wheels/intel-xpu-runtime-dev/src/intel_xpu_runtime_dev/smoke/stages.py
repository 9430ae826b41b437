"""The stages of a run, and what is known of each afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# name: what happens in it. The order is the order of the run; the number that people see is the place in here.
STAGES = {
    "locate": "find the development kit and the runtime",
    "compile": "find a C compiler, compile a host against the development kit's headers",
    "link": "link it with the development kit's library",
    "load": "load the runtime, tell its version",
    "devices": "list drivers or adapters, and devices",
    "build": "JIT-compile SPIR-V that Triton made",
    "properties": "ask for spill size, sub-group size, registers",
    "native-binary": "take the native binary out and load it again",
    "launch": "launch, compare every number",
    "timing": "launch again and again",
}

# The stages of `--triton`.
TRITON_STAGES = {
    "locate": "import Triton, and torch where it is",
    "driver": "start Triton's driver, which compiles its stub against the development kit, or ours",
    "build": "compile the kernel with Triton",
    "launch": "load and launch it, compare every number",
    "timing": "launch again and again",
}

# What a stage came to. A failed one ends its run, the ones behind it are skipped.
OK, FAILED, SKIPPED = "ok", "failed", "skipped"

# What a run came to.
RIGHT, WRONG, NOT_EXECUTED, NOT_RUN = "right", "wrong", "not executed", "failed"


class Stage(NamedTuple):
    """One stage: `seconds` is 0 when it was skipped; `detail` tells what was found, or what is wrong and what to do."""

    name: str
    status: str
    seconds: float
    detail: str


class Device(NamedTuple):
    """A device as the host lists it, from 0; `type` is "cpu", "gpu" or "other"."""

    number: int
    type: str
    name: str
    driver: str


class Run(NamedTuple):
    """One kernel on one device. `max_error` is the largest difference, None when no number was compared."""

    kernel: str
    backend: str
    device: Device | None
    verdict: str
    max_error: float | None
    stages: tuple[Stage, ...]

    def as_json(self) -> dict[str, object]:
        """Return the run as `--json` prints it."""
        return {
            "kernel": self.kernel,
            "backend": self.backend,
            "device": self.device.name if self.device else None,
            "verdict": self.verdict,
            "max_error": self.max_error,
            "stages": [stage._asdict() for stage in self.stages],
        }


def number(name: str, order: Iterable[str]) -> int:
    """Return the number of a stage in its order, from 1."""
    return list(order).index(name) + 1


def completed(known: dict[str, Stage], reason: str, order: Iterable[str]) -> tuple[Stage, ...]:
    """Return all stages in their order; those that are not known were skipped for this reason."""
    return tuple(known.get(name) or Stage(name, SKIPPED, 0.0, reason) for name in order)
