"""Expensive things that tests share: made once, kept in the cache folder, safe with several workers."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import filelock
from repack.cache import cache_folder


def made_once(key: str, make: Callable[[Path], None]) -> Path:
    """Return the cached folder `key`, letting `make` fill it the first time; a half-made one never counts."""
    folder = cache_folder() / "tests" / key
    folder.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(f"{folder}.lock"):
        if not folder.exists():
            partial = folder.with_name(folder.name + ".partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            make(partial)
            partial.rename(folder)
    return folder
