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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Callable, NamedTuple

WINDOWS = os.name == "nt"
LOCATOR = "intel-xpu-runtime-dev"
INSTALLERS = ("pip", "uv", "conda")
# What `xpu-dev smoke --compiler` is given: Microsoft's, LLVM's, mingw-w64's and zig's, the last one from its wheel.
COMPILERS = {
    "windows": ("cl", "clang-cl", "clang", "gcc", "zig"),
    "linux": ("gcc", "clang", "zig"),
}
# What the extra `cpu` of unified-runtime-devel brings, for conda packages have no extras.
RUNTIME = ("intel-cmplr-lib-ur", "intel-cmplr-lib-rt", "intel-opencl-rt")
RECORDS = {"__pycache__", "conda-meta", "CACHEDIR.TAG", ".lock"}
SHOW_PACKAGES = "import importlib.metadata as m; print('\\n'.join(sorted({d.metadata['Name'] for d in m.distributions()})))"
SHOW_VIA = "import intel_xpu_runtime_dev as x; print(x.find_sdk('level-zero').via)"
SHOW_RELEASE = "import intel_xpu_runtime_dev as x; print(x.find_sdk('unified-runtime').version)"


class Environment(NamedTuple):
    """An environment in the making: its folder, its interpreter, the variables that activating it sets.

    `install` brings the locator, `bring_device` also Intel's CPU device and zig, `uninstall` takes packages away.
    """

    folder: Path
    python: Path
    variables: dict[str, str]
    install: Callable[[], None]
    bring_device: Callable[[], None]
    uninstall: Callable[[list[str]], None]


def main() -> int:
    """Run the steps that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--installer", choices=INSTALLERS, required=True)
    parser.add_argument("--dist", type=Path, required=True, help="what `dev.py release` has made")
    parser.add_argument("--work", type=Path, required=True, help="new folder for the environment")
    parser.add_argument("--python", default="3.12", help="version of Python in a conda environment")
    parser.add_argument("--channel", action="append", default=[], help="channel beside ours, for conda")
    parser.add_argument(
        "--smoke", action="store_true",
        help="bring Intel's CPU device from the index and run smoke on it with each compiler",
    )  # fmt: skip
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
    chosen.work, chosen.dist = chosen.work.absolute(), chosen.dist.absolute()
    chosen.work.mkdir(parents=True)
    make = {"pip": with_pip, "uv": with_uv, "conda": with_conda}[chosen.installer]
    environment = make(chosen)
    before, packages = files_of(environment.folder), packages_of(environment)

    step("install")
    environment.install()

    step("find")
    xpu_dev = [str(environment.python), "-m", "intel_xpu_runtime_dev"]
    run([*xpu_dev, "find"], environment.variables)
    via = output([environment.python, "-c", SHOW_VIA], environment.variables)
    expected = "conda prefix" if chosen.installer == "conda" else "wheel level-zero-devel"
    if via != expected:
        raise RuntimeError(f"Level Zero was found via {via!r}, not via {expected!r}")

    if chosen.doctor:
        step("doctor")
        answer = subprocess.run(
            [*xpu_dev, "doctor", "--json"],
            env={**os.environ, **environment.variables}, stdout=subprocess.PIPE,
        )  # fmt: skip
        chosen.doctor.write_bytes(answer.stdout)
        # 1: something on this machine is broken, which is doctor's to say
        if answer.returncode not in (0, 1):
            raise RuntimeError(f"doctor ended with {answer.returncode}")

    if chosen.smoke:
        step("CPU device")
        environment.bring_device()
        for compiler in COMPILERS["windows" if WINDOWS else "linux"]:
            step(f"smoke {compiler}")
            host = ["--host", "compiled", "--compiler", compiler]
            run([*xpu_dev, "smoke", "--device", "cpu", *host], environment.variables)

    step("uninstall")
    environment.uninstall(sorted(packages_of(environment) - packages))
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
    ours = ["--find-links", str(chosen.dist)]
    return Environment(
        folder, python, {},
        # The index is not asked: whoever has our names there must not get in.
        lambda: run([*pip, "install", "--no-index", *ours, LOCATOR]),
        lambda: run([*pip, "install", *ours, f"{LOCATOR}[cpu,zig]"]),
        lambda names: run([*pip, "uninstall", "--yes", *names]),
    )  # fmt: skip


def with_uv(chosen: argparse.Namespace) -> Environment:
    """Make an environment with uv for the running Python."""
    folder = chosen.work / "env"
    run(["uv", "venv", "--python", sys.executable, folder])
    python = interpreter(folder)
    install = ["uv", "pip", "install", "--python", str(python)]
    ours = ["--find-links", str(chosen.dist)]
    return Environment(
        folder, python, {},
        # The cache would give an older wheel of the same name.
        lambda: run([*install, "--no-index", "--no-cache", *ours, LOCATOR]),
        lambda: run([*install, *ours, f"{LOCATOR}[cpu,zig]"]),
        lambda names: run(["uv", "pip", "uninstall", "--python", str(python), *names]),
    )  # fmt: skip


def with_conda(chosen: argparse.Namespace) -> Environment:
    """Make a conda environment with py-rattler; Intel's CPU device comes from the package index by its pip."""
    folder = chosen.work / "env"
    python = folder / ("python.exe" if WINDOWS else "bin/python")
    base = [f"python {chosen.python}.*", *(["pip"] if chosen.smoke else [])]
    channels = [(chosen.dist / "conda").as_uri(), *chosen.channel]
    programs = (
        ("", "Library/mingw-w64/bin", "Library/usr/bin", "Library/bin", "Scripts") if WINDOWS else ("bin",)
    )
    path = [*(str(folder / name) for name in programs), os.environ["PATH"]]
    variables = {"CONDA_PREFIX": str(folder), "PATH": os.pathsep.join(path)}
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    asyncio.run(conda_ensure(folder, channels, base))

    def bring_device() -> None:
        release = output([python, "-c", SHOW_RELEASE], variables)
        runtime = [f"{name}=={release}" for name in RUNTIME]
        run([*pip, "install", *runtime, "ziglang"], variables)

    def uninstall(names: list[str]) -> None:
        from_index = [name for name in names if name != LOCATOR]
        if from_index:
            run([*pip, "uninstall", "--yes", *from_index], variables)
        asyncio.run(conda_ensure(folder, channels, base))

    return Environment(
        folder, python, variables,
        lambda: asyncio.run(conda_ensure(folder, channels, [*base, LOCATOR])),
        bring_device, uninstall,
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


def interpreter(folder: Path) -> Path:
    """Return the interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if WINDOWS else "bin/python")


def files_of(folder: Path) -> set[str]:
    """Return the files of an environment but for compiled modules and the records of conda and uv."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if not RECORDS & set(path.parts)}


def packages_of(environment: Environment) -> set[str]:
    """Return the names of the distributions that the interpreter sees."""
    return set(output([environment.python, "-I", "-c", SHOW_PACKAGES], environment.variables).split())


def step(name: str) -> None:
    """Say what comes next."""
    print(f"== {name}", flush=True)


def run(command: Sequence[str | Path], variables: Mapping[str, str] | None = None) -> None:
    """Run a command with these variables added to the environment; it must succeed."""
    subprocess.run(
        [resolved(command[0]), *map(str, command[1:])], check=True, env={**os.environ, **(variables or {})}
    )


def output(command: Sequence[str | Path], variables: Mapping[str, str]) -> str:
    """Run a command and return the line that it prints."""
    result = subprocess.run(
        [str(word) for word in command], check=True, env={**os.environ, **variables},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return result.stdout.strip()


def resolved(program: str | Path) -> str:
    """Return the path of a program, on Windows with its extension."""
    path = shutil.which(program)
    if path is None:
        raise RuntimeError(f"there is no program {program}")
    return path


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # py-rattler's threads can crash the interpreter while it takes itself down.
    os._exit(code)
