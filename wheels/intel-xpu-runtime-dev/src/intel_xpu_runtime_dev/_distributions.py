"""Files of installed distributions that put them outside their import package, as Intel's do."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib import metadata


def copies(name: str) -> Iterator[metadata.Distribution]:
    """Yield the installed copies of a distribution in the order of `sys.path`."""
    # Takes as long to import as Python to start, and hosts that load a runtime from its path search nothing.
    from importlib import metadata

    yield from metadata.distributions(name=name)


def files_of(distribution: metadata.Distribution, tail: str) -> Iterator[str]:
    """Yield the existing files of a distribution whose path ends with the components of `tail`."""
    wanted = PurePosixPath(tail).parts
    for entry in recorded(distribution, wanted[-1]):
        if entry.parts[-len(wanted) :] == wanted:
            yield from _located(distribution, entry)


def folders_of(distribution: metadata.Distribution, suffix: str) -> Iterator[str]:
    """Yield the folders of a distribution's existing files with a suffix, each once."""
    some = {entry.parent: entry for entry in recorded(distribution) if entry.suffix == suffix}
    for entry in some.values():
        for path in _located(distribution, entry):
            yield os.path.dirname(path)  # noqa: PTH120  (strings in, strings out)


def recorded(distribution: metadata.Distribution, part: str = "") -> Iterator[PurePosixPath]:
    """Yield the paths in a distribution's RECORD that contain `part`, relative to its site-packages, existing or not."""
    import csv

    # Not `distribution.files`: from Python 3.12 on it leaves out what is not where RECORD says.
    lines = (distribution.read_text("RECORD") or "").splitlines()
    # Some have thousands of files: a path costs more than a look at the line.
    for row in csv.reader(line for line in lines if part in line):
        if row:
            yield PurePosixPath(row[0])


def _located(distribution: metadata.Distribution, entry: PurePosixPath) -> Iterator[str]:
    # `pip install --target` moves the data scheme beside the packages but leaves RECORD as it was.
    moved = PurePosixPath(*(part for part in entry.parts if part != ".."))
    for place in (entry, moved):
        # Not resolve(): a link is reported under the name that was asked for.
        path = os.path.normpath(str(distribution.locate_file(str(place))))
        if Path(path).is_file():
            yield path
            return
