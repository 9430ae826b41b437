"""Stages 4 to 10 with one kernel: start the host, choose the device, give it the job, judge what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .._errors import XpuDevError
from .._files import is_file
from .._versions import is_number
from . import explain, native_cache, shipped
from .child import Child, Event
from .preparation import Host, Located, Options
from .problems import GUARD_BYTES, PROBLEMS, Comparison, Problem, compare
from .record import Record, StageError
from .stages import FAILED, NOT_RUN, OK, RIGHT, SKIPPED, Device
from .zeinfo import registers

REPEAT = 20  # warm launches
# The buffers after a launch of the module that was made from SPIR-V, and of the one made from its native binary.
JIT_OUTPUT, NATIVE_OUTPUT = "jit.out", "native.out"
SAVED = "native.bin"


class Attempt:
    """One kernel on one device. `device`, `verdict` and `max_error` are known as far as it came."""

    def __init__(
        self, kernel: str, backend: str, located: Located, host: Host, options: Options, record: Record
    ) -> None:
        self.kernel = kernel
        self.backend = backend
        self.device: Device | None = None
        self.verdict = NOT_RUN
        self.max_error: float | None = None
        self._located = located
        self._host = host
        self._options = options
        self._record = record
        self._devices: list[Device] = []
        self._current = "load"
        self._outputs: dict[str, Comparison] = {}
        self._cold = 0.0
        self._entry: Path | None = None
        self._ended = self._said_hello = self._damaged = False

    def run(self, folder: Path) -> None:
        """Go through the stages in a folder of its own; raise `StageError` for the one that fails."""
        self._folder = folder
        for output in (JIT_OUTPUT, NATIVE_OUTPUT):
            (folder / output).unlink(missing_ok=True)
        try:
            child = Child(self._host.command, folder, self._host.environment, self._options.timeout)
        except OSError as error:
            text = f"the host cannot be started: {self._host.command[0]}: {error.strerror}"
            fix = explain.LAUNCHER if self._options.launcher else "name a host that --keep kept"
            raise self._record.fail("load", 0.0, f"{text}\n  do this: {fix}") from None
        with child:
            try:
                for event in child.events():
                    self._take(event, child)
                    if event.kind == "end":
                        self._ended = True
            except OSError as error:  # of a file of the job
                text = explain.died(self.backend, self._current, str(error), "")
                raise self._record.fail(self._current, 0.0, text) from None
            ending = child.ending()
            if ending or not self._ended:
                found = "; ".join([*child.noise[-3:], *self._remarks(self._current)])
                text = explain.died(self.backend, self._current, ending or "ended before it was done", found)
                if self._options.launcher and not self._said_hello:
                    text = f"--launcher ended without having started the host\n  do this: {explain.LAUNCHER}"
                raise self._record.fail(self._current, 0.0, text)
        self._keep_native_binary()

    def _take(self, event: Event, child: Child) -> None:
        fields = event.fields
        if event.kind == "hello":
            self._said_hello = True
            self._check_release(fields["version"])
        elif event.kind == "begin":
            self._current = fields["stage"]
        elif event.kind == "device":
            self._devices.append(
                Device(int(fields["index"]), fields["type"], fields["name"], fields["driver"])
            )
        elif event.kind == "ask":
            self._choose_device()
            child.answer(self._job())
        elif event.kind == "output":
            self._compare(fields["file"], float(fields["cold"]))
        elif event.kind == "done":
            self._done(fields["stage"], float(fields["seconds"]), fields["detail"])
        elif event.kind == "skipped":
            self._record.add(fields["stage"], SKIPPED, 0.0, fields["detail"])
        elif event.kind == "failed":
            self._failed(fields)

    def _check_release(self, version: str) -> None:
        """Refuse a host that was compiled ahead for another release than the one that is here."""
        wanted = self._located.sdk.version
        if self.backend == "unified-runtime" and version and wanted and version != wanted:
            raise self._record.fail(
                "load",
                0.0,
                f"the host was compiled with {version} headers, but the development kit and runtime are {wanted}\n"
                f"  do this: compile the host with the headers of {wanted}",
            )

    def _failed(self, fields: dict[str, str]) -> None:
        detail = "; ".join(filter(None, [fields["detail"], *self._remarks(fields["stage"])]))
        text = explain.failed_call(
            self.backend, fields["stage"], fields["call"], int(fields["result"], 16), detail
        )
        raise self._record.fail(fields["stage"], float(fields["seconds"]), text)

    def _remarks(self, stage: str) -> list[str]:
        """Return what is known to be wrong on our side of a stage."""
        if stage != "build" or self._module.intact:
            return []
        return [
            "the SPIR-V is not the one that was shipped: pip install --force-reinstall intel-xpu-runtime-dev"
        ]

    def _choose_device(self) -> None:
        device = chosen(self._devices, self._options.device)
        if device is None:
            mistyped = bool(self._devices) and is_number(self._options.device)
            listed = ", ".join(f"{one.number} {one.type} {one.name}" for one in self._devices)
            error = XpuDevError(
                f"no device for --device {self._options.device}",
                found=listed or f"none; {self._record.stages['devices'].detail}",
                fix="take a number of this list" if mistyped else explain.no_device(),
            )
            seconds = self._record.stages["devices"].seconds
            raise self._record.fail("devices", seconds, str(error), no_device=not mistyped)
        self.device = device

    def _job(self) -> Sequence[str]:
        """Write the files of the job; return its lines."""
        if self.device is None:
            raise RuntimeError("there is no job without a device")
        self._module = shipped.kernel(self.kernel, self._options.sub_group, self.device.type)
        self._problem: Problem = PROBLEMS[self.kernel](self._module.block)
        self._write("kernel.spv", self._module.spirv)
        for index, content in enumerate(self._problem.buffers):
            self._write(f"buffer{index}", content)
        arguments = [
            f"{kind} {value} {GUARD_BYTES}" if kind == "pointer" else f"{kind} {value}"
            for kind, value in self._problem.arguments
        ]
        if self._module.local_memory:
            arguments.append(f"local_memory {self._module.local_memory}")
        return [
            f"device {self.device.number}",
            "spirv kernel.spv",
            *self._cached(),
            f"save {SAVED}",
            f"entry {self._module.entry}",
            f"options {self._module.options}",
            f"work_group {self._module.work_group}",
            f"grid {' '.join(map(str, self._problem.grid))}",
            f"repeat {REPEAT}",
            *(f"buffer buffer{index}" for index in range(len(self._problem.buffers))),
            *arguments,
            "run",
        ]

    def _cached(self) -> list[str]:
        if not self._options.cache or self.device is None:
            return []
        self._entry = native_cache.entry(self.backend, self.device, self._module)
        if self._entry is None:
            return []
        try:
            binary = native_cache.load(self._entry)
        except native_cache.DamagedError:
            self._damaged = True
            return []
        if binary is None:
            return []
        self._write("cached.bin", binary)
        return ["native cached.bin"]

    def _write(self, name: str, content: bytes) -> None:
        (self._folder / name).write_bytes(content)

    def _compare(self, name: str, cold: float) -> None:
        path = self._folder / name
        self._outputs[name] = compare(self._problem, path.read_bytes() if is_file(path) else b"")
        # The first launch of all.
        self._cold = self._cold or cold

    def _done(self, stage: str, seconds: float, detail: str) -> None:
        if stage == "launch":
            self._judge(seconds, detail)
            return
        if stage == "load" and self._located.runtime.version:
            detail += f", {self._located.runtime.version}"
        if stage == "native-binary":
            detail = self._with_registers(detail) + ("; the cached one was damaged" if self._damaged else "")
        if stage == "timing":
            detail = f"cold {self._cold * 1e6:.1f} us, {detail}"
        self._record.add(stage, OK, seconds, detail)

    def _with_registers(self, detail: str) -> str:
        path = self._folder / SAVED
        count = registers(path.read_bytes()) if is_file(path) else None
        return detail if count is None else f"{detail}, registers {count}"

    def _judge(self, seconds: float, detail: str) -> None:
        """Decide from every output; a run is right only when each launch that must have been made is right."""
        started_from_cache = self._record.stages["build"].status == SKIPPED
        wanted = [NATIVE_OUTPUT] if started_from_cache else [JIT_OUTPUT, NATIVE_OUTPUT]
        for name in wanted:
            comparison = self._outputs.get(name) or Comparison(NOT_RUN, None, f"{name} is missing")
            self.verdict, self.max_error = comparison.verdict, comparison.max_error
            if comparison.verdict != RIGHT:
                origin = "native binary" if name == NATIVE_OUTPUT else "SPIR-V"
                self._record.add("launch", FAILED, seconds, f"from {origin}: {comparison.detail}; {detail}")
                raise StageError("launch")
        origins = "from the native binary" if started_from_cache else "from SPIR-V and from the native binary"
        self.max_error = max(self._outputs[name].max_error or 0.0 for name in wanted)
        self._record.add("launch", OK, seconds, f"{self._outputs[wanted[0]].detail}, {origins}; {detail}")

    def _keep_native_binary(self) -> None:
        """Keep the native binary for the next run, once its numbers are known to be right."""
        path = self._folder / SAVED
        if self._entry and is_file(path):
            native_cache.store(self._entry, path.read_bytes())


def chosen(devices: Sequence[Device], wanted: str) -> Device | None:
    """Return the device of a number, the first of a type, or for "auto" the first GPU, else the first CPU."""
    if is_number(wanted):
        return next((device for device in devices if device.number == int(wanted)), None)
    for kind in ("gpu", "cpu") if wanted == "auto" else (wanted,):
        for device in devices:
            if device.type == kind:
                return device
    return None
