"""Make everything of a release: `dev.py release`.

Wheels, the conda channel, SBOMs, SHA256SUMS over all of them, and `site/`: a package index (PEP 503, 691, 658) and
the same channel as static files, for any web server.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from .build import build_wheels
from .catalogue import PLATFORMS, ROOT, load
from .conda import build_channel
from .errors import reported
from .fetch import obtain
from .gates import check_wheels
from .index import write_index
from .publish import SUMS, sha256
from .replacing import replacing

SBOM = ".dist-info/sboms/"


@reported
def main(arguments: list[str]) -> int:
    """Make the release with every version of the catalogue; the folder is replaced as a whole."""
    parser = argparse.ArgumentParser(prog="dev.py release", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the release (dist)")
    out = parser.parse_args(arguments).out.absolute()
    with replacing(out) as folder:
        make_release(folder)
    for line in (out / SUMS).read_text("utf-8").splitlines():
        print(line)
    return 0


def make_release(folder: Path) -> None:
    """Fill an empty folder with the release."""
    releases = load().releases
    obtain(item for release in releases for item in release.build_inputs())  # a release skips no version
    with tempfile.TemporaryDirectory(prefix="release-") as scratch:
        built = build_wheels(releases, PLATFORMS, Path(scratch))
        check_wheels(built)
        wheels = [Path(shutil.copyfile(wheel, folder / wheel.name)) for wheel in built]
    build_channel(releases, folder / "conda")
    for wheel in wheels:
        _copy_sboms(wheel, folder / "sboms")
    write_index(wheels, folder / "site" / "simple")
    shutil.copytree(folder / "conda", folder / "site" / "conda")
    _write_sums(folder, [path for path in sorted(folder.rglob("*")) if path.is_file()])


def _copy_sboms(wheel: Path, folder: Path) -> None:
    """Copy the bills of materials out of a wheel, each named after the wheel."""
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if SBOM in name:
                (folder / f"{wheel.stem}.{Path(name).name}").write_bytes(archive.read(name))


def _write_sums(folder: Path, files: Iterable[Path]) -> None:
    lines = (f"{sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in files)
    (folder / SUMS).write_text("".join(lines), "utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
