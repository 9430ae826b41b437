"""Environments made from channels by py-rattler, for any platform, in any folder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from rattler import (
    Channel,
    GenericVirtualPackage,
    PackageName,
    PrefixRecord,
    RepoDataRecord,
    Version,
    install,
    solve,
)
from rattler.package.build_string import BuildString
from rattler.platform import Subdir, SubdirLiteral
from rattler.shell import ActivationVariables, PathModificationBehavior, Shell, activate

RECORDS = ("conda-meta", "CACHEDIR.TAG")
SYSTEM: dict[str, str] = {"linux-64": "__linux", "win-64": "__win"}


def installed(prefix: Path) -> list[PrefixRecord]:
    """Return what conda has noted down of a prefix."""
    return [PrefixRecord.from_path(path) for path in sorted((prefix / "conda-meta").glob("*.json"))]


def ensure(
    prefix: Path, platform: SubdirLiteral, channels: Sequence[Path | str], specs: Sequence[str]
) -> list[RepoDataRecord]:
    """Solve for exactly these specs and make the prefix hold the solution, as `conda install` does."""
    return asyncio.run(_ensure(prefix, platform, channels, specs))


async def solution(
    platform: SubdirLiteral, channels: Sequence[Path | str], specs: Sequence[str]
) -> list[RepoDataRecord]:
    """Return the packages that satisfy the specs; fails where there are none."""
    return await solve(
        [Channel(channel.as_uri() if isinstance(channel, Path) else channel) for channel in channels],
        list(specs),
        platforms=[platform, "noarch"],
        virtual_packages=[
            GenericVirtualPackage(PackageName(SYSTEM[platform]), Version("0"), BuildString("0"))
        ],
        timestamp_policy="allow-missing",
    )


async def _ensure(
    prefix: Path, platform: SubdirLiteral, channels: Sequence[Path | str], specs: Sequence[str]
) -> list[RepoDataRecord]:
    records = await solution(platform, channels, specs) if specs else []
    await install(
        records,
        target_prefix=prefix,
        cache_dir=prefix.parent / "package-cache",
        installed_packages=installed(prefix),
        platform=Subdir(platform),
        execute_link_scripts=False,
        show_progress=False,
    )
    return records


def activation(prefix: Path, shell: Shell, platform: SubdirLiteral) -> str:
    """Return the script that activates an environment in a shell."""
    variables = ActivationVariables(None, [], PathModificationBehavior.Prepend)
    return activate(prefix, variables, shell, platform).script


def files(prefix: Path) -> set[str]:
    """Return the files of a prefix but for the installer's own records."""
    paths = (path.relative_to(prefix) for path in prefix.rglob("*") if not path.is_dir())
    return {path.as_posix() for path in paths if path.parts[0] not in RECORDS}
