"""The command `run`: a command in the environment that `env` sets."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
from pathlib import Path

from ._components import WINDOWS
from ._environment import activated
from ._errors import NotFoundError, XpuDevError
from ._versions import is_number

EXAMPLES = """\
examples:
  xpu-dev run -- python train.py
  xpu-dev run -- cmake -S . -B build
  xpu-dev run --triton-driver ur -- python script.py       Triton through Unified Runtime, without a compiler
  xpu-dev run --triton-driver ur:cpu -- pytest tests       the same, on Intel's CPU device

Signals and the exit code are those of the command."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EXAMPLES
    parser.usage = "xpu-dev run [-h] [--triton-driver ur[:DEVICE]] -- COMMAND [ARGUMENT ...]"
    parser.add_argument(
        "--triton-driver",
        metavar="ur[:DEVICE]",
        help="have Triton launch through Unified Runtime in every Python of the command that heeds PYTHONPATH; "
        "DEVICE: gpu, cpu or a number",
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help="the command to run")


def run(arguments: argparse.Namespace) -> int:
    """Become the command; on Windows, start it and return its exit code."""
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    if not words:
        raise XpuDevError("no command to run", fix="xpu-dev run -- COMMAND")
    environment = (
        activated(os.environ) if arguments.triton_driver is None else _with_driver(arguments.triton_driver)
    )
    path = shutil.which(words[0], path=environment.get("PATH"))
    if path is None:
        raise XpuDevError(f"there is no command {words[0]!r}", looked_in=("PATH",))
    if not WINDOWS:
        os.execve(path, words, environment)  # noqa: S606  (no shell is wanted)
    return _child_exit_code([path, *words[1:]], environment)


def _with_driver(driver: str) -> dict[str, str]:
    """Return the environment in which Pythons activate our Triton driver; it needs no development kit."""
    from .triton.requested import NAME, VARIABLE, device, is_ours

    chosen = device(driver)
    if not is_ours(driver) or not (chosen in ("auto", "gpu", "cpu") or is_number(chosen)):
        raise XpuDevError(
            f"there is no Triton driver {driver!r}", wanted=f"{NAME}, {NAME}:gpu, {NAME}:cpu or {NAME}:NUMBER"
        )
    try:
        environment = activated(os.environ)
    except NotFoundError:
        environment = dict(os.environ)
    startup = str(Path(__file__).parent / "triton" / "startup")
    path = [startup, *filter(None, [environment.get("PYTHONPATH")])]
    return {**environment, VARIABLE: driver, "PYTHONPATH": os.pathsep.join(path)}


def _child_exit_code(words: list[str], environment: dict[str, str]) -> int:
    # Ctrl-C goes to every process of the console: the command decides what it means.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = subprocess.run(words, env=environment, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)
    # sys.exit takes the 32 bits of an NTSTATUS such as 0xC0000005 only as a signed number.
    return code - (1 << 32) if code >= 1 << 31 else code
