"""The kinds of installation: each really made, by pip and by uv, and each giving an interpreter that has us."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

LOCATOR = Path(__file__).resolve().parents[2] / "wheels" / "intel-xpu-runtime-dev"


class Installed(NamedTuple):
    """An interpreter that can import the locator, and where the development kits must be found."""

    python: Path
    variables: Mapping[str, str]
    root: Path

    def run(self, *arguments: str, **variables: str) -> str:
        """Run the interpreter, away from the repository, and return what it prints."""
        result = subprocess.run(
            [self.python, *arguments],
            env={**clean_environment(), **self.variables, **variables},
            cwd=self.root,
            capture_output=True,
            check=False,
        )
        assert result.returncode == 0, os.fsdecode(result.stderr)
        return os.fsdecode(result.stdout)


class Installer(NamedTuple):
    """pip or uv, offline: it takes everything from one folder of wheels."""

    name: str
    command: Callable[[Path], Sequence[str | Path]]

    def install(self, python: Path, wheelhouse: Path, *options: str | Path, **variables: str) -> None:
        """Install the locator and what it depends on for an interpreter."""
        command = [*self.command(python), "--no-index", "--find-links", wheelhouse, *options]
        call([*command, "intel-xpu-runtime-dev"], **variables)


# pip of the test environment, so that no installation needs one of its own; uv would take a wheel of the same name from
# its cache.
PIP = Installer("pip", lambda python: [sys.executable, "-m", "pip", "--python", python, "install", "-q"])
UV = Installer(
    "uv",
    lambda python: [sys.executable, "-m", "uv", "pip", "install", "-q", "--no-cache", "--python", python],
)
INSTALLERS = (PIP, UV)


def call(command: Sequence[str | Path], **variables: str) -> None:
    """Run a command that must succeed."""
    result = subprocess.run(
        command, env={**clean_environment(), **variables}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def clean_environment() -> dict[str, str]:
    """Return the environment without what could decide a search, or what keeps pip from working as usual."""
    unwanted = ("PYTHON", "CONDA", "LEVEL_ZERO", "ZE_", "ONEAPI", "CMPLR", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}


def virtual_environment(folder: Path, *options: str, base: Path | None = None) -> Path:
    """Make a virtual environment without pip; return its interpreter."""
    call([base or sys.executable, "-m", "venv", "--without-pip", *options, folder])
    return folder / "bin" / "python"


def in_venv(installer: Installer, wheelhouse: Path, folder: Path) -> Installed:
    """Install into a virtual environment."""
    python = virtual_environment(folder)
    installer.install(python, wheelhouse)
    return Installed(python, {}, folder)


def in_target(installer: Installer, wheelhouse: Path, folder: Path) -> Installed:
    """Install with --target into a folder that PYTHONPATH names."""
    python = virtual_environment(folder / "env")
    target = folder / "target"
    installer.install(python, wheelhouse, "--target", target)
    return Installed(python, {"PYTHONPATH": str(target)}, target)


def in_user_site(installer: Installer, wheelhouse: Path, folder: Path) -> Installed:
    """Install with --user, for a base interpreter."""
    python = Path(sysconfig.get_config_var("BINDIR"), Path(sys.executable).name)
    variables = {"PYTHONUSERBASE": str(folder), "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    installer.install(python, wheelhouse, "--user", **variables)
    return Installed(python, variables, folder)


def in_base(installer: Installer, wheelhouse: Path, folder: Path) -> Installed:
    """Install into a base interpreter and return a virtual environment that sees its packages."""
    base = base_interpreter(folder / "base")
    installer.install(base, wheelhouse)
    python = virtual_environment(folder / "env", "--system-site-packages", base=base)
    return Installed(python, {}, folder / "base")


def in_read_only(installer: Installer, wheelhouse: Path, folder: Path) -> Installed:
    """Install into a virtual environment that nothing may write to afterwards."""
    installed = in_venv(installer, wheelhouse, folder)
    call(["chmod", "-R", "a-w", folder])
    return installed


def editable(installer: Installer, wheelhouse: Path, folder: Path) -> Installed:
    """Install the locator from its sources, editable, beside kits from wheels."""
    python = virtual_environment(folder / "env")
    installer.install(python, wheelhouse)
    sources = shutil.copytree(LOCATOR, folder / "sources", ignore=shutil.ignore_patterns("__pycache__"))
    # The build needs its backend from the index.
    call(
        [
            *installer.command(python),
            "--no-deps",
            "--reinstall" if installer is UV else "--force-reinstall",
            "--editable",
            sources,
        ]
    )
    return Installed(python, {}, folder / "env")


KINDS = {
    "venv": in_venv,
    "target": in_target,
    "user": in_user_site,
    "base": in_base,
    "read-only": in_read_only,
    "editable": editable,
}


def base_interpreter(folder: Path) -> Path:
    """Make a base interpreter of its own: the running one's program and library, with its own site-packages."""
    python = folder / "bin" / "python3"
    python.parent.mkdir(parents=True)
    shutil.copy2(Path(sys.executable).resolve(), python)
    standard_library = Path(sysconfig.get_path("stdlib"))
    library = folder / "lib" / standard_library.name
    library.mkdir(parents=True)
    for entry in standard_library.iterdir():
        if entry.name not in ("site-packages", "dist-packages", "EXTERNALLY-MANAGED"):
            (library / entry.name).symlink_to(entry)
    return python
