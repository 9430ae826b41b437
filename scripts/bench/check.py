#!/usr/bin/env python3
"""Time `xpu-dev check` on libraries of growing size and on wheels, and `xpu-dev doctor`, beside Python's own start.

    python3 scripts/dev.py bench check [--json FILE] [--quick]

Only tables are read, so the time must not grow with a library. The binaries are linked here and padded with noise. Of a
wheel every library is unpacked, which is what `python -m zipfile -t` does and no more.
"""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
from benchmarking import Row, interleaved, main, milliseconds, process, row  # noqa: E402 # through the line above

from tests.check.seeds import write_seeds  # noqa: E402

BARE = "python -c pass"
SIZES_MB = (0, 10, 100, 400)
RELEASES = ("--level-zero", "1.32.0", "--unified-runtime", "2026.1.2")
GROWTH = 1.5  # of a library of 400 MB over one of none


def rows(quick: bool) -> Iterator[Row]:
    """Yield the time by size of a DLL and of a shared library, of wheels, and of the doctor."""
    with tempfile.TemporaryDirectory(prefix="bench-check-") as folder:
        seeds = {path.name: path for path in write_seeds(Path(folder, "seeds"))}
        for name, peer in (("x86_64.dll", "objdump -p"), ("x86_64-linux-gnu.so", "readelf -d")):
            yield from growth_rows(Path(folder), seeds[name], peer, quick)
        yield from wheel_rows(Path(folder), seeds["x86_64-linux-gnu.so"], quick)
    # The doctor finds something broken on a machine without a GPU.
    doctor = {"xpu-dev doctor": ours("doctor", codes=(0, 1)), BARE: python("-c", "pass")}
    for name, taken in interleaved(doctor, rounds(quick)).items():
        yield row("doctor", name, taken, "ms")


def growth_rows(folder: Path, seed: Path, peer: str, quick: bool) -> Iterator[Row]:
    """Yield the time of a library of each size, and of a program of binutils with the largest."""
    cases = {}
    for size in SIZES_MB[: 2 if quick else None]:
        padded = folder / f"{size}-{seed.name}"
        padded.write_bytes(seed.read_bytes() + os.urandom(1 << 20) * size)
        cases[f"xpu-dev check, {size} MB"] = ours("check", *RELEASES, padded)
    cases[peer] = milliseconds(process([*peer.split(), padded]))
    cases[BARE] = python("-c", "pass")
    found = [row(f"check of {seed.name}", *item, "ms") for item in interleaved(cases, rounds(quick)).items()]
    yield found[0]
    for one in found[1:-2]:
        yield one.held_to(f"at most {GROWTH}x of 0 MB", one.value <= GROWTH * found[0].value)
    yield from found[-2:]


def wheel_rows(folder: Path, seed: Path, quick: bool) -> Iterator[Row]:
    """Yield the time of a wheel with 10 extensions of 10 MB."""
    wheel = folder / "peers-1.0-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(2 if quick else 10):
            noise = os.urandom(1 << 20) * 10
            archive.writestr(f"peers/m{number}.cpython-311-x86_64-linux-gnu.so", seed.read_bytes() + noise)
    cases = {
        "xpu-dev check": ours("check", *RELEASES, wheel),
        "python -m zipfile -t": python("-m", "zipfile", "-t", wheel),
        BARE: python("-c", "pass"),
    }
    group = f"check of a wheel, {wheel.stat().st_size >> 20} MB"
    for name, taken in interleaved(cases, rounds(quick)).items():
        yield row(group, name, taken, "ms")


def python(*words: str | Path, codes: tuple[int, ...] = (0,)) -> Callable[[], float]:
    """Return the measure of a Python process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "wheels/intel-xpu-runtime-dev/src")}
    return milliseconds(process([sys.executable, *words], env=environment, codes=codes))


def ours(*words: str | Path, codes: tuple[int, ...] = (0,)) -> Callable[[], float]:
    """Return the measure of a command of ours."""
    return python("-m", "intel_xpu_runtime_dev", *words, codes=codes)


def rounds(quick: bool) -> int:
    """Return how often each case is measured."""
    return 2 if quick else 9


if __name__ == "__main__":
    sys.exit(main(rows, __doc__, sys.argv[1:]))
