"""Wheels of the package index, kept in the cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.cached import made_once
from tests.support.needs import lacking

# The last release whose Level Zero adapter was linked with the loader instead of loading it by name.
LINKED_RELEASE = "2024.2.0"
LINUX, WINDOWS = "manylinux1_x86_64", "win_amd64"


def wheel(requirement: str, platform: str) -> Path:
    """Return a wheel for a platform."""
    folder = made_once(f"wheel-{requirement}-{platform}", lambda path: _download(requirement, platform, path))
    return next(folder.glob("*.whl"))


def _download(requirement: str, platform: str, folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    result = subprocess.run(
        [*pip, "--platform", platform, "--dest", str(folder), requirement], capture_output=True, text=True
    )
    if result.returncode:
        lacking(f"pip cannot download {requirement} for {platform}: {result.stderr.strip()[-200:]}")
