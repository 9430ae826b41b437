"""A stand-in for the Level Zero loader and driver: a test double, which checks and records every call.

`build(folder, platform)` generates its source from the headers' prototypes and compiles it; `Settings` choose how it
behaves; `read_calls(log)` tells what was called. It takes SPIR-V, knows the kernels in it, and executes nothing.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from repack.catalogue import Platform

from tests.support import wheels
from tests.support.needs import program

from .generate import source

DEVICE_NAME = "Test double, not a device"
LEVEL_ZERO = "1.32.0"
LIBRARIES: dict[Platform, str] = {"win_amd64": "ze_loader.dll", "linux_x86_64": "libze_loader.so.1"}


class Settings(NamedTuple):
    """How the double behaves.

    `fail` names a call and what becomes of it: a `ze_result_t` in hexadecimal, `hang` or `crash`. `scribble` is the
    number of a pointer argument, from 0, whose first number each launch overwrites with 1.
    """

    log: str
    version: str = LEVEL_ZERO
    drivers: int = 1
    devices: int = 1
    spill: int = 0
    fail: str = ""
    scribble: int = -1

    def variables(self) -> dict[str, str]:
        """Return the environment variables that the double reads."""
        return {f"ZE_DOUBLE_{name.upper()}": str(value) for name, value in self._asdict().items()}


class Call(NamedTuple):
    """A call: handles are named as in `kernel 1`, other pointers `pointer`; `details` come from behind pointers."""

    name: str
    arguments: list[Any]
    details: dict[str, Any]


def build(folder: Path, platform: Platform, *, without: str = "") -> Path:
    """Compile the double for a platform into a folder, as a loader that lacks one function if so wanted."""
    include = wheels.staged("level-zero", LEVEL_ZERO, platform) / "include"
    code = folder / "ze_loader_double.c"
    code.write_text(source(include, without))
    library = folder / LIBRARIES[platform]
    flags = ["-shared", "-O1", "-Wall", "-Werror", f"-I{include}", f"-I{include}/level_zero", f"-I{Path(__file__).parent}", str(code), "-o", str(library)]  # fmt: skip
    compiler = {
        "win_amd64": [program("x86_64-w64-mingw32-gcc"), "-static", *flags, "-Wl,--export-all-symbols"],
        "linux_x86_64": [program("gcc"), "-fPIC", *flags, f"-Wl,-soname,{library.name}"],
    }
    subprocess.run(compiler[platform], check=True)
    return library


def read_calls(log: Path) -> list[Call]:
    """Return the recorded calls in order; of a program that was killed, the last one may lack its details."""
    calls: list[Call] = []
    for line in log.read_text().splitlines(keepends=True):
        if not line.endswith("\n"):
            break
        record = json.loads(line)
        if "call" in record:
            calls.append(Call(record["call"], record["arguments"], {}))
        else:
            calls[-1].details.update(record)
    return calls
