"""The stages of `--triton` with one kernel: a child process with a fresh Triton cache, judged by what comes back."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from .._components import WINDOWS
from .._errors import NotFoundError
from .._results import SDK, Runtime
from . import explain
from .child import Child, Event
from .hosts.triton import NO_DEVICE, OURS, OWN
from .preparation import PACKAGES, Options
from .problems import PROBLEMS, compare
from .record import Record, StageError
from .shipped import constants
from .stages import FAILED, NOT_RUN, OK, RIGHT, TRITON_STAGES, Device, Run, completed
from .stub import wrong_lines

HOST = """\
import sys
sys.path.insert(0, {packages!r})
from intel_xpu_runtime_dev.smoke.hosts.triton import main
main(*sys.argv[-2:])
"""


class Attempt:
    """One kernel with the Triton that is installed. What is found is known as far as it came."""

    def __init__(self, kernel: str, options: Options, record: Record) -> None:
        self.sdk: SDK | None = None
        self.runtime: Runtime | None = None
        self.no_device = False
        self._kernel = kernel
        self._options = options
        self._record = record
        self._backend = OURS
        self._device: Device | None = None
        self._verdict = NOT_RUN
        self._max_error: float | None = None
        self._current = "locate"
        self._problem = PROBLEMS[kernel](max(constants(kernel).values()))
        self._output = b""
        self._cold = 0.0
        self._ended = False

    def run(self, folder: Path) -> Run:
        """Go through the stages in the folder of all runs, which share Triton's cache."""
        work = folder / f"triton-{self._kernel}"
        work.mkdir()
        reason = ""
        try:
            self._go(work, folder / "triton-cache")
        except StageError as error:
            self.no_device = error.no_device
            reason = explain.unreached(error.stage, TRITON_STAGES)
            if error.stage != "launch":
                self._verdict = NOT_RUN
        stages = completed(self._record.stages, reason, TRITON_STAGES)
        return Run(self._kernel, self._backend, self._device, self._verdict, self._max_error, stages)

    def _go(self, work: Path, cache: Path) -> None:
        self._locate()
        boot = HOST.format(packages=str(PACKAGES))
        command = (*self._options.launcher, sys.executable, "-c", boot, self._kernel, self._options.device)
        environment = {**_environment(), "TRITON_CACHE_DIR": str(cache)}
        try:
            child = Child(command, work, environment, self._options.timeout)
        except OSError as error:
            text = f"the host cannot be started: {command[0]}: {error.strerror}"
            raise self._record.fail("locate", 0.0, f"{text}\n  do this: {explain.LAUNCHER}") from None
        with child:
            for event in child.events():
                self._take(event, child, work)
            ending = child.ending()
            if ending or not self._ended:
                text = explain.died(
                    self._backend, self._current, ending or "ended before it was done", _last(child)
                )
                raise self._record.fail(self._current, 0.0, text)  # fmt: skip

    def _locate(self) -> None:
        """Find the development kit that Triton's own driver would compile against; ours needs none."""
        from .._sdk import find_sdk

        with contextlib.suppress(NotFoundError):
            self.sdk = find_sdk("level-zero")

    def _take(self, event: Event, child: Child, work: Path) -> None:
        fields = event.fields
        if event.kind == "hello":
            self._backend = fields["backend"]
            self._find_runtime()
        elif event.kind == "begin":
            self._current = fields["stage"]
        elif event.kind == "device":
            self._device = Device(int(fields["index"]), fields["type"], fields["name"], fields["driver"])
        elif event.kind == "output":
            self._output = (work / fields["file"]).read_bytes()
            self._cold = float(fields["cold"])
        elif event.kind == "done":
            self._done(fields["stage"], float(fields["seconds"]), fields["detail"])
        elif event.kind == "failed":
            self._failed(fields, child)
        elif event.kind == "end":
            self._ended = True

    def _find_runtime(self) -> None:
        from .._runtime import find_runtime

        with contextlib.suppress(NotFoundError):
            self.runtime = find_runtime("level-zero" if self._backend == OWN else "unified-runtime")

    def _done(self, stage: str, seconds: float, detail: str) -> None:
        if stage == "locate" and self._backend == OWN:
            kit = f"{self.sdk.version} in {self.sdk.root}" if self.sdk else "not found"
            detail += f"; Level Zero development kit {kit}"
        if stage == "timing":
            detail = f"cold {self._cold * 1e6:.1f} us, {detail}"
        if stage == "launch":
            comparison = compare(self._problem, self._output)
            self._verdict, self._max_error = comparison.verdict, comparison.max_error
            detail = f"{comparison.detail}; {detail}"
            if comparison.verdict != RIGHT:
                self._record.add(stage, FAILED, seconds, detail)
                raise StageError(stage)
        self._record.add(stage, OK, seconds, detail)

    def _failed(self, fields: dict[str, str], child: Child) -> None:
        no_device = fields["call"] == NO_DEVICE
        detail = "; ".join(filter(None, [fields["detail"], _last(child)]))
        text = explain.failed_call(self._backend, fields["stage"], fields["call"], 0, detail)
        if no_device:
            text = f"{fields['detail']}\n  do this: {explain.NO_DEVICE}"
        raise self._record.fail(fields["stage"], float(fields["seconds"]), text, no_device=no_device)


def _environment() -> dict[str, str]:
    """Return the variables of the child: on Windows the user's own, for there Triton finds our kit by itself."""
    from .._environment import activated

    if WINDOWS:
        return dict(os.environ)
    try:
        return activated(os.environ)
    except NotFoundError:
        return dict(os.environ)


def _last(child: Child) -> str:
    """Return what a compiler printed that says what is wrong."""
    return wrong_lines("\n".join(child.noise))
