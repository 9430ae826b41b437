"""Build a released wheel or conda package again and compare: `dev.py verify FILE...`.

The file's own metadata names what it is; the sources are those that the catalogue pins. Works offline once they
are cached. Exit code 1 where a file differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from .catalogue import Platform, load
from .conda import PLATFORMS as CONDA_PLATFORMS
from .conda import Job, build_package
from .conda_archive import read_component
from .errors import BuildError, reported
from .fetch import obtain
from .launcher import DISTRIBUTION as LAUNCHER
from .launcher import build_launcher_wheel
from .stage import stage_release
from .wheel import build_pure_wheel, build_sdk_wheel, distribution_of


@reported
def main(arguments: list[str]) -> int:
    """Verify each file; report `identical` or the first member that differs."""
    parser = argparse.ArgumentParser(prog="dev.py verify", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a .whl or .conda file")
    differing = 0
    for file in parser.parse_args(arguments).files:
        with tempfile.TemporaryDirectory(prefix="verify-") as scratch:
            difference = compare(file, rebuild(file, Path(scratch)))
        print(f"{file.name}: {difference or 'identical'}", flush=True)
        differing += bool(difference)
    return 1 if differing else 0


def rebuild(file: Path, scratch: Path) -> Path:
    """Build what a file says it is; return the new file."""
    if not file.is_file():
        raise BuildError(f"there is no file {file}")
    try:
        if file.suffix == ".conda":
            return _rebuild_conda(file, scratch)
        if file.suffix == ".whl":
            return _rebuild_wheel(file, scratch)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise BuildError(f"{file.name} cannot be read", looked_in=[str(file)], found=str(error)) from error
    raise BuildError(f"{file.name} is not a release file", wanted="a .whl or .conda file")


def compare(released: Path, rebuilt: Path) -> str:
    """Return what differs first, in words; nothing where the two files are the same bytes."""
    if released.read_bytes() == rebuilt.read_bytes():
        return ""
    theirs, ours = dict(_members(released)), dict(_members(rebuilt))
    for name in sorted(theirs.keys() | ours.keys()):
        if name not in ours:
            return f"differs: {name} is only in the released file"
        if name not in theirs:
            return f"differs: {name} is only in the rebuilt file"
        if theirs[name] != ours[name]:
            return f"differs: {name} has other content"
    return "differs: same members, but archived in another way"


def _members(file: Path) -> Iterator[tuple[str, bytes]]:
    if file.suffix == ".conda":
        for component in ("info", "pkg"):
            yield from read_component(file, component).items()
        return
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            yield name, archive.read(name)


def _rebuild_wheel(file: Path, scratch: Path) -> Path:
    try:
        name, version, _, tags = parse_wheel_filename(file.name)
    except InvalidWheelFilename as error:
        raise BuildError(f"{file.name} is not the name of a wheel", found=str(error)) from error
    platforms = {tag.platform for tag in tags}
    if platforms == {"any"}:
        return build_pure_wheel(name, scratch)
    platform: Platform = "win_amd64" if "win_amd64" in platforms else "linux_x86_64"
    if name == LAUNCHER:
        return build_launcher_wheel(platform, scratch)
    return build_sdk_wheel(_staged(name, str(version), platform, scratch), scratch)


def _rebuild_conda(file: Path, scratch: Path) -> Path:
    index = json.loads(read_component(file, "info")["info/index.json"])
    name, version, platform = index["name"], index["version"], index["subdir"]
    if platform == "noarch":
        wheel = build_pure_wheel(name, scratch)
        return build_package(Job(name, platform, {"LOCATOR_VERSION": version, "WHEEL": str(wheel)}), scratch)
    tree = _staged(name, version, CONDA_PLATFORMS[platform], scratch)
    return build_package(Job(name, platform, {"SDK_VERSION": version, "STAGED_TREE": str(tree)}), scratch)


def _staged(distribution: str, version: str, platform: Platform, scratch: Path) -> Path:
    components = {distribution_of(component): component for component in load().components}
    if distribution not in components:
        raise BuildError(
            f"{distribution} is not made from the catalogue", wanted=f"one of: {', '.join(components)}"
        )
    release = load().release(components[distribution], version)
    return stage_release(release, platform, obtain(release.build_inputs((platform,))), scratch / "tree")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
