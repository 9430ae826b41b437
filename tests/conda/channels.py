"""Channels for the tests: ours, built by the command, and one of stand-ins for what is not ours."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import rattler_build
from repack.conda import index

from tests.support.level_zero import loader_folder
from tests.support.wheels import ROOT


def build_ours(out: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command that makes our channel; it must succeed."""
    command = [sys.executable, "-m", "repack.conda", "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts"), **variables}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result


def build_stand_ins(out: Path) -> Path:
    """Make a channel of stand-ins for conda-forge's packages that an environment of ours needs; return it.

    `python` runs the interpreter of the tests on the packages of its environment; on Windows it is empty, since
    the tests run a Windows Python of their own. `level-zero` holds Debian's loader, as conda-forge's its own build.
    """
    launcher = (
        "#!/bin/sh\n"
        'here=$(cd "$(dirname "$0")/.." && pwd)\n'
        f'PYTHONPATH="$here/lib/python3.11/site-packages" exec {sys.executable} "$@"\n'
    )
    _build(out, "python", "3.11.99", "linux-64", {"bin/python3.11": launcher, "bin/python": launcher})
    _build(out, "python", "3.11.99", "win-64", {"stand-in.txt": "no interpreter\n"})
    loader = loader_folder() / "libze_loader.so.1"
    _build(out, "level-zero", "1.32.0", "linux-64", {"lib/libze_loader.so.1": loader.read_bytes()})
    (out / "noarch").mkdir()
    index(out)
    return out


def add_python_with_pip(channel: Path) -> None:
    """Add to the stand-ins a newer Python that has a pip and packages of its own: a virtual environment."""
    script = f"import os, subprocess; subprocess.run([{sys.executable!r}, '-m', 'venv', os.environ['PREFIX']], check=True)"
    _package(channel, "python", f"3.{sys.version_info.minor}.100", "linux-64", script)
    _build(channel, "pip", "1.0", "linux-64", {"share/stand-in.txt": "pip is in the stand-in for Python\n"})
    index(channel)


def _build(out: Path, name: str, version: str, platform: str, files: Mapping[str, str | bytes]) -> None:
    encoded = {
        path: base64.b64encode(content if isinstance(content, bytes) else content.encode()).decode()
        for path, content in files.items()
    }
    _package(out, name, version, platform, WRITE_FILES % repr(encoded))


def _package(out: Path, name: str, version: str, platform: str, script: str) -> None:
    """Build the package of what a Python script puts into its prefix."""
    recipe = {
        "schema_version": 1,
        "package": {"name": name, "version": version},
        "build": {
            "number": 0,
            "script": {"interpreter": "python", "content": script},
            "dynamic_linking": {"binary_relocation": False},
        },
        "about": {"summary": "A stand-in of the tests."},
    }
    config = rattler_build.RenderConfig(
        platform=rattler_build.PlatformConfig(
            build_platform="linux-64", host_platform=platform, target_platform=platform
        )
    )
    with tempfile.TemporaryDirectory() as scratch:
        (variant,) = rattler_build.Stage0Recipe.from_dict(recipe).render(
            rattler_build.VariantConfig(), config
        )
        result = variant.run_build(output_dir=Path(scratch), channels=[], no_build_id=True)
        for package in result.packages:
            (out / platform).mkdir(parents=True, exist_ok=True)
            Path(package).rename(out / platform / Path(package).name)


WRITE_FILES = """
import base64, os, pathlib
for name, content in %s.items():
    path = pathlib.Path(os.environ["PREFIX"], name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b64decode(content))
    path.chmod(0o755)
"""
