"""Make a folder anew as a whole: it takes the place of the old one only when everything in it is done."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import BuildError


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """Give a new empty folder that takes the place of `folder` when the block ends without an error.

    BuildError where it cannot be written; the old folder is then as it was.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise BuildError(
            f"the folder {folder} cannot be written", found=str(error), fix="name another with --out"
        ) from error
    try:
        yield fresh
        fresh.chmod(0o755)  # mkdtemp makes it private
        old = fresh.with_name(f"{fresh.name}-old")
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
