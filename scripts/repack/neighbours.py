"""The wheels of Intel's runtime beside which ours are installed, and the files they own."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import pydantic
import tomllib

from .catalogue import Input, Platform, WheelLocation
from .fetch import obtain

TABLE = Path(__file__).resolve().parent / "neighbours.toml"
SITE_PACKAGES = "Lib/site-packages"
# Folders of the data scheme, by their place below the prefix on Windows.
SCHEMES = {
    "data": ".",
    "purelib": SITE_PACKAGES,
    "platlib": SITE_PACKAGES,
    "scripts": "Scripts",
    "headers": "Include",
}


class Neighbour(pydantic.BaseModel):
    """A row of the table: a wheel, and the content hash of its RECORD."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    distribution: str
    version: str
    platform: str
    sha256: str
    content: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"

    def record(self) -> Input:
        """Return the wheel's RECORD as an input."""
        name = self.distribution.replace("-", "_")
        location = WheelLocation(
            kind="wheel",
            distribution=self.distribution,
            version=self.version,
            platform=self.platform,
            sha256=self.sha256,
            root=f"{name}-{self.version}.dist-info",
        )
        return Input(
            name=f"{self.distribution}-record",
            version=self.version,
            role="record",
            purl=f"pkg:pypi/{self.distribution}@{self.version}",
            licence="LicenseRef-Intel-EULA",
            files=("RECORD",),
            content=self.content,
            locations=(location,),
        )


def neighbours(platform: Platform) -> list[Neighbour]:
    """Return the table's wheels for a platform."""
    rows = tomllib.loads(TABLE.read_text("utf-8"))["wheels"]
    ending = platform.removeprefix("linux")
    return [row for row in map(Neighbour.model_validate, rows) if row.platform.endswith(ending)]


def owned_files(wheels: Iterable[Neighbour]) -> dict[str, Neighbour]:
    """Return the files that these wheels install, by their place below the prefix, in lower case.

    UnreachableError where a RECORD is neither in the cache nor to be had from the package index.
    """
    records = {wheel: wheel.record() for wheel in wheels}
    folders = obtain(records.values())
    owners: dict[str, Neighbour] = {}
    for wheel, record in records.items():
        with (folders[record] / "RECORD").open(encoding="utf-8", newline="") as file:
            owners |= {installed_path(row[0]).lower(): wheel for row in csv.reader(file) if row}
    return owners


def installed_path(member: str) -> str:
    """Return where a member of a wheel comes to lie below the prefix, in the layout of Windows."""
    first, _, rest = member.partition("/")
    if not first.endswith(".data"):
        return f"{SITE_PACKAGES}/{member}"
    scheme, _, rest = rest.partition("/")
    return str(PurePosixPath(SCHEMES[scheme], rest))
