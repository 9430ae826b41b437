"""The catalogue of upstream releases, `sources.toml`, as typed frozen tables.

`load()` -> `Catalogue`; `catalogue.release("level-zero", "1.32.0").inputs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import pydantic
import tomllib
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from .errors import BuildError

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "sources.toml"

Platform = Literal["win_amd64", "linux_x86_64"]
PLATFORMS: tuple[Platform, ...] = ("win_amd64", "linux_x86_64")
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, StringConstraints(min_length=1)]


def _inside(path: str) -> str:
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or "\\" in path or str(parts) != path:
        raise ValueError("want a plain relative path with forward slashes")
    return path


RelativePath = Annotated[str, StringConstraints(min_length=1), AfterValidator(_inside)]


class _Row(BaseModel):
    """A table of the file: frozen, hashable, its keys written with hyphens, unknown keys refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=False, alias_generator=lambda name: name.replace("_", "-")
    )


class UrlLocation(_Row):
    """A release archive under a URL, `https://` or `file://`."""

    kind: Literal["url"]
    url: Annotated[str, StringConstraints(pattern=r"^(https|file)://")]
    format: Literal["tar", "deb", "zip"]
    sha256: Sha256
    root: RelativePath

    def __str__(self) -> str:
        return self.url


class DebianLocation(_Row):
    """A Debian package in the pool of the configured mirror; `suite` is where it was when it was pinned."""

    kind: Literal["debian"]
    suite: Text
    source: Text
    package: Text
    version: Text
    sha256: Sha256
    root: RelativePath

    def __str__(self) -> str:
        return f"Debian package {self.package} {self.version} ({self.suite})"


class WheelLocation(_Row):
    """A wheel on the configured package index."""

    kind: Literal["wheel"]
    distribution: Text
    version: Text
    platform: Text
    sha256: Sha256
    root: RelativePath

    def __str__(self) -> str:
        return f"wheel {self.distribution} {self.version} ({self.platform})"


class CarriedLocation(_Row):
    """A list of exported names in this repository; `path` is relative to its root."""

    kind: Literal["carried"]
    path: RelativePath
    sha256: Sha256

    def __str__(self) -> str:
        return self.path


Location = UrlLocation | DebianLocation | WheelLocation | CarriedLocation


class Section(_Row):
    """Where a section of an ELF file lies: its offset and size in bytes."""

    name: Literal[".dynsym", ".gnu.version", ".gnu.version_d", ".dynstr"]
    offset: Annotated[int, Field(gt=0)]
    size: Annotated[int, Field(gt=0)]

    @property
    def end(self) -> int:
        """The offset of the first byte after the section."""
        return self.offset + self.size


def _sections(table: object) -> object:
    if isinstance(table, Mapping):
        return tuple({"name": name, "offset": place[0], "size": place[1]} for name, place in table.items())
    return table


class Input(_Row):
    """Files pinned by content, and where they can be had; every location gives the same bytes.

    `content` is the `content_hash` of the files. Only an input with a `destination`, its folder in the staged
    tree, is redistributed; of the others nothing but names is used. `sections` marks an ELF file of which
    only the symbol table is taken (see `elf_symbols`), `names_only` a library of which only the list of its names
    is (see `name_list`).
    """

    name: Text
    version: Text
    role: Literal["headers", "loader", "import-library", "record"]
    platforms: tuple[Platform, ...] = PLATFORMS
    purl: Annotated[str, StringConstraints(pattern=r"^pkg:")]
    licence: Text
    destination: RelativePath | None = None
    files: Annotated[tuple[RelativePath, ...], Field(min_length=1)]
    sections: Annotated[tuple[Section, ...], BeforeValidator(_sections)] = ()
    names_only: bool = False
    content: Sha256
    locations: Annotated[tuple[Annotated[Location, Field(discriminator="kind")], ...], Field(min_length=1)]

    @pydantic.model_validator(mode="after")
    def _is_consistent(self) -> Input:
        if self.sections and len(self.files) != 1:
            raise ValueError("sections are those of one file")
        if self.names_only and len(self.files) != 1:
            raise ValueError("names are those of one file")
        if not self.names_only and any(isinstance(each, CarriedLocation) for each in self.locations):
            raise ValueError("only lists of names are carried here")
        if len(set(self.files)) != len(self.files):
            raise ValueError("a file is listed twice")
        return self

    @property
    def upstream(self) -> Input:
        """The same input without what this repository carries of it."""
        locations = tuple(each for each in self.locations if not isinstance(each, CarriedLocation))
        return self.model_copy(update={"locations": locations})

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Loader(_Row):
    """The name by which programs find a loader at run time: the DLL's, or the shared library's soname."""

    win_amd64: Text = Field(alias="win_amd64")
    linux_x86_64: Text = Field(alias="linux_x86_64")

    def on(self, platform: Platform) -> str:
        """Return the name on a platform."""
        return self.win_amd64 if platform == "win_amd64" else self.linux_x86_64


class Release(_Row):
    """One version of a component: what its SDK is made from."""

    component: Text
    version: Text
    licence: Text
    licence_text: RelativePath
    loader: Loader
    inputs: tuple[Input, ...]

    @pydantic.model_validator(mode="after")
    def _is_consistent(self) -> Release:
        for item in self.inputs:
            if item.destination and item.licence != self.licence:
                raise ValueError(
                    f"{item} is redistributed under {item.licence}, the release is {self.licence}"
                )
        for platform in PLATFORMS:
            for role in ("headers", "loader"):
                found = [item for item in self.inputs if item.role == role and platform in item.platforms]
                if len(found) != 1:
                    raise ValueError(f"want one input {role!r} for {platform}, have {len(found)}")
        return self

    @property
    def licence_file(self) -> Path:
        """The text of the licence, which travels with the headers."""
        return ROOT / self.licence_text

    def headers(self, platform: Platform) -> Input:
        """Return the input that holds the headers."""
        return self._input("headers", platform)

    def loader_binary(self, platform: Platform) -> Input:
        """Return the input that holds the loader, for the names it exports."""
        return self._input("loader", platform)

    def import_library(self) -> Input | None:
        """Return upstream's own import library, which tests compare ours with, where upstream has one."""
        return next((item for item in self.inputs if item.role == "import-library"), None)

    def build_inputs(self, platforms: tuple[Platform, ...] = PLATFORMS) -> tuple[Input, ...]:
        """Return what a build for these platforms needs."""
        needed = [self._input(role, platform) for platform in platforms for role in ("headers", "loader")]
        return tuple(dict.fromkeys(needed))

    def _input(self, role: str, platform: Platform) -> Input:
        return next(item for item in self.inputs if item.role == role and platform in item.platforms)

    def __str__(self) -> str:
        return f"{self.component} {self.version}"


class Catalogue(_Row):
    """All releases, of each component the newest first."""

    releases: tuple[Release, ...]

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the components, in the order of the file."""
        return tuple(dict.fromkeys(release.component for release in self.releases))

    def of(self, component: str) -> tuple[Release, ...]:
        """Return the releases of a component, the newest first; BuildError where there is no such component."""
        if component not in self.components:
            raise BuildError(f"no component {component!r}", wanted=f"one of: {', '.join(self.components)}")
        return tuple(release for release in self.releases if release.component == component)

    def release(self, component: str, version: str) -> Release:
        """Return a release; BuildError, with the known ones, where there is no such component or version."""
        for release in self.of(component):
            if release.version == version:
                return release
        known = ", ".join(release.version for release in self.of(component))
        raise BuildError(f"no version {version!r} of {component}", wanted=f"one of: {known}")


def load(path: Path = SOURCES) -> Catalogue:
    """Read the catalogue; BuildError, naming each bad key, where the file does not follow the tables above."""
    try:
        components = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BuildError("the catalogue cannot be read", looked_in=[str(path)], found=str(error)) from error
    mistakes = []
    releases = []
    for row in _release_rows(components):
        try:
            releases.append(Release.model_validate(row))
        except pydantic.ValidationError as error:
            release = f"{row['component']} {row.get('version', '(no version)')}"
            mistakes += [f"{release}: {_mistake(each)}" for each in error.errors()]
    names = [str(release) for release in releases]
    mistakes += [f"{name}: listed twice" for name in sorted(set(names)) if names.count(name) > 1]
    if mistakes:
        raise BuildError("the catalogue has mistakes", looked_in=[str(path)], found="; ".join(mistakes))
    return Catalogue(releases=tuple(releases))


def _release_rows(components: dict[str, Any]) -> list[dict[str, Any]]:
    """Give each release the keys of its component, and each input the version of its release."""
    rows: list[dict[str, Any]] = []
    for component, table in components.items():
        releases = table.get("releases", []) if isinstance(table, dict) else []
        if not releases:
            raise BuildError(f"component {component!r} of the catalogue has no releases")
        common = {key: value for key, value in table.items() if key != "releases"}
        for release in releases:
            inputs = [{"version": release.get("version"), **item} for item in release.get("inputs", [])]
            rows.append({"component": component, **common, **release, "inputs": inputs})
    return rows


def _mistake(error: Any) -> str:
    return f"{'.'.join(str(part) for part in error['loc'])}: {error['msg']}"
