#!/usr/bin/env python3
"""Time finding headers in a fresh process, beside the peers, with 10, 100 and 1,000 distributions installed beside.

    python3 scripts/dev.py bench locate [--json FILE] [--quick]

A lookup counts what it takes above `python -c pass` of the same round, a command as a multiple of that.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
from benchmarking import Row, interleaved, main, milliseconds, process, row  # noqa: E402 # through the line above

from tests.support.wheels import built  # noqa: E402

# nvidia-cuda-runtime-cu12 is what cuda-pathfinder finds.
PEERS = ("cuda-pathfinder", "nvidia-cuda-runtime-cu12", "pybind11", "numpy", "pkgconf")
DISTRIBUTIONS = (10, 100, 1000)
LOOKUP_LIMIT, COMMAND_LIMIT = 6, 2  # ms, times a bare interpreter

BARE = "python -c pass"
OURS = "intel_xpu_runtime_dev.get_include()"
LOOKUPS = {
    OURS: "import intel_xpu_runtime_dev as x; x.get_include()",
    "pybind11.get_include()": "import pybind11 as x; x.get_include()",
    "numpy.get_include()": "import numpy as x; x.get_include()",
    "cuda.pathfinder": "import cuda.pathfinder as x; x.find_nvidia_header_directory('cudart')",
}
COMMANDS = ("xpu-dev config --includes", "pybind11-config --includes", "pkgconf-pypi --cflags level-zero")


def rows(quick: bool) -> Iterator[Row]:
    """Yield lookups and commands for each number of distributions."""
    with tempfile.TemporaryDirectory(prefix="locate-") as folder:
        for count in DISTRIBUTIONS[: 1 if quick else None]:
            environment = Path(folder, str(count))
            make_environment(environment, count)
            samples = times(environment, 3 if quick else 31)
            yield from lookup_rows(count, samples)
            yield from command_rows(count, samples)


def lookup_rows(count: int, samples: Mapping[str, list[float]]) -> Iterator[Row]:
    """Yield the milliseconds above a bare interpreter."""
    group = f"include lookup above a bare interpreter, {count:,} distributions"
    found = {}
    for name in LOOKUPS:
        above = [ours - bare for ours, bare in zip(samples[name], samples[BARE], strict=True)]
        found[name] = row(group, name, above, "ms")
    fastest = min(one.value for name, one in found.items() if name != OURS)
    ours = found.pop(OURS)
    limit = f"at most {LOOKUP_LIMIT} ms and below every peer"
    yield ours.held_to(limit, ours.value <= LOOKUP_LIMIT and ours.value < fastest)
    yield from found.values()


def command_rows(count: int, samples: Mapping[str, list[float]]) -> Iterator[Row]:
    """Yield multiples of a bare interpreter."""
    group = f"include flags by a command over {BARE}, {count:,} distributions"
    for name in COMMANDS:
        times_bare = [ours / bare for ours, bare in zip(samples[name], samples[BARE], strict=True)]
        found = row(group, name, times_bare, "x")
        yield found.at_most(COMMAND_LIMIT) if name == COMMANDS[0] else found


def make_environment(folder: Path, count: int) -> None:
    """Make a virtual environment with us, the peers, and `count` distributions more, all compiled."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "--find-links", str(built()), "intel-xpu-runtime-dev", *PEERS], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for number in range(count):
        name = f"filler_{number}"
        (site / name).mkdir()
        (site / name / "__init__.py").touch()
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "RECORD").write_text(f"{name}/__init__.py,,\n")


def times(environment: Path, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each case in each round."""
    # What names another environment than the one measured.
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    programs = environment / "bin"
    variables["PATH"] = os.pathsep.join([str(programs), variables["PATH"]])
    words = {BARE: ["python", "-c", "pass"]}
    words |= {name: ["python", "-c", code] for name, code in LOOKUPS.items()}
    words |= {name: name.split() for name in COMMANDS}
    cases = {
        name: milliseconds(process([programs / program, *rest], env=variables))
        for name, (program, *rest) in words.items()
    }
    return interleaved(cases, rounds)


if __name__ == "__main__":
    sys.exit(main(rows, __doc__, sys.argv[1:]))
