#!/usr/bin/env python3
"""Time launches of a Triton kernel through our driver, and a second process to its first right result.

    python3 scripts/dev.py bench triton_driver [--json FILE] [--quick]

What a launcher adds: the kernel add with three arrays, a number and a constant, called as Triton calls it, with a function
in place of the runtime's that enqueues nothing, over a builtin that does nothing. What a launch takes: on the CPU device,
kept from running meanwhile, beside the C++ host of `xpu-dev compare` on the same Unified Runtime; and on a virtual GPU,
beside the launcher that Triton compiles itself. Each in a process pinned to one processor.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts"), str(ROOT / "wheels/intel-xpu-runtime-dev/src")]
from benchmarking import Row, interleaved, main, row  # noqa: E402 # through the line above
from intel_xpu_runtime_dev.compare import kits  # noqa: E402
from intel_xpu_runtime_dev.compare.building import compile_host  # noqa: E402
from intel_xpu_runtime_dev.compare.layers import HOSTS  # noqa: E402
from intel_xpu_runtime_dev.compare.measuring import write_kernels  # noqa: E402
from intel_xpu_runtime_dev.compare.session import Program, Timed  # noqa: E402
from repack.stage import stage  # noqa: E402

from tests.doubles import torch_xpu  # noqa: E402
from tests.support import environments, wheels  # noqa: E402
from tests.support.needs import program  # noqa: E402
from tests.virtual_gpu.root import root  # noqa: E402

RELEASE, LEVEL_ZERO, DEVICE = "2026.2.0", "1.32.0", "pvc"
# Microseconds over a bare call and over the C++ host; seconds to the first right result: what this is held to.
C_OVER_BARE, CTYPES_OVER_BARE, C_OVER_HOST, SECOND_START = 0.3, 1.6, 0.3, 0.6
LAUNCHES = 500
SCRIPTS = ROOT / "scripts"

Measure = Callable[[], float]


def rows(quick: bool) -> Iterator[Row]:
    """Yield the microseconds of launches and the seconds of a second process."""
    with tempfile.TemporaryDirectory(prefix="bench-triton-") as name:
        folder = Path(name)
        with zipfile.ZipFile(wheels.wheel("intel-xpu-triton-launcher", "*", "linux_x86_64")) as archive:
            archive.extractall(folder / "launcher")
        with ExitStack() as stack:
            yield from cpu_rows(folder, stack, 3 if quick else 61)
        with ExitStack() as stack:
            yield from gpu_rows(folder, stack, 3 if quick else 31)
        yield from start_rows(folder, 2 if quick else 15)


class Child:
    """scripts/triton_launches.py at work, pinned to a processor."""

    def __init__(self, command: Sequence[str | Path], variables: Mapping[str, str]) -> None:
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(allowed)})
        try:
            # What Triton's compiler says goes nowhere.
            self._process = subprocess.Popen(
                list(map(str, command)), env={**os.environ, **variables}, text=True, bufsize=1,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        finally:
            os.sched_setaffinity(0, allowed)
        self._answer()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def microseconds(self, case: str) -> float:
        """Return what a launch of a case takes."""
        print(f"{case} {LAUNCHES}", file=self._process.stdin)
        return float(self._answer())

    def _answer(self) -> str:
        line = self._process.stdout.readline().strip() if self._process.stdout else ""
        if not line:
            raise SystemExit(
                f"error: {SCRIPTS / 'triton_launches.py'} ended:\n{self._process.communicate()[1]}"
            )
        return line


def variables(folder: Path) -> dict[str, str]:
    """Return the environment of everything that runs with Triton."""
    sources = [ROOT / "wheels/intel-xpu-runtime-dev/src", ROOT, folder / "launcher"]
    return {
        "HOME": str(folder),
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join(map(str, sources)),
    }


def cpu_rows(folder: Path, stack: ExitStack, rounds: int) -> Iterator[Row]:
    """Yield what the launchers add, and what a launch takes on the CPU device that is held."""
    library = folder / "triton_nothing.so"
    headers = ROOT / "wheels/intel-xpu-triton-launcher/src"
    compile_ = [program("cc", "gcc"), "-O2", "-shared", "-fPIC", f"-I{headers}", SCRIPTS / "triton_nothing.c"]
    subprocess.run([*map(str, compile_), "-o", str(library)], check=True)
    python = environments.triton_with_runtime(RELEASE)
    found = {**variables(folder), "LD_LIBRARY_PATH": str(python.parents[1] / "lib")}
    child = stack.enter_context(Child([python, SCRIPTS / "triton_launches.py", "cpu", library], found))
    host = stack.enter_context(Timed(host_program(folder), "opencl", max(os.sched_getaffinity(0))))
    cases: dict[str, Measure] = {
        name: partial(child.microseconds, name) for name in ("bare", "c", "ctypes", "held-ctypes", "held-c")
    }
    # Right behind the one that it is compared with.
    cases["host"] = lambda: host.seconds("held", LAUNCHES) * 1e6
    taken = interleaved(cases, rounds)

    group = "what a launcher adds to a bare call"
    yield row(group, "C launcher", over(taken, "c", "bare"), "us").at_most(C_OVER_BARE)
    yield row(group, "ctypes launcher", over(taken, "ctypes", "bare"), "us").at_most(CTYPES_OVER_BARE)
    group = "a launch on the CPU device, held"
    yield row(group, "C launcher", taken["held-c"], "us")
    yield row(group, "C launcher over the C++ host", over(taken, "held-c", "host"), "us").at_most(C_OVER_HOST)
    yield row(group, "ctypes launcher", taken["held-ctypes"], "us")
    yield row(group, "C++ host", taken["host"], "us")


def over(taken: Mapping[str, Sequence[float]], case: str, base: str) -> list[float]:
    """Return the differences of two cases, round by round."""
    return [one - other for one, other in zip(taken[case], taken[base], strict=True)]


def host_program(folder: Path) -> Program:
    """Return the C++ host of `xpu-dev compare` on the release's Unified Runtime."""
    installed = kits.of_root(str(environments.sycl_runtime(RELEASE).parents[1]))
    built = compile_host(HOSTS["unified-runtime"], installed, folder)
    write_kernels(folder, "cpu")
    return Program((str(built.program),), folder, installed.environment())


def gpu_rows(folder: Path, stack: ExitStack, rounds: int) -> Iterator[Row]:
    """Yield what a launch takes on a virtual GPU, by Unified Runtime's first Level Zero adapter."""
    python, sycl = environments.triton_with_runtime(RELEASE), environments.sycl_runtime(RELEASE).parents[1]
    level_zero = stage("level-zero", LEVEL_ZERO, "linux_x86_64", folder / "level-zero")
    (folder / "oneapi" / "compiler").mkdir(parents=True)
    (folder / "oneapi" / "compiler" / "latest").symlink_to(sycl)
    linker, option, libraries = root().launcher
    found = {
        **variables(folder), **root().variables(DEVICE),
        "UR_LOADER_USE_LEVEL_ZERO_V2": "0",
        # What Triton's own driver compiles with.
        "ONEAPI_ROOT": str(folder / "oneapi"), "ZE_PATH": str(level_zero), "LIBRARY_PATH": str(level_zero / "lib"),
    }  # fmt: skip

    def child(place: str, library: Path) -> Child:
        folders = os.pathsep.join([libraries, str(python.parents[1] / "lib")])
        command: list[str | Path] = [
            linker,
            option,
            folders,
            python,
            SCRIPTS / "triton_launches.py",
            place,
            library,
        ]
        return stack.enter_context(Child(command, found))

    ours, stock = child("gpu", folder), child("stock", torch_xpu.build(sycl, folder))
    taken = interleaved(
        {
            "C launcher": partial(ours.microseconds, "c"),
            "ctypes launcher": partial(ours.microseconds, "ctypes"),
            "Triton's own": partial(stock.microseconds, "stock"),
        },
        rounds,
    )
    group = "a launch on a virtual GPU, host side"
    peer = row(group, "Triton's own launcher, compiled", taken["Triton's own"], "us")
    for name in ("C launcher", "ctypes launcher"):
        one = row(group, name, taken[name], "us")
        yield one.held_to("below Triton's own", one.value < peer.value)
    yield peer


def start_rows(folder: Path, rounds: int) -> Iterator[Row]:
    """Yield what a process takes that finds the kernel in Triton's cache."""
    python = environments.triton_with_runtime(RELEASE)
    command = [str(python), str(SCRIPTS / "triton_first_result.py")]
    case = "second process"

    def seconds() -> float:
        started = time.perf_counter()
        with subprocess.Popen(
            command, env={**os.environ, **variables(folder)}, stdout=subprocess.PIPE, text=True
        ) as running:
            line = running.stdout.readline() if running.stdout else ""
            taken = time.perf_counter() - started
        if line.strip() != "right":
            raise SystemExit("error: the second process did not come to a right result")
        return taken

    (taken,) = interleaved({case: seconds}, rounds).values()
    yield row("first right result on the CPU device", case, taken, "s").at_most(SECOND_START)


if __name__ == "__main__":
    sys.exit(main(rows, __doc__, sys.argv[1:]))
