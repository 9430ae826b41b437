#!/usr/bin/env python3
"""Time and memory of a warm build of all conda packages, each tested by its recipe, and of the channel of them.

python3 scripts/dev.py bench conda [--json FILE] [--quick]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SCRIPTS))
from benchmarking import Row, interleaved, main, row  # noqa: E402 # through the line above
from process_memory import end, watched  # noqa: E402


def rows(quick: bool) -> Iterator[Row]:
    """Yield the seconds and megabytes of a build."""
    with tempfile.TemporaryDirectory(prefix="bench-conda-") as folder:
        channel = Path(folder, "conda")
        samples = interleaved({"all": lambda: seconds(channel)}, 1 if quick else 5)["all"]
        count = len([*channel.rglob("*.conda")])
        yield row(
            "build of all conda packages, warm cache", f"{count} packages and their channel", samples, "s"
        )
        memory = watched(start(channel))
    group = "memory of the conda build"
    yield row(group, "all its processes at their peak", [memory.together], "MB")
    yield row(group, "its largest process", [memory.largest], "MB")


def start(channel: Path) -> subprocess.Popen[bytes]:
    """Start a build."""
    words = [sys.executable, "-m", "repack.conda", "--out", str(channel)]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    return subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def seconds(channel: Path) -> float:
    """Return how long a build takes."""
    started = time.monotonic()
    end(start(channel))
    return time.monotonic() - started


if __name__ == "__main__":
    sys.exit(main(rows, __doc__, sys.argv[1:]))
