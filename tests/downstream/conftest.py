"""What the downstream builds share: environments that hold us, real loaders, cross compilers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pefile
import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from tests.locator.installs import UV, call, clean_environment, virtual_environment
from tests.support import level_zero

PROJECTS = Path(__file__).resolve().parent
LOADER_IMPORT = ("ze_loader.dll", "libze_loader.so.1")


class User(NamedTuple):
    """A virtual environment with the locator and the kits, as a user has it."""

    folder: Path

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.folder / "bin" / "python"

    def xpu_dev(self, *words: str) -> str:
        """Run the command line; return the line that it prints."""
        return self.run("xpu-dev", *words).strip()

    def run(self, *command: str | Path, variables: Mapping[str, str] | None = None) -> str:
        """Run a command with the environment's programs first, then those of the test environment."""
        path = [str(self.folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
        result = subprocess.run(
            command,
            env={**clean_environment(), "PATH": os.pathsep.join(path), **(variables or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout


@pytest.fixture(scope="session")
def user(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> User:
    """Return an environment whose path has a space in it."""
    folder = tmp_path_factory.mktemp("a user") / "env"
    UV.install(virtual_environment(folder), wheelhouse)
    return User(folder)


@pytest.fixture(scope="session")
def windows_kit(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the root of the Windows wheel's kit, installed for cross compiling as pip can."""
    target = tmp_path_factory.mktemp("windows")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--only-binary=:all:"]
    call(
        [
            *pip,
            "--platform",
            "win_amd64",
            "--target",
            target,
            "--no-index",
            "--find-links",
            wheelhouse,
            "level-zero-devel",
        ]
    )
    return target / "level_zero_devel"


@pytest.fixture(scope="session")
def loader_folder() -> Path:
    """Return a folder with a real loader, Debian's, which answers that there is no driver."""
    return level_zero.loader_folder()


def output_with_loader(host: Path, loader_folder: Path) -> str:
    """Run a built program with the real loader; return what it prints."""
    variables = {**os.environ, "LD_LIBRARY_PATH": str(loader_folder)}
    return subprocess.run([host], env=variables, capture_output=True, text=True, check=True).stdout


def imported_libraries(file: Path) -> Sequence[str]:
    """Return the libraries that an ELF or PE file names."""
    if file.read_bytes()[:2] == b"MZ":
        with pefile.PE(file) as parsed:
            return [entry.dll.decode() for entry in parsed.DIRECTORY_ENTRY_IMPORT]
    with file.open("rb") as stream:
        dynamic = ELFFile(stream).get_section_by_name(".dynamic")
        assert isinstance(dynamic, DynamicSection)
        return [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")]  # type: ignore[attr-defined]
