#!/usr/bin/env python3
"""Time the import library of Level Zero 1.32.0's 824 functions: ours, zig's dlltool, LLVM's.

    .venv/bin/python scripts/bench/import_library.py [--json FILE] [--rounds N]

Every round runs each case once, so that the machine's moods meet all alike; a row is the median over the rounds and
the range. In process is how the build makes it, and what counts; a fresh process adds Python's start, which alone
takes as long as zig's program, and all imports. The bytes are compared with ours. The exit code is 1 where zig's
differ or ours in process is not faster.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import ziglang

SCRIPTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SCRIPTS))

from repack.catalogue import load  # noqa: E402 - the build side is no installed package
from repack.declarations import declared_functions  # noqa: E402
from repack.fetch import obtain  # noqa: E402
from repack.import_library import import_library  # noqa: E402

DLL = "ze_loader.dll"
LLVM = ("llvm-dlltool", *(f"llvm-dlltool-{version}" for version in range(25, 13, -1)))
FRESH = """
from pathlib import Path
from repack.import_library import import_library
names = Path("names.txt").read_text().split()
Path("fresh.lib").write_bytes(import_library("ze_loader.dll", names))
"""


@dataclass
class Case:
    """A way to make the library, the file it writes, and its times in ms."""

    name: str
    run: Callable[[], object]
    output: Path | None
    times: list[float] = field(default_factory=list)


@dataclass
class Row:
    """What is printed and written of a case, times in ms."""

    name: str
    median: float
    fastest: float
    slowest: float
    bytes: int
    same_bytes: bool | None


def main(arguments: list[str]) -> int:
    """Print the figures; return 1 where ours is not as zig's, or not faster."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as well")
    parser.add_argument("--rounds", type=int, default=25, help="times that each case runs (25)")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="bench-import-library-") as folder:
        names = write_names(Path(folder))
        cases = list(make_cases(Path(folder), names))
        for number in range(chosen.rounds + 1):
            for case in cases:
                started = time.perf_counter()
                case.run()
                if number:  # the first round warms up
                    case.times.append((time.perf_counter() - started) * 1000)
        ours = import_library(DLL, names)
        rows = [row(case, ours) for case in cases]
    print(f"{len(names)} names, {chosen.rounds} rounds, load {os.getloadavg()[0]:.1f}")
    print(f"{'median ms':>9} {'fastest':>8} {'slowest':>8} {'bytes':>8}  same  case")
    for item in rows:
        same = {True: "yes", False: "no", None: "-"}[item.same_bytes]
        print(
            f"{item.median:9.2f} {item.fastest:8.2f} {item.slowest:8.2f} {item.bytes:8,}  {same:4}  {item.name}"
        )
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(item) for item in rows], indent=2) + "\n")
    in_process, zig = rows[:2]
    return 0 if zig.same_bytes and in_process.median < zig.median else 1


def write_names(folder: Path) -> list[str]:
    """Write the names for each tool; return them."""
    headers = load().release("level-zero", "1.32.0").headers("win_amd64")
    names = [function.name for function in declared_functions(obtain([headers])[headers])]
    (folder / "names.txt").write_text("\n".join(names))
    (folder / "names.def").write_text(f'LIBRARY "{DLL}"\nEXPORTS\n' + "\n".join(names))
    return names


def make_cases(folder: Path, names: list[str]) -> Iterator[Case]:
    """Yield ours in this process and in a fresh one, zig's two, and those of the LLVM versions on PATH."""
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    options = ("-m", "i386:x86-64", "-D", DLL, "-d", "names.def", "-l")

    def command(name: str, output: str | None, *words: str) -> Case:
        def run() -> None:
            subprocess.run(words, cwd=folder, env=environment, check=True)

        return Case(name, run, folder / output if output else None)

    here = folder / "here.lib"
    yield Case("ours, in process", lambda: here.write_bytes(import_library(DLL, names)), here)
    zig = Path(next(iter(ziglang.__path__))) / ("zig.exe" if os.name == "nt" else "zig")
    yield command("zig dlltool", "zig.lib", str(zig), "dlltool", *options, "zig.lib")
    yield command("ours, fresh process", "fresh.lib", sys.executable, "-c", FRESH)
    yield command("python -c pass", None, sys.executable, "-c", "pass")
    python = (sys.executable, "-m", "ziglang")
    yield command("python -m ziglang dlltool", "wheel.lib", *python, "dlltool", *options, "wheel.lib")
    for tool in filter(shutil.which, LLVM):
        yield command(tool, f"{tool}.lib", tool, *options, f"{tool}.lib")


def row(case: Case, ours: bytes) -> Row:
    """Return the figures of a case."""
    content = case.output.read_bytes() if case.output else b""
    times = case.times
    same = content == ours if case.output else None
    return Row(case.name, statistics.median(times), min(times), max(times), len(content), same)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
