"""Files of installed distributions that put them outside their import package, as Intel's do."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path, PurePosixPath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def copies(name: str) -> Iterator[metadata.Distribution]:
    """Yield the installed copies of a distribution in the order of `sys.path`."""
    yield from metadata.distributions(name=name)


def files_of(distribution: metadata.Distribution, tail: str) -> Iterator[str]:
    """Yield the existing files of a distribution whose path ends with the components of `tail`."""
    wanted = PurePosixPath(tail).parts
    for entry in distribution.files or ():
        if entry.parts[-len(wanted) :] != wanted:
            continue
        # `pip install --target` moves the data scheme beside the packages but leaves RECORD as it was.
        moved = PurePosixPath(*(part for part in entry.parts if part != ".."))
        for place in (entry, moved):
            # Not resolve(): a link is reported under the name that was asked for.
            path = os.path.normpath(str(distribution.locate_file(place)))
            if Path(path).is_file():
                yield path
                break
