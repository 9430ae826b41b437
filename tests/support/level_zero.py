"""A real Level Zero loader that runs on Debian 12: Debian's own, unpacked and not installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .cached import made_once
from .needs import lacking, program


def loader_folder() -> Path:
    """Return a folder with Debian's `libze_loader.so.1`, which answers that there is no driver."""

    def fetch(folder: Path) -> None:
        _call_in(folder, program("apt-get"), "download", "libze1")
        (package,) = folder.glob("libze1*.deb")
        _call_in(folder, program("dpkg-deb"), "-x", package, folder)

    (library,) = made_once("debian-libze1", fetch).glob("usr/lib/*/libze_loader.so.1")
    return library.parent


def _call_in(folder: Path, *command: str | Path) -> None:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode:
        lacking(f"{' '.join(map(str, command))}: {result.stderr.strip()}")
