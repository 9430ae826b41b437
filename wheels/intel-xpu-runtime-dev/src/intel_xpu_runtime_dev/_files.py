"""Questions about files that a folder without permission answers with no, where pathlib raises before Python 3.14."""

from __future__ import annotations

import os


def is_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a path leads to a file, as far as this user may know."""
    return os.path.isfile(path)  # noqa: PTH113


def is_dir(path: str | os.PathLike[str]) -> bool:
    """Return whether a path leads to a folder, as far as this user may know."""
    return os.path.isdir(path)  # noqa: PTH112
