"""Run a task's module: `python -m tasks MODULE [arguments]`. An interruption is a message, from the first import on."""

from __future__ import annotations

import runpy
import sys

if __name__ == "__main__":
    try:
        del sys.argv[0]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)
