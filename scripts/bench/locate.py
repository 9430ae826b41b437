"""Time finding headers in a fresh process, beside the peers: `python scripts/bench/locate.py --help`.

Every round runs each case once, so that the machine's moods meet all alike; a row is the median over the rounds. Makes
virtual environments with 10, 100 and 1,000 distributions beside the ones under test.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

# nvidia-cuda-runtime-cu12 is what cuda-pathfinder finds.
PEERS = ("cuda-pathfinder", "nvidia-cuda-runtime-cu12", "pybind11", "numpy", "pkgconf")
DISTRIBUTIONS = (10, 100, 1000)


class Case(NamedTuple):
    """A process to time: words after the environment's `bin` folder, and the case it is compared with."""

    name: str
    words: tuple[str, ...]


BARE = Case("python -c pass", ("python", "-c", "pass"))
OURS = Case(
    "intel_xpu_runtime_dev.get_include()",
    ("python", "-c", "import intel_xpu_runtime_dev as x; x.get_include()"),
)
COMMAND = Case("xpu-dev config --includes", ("xpu-dev", "config", "--includes"))
CASES = (
    BARE,
    OURS,
    Case("pybind11.get_include()", ("python", "-c", "import pybind11 as x; x.get_include()")),
    Case("numpy.get_include()", ("python", "-c", "import numpy as x; x.get_include()")),
    Case(
        "cuda.pathfinder.find_nvidia_header_directory()",
        ("python", "-c", "import cuda.pathfinder as x; x.find_nvidia_header_directory('cudart')"),
    ),
    COMMAND,
    Case("pybind11-config --includes", ("pybind11-config", "--includes")),
    Case("pkgconf-pypi --cflags level-zero", ("pkgconf-pypi", "--cflags", "level-zero")),
)


def main(argv: list[str]) -> int:
    """Print a table of times for each number of distributions; write JSON when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--wheels", type=Path, default=Path("dist"), help="folder of our wheels (dev.py build); default: dist"
    )
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--json", type=Path, help="write the times, in milliseconds, to this file")
    arguments = parser.parse_args(argv)
    results = {}
    with tempfile.TemporaryDirectory(prefix="locate-") as folder:
        for count in DISTRIBUTIONS:
            environment = Path(folder, str(count))
            make_environment(environment, arguments.wheels, count)
            results[count] = times(environment, arguments.rounds)
            print_table(count, results[count])
    if arguments.json:
        data = {"python": platform.python_version(), "rounds": arguments.rounds, "milliseconds": results}
        arguments.json.write_text(json.dumps(data, indent=2))
    return 0


def make_environment(folder: Path, wheels: Path, count: int) -> None:
    """Make a virtual environment with us, the peers, and `count` distributions more, all compiled."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip: list[str | Path] = [
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, "--find-links", wheels, "intel-xpu-runtime-dev", *PEERS], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for number in range(count):
        name = f"filler_{number}"
        (site / name).mkdir()
        (site / name / "__init__.py").touch()
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "RECORD").write_text(f"{name}/__init__.py,,\n")


def times(environment: Path, rounds: int) -> dict[str, float]:
    """Return the median milliseconds of each case."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables["PATH"] = os.pathsep.join([str(environment / "bin"), variables["PATH"]])
    samples: dict[str, list[float]] = {case.name: [] for case in CASES}
    # The first round, which reads everything from disk, does not count.
    for number in range(rounds + 1):
        for case in CASES:
            command = [str(environment / "bin" / case.words[0]), *case.words[1:]]
            start = time.perf_counter()
            subprocess.run(command, env=variables, stdout=subprocess.DEVNULL, check=True)
            if number:
                samples[case.name].append((time.perf_counter() - start) * 1000)
    return {name: statistics.median(values) for name, values in samples.items()}


def print_table(count: int, medians: dict[str, float]) -> None:
    """Print the medians, what they are above a bare interpreter, and the ratio to it."""
    bare = medians[BARE.name]
    print(f"{count} distributions more, Python {platform.python_version()}")
    for name, median in medians.items():
        print(f"  {name:48} {median:7.1f} ms  +{median - bare:5.1f} ms  {median / bare:5.2f}x")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
