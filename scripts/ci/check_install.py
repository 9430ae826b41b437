#!/usr/bin/env python3
"""Install the released files as users do, use them, and take them away again: a job of the CI matrix.

Standard library only, Python 3.9 and newer, Windows and Linux; conda environments need py-rattler as well.
Exit code 1 at the first step that fails.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Callable, NamedTuple

WINDOWS = os.name == "nt"
LOCATOR = "intel-xpu-runtime-dev"
RECORDS = {"__pycache__", "conda-meta", "CACHEDIR.TAG", ".lock"}
SHOW_PACKAGES = "import importlib.metadata as m; print('\\n'.join(sorted({d.metadata['Name'] for d in m.distributions()})))"
SHOW_VIA = "import intel_xpu_runtime_dev as x; print(x.find_sdk('level-zero').via)"


class Environment(NamedTuple):
    """An environment in the making: its folder, its interpreter, and how files come in and go out."""

    folder: Path
    python: Path
    install: Callable[[list[str]], None]
    uninstall: Callable[[list[str]], None]


def main() -> int:
    """Run the steps that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--installer", choices=["pip", "uv", "conda"], required=True)
    parser.add_argument("--dist", type=Path, required=True, help="what `dev.py release` has made")
    parser.add_argument("--work", type=Path, required=True, help="new folder for the environment")
    parser.add_argument("--python", default="3.12", help="version of Python in a conda environment")
    parser.add_argument("--channel", action="append", default=[], help="channel beside ours, for conda")
    parser.add_argument(
        "--cpu", action="store_true", help="also Intel's CPU device, from the index; run smoke on it"
    )
    parser.add_argument(
        "--compiler", action="append", default=[], help="smoke with this compiler; may be repeated"
    )
    parser.add_argument("--doctor", type=Path, help="keep doctor's answer in this file")
    chosen = parser.parse_args()
    try:
        check(chosen)
    except subprocess.CalledProcessError as error:
        print(f"error: ended with {error.returncode}: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return 1
    except (OSError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def check(chosen: argparse.Namespace) -> None:
    """Install, find, diagnose, build and run, uninstall, look for what is left."""
    chosen.work.mkdir(parents=True)
    make = {"pip": with_pip, "uv": with_uv, "conda": with_conda}[chosen.installer]
    environment = make(chosen)
    before, packages = files_of(environment.folder), packages_of(environment.python)

    step("install")
    extra = "[cpu]" if chosen.cpu and chosen.installer != "conda" else ""
    environment.install([LOCATOR + extra])

    step("find")
    xpu_dev = [str(environment.python), "-m", "intel_xpu_runtime_dev"]
    variables = {"CONDA_PREFIX": str(environment.folder)} if chosen.installer == "conda" else {}
    run([*xpu_dev, "find"], **variables)
    via = output([environment.python, "-c", SHOW_VIA], **variables).strip()
    expected = "conda prefix" if chosen.installer == "conda" else "wheel level-zero-devel"
    if via != expected:
        raise RuntimeError(f"Level Zero was found via {via!r}, not via {expected!r}")

    if chosen.doctor:
        step("doctor")
        answer = subprocess.run(
            [*xpu_dev, "doctor", "--json"], env={**os.environ, **variables}, stdout=subprocess.PIPE
        )
        chosen.doctor.write_bytes(answer.stdout)
        if answer.returncode not in (
            0,
            1,
        ):  # 1: something on this machine is broken, which is doctor's to say
            raise RuntimeError(f"doctor ended with {answer.returncode}")

    if chosen.cpu:
        for compiler in chosen.compiler or [""]:
            step(f"smoke {compiler}")
            with_compiler = ["--host", "compiled", "--compiler", compiler] if compiler else []
            run([*xpu_dev, "smoke", "--device", "cpu", *with_compiler], **variables)

    step("uninstall")
    environment.uninstall(sorted(packages_of(environment.python) - packages))
    left = sorted(files_of(environment.folder) - before)
    if left:
        raise RuntimeError(f"the uninstall has left {len(left)} files: {', '.join(left[:10])}")
    step("done")


def with_pip(chosen: argparse.Namespace) -> Environment:
    """Make an environment with venv and pip of the running Python."""
    folder = chosen.work / "env"
    run([sys.executable, "-m", "venv", folder])
    python = interpreter(folder)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    source = wheels(chosen)
    return Environment(
        folder, python,
        lambda names: run([*pip, "install", *source, *names]),
        lambda names: run([*pip, "uninstall", "--yes", *names]),
    )  # fmt: skip


def with_uv(chosen: argparse.Namespace) -> Environment:
    """Make an environment with uv for the running Python."""
    folder = chosen.work / "env"
    run(["uv", "venv", "--python", sys.executable, folder])
    python = interpreter(folder)
    source = wheels(chosen)
    return Environment(
        folder, python,
        lambda names: run(["uv", "pip", "install", "--no-cache", "--python", python, *source, *names]),
        lambda names: run(["uv", "pip", "uninstall", "--python", python, *names]),
    )  # fmt: skip


def with_conda(chosen: argparse.Namespace) -> Environment:
    """Make a conda environment with py-rattler; what comes in is ours and its Python."""
    folder = chosen.work / "env"
    python = f"python {chosen.python}.*"
    channels = [(chosen.dist / "conda").absolute().as_uri(), *chosen.channel]
    asyncio.run(conda_ensure(folder, channels, [python]))
    return Environment(
        folder, folder / ("python.exe" if WINDOWS else "bin/python"),
        lambda names: asyncio.run(conda_ensure(folder, channels, [python, *names])),
        lambda names: asyncio.run(conda_ensure(folder, channels, [python])),
    )  # fmt: skip


async def conda_ensure(folder: Path, channels: list[str], specs: list[str]) -> None:
    """Solve for the specs and make the prefix hold the solution."""
    from rattler import Channel, PrefixRecord, VirtualPackage, install, solve

    records = await solve(
        [Channel(channel) for channel in channels], specs,
        platforms=["win-64" if WINDOWS else "linux-64", "noarch"],
        virtual_packages=VirtualPackage.detect(),
    )  # fmt: skip
    present = [PrefixRecord.from_path(path) for path in (folder / "conda-meta").glob("*.json")]
    await install(records, target_prefix=folder, installed_packages=present, show_progress=False)


def wheels(chosen: argparse.Namespace) -> list[str]:
    """Return how pip and uv find our wheels; only the CPU device comes from the index."""
    return [*([] if chosen.cpu else ["--no-index"]), "--find-links", str(chosen.dist)]


def interpreter(folder: Path) -> Path:
    """Return the interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if WINDOWS else "bin/python")


def files_of(folder: Path) -> set[str]:
    """Return the files of an environment but for compiled modules and the records of conda and uv."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if not RECORDS & set(path.parts)}


def packages_of(python: Path) -> set[str]:
    """Return the names of the distributions that an interpreter sees."""
    return set(output([python, "-I", "-c", SHOW_PACKAGES]).split())


def step(name: str) -> None:
    """Say what comes next."""
    print(f"== {name}", flush=True)


def run(command: Sequence[str | Path], **variables: str) -> None:
    """Run a command with these variables added to the environment; it must succeed."""
    subprocess.run(
        [resolved(command[0]), *map(str, command[1:])], check=True, env={**os.environ, **variables}
    )


def output(command: Sequence[str | Path], **variables: str) -> str:
    """Run a command and return what it prints."""
    result = subprocess.run(
        command, check=True, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True
    )
    return result.stdout


def resolved(program: str | Path) -> str:
    """Return the path of a program, so that nothing in the current folder is run by its name."""
    path = shutil.which(program)
    if path is None:
        raise RuntimeError(f"there is no program {program}")
    return path


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # py-rattler's threads can crash the interpreter while it takes itself down.
    os._exit(code)
