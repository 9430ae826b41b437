"""Stage an SDK from files that a conda recipe has at hand: `python -m repack.feedstock COMPONENT VERSION ...`.

A feedstock takes headers and loader from upstream's release and from packages of its channel, which conda pins,
where this repository's own build takes the inputs of the catalogue. The tree comes out the same.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from .catalogue import PLATFORMS, Platform, load
from .errors import BuildError, reported
from .stage import stage_release


@reported
def main(arguments: list[str]) -> int:
    """Stage what the arguments name."""
    parser = argparse.ArgumentParser(prog="repack.feedstock", description=__doc__)
    parser.add_argument("component")
    parser.add_argument("version")
    parser.add_argument("platform", choices=PLATFORMS)
    parser.add_argument("--headers", type=Path, required=True, help="folder of the headers")
    parser.add_argument("--loader", type=Path, required=True, help="the loader, a shared library or DLL")
    parser.add_argument("--out", type=Path, required=True, help="new folder of the tree")
    chosen = parser.parse_args(arguments)
    stage_from(chosen.component, chosen.version, chosen.platform, chosen.headers, chosen.loader, chosen.out)
    return 0


def stage_from(
    component: str, version: str, platform: Platform, headers: Path, loader: Path, out: Path
) -> Path:
    """Stage a release of the catalogue from a folder of headers and a loader binary."""
    release = load().release(component, version)
    wanted = release.headers(platform)
    missing = [file for file in wanted.files if not (headers / file).is_file()]
    if missing or not loader.is_file():
        raise BuildError(
            f"{release} cannot be staged",
            wanted=f"the loader and the headers {', '.join(wanted.files)}",
            looked_in=[str(headers), str(loader)],
            found=f"no {', '.join(missing) or loader.name}",
        )
    binary = release.loader_binary(platform)
    with tempfile.TemporaryDirectory(prefix="loader-") as scratch:
        # On Windows the loader's names come from its DLL, also where the catalogue has to take the Linux twin's.
        shutil.copyfile(loader, Path(scratch) / binary.files[0])
        return stage_release(release, platform, {wanted: headers, binary: Path(scratch)}, out)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
