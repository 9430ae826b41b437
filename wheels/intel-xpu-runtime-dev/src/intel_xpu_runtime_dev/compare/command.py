"""The command `compare`."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path
from typing import Any

from .._errors import XpuDevError
from .._files import is_file

EPILOG = """\
Compiles a small host for each layer, lets it answer questions, and times launches, all layers taking turns.
Times are ratios to Level Zero or OpenCL on the same device. SYCL's headers: pip install intel-sycl-rt

exit code: 0 when some layer launched and every layer that launched was right, else 1

examples:
  xpu-dev compare                            some seconds
  xpu-dev compare --full --json              what docs/runtime-choice.md is made from
  xpu-dev compare --other VENV               what is built with one release and runs on another"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EPILOG
    parser.add_argument(
        "--full", action="store_true", help="15 repeats of 2,000 launches instead of 5 of 500"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--other",
        action="append",
        default=[],
        metavar="ROOT",
        help="a folder with include/ and lib/ of another release of intel-sycl-rt, such as a virtual environment",
    )
    parser.add_argument(
        "--gpu-launcher",
        default="",
        metavar="COMMAND",
        help="put in front of the hosts that use Level Zero",
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare the layers; return the exit code."""
    import tempfile

    from ..smoke.compilers import command_words
    from . import kits, text
    from .measuring import FULL, SHORT, Bench, measure

    launcher = command_words(arguments.gpu_launcher, "--gpu-launcher") if arguments.gpu_launcher else []
    installed = kits.installed(["level-zero"] if launcher else [])
    others = [kits.of_root(root) for root in arguments.other]
    for root, other in zip(arguments.other, others):
        if not other.found:
            raise XpuDevError(
                "--other names no folder of another release",
                wanted="include/ and lib/ of intel-sycl-rt and intel-cmplr-lib-ur",
                looked_in=(root,),
                found="; ".join(other.missing.values()),
            )
    plan = FULL if arguments.full else SHORT

    def say(line: str) -> None:
        print(f"compare: {line}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="xpu-dev-compare-") as folder:
        bench = Bench(installed, Path(folder), launcher, say)
        report = about(plan._asdict(), installed)
        report.update(measure(bench, plan, others, installed, Path(folder), say))
    report["load_after"] = load()
    if arguments.json:
        from .._output import print_json
        from .stability import stability

        report["stability"] = {name: stability(name) for name in ("level-zero", "unified-runtime")}
        print_json(report)
    else:
        print("\n".join(text.lines(report)))
    return exit_code(report)


def exit_code(report: dict[str, Any]) -> int:
    """Return 0 when a layer launched, and none that the device executes gave wrong numbers, now or later."""
    executed = [row for row in report["layers"] if row["executes"]]
    right = all(row["right"] and row["launches"].get("right_afterwards", False) for row in executed)
    return 0 if executed and right else 1


def about(plan: dict[str, int], installed: Any) -> dict[str, Any]:
    """Return when, where and with what a run was made."""
    import datetime

    from .. import __version__

    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "machine": {
            "processor": processor(),
            "processors": os.cpu_count(),
            "system": f"{platform.system()} {platform.machine()}",
            "load_before": load(),
        },
        "versions": {
            "intel-xpu-runtime-dev": __version__,
            **{name: kit.release for name, kit in installed.found.items() if kit.release},
        },
        "plan": plan,
    }


def load() -> float | None:
    """Return the load average of the last minute, None where the system does not tell."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def processor() -> str:
    """Return the processor's name."""
    information = Path("/proc/cpuinfo")
    if is_file(information):
        for line in information.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
