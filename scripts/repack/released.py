"""Read released files that may be damaged or hostile: what they say they are, and where they differ from ours.

Names of an archive are compared and printed, never used as paths; sizes are looked at before anything is unpacked.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from .catalogue import Platform
from .conda import PLATFORMS as CONDA_PLATFORMS
from .conda_archive import read_component
from .errors import BuildError

COMPONENTS = ("info", "pkg")


class Identity(NamedTuple):
    """What a file says it is; `platform` is None for a file that serves every platform."""

    name: str
    version: str
    platform: Platform | None
    conda: bool


def identify(file: Path) -> Identity:
    """Return what a wheel says in its name or a conda package in its metadata; BuildError where it does not."""
    if not file.is_file():
        raise BuildError(f"there is no file {file}")
    if file.suffix == ".whl":
        return _wheel(file)
    if file.suffix == ".conda":
        return _conda_package(file)
    raise BuildError(f"{file.name} is not a release file", wanted="a .whl or .conda file")


def first_difference(released: Path, rebuilt: Path) -> str:
    """Return what differs first, in words; nothing where the two files are the same bytes."""
    if released.read_bytes() == rebuilt.read_bytes():
        return ""
    try:
        outer = _outer_difference(released, rebuilt)
        if outer.endswith(".tar.zst has other content"):
            return _inner_difference(released, rebuilt)
    except BuildError:
        raise
    # What the readers of three archive formats raise for damaged bytes is not a list that ends.
    except Exception as error:
        raise _unreadable(released, error) from error
    return outer or "differs: same members, but archived in another way"


def _wheel(file: Path) -> Identity:
    try:
        name, version, _, tags = parse_wheel_filename(file.name)
    except InvalidWheelFilename as error:
        raise BuildError(f"{file.name} is not the name of a wheel", found=str(error)) from error
    platforms = {tag.platform for tag in tags}
    if platforms == {"any"}:
        return Identity(name, str(version), None, conda=False)
    if platforms == {"win_amd64"}:
        return Identity(name, str(version), "win_amd64", conda=False)
    if all(platform.startswith("manylinux") and platform.endswith("_x86_64") for platform in platforms):
        return Identity(name, str(version), "linux_x86_64", conda=False)
    raise BuildError(f"{file.name} is for no platform that is built here", found=", ".join(sorted(platforms)))


def _conda_package(file: Path) -> Identity:
    try:
        index = json.loads(read_component(file, "info")["info/index.json"])
        name, version, subdir = (index[key] for key in ("name", "version", "subdir"))
    except Exception as error:
        raise _unreadable(file, error) from error
    if not all(isinstance(value, str) for value in (name, version, subdir)):
        raise _unreadable(file, ValueError("name, version or subdir in info/index.json is no text"))
    if subdir != "noarch" and subdir not in CONDA_PLATFORMS:
        raise BuildError(f"{file.name} is for no platform that is built here", found=subdir)
    return Identity(name, version, CONDA_PLATFORMS.get(subdir), conda=True)


def _outer_difference(released: Path, rebuilt: Path) -> str:
    """Compare two zip files member by member, the first in the order of names that differs."""
    with zipfile.ZipFile(released) as theirs, zipfile.ZipFile(rebuilt) as ours:
        sizes = [{info.filename: info.file_size for info in each.infolist()} for each in (theirs, ours)]
        twice = [name for name, count in Counter(theirs.namelist()).items() if count > 1]
        if twice:
            return f"differs: {twice[0]} is in the released file more than once"
        for name in sorted(sizes[0].keys() | sizes[1].keys()):
            if missing := _only_in_one(name, *sizes):
                return missing
            if sizes[0][name] != sizes[1][name] or _read(theirs, name) != ours.read(name):
                return f"differs: {name} has other content"
    return ""


def _read(archive: zipfile.ZipFile, name: str) -> bytes | None:
    """Return a member's bytes, None where they cannot be what was packed: then it differs."""
    try:
        return archive.read(name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        return None


def _inner_difference(released: Path, rebuilt: Path) -> str:
    """Compare the files in the components of two conda packages."""
    for component in COMPONENTS:
        try:
            theirs = read_component(released, component)
        except Exception as error:  # see first_difference
            return f"differs: its component {component} is damaged: {error}"
        ours = read_component(rebuilt, component)
        for name in sorted(theirs.keys() | ours.keys()):
            if missing := _only_in_one(name, theirs, ours):
                return missing
            if theirs[name] != ours[name]:
                return f"differs: {name} has other content"
    return "differs: same members, but archived in another way"


def _only_in_one(name: str, theirs: Mapping[str, object], ours: Mapping[str, object]) -> str:
    if name not in ours:
        return f"differs: {name} is only in the released file"
    if name not in theirs:
        return f"differs: {name} is only in the rebuilt file"
    return ""


def _unreadable(file: Path, error: Exception) -> BuildError:
    said = str(error) or type(error).__name__
    return BuildError(f"{file.name} cannot be read", looked_in=[str(file)], found=said)
