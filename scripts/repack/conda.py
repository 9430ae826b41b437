"""Build the conda packages from the staged trees and index them as a channel: `dev.py conda`."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import rattler_build

from .catalogue import ROOT, Input, Platform, Release, load
from .conda_archive import normalise, read_component
from .errors import BuildError, reported
from .fetch import obtain_releases
from .replacing import replacing
from .stage import stage_release
from .wheel import LOCATOR, build_pure_wheel, distribution_of

RECIPES = ROOT / "recipes"
# conda's name of a platform, and the wheels' name of it.
PLATFORMS: Mapping[str, Platform] = {"linux-64": "linux_x86_64", "win-64": "win_amd64"}

WORKERS = min(4, os.cpu_count() or 1)
# Of a failed build's log, what its message repeats.
LOG_LINES = 20


@dataclass(frozen=True)
class Job:
    """One package to build: its recipe, conda's platform, and what the recipe reads from the environment."""

    recipe: str
    platform: str
    variables: Mapping[str, str]


@reported
def main(arguments: list[str]) -> int:
    """Build the channel with every version of the catalogue."""
    parser = argparse.ArgumentParser(prog="dev.py conda", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "conda", help="channel (dist/conda)")
    chosen = parser.parse_args(arguments)
    for package in build_channel(load().releases, chosen.out.absolute()):
        print(f"{package.stat().st_size:>9,} {package.parent.name}/{package.name}", flush=True)
    return 0


def build_channel(releases: tuple[Release, ...], out: Path) -> list[Path]:
    """Build the packages of these releases and the locator's as the channel `out`; return the packages.

    `out` is replaced as a whole, and only when everything has been built.
    """
    with replacing(out) as channel, tempfile.TemporaryDirectory(prefix="conda-") as scratch:
        at_hand, _ = obtain_releases(releases, tuple(PLATFORMS.values()))
        # Processes, for what a recipe reads from the environment is each package's own.
        with ProcessPoolExecutor(WORKERS, get_context("fork")) as pool:
            tasks = [
                pool.submit(_build_sdk, release, platform, folders, Path(scratch), channel)
                for release, folders in at_hand.items()
                for platform in PLATFORMS
            ]
            tasks.append(pool.submit(_build_locator, Path(scratch), channel))
            packages = [task.result() for task in tasks]
        index(channel)
    return [out / package.relative_to(channel) for package in packages]


def build_package(job: Job, channel: Path) -> Path:
    """Build one package into its folder of the channel, re-packed; return it.

    Package contents are always checked. Script tests run where they can: for the platform of this machine.
    """
    noarch = job.platform == "noarch"
    host = "linux-64" if noarch else job.platform
    native = job.platform == "linux-64" and sys.platform == "linux"
    recipe = RECIPES / job.recipe / "recipe.yaml"
    platform = rattler_build.PlatformConfig(
        build_platform="linux-64", host_platform=host, target_platform=host
    )
    with tempfile.TemporaryDirectory(prefix="conda-build-") as scratch, _environment(job, Path(scratch)):
        try:
            (variant,) = rattler_build.Stage0Recipe.from_file(recipe).render(
                rattler_build.VariantConfig(), rattler_build.RenderConfig(platform=platform)
            )
            result = variant.run_build(
                output_dir=Path(scratch) / "out",
                channels=[],
                no_include_recipe=True,
                no_build_id=True,
                package_format="conda:1",  # re-packed below
                tool_config=rattler_build.ToolConfiguration(test_strategy="native" if native else "skip"),
            )
        except (rattler_build.RattlerBuildError, OSError) as error:
            raise BuildError(
                f"the conda package {job.recipe} for {job.platform} could not be built",
                looked_in=[str(recipe)],
                found="\n    ".join([str(error), *getattr(error, "log", [])[-LOG_LINES:]]),
            ) from error
        (built,) = result.packages
        target = channel / built.parent.name / built.name
        target.parent.mkdir(parents=True, exist_ok=True)
        normalise(Path(built), target)
    return target


def _build_sdk(
    release: Release, platform: str, folders: Mapping[Input, Path], scratch: Path, channel: Path
) -> Path:
    """Stage a release for a platform and build its package."""
    tree = scratch / f"{release.component}-{release.version}-{platform}"
    stage_release(release, PLATFORMS[platform], folders, tree)
    variables = {"SDK_VERSION": release.version, "STAGED_TREE": str(tree)}
    return build_package(Job(distribution_of(release.component), platform, variables), channel)


def _build_locator(scratch: Path, channel: Path) -> Path:
    """Build the locator's package from its wheel."""
    wheel = build_pure_wheel(LOCATOR, scratch)
    variables = {"LOCATOR_VERSION": wheel.name.split("-")[1], "WHEEL": str(wheel)}
    return build_package(Job(LOCATOR, "noarch", variables), channel)


def index(channel: Path) -> None:
    """Write each platform's `repodata.json`, in the form that every client reads.

    Not with py-rattler's indexer: its threads outlive it and crash one interpreter in four at exit, and it notes
    down the time.
    """
    for folder in sorted(channel.iterdir()):
        packages = {package.name: _record(package) for package in sorted(folder.glob("*.conda"))}
        repodata = {
            "info": {"subdir": folder.name},
            "packages": {},
            "packages.conda": packages,
            "repodata_version": 1,
        }
        (folder / "repodata.json").write_text(json.dumps(repodata, indent=1, sort_keys=True) + "\n", "utf-8")


def _record(package: Path) -> dict[str, object]:
    """Return what `repodata.json` says of a package."""
    content = package.read_bytes()
    members = read_component(package, "info")
    record: dict[str, object] = json.loads(members["info/index.json"])
    if "info/run_exports.json" in members:
        record["run_exports"] = json.loads(members["info/run_exports.json"])
    return record | {
        "md5": hashlib.md5(content, usedforsecurity=False).hexdigest(),
        "sha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
    }


@contextmanager
def _environment(job: Job, scratch: Path) -> Iterator[None]:
    """Set what the recipe reads, and a package cache of this build's own.

    rattler-build tests what its cache holds under a name, version and build, be it of another build.
    """
    saved = dict(os.environ)
    os.environ.update(job.variables, RATTLER_CACHE_DIR=str(scratch / "cache"))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(saved)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
