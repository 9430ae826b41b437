"""All wheels and staged trees of the working tree, made once for each content of what they are made of."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from repack.catalogue import Platform
from repack.stage import stage
from repack.transfer import UnreachableError

from .cached import made_once
from .needs import lacking

ROOT = Path(__file__).resolve().parents[2]
STAGED_FROM = ("LICENSES", "names", "scripts/repack", "scripts/requirements.txt", "sources.toml")
MADE_OF = (*STAGED_FROM, "wheels")


def built() -> Path:
    """Return a folder with every wheel that `dev.py build` makes, for `pip --no-index --find-links`."""
    return made_once(f"wheels-{_content(MADE_OF)}", _build)


def wheel(distribution: str, version: str, platform: str) -> Path:
    """Return one of the built wheels; `platform` is `win_amd64`, `linux_x86_64` or, for the locator, `any`."""
    tag = {"linux_x86_64": "manylinux*_x86_64"}.get(platform, platform)
    (path,) = built().glob(f"{distribution.replace('-', '_')}-{version}-*-{tag}.whl")
    return path


def staged(component: str, version: str, platform: Platform) -> Path:
    """Return the staged tree of a release for a platform; do not change it."""

    def make(folder: Path) -> None:
        try:
            stage(component, version, platform, folder)
        except UnreachableError as error:
            lacking(str(error))

    return made_once(f"staged-{component}-{version}-{platform}-{_content(STAGED_FROM)}", make)


def _content(names: tuple[str, ...]) -> str:
    """Return a hash over the paths and bytes of all files below these folders of the repository."""
    files = [path for name in names for path in [ROOT / name, *(ROOT / name).rglob("*")] if path.is_file()]
    digest = hashlib.sha256()
    for path in sorted(path for path in files if "__pycache__" not in path.parts):
        digest.update(f"{path.relative_to(ROOT).as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _build(folder: Path) -> None:
    command = [sys.executable, "-m", "repack.build", "--out", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    result = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    if "SKIPPED" in result.stderr or "can be had" in result.stderr:
        lacking(f"the sources of the wheels cannot be reached: {result.stderr.strip()}")
    assert result.returncode == 0, result.stderr
