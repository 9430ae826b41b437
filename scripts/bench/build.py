#!/usr/bin/env python3
"""Time, memory and bytes of a warm build of all wheels of one Level Zero and one Unified Runtime version.

    .venv/bin/python scripts/bench/build.py [--json FILE] [--repeats N]

Bounds: 5 s on 2 cores, 300 MB of all processes together, 700 KB a level-zero-devel wheel.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

SCRIPTS = Path(__file__).resolve().parents[1]
VERSIONS = ("1.32.0", "2026.2.0")
BOUND_SECONDS, BOUND_MB, BOUND_WHEEL = 5, 300, 700_000
SAMPLE = 0.01  # seconds


class Run(NamedTuple):
    """A build: its time, that of all cores, the memory of its largest process, and of all at their peak."""

    seconds: float
    cpu_seconds: float
    largest_mb: float
    together_mb: float


@dataclass
class Wheel:
    """The bytes of a wheel, of its headers as they are in it, and of the headers compressed, each once."""

    name: str
    size: int
    headers: int
    headers_once: int


@dataclass
class Result:
    """What is printed and written."""

    cores: int
    load: float
    seconds: list[float]
    cpu_seconds: list[float]
    largest_mb: float
    together_mb: float
    wheels: list[Wheel]


def main(arguments: list[str]) -> int:
    """Print the figures; return 1 where one is beyond its bound."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as well")
    parser.add_argument("--repeats", type=int, default=5, help="builds that are timed (5)")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="bench-build-") as folder:
        watched = build(Path(folder, "warm-up"), watched=True)
        runs = [build(Path(folder, str(number))) for number in range(chosen.repeats)]
        wheels = [measure(path) for path in sorted(Path(folder, "0").glob("*.whl"))]
    result = Result(
        len(os.sched_getaffinity(0)),
        os.getloadavg()[0],
        [run.seconds for run in runs],
        [run.cpu_seconds for run in runs],
        watched.largest_mb,
        watched.together_mb,
        wheels,
    )
    print_table(result)
    if chosen.json:
        chosen.json.write_text(json.dumps(asdict(result), indent=2) + "\n")
    kits = [wheel.size for wheel in wheels if wheel.name.startswith("level_zero")]
    within = statistics.median(result.seconds) < BOUND_SECONDS and result.together_mb < BOUND_MB
    return 0 if within and max(kits) < BOUND_WHEEL else 1


def build(out: Path, *, watched: bool = False) -> Run:
    """Build once; watching the memory of all processes takes time of its own."""
    command = [sys.executable, "-m", "repack.build", "--out", str(out)]
    command += [word for version in VERSIONS for word in ("--version", version)]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    started = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    together = 0.0
    while watched and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        together = max(together, tree_memory(process.pid))
        time.sleep(SAMPLE)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("error: the build failed")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, together)


def tree_memory(pid: int) -> float:
    """Return the MB that a process and its descendants hold, shared pages divided among them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for each in threads for child in (each / "children").read_text().split()]
    except OSError:
        return 0.0
    own = next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0) / 1024
    return own + sum(map(tree_memory, children))


def measure(path: Path) -> Wheel:
    """Return the figures of a wheel."""
    with zipfile.ZipFile(path) as archive:
        headers = [info for info in archive.infolist() if "/include/" in info.filename]
        once = {info.CRC: len(zlib.compress(archive.read(info), 9)) for info in headers}
    compressed = sum(info.compress_size for info in headers)
    return Wheel(path.name, path.stat().st_size, compressed, sum(once.values()))


def print_table(result: Result) -> None:
    """Print what `main` has measured."""
    print(f"{result.cores} cores, load {result.load:.1f}")
    low, middle, high = min(result.seconds), statistics.median(result.seconds), max(result.seconds)
    print(f"seconds: median {middle:.2f}, {low:.2f} to {high:.2f} (bound {BOUND_SECONDS})")
    print(f"seconds of all cores: median {statistics.median(result.cpu_seconds):.2f}")
    print(f"memory: largest process {result.largest_mb:.0f} MB, ", end="")
    print(f"all together {result.together_mb:.0f} MB (bound {BOUND_MB})")
    print(f"{'bytes':>9} {'headers':>9} {'once':>9}  wheel")
    for wheel in result.wheels:
        print(f"{wheel.size:9,} {wheel.headers:9,} {wheel.headers_once:9,}  {wheel.name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
