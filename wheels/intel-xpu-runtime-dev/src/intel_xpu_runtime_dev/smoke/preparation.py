"""Stages 1 to 3: the development kit and the runtime, a compiler, the host."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from .._errors import NotFoundError, XpuDevError
from .._files import is_file
from .._results import SDK, Runtime
from . import compilers, cpu_device, explain
from .compilers import WINDOWS, Compiler
from .record import Record
from .stub import Stub

PACKAGES = Path(__file__).parents[2]  # where intel_xpu_runtime_dev is
CTYPES_HOST = """\
import sys
sys.path.insert(0, {packages!r})
from intel_xpu_runtime_dev.smoke.hosts.{module} import Host, run
run(Host())
"""


class Options(NamedTuple):
    """What the user has asked for; see command.py."""

    backend: str
    device: str
    kernels: tuple[str, ...]
    sub_group: int
    host: str
    compiler: str
    stub: str
    runtime: str
    launcher: tuple[str, ...]
    timeout: float
    cache: bool


class Located(NamedTuple):
    """What stage 1 found; `variables` offer the CPU device to the host."""

    sdk: SDK
    runtime: Runtime
    variables: Mapping[str, str]


class Host(NamedTuple):
    """How to start the host; `compiled` when it is the C program."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    compiled: bool


def locate(backend: str, options: Options, record: Record) -> Located:
    """Find the development kit and the runtime, and refuse two that do not go together."""
    with record.stage("locate") as note:
        from .._sdk import find_sdk

        sdk = find_sdk(backend)
        try:
            runtime = _runtime(backend, options)
        except NotFoundError as error:
            # Without a runtime there is no driver either.
            text = f"{error}\n  or: {explain.no_device()}"
            raise record.fail("locate", note.elapsed(), text, no_device=not options.runtime) from None
        note.detail = (
            f"development kit {sdk.version or 'of unknown version'} by {sdk.via}: {sdk.root}; "
            f"runtime {runtime.version or 'of unknown version'} by {runtime.via}: {runtime.path}"
        )
        offer = cpu_device.offer(runtime.path) if backend == "unified-runtime" else None
        if offer:
            note.detail += f"; {offer.remark}"
    return Located(sdk, runtime, offer.variables if offer else {})


def _runtime(backend: str, options: Options) -> Runtime:
    from .._runtime import find_runtime

    if options.runtime:
        path = Path(options.runtime).absolute()
        if not is_file(path):
            raise NotFoundError("--runtime names no file", looked_in=(str(path),))
        return Runtime(str(path), None, "--runtime")
    return find_runtime(backend, verify=True)


def host(backend: str, located: Located, options: Options, folder: Path, record: Record) -> Host:
    """Compile and link the host; without a compiler, take the one that works by ctypes."""
    environment = _environment(located)
    if options.stub:
        reason = f"compiled ahead: {options.stub}"
        record.skip("compile", reason)
        record.skip("link", reason)
        program = Path(options.stub).absolute()
        if not is_file(program):
            raise record.fail(
                "load", 0.0, f"--stub names no file: {program}\n  do this: name a host that --keep kept"
            )
        return Host((*options.launcher, str(program)), environment, True)
    reason = "--host ctypes"
    if options.host != "ctypes":
        stub = Stub(located.sdk, folder, limit=options.timeout)
        compiler = _compile(stub, options, record)
        if compiler:
            _link(stub, compiler, record)
            return Host((*options.launcher, str(stub.program)), environment, True)
        reason = f'no compiler ({compilers.NAMES}); pip install "intel-xpu-runtime-dev[zig]" brings one'
    record.skip("compile", reason)
    record.skip("link", reason)
    module = backend.replace("-", "_")
    boot = CTYPES_HOST.format(packages=str(PACKAGES), module=module)
    # -S: site-packages are not needed and take time.
    command = (*options.launcher, sys.executable, "-S", "-c", boot, located.runtime.path)
    return Host(command, environment, False)


def _compile(stub: Stub, options: Options, record: Record) -> Compiler | None:
    """Compile with the first compiler that works; return it, or None when the machine has none."""
    wanted = options.compiler
    candidates = compilers.named(wanted) if wanted else compilers.candidates()
    first = next(candidates, None)
    if first is None and options.host != "compiled" and not wanted:
        return None
    with record.stage("compile") as note:
        broken: list[str] = []
        for compiler in chain(filter(None, [first]), candidates):
            outcome = stub.compile(compiler)
            if outcome.succeeded:
                note.detail = "; ".join([f"{compiler.name} ({compiler.via})", *broken])
                return compiler
            probe = stub.works(compiler)
            if probe.succeeded:
                raise XpuDevError(
                    f"{compiler.name} compiles, but not with the {stub.sdk.component} headers",
                    looked_in=stub.sdk.include_dirs,
                    found=outcome.output,
                    fix=explain.of_machine(outcome.output)
                    or f"pip install --force-reinstall {stub.distribution}, or name another compiler with --compiler",
                )
            broken.append(f"{compiler.name} ({compiler.via}) does not work: {probe.output}")
        raise XpuDevError(
            "no C compiler works" if broken else "there is no C compiler",
            wanted=wanted or f"one of: {compilers.NAMES}",
            looked_in=tuple(broken),
            fix='pip install "intel-xpu-runtime-dev[zig]", which brings one, or --host ctypes',
        )


def _link(stub: Stub, compiler: Compiler, record: Record) -> None:
    with record.stage("link") as note:
        outcome = stub.link(compiler)
        if not outcome.succeeded:
            raise XpuDevError(
                f"{compiler.name} cannot link with the {stub.sdk.component} library",
                looked_in=stub.sdk.library_dirs,
                found=outcome.output,
                fix=explain.of_machine(outcome.output)
                or f"pip install --force-reinstall {stub.distribution}",
            )
        note.detail = f"{stub.sdk.libraries[0]} in {stub.sdk.library_dirs[0]}"


def _environment(located: Located) -> dict[str, str]:
    """Return the variables of the host: the runtime's folder first, and the CPU device."""
    environment = dict(os.environ)
    variable = "PATH" if WINDOWS else "LD_LIBRARY_PATH"
    # The system's own loader stays the system's: its folder holds much else.
    if located.runtime.via not in ("system loader", "System32"):
        folders = [str(Path(located.runtime.path).parent), environment.get(variable, "")]
        environment[variable] = os.pathsep.join(filter(None, folders))
    environment.update(located.variables)
    return environment
