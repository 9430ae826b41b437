"""Windows Pythons: copies to spoil, and wheels installed by their own pip."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.support.cached import made_once
from tests.support.environments import INTEL_RUNTIME
from tests.support.needs import lacking

from .wine import Argument, Wine

# What pytest needs on Windows, on any of the Pythons.
PYTEST = ("colorama", "exceptiongroup", "iniconfig", "packaging", "pluggy", "pygments", "tomli", "typing_extensions")  # fmt: skip


@dataclasses.dataclass(frozen=True)
class WindowsPython:
    """A Python for Windows in a folder of the host."""

    wine: Wine
    folder: Path

    @property
    def executable(self) -> Path:
        """Return `python.exe`."""
        return self.folder / "python.exe"

    @property
    def site_packages(self) -> Path:
        """Return the folder that pip installs modules to."""
        return self.folder / "Lib" / "site-packages"

    def run(
        self,
        *arguments: Argument,
        env: Mapping[str, str] | None = None,
        timeout: float = 120,
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run the interpreter; see `Wine.run`."""
        return self.wine.run([self.executable, *arguments], env=env, timeout=timeout, check=check)

    def pip(self, *arguments: Argument, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """Run this Python's own pip, which never asks an index."""
        offline = {
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_WARN_SCRIPT_LOCATION": "1",
        }
        return self.run("-m", "pip", *arguments, env=offline, timeout=timeout)

    def install(self, *wheels: Path) -> None:
        """Install exactly these wheels with this Python's own pip."""
        self.pip("install", "--quiet", "--no-deps", "--no-compile", *wheels)

    def copy(self, folder: Path) -> WindowsPython:
        """Return a copy to install into, in a folder that does not exist yet: hard links where the host can."""
        shutil.copytree(self.folder, folder, copy_function=_link, symlinks=True)
        return WindowsPython(self.wine, folder)

    def with_wheels(self, name: str, *requirements: str) -> WindowsPython:
        """Return a cached copy that also holds what these requirements bring on Windows; copy it to change it."""
        key = hashlib.sha256("\n".join([str(self.folder), *requirements]).encode()).hexdigest()[:10]

        def make(folder: Path) -> None:
            python = self.copy(folder / "python")
            with tempfile.TemporaryDirectory() as wheels:
                python.install(*download_wheels(requirements, self.version, Path(wheels)))

        return WindowsPython(self.wine, made_once(f"windows-{name}-{key}", make) / "python")

    def with_intel_runtime(self, release: str) -> WindowsPython:
        """Return a cached copy with Intel's Unified Runtime and CPU device of a release."""
        return self.with_wheels(f"intel-runtime-{release}", *INTEL_RUNTIME[release])

    def with_pytest(self) -> WindowsPython:
        """Return a cached copy with pytest, to run tests of this repository on Windows."""
        # The host's, but for Python 3.9, which newer ones do not run on.
        version = "8.4.2" if self.version == "3.9" else importlib.metadata.version("pytest")
        return self.with_wheels("pytest", f"pytest=={version}", *PYTEST)

    @property
    def version(self) -> str:
        """Return the version as in `3.11`."""
        (library,) = self.folder.glob("python3?*.dll")
        return f"3.{library.stem.removeprefix('python3')}"


def download_wheels(requirements: tuple[str, ...], version: str, folder: Path) -> list[Path]:
    """Download the wheels that these requirements and what they require have for Windows, with the host's pip."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    windows = ["--platform", "win_amd64", "--python-version", version, "--only-binary", ":all:"]
    result = subprocess.run(
        [*pip, *windows, "--dest", str(folder), *requirements], capture_output=True, text=True
    )
    if result.returncode:
        lacking(
            f"no wheels for Windows of {' '.join(requirements)}: {result.stderr.strip().splitlines()[-1:]}"
        )
    return sorted(folder.glob("*.whl"))


def _link(source: str, target: str) -> None:
    """Make a hard link, or a copy where that crosses file systems."""
    try:
        os.link(source, target)
    except OSError:
        with contextlib.suppress(FileNotFoundError):
            Path(target).unlink()
        shutil.copy2(source, target)
