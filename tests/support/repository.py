"""A copy of this repository to run its tasks in as a contributor does, with the environment that there is."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from .needs import program
from .wheels import ROOT


def copy(folder: Path) -> Path:
    """Copy what is, or would be, committed to the new folder `folder`; return it."""
    listing = [program("git"), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    # Tasks make `.venv` where there is none: the one that runs the tests has the same pins.
    (folder / ".venv").symlink_to(sys.prefix, target_is_directory=True)
    return folder
