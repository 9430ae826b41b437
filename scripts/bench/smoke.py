#!/usr/bin/env python3
"""Time `xpu-dev smoke` to the first right result, vector add on Intel's CPU device, files in the page cache.

    python3 scripts/dev.py bench smoke [--json FILE] [--quick]

From the start of the process to the line that says that every number was right: with a C host compiled and linked on the
way, by ctypes, and from the native binary that an earlier run has kept. Beside it the C host alone, compiled ahead and given
the same job. And the compilation of that host, beside that of Triton's own driver.c by the same compiler.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts"), str(ROOT / "wheels/intel-xpu-runtime-dev/src")]
from benchmarking import Row, interleaved, main, milliseconds, process, row  # noqa: E402 # through the line above
from intel_xpu_runtime_dev._results import SDK  # noqa: E402
from intel_xpu_runtime_dev.smoke.compilers import Compiler  # noqa: E402
from intel_xpu_runtime_dev.smoke.shipped import kernel  # noqa: E402
from intel_xpu_runtime_dev.smoke.stub import Stub  # noqa: E402

from tests.smoke.installs import Install  # noqa: E402
from tests.smoke.jobs import write_job  # noqa: E402
from tests.support import environments  # noqa: E402
from tests.support.needs import program  # noqa: E402

RELEASE = "2026.2.0"
# Seconds to the first right result, ms of compiling: what this is held to.
COMPILED, CTYPES, KEPT, STUB = 0.6, 0.4, 0.2, 200
SMOKE_SAYS, HOST_SAYS = "launch         ok", "done\tstage=launch"


def rows(quick: bool) -> Iterator[Row]:
    """Yield the seconds to the first right result, and the milliseconds of compiling."""
    rounds = 2 if quick else 15
    with tempfile.TemporaryDirectory(prefix="bench-smoke-") as folder:
        yield from result_rows(Path(folder), rounds)
        yield from compile_rows(Path(folder), rounds)


def result_rows(folder: Path, rounds: int) -> Iterator[Row]:
    """Yield the ways of `xpu-dev smoke`, each with its limit, and the C host alone."""
    install = Install(RELEASE)
    variables = {"PYTHONPATH": str(install.packages), "XPU_DEV_CACHE_DIR": str(folder / "cache")}
    smoke = [
        str(install.python),
        "-m",
        "intel_xpu_runtime_dev",
        "smoke",
        "--device",
        "cpu",
        "--kernel",
        "add",
    ]
    fresh = [*smoke, "--no-cache", "--host"]
    ways = {
        "xpu-dev smoke, C host": (COMPILED, [*fresh, "compiled"]),
        "xpu-dev smoke, ctypes": (CTYPES, [*fresh, "ctypes"]),
        "xpu-dev smoke, kept native binary": (KEPT, [*smoke, "--host", "ctypes"]),
    }
    cases = {name: partial(seconds_to, SMOKE_SAYS, words, variables) for name, (_, words) in ways.items()}
    for origin, job in jobs(folder).items():
        runtime = {"LD_LIBRARY_PATH": str(install.python.parents[1] / "lib")}
        runtime["OCL_ICD_FILENAMES"] = f"{runtime['LD_LIBRARY_PATH']}/libintelocl.so"
        host = [str(compiled(folder, install))]
        cases[f"the C host alone, {origin}"] = partial(seconds_to, HOST_SAYS, host, runtime, folder, job)
    for name, taken in interleaved(cases, rounds).items():
        found = row("first right result on the CPU device", name, taken, "s")
        yield found.at_most(ways[name][0]) if name in ways else found


def seconds_to(
    words: str,
    command: list[str],
    variables: dict[str, str],
    folder: Path | None = None,
    job: str | Path = os.devnull,
) -> float:
    """Return the seconds from the start of a program to the line of its output that has these words."""
    started = time.perf_counter()
    taken, lines = 0.0, []
    with (
        Path(job).open() as stdin,
        subprocess.Popen(
            command, env={**os.environ, **variables}, cwd=folder, text=True, stdin=stdin, stdout=subprocess.PIPE
        ) as running,
    ):  # fmt: skip
        for line in running.stdout or ():
            lines.append(line)
            if words in line:
                taken = time.perf_counter() - started
    if not taken:
        raise SystemExit(f"error: {' '.join(command)} did not come to {words!r}:\n{''.join(lines)}")
    return taken


def jobs(folder: Path) -> dict[str, Path]:
    """Write the job of the kernel add from SPIR-V, and from the native binary that this one saves."""
    job = write_job(kernel("add", 16, "cpu"), folder)
    files = {"SPIR-V": folder / "spirv.job", "native binary": folder / "native.job"}
    files["SPIR-V"].write_text(job)
    files["native binary"].write_text(f"native native.bin\n{job}")
    return files


def compiled(folder: Path, install: Install) -> Path:
    """Return the C host, compiled and linked."""
    host = stub(folder, install)
    compiler = Compiler((program("gcc"),))
    for step in (host.compile, host.link):
        outcome = step(compiler)
        if not outcome.succeeded:
            raise SystemExit(f"error: {outcome.output}")
    return host.program


def stub(folder: Path, install: Install) -> Stub:
    """Return the host of Unified Runtime that is about to be compiled against our kit."""
    root = install.packages / "unified_runtime_devel"
    kit = SDK(
        "unified-runtime",
        RELEASE,
        str(root),
        (str(root / "include"),),
        (str(root / "lib"),),
        ("ur_loader",),
        "",
    )
    return Stub(kit, folder)  # fmt: skip


def compile_rows(folder: Path, rounds: int) -> Iterator[Row]:
    """Yield compiling and linking our host, and compiling Triton's, which is C++ against SYCL."""
    install = Install(RELEASE)
    sycl = environments.sycl_runtime(RELEASE).parents[1] / "include"
    (site,) = environments.triton().parents[1].glob("lib/python*/site-packages")
    driver = folder / "driver.cpp"
    shutil.copy(site / "triton" / "backends" / "intel" / "driver.c", driver)
    includes = [
        site / "triton/backends/intel/include", site / "numpy/core/include", site / "numpy/_core/include",
        sycl, sycl / "sycl", install.packages / "level_zero_devel/include", sysconfig.get_path("include"),
    ]  # fmt: skip
    theirs: list[str | Path] = [program("g++"), "-O3", "-fPIC", "-w", "-c", driver, "-o", folder / "driver.o"]
    cases: dict[str, Callable[[], float]] = {
        "our host, linked": milliseconds(lambda: compiled(folder, install)),
        "Triton's driver.c": milliseconds(process([*theirs, *(f"-I{path}" for path in includes)])),
    }
    for name, taken in interleaved(cases, max(2, rounds // 3)).items():
        found = row("compiling the host with GCC", name, taken, "ms")
        yield found.at_most(STUB) if name.startswith("our") else found


if __name__ == "__main__":
    sys.exit(main(rows, __doc__, sys.argv[1:]))
