"""Run benchmarks: `dev.py bench [NAME [arguments]]`; without a name, each of them in turn.

Timings on a shared machine are noisy: each benchmark runs its peers interleaved in one run and prints ratios.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCHMARKS = {
    path.stem: path for path in sorted((Path(__file__).resolve().parents[1] / "bench").glob("*.py"))
}


def main(arguments: list[str]) -> int:
    """Run what is named; return 1 if any run failed or missed its target."""
    if arguments and arguments[0] in ("-h", "--help"):
        print(__doc__)
        print("benchmarks:", *BENCHMARKS)
        return 0
    if arguments and arguments[0] not in BENCHMARKS:
        print(f"error: no benchmark {arguments[0]!r}; there are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 1
    chosen = arguments[:1] or list(BENCHMARKS)
    missed = []
    for name in chosen:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, str(BENCHMARKS[name]), *arguments[1:]]).returncode:
            missed.append(name)
    if missed:
        print(f"error: failed or missed its target: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
