"""Build a released wheel or conda package again and compare: `dev.py verify FILE...`.

The file's own metadata names what it is; the sources are those that the catalogue pins. Works offline once they
are cached. Exit code 1 where a file differs or is none of ours.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from .catalogue import Platform, Release, load
from .conda import PLATFORMS as CONDA_PLATFORMS
from .conda import Job, build_package
from .errors import BuildError, reported
from .fetch import obtain
from .launcher import DISTRIBUTION as LAUNCHER
from .launcher import build_launcher_wheel
from .released import Identity, first_difference, identify
from .stage import stage_release
from .wheel import LOCATOR, build_pure_wheel, build_sdk_wheel, distribution_of


@reported
def main(arguments: list[str]) -> int:
    """Verify each file; report `identical` or the first member that differs."""
    parser = argparse.ArgumentParser(prog="dev.py verify", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a .whl or .conda file")
    failed = 0
    for file in parser.parse_args(arguments).files:
        try:
            with tempfile.TemporaryDirectory(prefix="verify-") as scratch:
                difference = first_difference(file, rebuild(file, Path(scratch)))
        except BuildError as error:
            print(error, file=sys.stderr, flush=True)
            failed += 1
            continue
        print(f"{file.name}: {difference or 'identical'}", flush=True)
        failed += bool(difference)
    return 1 if failed else 0


def rebuild(file: Path, scratch: Path) -> Path:
    """Build what a file says it is; return the new file. BuildError where it is nothing that is made here."""
    identity = identify(file)
    if identity.name == LOCATOR and identity.platform is None:
        rebuilt = _locator(identity, scratch)
    elif identity.name == LAUNCHER and identity.platform and not identity.conda:
        rebuilt = build_launcher_wheel(identity.platform, scratch)
    else:
        rebuilt = _sdk(identity, scratch)
    if rebuilt.name != file.name:
        raise BuildError(
            f"{file.name} is not what this commit makes",
            wanted=file.name,
            found=rebuilt.name,
            fix="check out the commit of the release",
        )
    return rebuilt


def _locator(identity: Identity, scratch: Path) -> Path:
    wheel = build_pure_wheel(LOCATOR, scratch)
    if not identity.conda:
        return wheel
    variables = {"LOCATOR_VERSION": wheel.name.split("-")[1], "WHEEL": str(wheel)}
    return build_package(Job(LOCATOR, "noarch", variables), scratch)


def _sdk(identity: Identity, scratch: Path) -> Path:
    components = {distribution_of(component): component for component in load().components}
    if identity.name not in components or identity.platform is None:
        raise BuildError(
            f"{identity.name} is not made here for {identity.platform or 'any platform'}",
            wanted=f"{', '.join(components)} for a platform, {LOCATOR} for any, the wheel {LAUNCHER}",
        )
    release = load().release(components[identity.name], identity.version)
    tree = _staged(release, identity.platform, scratch)
    if not identity.conda:
        return build_sdk_wheel(tree, scratch)
    (platform,) = (name for name, ours in CONDA_PLATFORMS.items() if ours == identity.platform)
    variables = {"SDK_VERSION": release.version, "STAGED_TREE": str(tree)}
    return build_package(Job(identity.name, platform, variables), scratch)


def _staged(release: Release, platform: Platform, scratch: Path) -> Path:
    return stage_release(release, platform, obtain(release.build_inputs((platform,))), scratch / "tree")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
