"""Compile a layer's host with an ordinary compiler, and tell what that took."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from .._errors import XpuDevError
from ..smoke import compilers
from ..smoke.stub import release_number, told
from .kits import Kits
from .layers import Host

HOSTS = Path(__file__).parent / "hosts"
SMOKE_HOSTS = Path(__file__).parents[1] / "smoke" / "hosts"
CPP_COMPILERS = ("c++", "g++", "clang++", "icpx")
LIMIT = 300.0  # seconds


class Built(NamedTuple):
    """A host, and what its source costs the compiler: seconds, and bytes at the peak (0: not known here)."""

    program: Path
    release: str
    seconds: float
    peak_bytes: int


def compile_host(host: Host, kits: Kits, folder: Path) -> Built:
    """Compile and link a host into a folder; raise `XpuDevError` when something is missing or in the way."""
    for component in host.components:
        if component not in kits.found:
            raise XpuDevError(kits.missing[component])
    used = [
        kits.found[component] for component in (*host.components, *host.optional) if component in kits.found
    ]
    compiler = _compiler(host.source)
    program, unit = folder / Path(host.source).stem, folder / f"{Path(host.source).stem}.o"
    standard = "-std=gnu2x" if host.source.endswith(".c") else "-std=c++17"
    includes = dict.fromkeys(str(path) for path in (HOSTS, SMOKE_HOSTS))
    includes.update(dict.fromkeys(path for kit in used for path in kit.include_dirs))
    defines = {
        "SMOKE_VERSION": used[0].release or "none",
        "SMOKE_RELEASE": str(release_number(_runtime_release(host, kits))),
        "SMOKE_LIBRARY": "unused",
        "COMPARE_OPENCL": str(int("opencl" in kits.found)),
    }
    flags = [f"-I{path}" for path in includes] + [f"-D{name}={value}" for name, value in defines.items()]
    seconds, peak = _run(
        [*compiler, standard, "-O1", *flags, "-c", str(HOSTS / host.source), "-o", str(unit)]
    )
    link = [flag for kit in used for flag in kit.link]
    # Every function is looked up at the start: a runtime that lacks one is known at once.
    strict = ["-ldl", "-Wl,-z,now", "-Wl,--allow-shlib-undefined"]
    _run([*compiler, str(unit), "-o", str(program), *link, *strict])
    return Built(program, used[0].release, seconds, peak)


def _runtime_release(host: Host, kits: Kits) -> str:
    """Return the release of the Unified Runtime headers: their functions differ between releases."""
    return kits.found["unified-runtime"].release if "unified-runtime" in host.components else ""


def _compiler(source: str) -> tuple[str, ...]:
    if source.endswith(".c"):
        for compiler in compilers.candidates():
            if compiler.style == "gnu":
                return compiler.command
        raise XpuDevError("there is no C compiler with gcc's options", wanted=compilers.NAMES)
    for name in (os.environ.get("CXX", ""), *CPP_COMPILERS):
        path = compilers.which(name) if name else None
        if path:
            return (path,)
    raise XpuDevError("there is no C++ compiler", wanted=f"CXX, or one of: {', '.join(CPP_COMPILERS)}")


def _run(command: list[str]) -> tuple[float, int]:
    """Run a compiler; return its seconds, and the bytes of its largest process."""
    start = time.perf_counter()
    try:
        if hasattr(os, "wait4"):
            code, output, peak = _measured(command)
        else:
            result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
            code, output, peak = result.returncode, result.stdout, 0
    except OSError as error:
        raise XpuDevError(f"{command[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise XpuDevError(f"{command[0]}: no answer within {LIMIT:g} s") from None
    if code:
        raise XpuDevError(f"{Path(command[0]).name}: {told(output.decode(errors='replace'))}")
    return time.perf_counter() - start, peak


def _measured(command: list[str]) -> tuple[int, bytes, int]:
    import tempfile

    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        log.seek(0)
        # Linux counts in KiB.
        return process.returncode, log.read(), usage.ru_maxrss * 1024
