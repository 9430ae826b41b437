"""The memory of a process and of all that it starts, as the benchmarks tell it; Linux only."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

SAMPLE = 0.01  # seconds


class Memory(NamedTuple):
    """MB of a build's largest process, and of all its processes at their peak."""

    largest: float
    together: float


def watched(process: subprocess.Popen[bytes]) -> Memory:
    """Return the memory of a build that has just been started; watching it takes time of its own."""
    together = 0.0
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        together = max(together, tree_memory(process.pid))
        time.sleep(SAMPLE)
    return Memory(end(process), together)


def end(process: subprocess.Popen[bytes]) -> float:
    """Wait for a build; return the MB of its largest process."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("error: the build failed")
    return usage.ru_maxrss / 1024


def tree_memory(pid: int) -> float:
    """Return the MB that a process and its descendants hold, shared pages divided among them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for each in threads for child in (each / "children").read_text().split()]
    except OSError:
        return 0.0
    own = next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0) / 1024
    return own + sum(map(tree_memory, children))
