"""Run benchmarks: `dev.py bench [NAME ...] [--json FILE] [--quick]`; without names, those of the one table, in turn.

Each runs in a process of its own, with its peers interleaved. The exit code is 1 when one fails or misses its target.
`dev.py bench runtime` makes the report behind docs/runtime-choice.md instead and has options of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import benchmarking

FOLDER = benchmarking.ROOT / "scripts" / "bench"
REPORT = "runtime"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != REPORT)


def main(arguments: list[str]) -> int:
    """Run what is named; return 1 if any failed or missed its target."""
    if arguments[:1] == [REPORT]:
        return run(REPORT, arguments[1:])
    parser = argparse.ArgumentParser(
        prog="dev.py bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(NAMES)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows as well")
    parser.add_argument("--quick", action="store_true", help="few rounds: shows that it works, not how fast")
    chosen = parser.parse_args(arguments)
    for name in set(chosen.names) - set(NAMES):
        known = f"{', '.join(NAMES)}, and alone: {REPORT}"
        print(f"error: no benchmark {name!r}; there are: {known}", file=sys.stderr)
        return 1
    rows: list[benchmarking.Row] = []
    failed = []
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for name in chosen.names or NAMES:
            print(f"bench: {name}", file=sys.stderr, flush=True)
            file = Path(folder, f"{name}.json")
            run(name, ["--json", str(file), *(["--quick"] if chosen.quick else [])], quiet=True)
            if file.is_file():
                rows += benchmarking.read(file)
            else:
                failed.append(f"{name} (see above)")
    benchmarking.report(rows, chosen.json)
    for kind, names in (("failed", failed), ("missed its target", benchmarking.missed(rows))):
        if names:
            print(f"error: {kind}: {'; '.join(names)}", file=sys.stderr)
    return 1 if failed or benchmarking.missed(rows) else 0


def run(name: str, arguments: list[str], *, quiet: bool = False) -> int:
    """Run one benchmark; return its exit code."""
    command = [sys.executable, str(FOLDER / f"{name}.py"), *arguments]
    return subprocess.run(command, stdout=subprocess.DEVNULL if quiet else None).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
