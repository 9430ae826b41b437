"""All that the checks read of a machine, so that a test can describe another one."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path

from .._distributions import files_of
from .._files import is_dir, is_file

WINDOWS = os.name == "nt"
CONDA_FOLDER = "conda-meta"


@dataclass
class Machine:
    """A machine and the Python environment on it; `read_*` are the few questions that only a system can answer."""

    windows: bool
    environ: Mapping[str, str]
    # The environment's own folder, the one it was made from, and where its packages are.
    prefix: Path
    base_prefix: Path
    site: tuple[str, ...]
    home: str
    # Where "/dev/dri" and "/usr" are found, "C:\" on Windows.
    root: Path
    python_include: Path
    python_libraries: Path
    read_linker_cache: Callable[[], str] = lambda: ""
    # (key below HKEY_LOCAL_MACHINE) -> its values, empty where there is no such key.
    read_registry: Callable[[str], Mapping[str, object]] = lambda key: {}
    read_visual_studios: Callable[[], tuple[Path, ...]] = tuple
    can_open: Callable[[Path], bool] = lambda path: os.access(path, os.R_OK | os.W_OK)
    python_version: str = field(default_factory=lambda: "{}.{}.{}".format(*sys.version_info))
    _installed: dict[str, list[metadata.Distribution]] = field(default_factory=dict)

    @property
    def separator(self) -> str:
        """What separates folders in PATH."""
        return ";" if self.windows else ":"

    @property
    def overlay(self) -> Path:
        """Where wheels put headers and libraries for compilers in the environment."""
        return self.prefix / "Library" if self.windows else self.prefix

    @cached_property
    def linker_cache(self) -> list[tuple[str, Path]]:
        """The names and paths of the libraries that the dynamic linker knows, in its order."""
        lines = (line.partition(" => ") for line in self.read_linker_cache().splitlines())
        return [
            (name.split()[0], Path(path.strip())) for name, arrow, path in lines if arrow and "x86-64" in name
        ]

    @property
    def conda(self) -> Path | None:
        """The conda environment, None outside of one."""
        for prefix in (self.prefix, Path(self.environ.get("CONDA_PREFIX") or self.prefix)):
            if is_dir(prefix / CONDA_FOLDER):
                return prefix
        return None

    def folders(self, variable: str) -> list[Path]:
        """Return the folders of a variable such as PATH."""
        return [Path(part) for part in self.environ.get(variable, "").split(self.separator) if part]

    def which(self, *names: str) -> Path | None:
        """Return the first of these programs on PATH."""
        for name in names:
            for folder in self.folders("PATH"):
                path = folder / (f"{name}.exe" if self.windows else name)
                if is_file(path):
                    return path
        return None

    def distributions(self, name: str) -> list[metadata.Distribution]:
        """Return the installed copies of a distribution, the one that counts first."""
        if name not in self._installed:
            self._installed[name] = list(metadata.distributions(name=name, path=list(self.site)))
        return self._installed[name]

    def distribution(self, name: str) -> metadata.Distribution | None:
        """Return the installed distribution."""
        return next(iter(self.distributions(name)), None)

    def files(self, distribution: metadata.Distribution, *names: str) -> Iterator[Path]:
        """Yield the existing files of a distribution with one of these names."""
        for name in names:
            yield from map(Path, files_of(distribution, name))

    def short(self, text: str) -> str:
        """Return a text with the home folder written as ~: it may name its owner."""
        return text.replace(self.home, "~") if len(self.home) > 3 else text


def this_machine() -> Machine:
    """Return the machine and environment that this process runs in."""
    paths = sysconfig.get_paths()
    return Machine(
        windows=WINDOWS,
        environ=os.environ,
        prefix=Path(sys.prefix),
        base_prefix=Path(sys.base_prefix),
        site=tuple(sys.path),
        home=str(Path.home()),
        root=Path(os.environ.get("SystemDrive", "C:") + "\\" if WINDOWS else "/"),
        python_include=Path(paths["include"]),
        python_libraries=Path(sys.base_prefix, "libs"),
        read_linker_cache=_linker_cache,
        read_registry=_registry,
        read_visual_studios=_visual_studios,
    )


def _linker_cache() -> str:
    try:
        listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, check=False).stdout
    except OSError:
        return ""
    return os.fsdecode(listing)


def _registry(key: str) -> Mapping[str, object]:
    if not WINDOWS:
        return {}
    import winreg

    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:  # type: ignore[attr-defined,unused-ignore]
            count = winreg.QueryInfoKey(opened)[1]  # type: ignore[attr-defined,unused-ignore]
            values = [winreg.EnumValue(opened, index) for index in range(count)]  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return {}
    return {str(name): value for name, value, _ in values}


def _visual_studios() -> tuple[Path, ...]:
    from ..smoke.msvc import installations

    return tuple(installations()) if WINDOWS else ()
