"""A loader in front of Intel's real Unified Runtime loader: a test double, which injects faults and passes the rest on.

`build(folder, release, platform)` generates its source from the headers' prototypes and compiles it; `Settings` choose
the fault; `read_calls(log)` tells what was called. Adapters, devices and numbers are the real runtime's.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

from repack.catalogue import Platform

from tests.support import wheels
from tests.support.needs import program

from .generate import source

LIBRARIES: dict[Platform, str] = {"win_amd64": "ur_loader_shared.dll", "linux_x86_64": "libur_loader.so.0"}


class Settings(NamedTuple):
    """How the double behaves; `real` is the path of the real loader.

    `fail` names a call and what becomes of it: a `ur_result_t` in hexadecimal, `hang` or `crash`. `scribble` is the
    number of a shared allocation, from 0, where each wait for the queue leaves 1.0, `offset` bytes behind its start.
    `platforms` and `devices` are "0" for none, else what the real loader tells.
    """

    real: str
    log: str = ""
    fail: str = ""
    platforms: str = ""
    devices: str = ""
    scribble: int = -1
    offset: int = 0

    def variables(self) -> dict[str, str]:
        """Return the environment variables that the double reads."""
        return {f"UR_DOUBLE_{name.upper()}": str(value) for name, value in self._asdict().items()}


def build(folder: Path, release: str, platform: Platform, *, without: str = "") -> Path:
    """Compile the double of a release for a platform into a folder, as a loader that lacks one function if so wanted."""
    include = wheels.staged("unified-runtime", release, platform) / "include"
    code = folder / "ur_loader_double.c"
    code.write_text(source(include, without))
    library = folder / LIBRARIES[platform]
    flags = ["-shared", "-O1", "-Wall", "-Werror", f"-I{include}", f"-I{Path(__file__).parent}", str(code), "-o", str(library)]  # fmt: skip
    compiler = {
        "win_amd64": [program("x86_64-w64-mingw32-gcc"), "-static", *flags, "-Wl,--export-all-symbols"],
        "linux_x86_64": [
            program("gcc"),
            "-D_GNU_SOURCE",
            "-fPIC",
            *flags,
            f"-Wl,-soname,{library.name}",
            "-ldl",
        ],
    }
    subprocess.run(compiler[platform], check=True)
    return library


def read_calls(log: Path) -> list[str]:
    """Return the names of the functions called, in order."""
    return log.read_text().split()
