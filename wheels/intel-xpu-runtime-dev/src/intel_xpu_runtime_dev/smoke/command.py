"""The command `smoke`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from .._errors import XpuDevError
from .._results import SDK, Runtime
from .._versions import is_number
from . import explain
from .compilers import command_words
from .flow import Attempt
from .preparation import Host, Located, Options, host, locate
from .record import Record, StageError
from .shipped import SUB_GROUPS
from .stages import NOT_RUN, RIGHT, STAGES, TRITON_STAGES, Run, Stage, completed, number

KERNELS = ("add", "softmax", "matmul")
NO_DEVICE_CODE = 2
MOST_SECONDS = 1_000_000

EPILOG = """\
exit code: 0 when every number was compared and right, 2 when the machine has no device to run on, else 1

examples:
  xpu-dev smoke                              on the GPU, else on the CPU device of the extra [cpu]
  xpu-dev smoke --device cpu --kernel add    the fastest proof
  xpu-dev smoke --backend level-zero --json  for programs
  xpu-dev smoke --triton                     with the Triton that is installed here
  xpu-dev smoke --launcher "gdb --args"      put a command in front of the host"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EPILOG
    parser.add_argument(
        "--backend",
        choices=("auto", "level-zero", "unified-runtime"),
        default="auto",
        help="auto: the first of these two that has the device",
    )
    parser.add_argument(
        "--device", default="auto", type=_device, help="gpu, cpu, or a number in the list of stage 5"
    )
    parser.add_argument("--kernel", choices=(*KERNELS, "all"), default="all", help="default: all")
    parser.add_argument("--sub-group", type=int, choices=SUB_GROUPS, help=f"default: {SUB_GROUPS[0]}")
    parser.add_argument(
        "--triton",
        action="store_true",
        help="launch with the installed Triton: by its own driver where torch has XPU, else by ours",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--keep", action="store_true", help="keep the folder of the run and print it")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=120.0,
        metavar="SECONDS",
        help="of each process, default %(default)g",
    )
    parser.add_argument("--no-cache", action="store_true", help="neither use nor keep native binaries")
    host_options = parser.add_argument_group("the host")
    host_options.add_argument(
        "--host",
        choices=("auto", "compiled", "ctypes"),
        default="auto",
        help="auto: compiled when there is a compiler",
    )
    host_options.add_argument(
        "--compiler", default="", metavar="NAME", help="cl, clang-cl, icx, clang, gcc, zig, or a path"
    )
    host_options.add_argument("--stub", default="", metavar="FILE", help="a host that was compiled ahead")
    host_options.add_argument(
        "--runtime", default="", metavar="FILE", help="the loader, instead of the search"
    )
    host_options.add_argument("--launcher", default="", metavar="COMMAND", help="put in front of the host")


def run(arguments: argparse.Namespace) -> int:
    """Run the smoke test; return the exit code."""
    import signal
    import tempfile

    # The host and the folder go with this process, also when a supervisor ends it.
    signal.signal(signal.SIGTERM, _end)
    _refuse_contradictions(arguments)
    launcher = command_words(arguments.launcher, "--launcher") if arguments.launcher else []
    options = Options(
        backend=arguments.backend,
        device=arguments.device,
        kernels=KERNELS if arguments.kernel == "all" else (arguments.kernel,),
        sub_group=arguments.sub_group or SUB_GROUPS[0],
        host=arguments.host,
        compiler=arguments.compiler,
        stub=arguments.stub,
        runtime=arguments.runtime,
        launcher=tuple(launcher),
        timeout=arguments.timeout,
        cache=not arguments.no_cache,
    )
    folder = Path(tempfile.mkdtemp(prefix="xpu-dev-smoke-"))
    try:
        if arguments.triton:
            report = triton_smoke(options, folder, _Printer(TRITON_STAGES, quiet=arguments.json))
        else:
            report = smoke(options, folder, _Printer(STAGES, quiet=arguments.json))
    finally:
        if not arguments.keep:
            import shutil

            shutil.rmtree(folder, ignore_errors=True)
    if arguments.json:
        from .._output import print_json

        print_json(report.as_json())
    if arguments.keep:
        print(f"kept: {folder}", file=sys.stderr)
    return report.exit_code


def _end(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def _refuse_contradictions(arguments: argparse.Namespace) -> None:
    """Raise XpuDevError for options of which one would be passed over in silence."""
    about_host = {
        "--stub": arguments.stub,
        "--compiler": arguments.compiler,
        "--host": arguments.host != "auto",
        "--backend": arguments.backend != "auto",
        "--runtime": arguments.runtime,
        "--sub-group": arguments.sub_group,
        "--no-cache": arguments.no_cache,
    }
    given = [name for name, present in about_host.items() if present]
    if arguments.triton and given:
        raise XpuDevError(
            f"{given[0]} does not go with --triton, which runs the Triton that is installed",
            wanted="--device, --kernel, --json, --keep, --timeout, --launcher",
        )
    ahead = [name for name in ("--stub", "--compiler") if about_host[name]]
    if arguments.host == "ctypes" and ahead:
        raise XpuDevError(f"{ahead[0]} does not go with --host ctypes, which compiles nothing")
    if len(ahead) == 2:
        raise XpuDevError("--compiler does not go with --stub, which was compiled ahead")


class Report(NamedTuple):
    """All that a smoke test came to."""

    sdk: SDK | None
    runtime: Runtime | None
    runs: tuple[Run, ...]
    no_device: bool

    @property
    def exit_code(self) -> int:
        """Return the exit code, see `EPILOG`."""
        if self.no_device:
            return NO_DEVICE_CODE
        return 0 if self.runs and all(run.verdict == RIGHT for run in self.runs) else 1

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        device = next((run.device for run in self.runs if run.device), None)
        return {
            "sdk": _chosen(self.sdk, "component", "version", "root", "via"),
            "runtime": _chosen(self.runtime, "path", "version", "via"),
            "device": device._asdict() if device else None,
            "runs": [run.as_json() for run in self.runs],
        }


def _chosen(found: object, *names: str) -> dict[str, object] | None:
    return {name: getattr(found, name) for name in names} if found else None


class _Printer:
    """Tells people about each stage as it is known."""

    def __init__(self, order: Iterable[str], *, quiet: bool) -> None:
        self._order = tuple(order)
        self._quiet = quiet

    def say(self, text: str) -> None:
        if not self._quiet:
            print(text, flush=True)

    def stage(self, stage: Stage) -> None:
        first, *more = stage.detail.splitlines() or [""]
        place = number(stage.name, self._order)
        self.say(f"  {place:2} {stage.name:14} {stage.status:8} {stage.seconds:7.3f} s  {first}")
        for line in more:
            self.say(f"{'':38}{line}")


def smoke(options: Options, folder: Path, printer: _Printer) -> Report:
    """Run every kernel on the first backend that has the device."""
    for backend in _backends(options):
        report = _on_backend(backend, options, folder, printer)
        if not report.no_device:
            break
    return report


def _backends(options: Options) -> Sequence[str]:
    if options.backend != "auto":
        return (options.backend,)
    # Level Zero has no CPU device.
    return ("unified-runtime",) if options.device == "cpu" else ("level-zero", "unified-runtime")


def _on_backend(backend: str, options: Options, folder: Path, printer: _Printer) -> Report:
    prepared = Record(printer.stage)
    located: Located | None = None
    runs: list[Run] = []
    printer.say(f"{backend}:")
    try:
        located = locate(backend, options, prepared)
        program = host(backend, located, options, folder, prepared)
    except StageError as error:
        stages = completed(prepared.stages, explain.unreached(error.stage, STAGES), STAGES)
        runs = [Run(kernel, backend, None, NOT_RUN, None, stages) for kernel in options.kernels]
        return _report(located, runs, error.no_device)
    for kernel in options.kernels:
        record = Record(printer.stage)
        record.stages.update(prepared.stages)
        run, failure = _one(kernel, backend, located, program, options, folder, record, printer)
        runs.append(run)
        if failure and failure.stage in ("load", "devices"):
            reason = f"not tried: {kernel} came no further than {failure.stage}"
            rest = options.kernels[len(runs) :]
            stages = completed(prepared.stages, reason, STAGES)
            runs += [Run(name, backend, None, NOT_RUN, None, stages) for name in rest]
            return _report(located, runs, failure.no_device)
    return _report(located, runs, no_device=False)


def _report(located: Located | None, runs: Sequence[Run], no_device: bool) -> Report:
    return Report(located and located.sdk, located and located.runtime, tuple(runs), no_device)


def _one(
    kernel: str,
    backend: str,
    located: Located,
    program: Host,
    options: Options,
    folder: Path,
    record: Record,
    printer: _Printer,
) -> tuple[Run, StageError | None]:
    work = folder / f"{backend}-{kernel}"
    work.mkdir()
    attempt = Attempt(kernel, backend, located, program, options, record)
    printer.say(f"{kernel}, sub-group {options.sub_group}:")
    failure = None
    try:
        attempt.run(work)
    except StageError as error:
        failure = error
    verdict = attempt.verdict if failure is None or failure.stage == "launch" else NOT_RUN
    reason = explain.unreached(failure.stage, STAGES) if failure else ""
    device = f" on {attempt.device.name} ({attempt.device.type})" if attempt.device else ""
    printer.say(f"{kernel}: {verdict}{device}")
    stages = completed(record.stages, reason, STAGES)
    return Run(kernel, backend, attempt.device, verdict, attempt.max_error, stages), failure


def triton_smoke(options: Options, folder: Path, printer: _Printer) -> Report:
    """Run every kernel with the Triton that is installed here."""
    from . import triton_flow

    runs = []
    for kernel in options.kernels:
        printer.say(f"{kernel}, Triton:")
        attempt = triton_flow.Attempt(kernel, options, Record(printer.stage))
        run = attempt.run(folder)
        runs.append(run)
        device = f" on {run.device.name} ({run.device.type}) by {run.backend}" if run.device else ""
        printer.say(f"{kernel}: {run.verdict}{device}")
        if not run.device:
            break
    return Report(attempt.sdk, attempt.runtime, tuple(runs), attempt.no_device)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    # Also not a number, and what no system call takes.
    if not 0 < seconds <= MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"a number of seconds above 0, at most {MOST_SECONDS:,}")
    return seconds


def _device(text: str) -> str:
    if text in ("auto", "cpu", "gpu") or is_number(text):
        return text
    raise argparse.ArgumentTypeError("gpu, cpu, or a number")
