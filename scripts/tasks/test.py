"""Lint, type-check and test the repository; arguments go to pytest."""

from __future__ import annotations

import subprocess
import sys
import time

STEPS = {
    "ruff check": [sys.executable, "-m", "ruff", "check"],
    "ruff format": [sys.executable, "-m", "ruff", "format", "--check", "--quiet"],
    "mypy": [sys.executable, "-m", "mypy", "scripts", "tests", "wheels"],
}


def main(arguments: list[str]) -> int:
    """Run every step, also after a failed one; return 1 if any failed."""
    failed = []
    steps = dict(STEPS) if not arguments else {}
    steps["pytest"] = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "2",
        "--dist",
        "loadgroup",
        *(arguments or ["-m", "not nightly"]),
    ]
    for name, command in steps.items():
        started = time.monotonic()
        print(f"== {name}", flush=True)
        if subprocess.run(command).returncode:
            failed.append(name)
        print(
            f"== {name}: {'failed' if name in failed else 'ok'} in {time.monotonic() - started:.0f} s",
            flush=True,
        )
    if failed:
        print(f"error: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
