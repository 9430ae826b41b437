#!/usr/bin/env python3
"""Time a warm build of all conda packages, each tested by its recipe, and the channel of them.

python3 scripts/dev.py bench conda [--json FILE] [--quick]
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SCRIPTS))
from benchmarking import Row, interleaved, main, milliseconds, process, row  # noqa: E402 # through the line above


def rows(quick: bool) -> Iterator[Row]:
    """Yield the seconds of a build."""
    with tempfile.TemporaryDirectory(prefix="bench-conda-") as folder:
        channel = Path(folder, "conda")
        command: list[str | Path] = [sys.executable, "-m", "repack.conda", "--out", channel]
        run = milliseconds(process(command, env={**os.environ, "PYTHONPATH": str(SCRIPTS)}))
        samples = interleaved({"all": lambda: run() / 1000}, 1 if quick else 5)["all"]
        count = len([*channel.rglob("*.conda")])
    yield row("build of all conda packages, warm cache", f"{count} packages and their channel", samples, "s")


if __name__ == "__main__":
    sys.exit(main(rows, __doc__, sys.argv[1:]))
