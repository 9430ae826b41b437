"""Somebody who reads the documents and types what they show."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tests.docs.documents import python_blocks
from tests.locator.installs import call, clean_environment, virtual_environment
from tests.support import environments, level_zero
from tests.support.needs import program
from tests.support.wheels import ROOT

SCRIPT = """\
import os
print("variables:", "set" if "LEVEL_ZERO_V1_SDK_PATH" in os.environ else "none")
"""
MESON = ROOT / "tests" / "downstream" / "meson_project" / "meson.build"


class Reader:
    """Somebody who reads the documents: an environment, a current folder, and the programs of this machine."""

    def __init__(self, folder: Path, wheelhouse: Path) -> None:
        self.folder = folder
        self.python = virtual_environment(folder / "env")
        self.work = folder / "work"
        self.work.mkdir()
        # Intel's runtime, its CPU device and Triton have been installed before, from the index.
        intel = next(environments.triton_with_runtime().parents[1].glob("lib/python*/site-packages"))
        own = next(self.python.parents[1].glob("lib/python*/site-packages"))
        (own / "intel.pth").write_text(f"{intel}\n")
        # pip is the test environment's and takes our wheels, as from the index, by their names.
        self.pip = {"PIP_PYTHON": str(self.python), "PIP_FIND_LINKS": str(wheelhouse), "PIP_NO_INDEX": "1"}

    def run(
        self, command: str, *, shell: str = "bash", codes: tuple[int, ...] = (0,), index: bool = False
    ) -> str:
        """Run a command line in a shell; return its output and errors."""
        path = [str(self.python.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
        variables = {
            **clean_environment(), **self.pip,
            "PATH": os.pathsep.join(path),
            "LD_LIBRARY_PATH": str(level_zero.loader_folder()),
            "XPU_DEV_CACHE_DIR": str(self.folder / "cache"),
        }  # fmt: skip
        if index:
            del variables["PIP_NO_INDEX"]
        return run([program(shell), "-c", command], self.work, variables, codes)


def run(command: list[str], folder: Path, variables: Mapping[str, str], codes: tuple[int, ...]) -> str:
    result = subprocess.run(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL, text=True, timeout=500,
    )  # fmt: skip
    assert result.returncode in codes, result.stdout
    assert "Traceback" not in result.stdout
    return result.stdout


def make_projects(reader: Reader, wheelhouse: Path) -> None:
    """Fill the reader's current folder: scripts, wheels of ours in dist/, a Meson project, extensions as wheels."""
    for name in ("your_script.py", "train.py"):
        (reader.work / name).write_text(SCRIPT)
    for source in (MESON, MESON.parents[1] / "host.c"):
        shutil.copy(source, reader.work)
    (reader.work / "scripts").symlink_to(ROOT / "scripts")
    (reader.work / "dist").symlink_to(wheelhouse)
    _extension_for_linux(reader)
    _extension_for_windows(reader, wheelhouse)


def _extension_for_linux(reader: Reader) -> None:
    """Make a wheel in dist-linux/ from what packagers.md shows for setuptools."""
    project = Path(shutil.copytree(MESON.parents[1] / "setuptools_project", reader.folder / "project"))
    shutil.copy(MESON.parents[1] / "extension.c", project)
    (setup,) = (block.text for block in python_blocks() if "ext_modules" in block.text)
    (project / "setup.py").write_text(setup)
    # The backend comes from the index, as it does for everybody.
    wheelhouse = reader.pip["PIP_FIND_LINKS"]
    build = [sys.executable, "-m", "uv", "build", "-q", "--no-cache", "--wheel", "--find-links", wheelhouse]
    call([*build, "--out-dir", reader.work / "dist-linux", project])


def _extension_for_windows(reader: Reader, wheelhouse: Path) -> None:
    """Make a wheel in dist-windows/ whose one module calls the loader, with the Windows wheel's own library."""
    (kit,) = wheelhouse.glob("level_zero_devel-1.32.0-*-win_amd64.whl")
    with zipfile.ZipFile(kit) as archive:
        archive.extractall(reader.folder / "kit")
    module = reader.folder / "downstream.pyd"
    root = reader.folder / "kit" / "level_zero_devel"
    call(
        [
            program("x86_64-w64-mingw32-gcc"), "-shared", f"-I{root / 'include'}",
            MESON.parents[1] / "host.c", root / "lib" / "ze_loader.lib", "-o", module,
        ]
    )  # fmt: skip
    target = reader.work / "dist-windows" / "downstream-1.0-cp39-abi3-win_amd64.whl"
    target.parent.mkdir()
    with zipfile.ZipFile(target, "w") as archive:
        archive.write(module, module.name)
        for name, text in {
            "METADATA": "Metadata-Version: 2.1\nName: downstream\nVersion: 1.0\n",
            "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: cp39-abi3-win_amd64\n",
            "RECORD": "downstream.pyd,,\n",
        }.items():
            archive.writestr(f"downstream-1.0.dist-info/{name}", text)
