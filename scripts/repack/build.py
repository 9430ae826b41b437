"""Build the SDK wheels from pinned sources, the locator's and the launcher's: `dev.py build`."""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress

from . import compile_gate
from .cache import cache_folder
from .catalogue import PLATFORMS, ROOT, Catalogue, Input, Platform, Release, load
from .errors import BuildError, reported
from .fetch import obtain_releases
from .gates import check_wheels
from .launcher import DISTRIBUTION as LAUNCHER
from .launcher import build_launcher_wheel
from .publish import publish, sha256
from .stage import stage_release
from .wheel import LOCATOR, build_pure_wheel, build_sdk_wheel, distribution_of

OWN = (LOCATOR, LAUNCHER)
WORKERS = min(4, os.cpu_count() or 1)
EPILOG = """\
Without options: every version in sources.toml, for both platforms, the locator and the launcher. A version whose sources
cannot be reached is skipped, with a loud line. Options may be repeated:

  dev.py build --only level-zero-devel --platform win_amd64 --version 1.32.0 --version 1.20.6
"""
T = TypeVar("T", bound=str)


@reported
def main(arguments: list[str]) -> int:
    """Build what the arguments ask for; the output folder changes only if all of it passes the gates."""
    catalogue = load()
    options = _parser().parse_args(arguments)
    distributions = [*map(distribution_of, catalogue.components), *OWN]
    only = _chosen(options.only, distributions, "distribution")
    platforms = _chosen(options.platform, PLATFORMS, "platform")
    releases = _chosen_releases(catalogue, only, options.version)
    try:
        with _clean_stop(), _scratch_folder() as scratch:
            wheels = build_wheels(releases, platforms, scratch, own=[name for name in OWN if name in only])
            check_wheels(wheels)
            published = publish(wheels, options.out)
    except OSError as error:
        raise BuildError("the build cannot read or write a file", found=str(error)) from error
    for wheel in published:
        print(f"{wheel.stat().st_size:>9,} bytes  sha256 {sha256(wheel)}  {wheel.name}")
    return 0


def build_wheels(
    releases: Collection[Release],
    platforms: tuple[Platform, ...],
    scratch: Path,
    *,
    own: Collection[str] = OWN,
) -> list[Path]:
    """Build the wheels of these releases, and those that are written here, in the folder `scratch`; return their paths.

    A release that cannot be had is skipped, with a line on stderr; BuildError where none is left.
    """
    out = scratch / "wheels"
    out.mkdir()

    def sdk(release: Release, platform: Platform, folders: Mapping[Input, Path]) -> Path:
        tree = scratch / f"{release.component}-{release.version}-{platform}"
        stage_release(release, platform, folders, tree)
        compile_gate.check(
            release.component, release.version, platform, tree / "include", compilers, cache_folder()
        )
        return build_sdk_wheel(tree, out)

    jobs: list[Callable[[], Path]] = []
    if LOCATOR in own:
        jobs.append(partial(build_pure_wheel, LOCATOR, out))
    if LAUNCHER in own:
        jobs += [partial(build_launcher_wheel, platform, out) for platform in platforms]
    if releases:
        compilers = compile_gate.find_compilers()
        if compilers.missing or sys.stderr.isatty():
            print(f"headers are compiled with: {compilers}", file=sys.stderr)
        at_hand, _ = obtain_releases(releases, platforms)
        jobs += [
            partial(sdk, release, platform, folders)
            for release, folders in at_hand.items()
            for platform in platforms
        ]
    return sorted(_in_parallel(jobs))


def _in_parallel(jobs: Collection[Callable[[], Path]]) -> list[Path]:
    """Run all jobs, the first fault stopping the rest; on a terminal draw a bar meanwhile."""
    console = Console(stderr=True)
    pool = ThreadPoolExecutor(WORKERS)
    progress = Progress(console=console, transient=True, disable=not console.is_terminal)
    try:
        with progress:
            results = pool.map(lambda job: job(), jobs)
            return list(progress.track(results, total=len(jobs), description="building wheels"))
    finally:
        pool.shutdown(cancel_futures=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dev.py build",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="this distribution")
    parser.add_argument("--platform", action="append", metavar="PLATFORM", help=" or ".join(PLATFORMS))
    parser.add_argument("--version", action="append", metavar="VERSION", help="this version of an SDK")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="output folder (dist)")
    return parser


def _chosen(wanted: list[str] | None, known: Iterable[T], what: str) -> tuple[T, ...]:
    """Return the known values that are wanted, all of them where nothing is said."""
    values = tuple(known)
    if unknown := sorted(set(wanted or ()) - set(values)):
        raise BuildError(f"no {what} {unknown[0]!r}", wanted=f"one of: {', '.join(values)}")
    return tuple(value for value in values if wanted is None or value in wanted)


def _chosen_releases(
    catalogue: Catalogue, distributions: Collection[str], versions: list[str] | None
) -> list[Release]:
    """Return the releases of these distributions; of each component the wanted versions that it has."""
    releases = [item for item in catalogue.releases if distribution_of(item.component) in distributions]
    chosen = set(_chosen(versions, dict.fromkeys(item.version for item in releases), "version"))
    return [item for item in releases if item.version in chosen]


@contextmanager
def _scratch_folder() -> Iterator[Path]:
    """Give a private folder that is gone afterwards.

    `TemporaryDirectory` leaves it behind when a signal comes just after it was made: the name must be known before.
    """
    folder = Path(tempfile.gettempdir(), f"xpu-build-{secrets.token_hex(8)}")
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _clean_stop() -> Iterator[None]:
    """Let SIGTERM end the block as an error does, so that nothing is left behind."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise BuildError("stopped by SIGTERM; the output folder is as it was")

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
