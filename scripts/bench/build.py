#!/usr/bin/env python3
"""Time, memory and bytes of warm builds: the wheels of one upstream version, of two, and of all of them.

    python3 scripts/dev.py bench build [--json FILE] [--quick]

A wheel is compared with the zip members of its headers; on Windows it has them twice, so that Triton finds them unasked.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SCRIPTS))
from benchmarking import Row, interleaved, main, row  # noqa: E402 # through the line above
from process_memory import end, watched  # noqa: E402
from repack.catalogue import load  # noqa: E402

NEWEST = ("1.32.0", "2026.2.0")
SECONDS, MEGABYTES, TIMES_HEADERS = 5, 300, 1.3


def rows(quick: bool) -> Iterator[Row]:
    """Yield time by number of versions, memory, and the wheels' sizes."""
    everything = tuple(release.version for release in load().releases)
    with tempfile.TemporaryDirectory(prefix="bench-build-") as folder:
        out = Path(folder, "wheels")
        cases = {
            f"all {len(everything)} versions": lambda: seconds(everything, out),
            f"the newest {len(NEWEST)} versions": lambda: seconds(NEWEST, out),
            "the newest of Level Zero": lambda: seconds(NEWEST[:1], out),
        }
        samples = interleaved(cases, 1 if quick else 7)
        memory = watched(command(everything, out))
        wheels = sorted(out.glob("*_devel-*.whl"))
        found = [row("build of all wheels, warm cache", name, taken, "s") for name, taken in samples.items()]
        yield found[0].at_most(SECONDS)
        yield from found[1:]
        group = "memory of that build"
        yield row(group, "all its processes at their peak", [memory.together], "MB").at_most(MEGABYTES)
        yield row(group, "its largest process", [memory.largest], "MB")
        for wheel in wheels:
            size, compressed = wheel.stat().st_size, compressed_headers(wheel)
            told = row(
                f"{wheel.name.split('-py3')[0]} {wheel.stem.rpartition('-')[2]}, {size:,} bytes",
                "over its headers, compressed", [size / compressed], "x",
            )  # fmt: skip
            yield told.at_most(TIMES_HEADERS)


def command(versions: tuple[str, ...], out: Path) -> subprocess.Popen[bytes]:
    """Start a build."""
    words = [sys.executable, "-m", "repack.build", "--out", str(out)]
    words += [word for version in versions for word in ("--version", version)]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    return subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)


def seconds(versions: tuple[str, ...], out: Path) -> float:
    """Return how long a build takes."""
    started = time.monotonic()
    end(command(versions, out))
    return time.monotonic() - started


def compressed_headers(wheel: Path) -> int:
    """Return the bytes of a wheel's headers as they lie in it."""
    with zipfile.ZipFile(wheel) as archive:
        return sum(info.compress_size for info in archive.infolist() if "/include/" in info.filename)


if __name__ == "__main__":
    sys.exit(main(rows, __doc__, sys.argv[1:]))
