#!/usr/bin/env python3
"""Run a development task: `python3 scripts/dev.py TASK [arguments]`.

Needs nothing but Python 3.11 or newer. Makes `.venv` with the pinned tools of requirements.txt, installs
Debian packages where a task needs them and it may, and runs the task inside that environment.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
REQUIREMENTS = ROOT / "scripts" / "requirements.txt"
# Set up completely: its content is the hash of the requirements it was made from.
STAMP = VENV / "requirements.sha256"


class Task(NamedTuple):
    """A task: the module that runs it, what it is for, and the Debian packages it needs."""

    module: str
    purpose: str
    packages: str = ""


TASKS = {
    "api-history": Task(
        "api_history", "make the tables of `xpu-dev check` and `api` from every upstream release"
    ),
    "bench": Task(
        "tasks.bench", "time what users wait for, beside the peers", packages="system-packages.txt"
    ),
    "build": Task(
        "repack.build", "build the SDK wheels and the locator's wheel from pinned sources into dist/"
    ),
    "conda": Task(
        "repack.conda", "build the conda packages from the same trees, as a channel in dist/conda/"
    ),
    "release": Task("repack.release", "make everything of a release: wheels, channel, SBOMs, index"),
    "smoke": Task(
        "tasks.smoke", "build and install the newest wheels, JIT-compile and launch kernels with them"
    ),
    "verify": Task("repack.verify", "build a released wheel or conda package again and compare"),
    "update": Task("repack.update", "look for newer upstream releases and add them to sources.toml"),
    "troubleshooting": Task("troubleshooting", "make docs/troubleshooting.md from the doctor's tables"),
    "test": Task("tasks.test", "lint, type-check and test everything", packages="system-packages.txt"),
}


def main(arguments: list[str]) -> int:
    """Run the task named first; return its exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        for name, task in TASKS.items():
            print(f"  {name:10} {task.purpose}")
        return 0
    if sys.version_info < (3, 11):
        return fail(f"Python {sys.version.split()[0]} is too old: run this with Python 3.11 or newer")
    name, rest = arguments[0], arguments[1:]
    if name not in TASKS:
        return fail(f"no task {name!r}; the tasks are: {', '.join(TASKS)}")
    task = TASKS[name]
    try:
        ensure_environment()
        if task.packages:
            ensure_system_packages(ROOT / "scripts" / task.packages)
    except subprocess.CalledProcessError as error:
        return fail(f"set-up failed: {' '.join(map(str, error.cmd))} ended with {error.returncode}")
    except OSError as error:
        return fail(
            f"set-up failed: {error}; .venv may be another user's: remove it, or use a clone of your own"
        )
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
    sources = [str(ROOT / "scripts"), str(ROOT / "wheels" / "intel-xpu-runtime-dev" / "src")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sources), "VIRTUAL_ENV": str(VENV)}
    environment["PATH"] = os.pathsep.join([str(bin_folder()), environment.get("PATH", "")])
    command = [str(python()), "-m", "tasks", task.module, *rest]
    if os.name == "posix":
        # Become the task: who stops this process means it.
        os.chdir(ROOT)
        os.execve(command[0], command, environment)  # noqa: S606
    return subprocess.run(command, env=environment, cwd=ROOT).returncode


def fail(message: str) -> int:
    """Print an error; return the exit code that goes with it."""
    print(f"error: {message}", file=sys.stderr)
    return 1


def bin_folder() -> Path:
    """Return the folder of the environment's programs."""
    return VENV / ("Scripts" if os.name == "nt" else "bin")


def python() -> Path:
    """Return the environment's interpreter."""
    return bin_folder() / ("python.exe" if os.name == "nt" else "python")


def ensure_environment() -> None:
    """Make `.venv` with exactly the pinned tools, unless it has them already."""
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if STAMP.is_file() and STAMP.read_text() == wanted and python().exists():
        return
    say("setting up .venv with the pinned tools")
    if not python().exists():
        shutil.rmtree(VENV, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run(
        [python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS],
        check=True,
    )
    STAMP.write_text(wanted)


def ensure_system_packages(listing: Path) -> None:
    """Install the Debian packages of `listing` that are missing, where this is Debian and we are root.

    Elsewhere nothing happens: a test that needs one of them says so.
    """
    if not shutil.which("apt-get") or not shutil.which("dpkg-query") or os.geteuid() != 0:
        return
    wanted = [line.split("#")[0].strip() for line in listing.read_text().splitlines()]
    missing = [name for name in wanted if name and not installed(name)]
    if not missing:
        return
    say(f"installing {len(missing)} Debian packages: {' '.join(missing)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True, env=environment, stdout=sys.stderr)
    subprocess.run(
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing],
        check=True, env=environment, stdout=subprocess.DEVNULL,
    )  # fmt: skip


def installed(package: str) -> bool:
    """Return whether a Debian package is installed."""
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status}", package]
    return subprocess.run(query, capture_output=True, text=True).stdout == "installed"


def say(message: str) -> None:
    """Print a line about the set-up, which must not mix with a task's own output."""
    print(f"dev: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
