#!/usr/bin/env python3
"""Time `xpu-dev check` on DLLs and shared libraries of growing size.

    python3 scripts/bench/check.py [--json FILE]

Only tables are read, so the time must not grow with the file. The binaries are linked here and padded
with noise at the end.
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
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.check.seeds import write_seeds  # noqa: E402 # found through the line above

SIZES_MB = (0, 1, 10, 100, 400)
REPEATS = 7
COMMAND = [
    sys.executable,
    "-m",
    "intel_xpu_runtime_dev",
    "check",
    "--level-zero",
    "1.32.0",
    "--unified-runtime",
    "2026.1.2",
]


def main(arguments: list[str]) -> int:
    """Print a table of median seconds, the interpreter's own start first; return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the medians as well")
    chosen = parser.parse_args(arguments)
    commands = {"python -c pass": [sys.executable, "-c", "pass"]}
    with tempfile.TemporaryDirectory() as folder:
        for seed in write_seeds(Path(folder, "seeds")):
            if seed.name not in ("x86_64.dll", "x86_64-linux-gnu.so"):
                continue
            for size in SIZES_MB:
                padded = Path(folder, f"{size}-{seed.name}")
                padded.write_bytes(seed.read_bytes() + os.urandom(1 << 20) * size)
                commands[f"{seed.name} + {size} MB"] = [*COMMAND, str(padded)]
        results = medians(commands)
    for name, seconds in results.items():
        print(f"{name:30} {seconds * 1000:8.1f} ms")
    if chosen.json:
        chosen.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


def medians(commands: dict[str, list[str]]) -> dict[str, float]:
    """Return the median time of each command in seconds; they take turns, and the first round does not count."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "wheels/intel-xpu-runtime-dev/src")}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(REPEATS + 1):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(each[1:]) for name, each in times.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
