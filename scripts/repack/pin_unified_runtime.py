"""Releases of Unified Runtime: found and pinned in Intel's wheels on the configured package index.

Of the wheels only the directory, the headers and the loaders are read, the Linux loader once as a whole: where its
symbol table lies is written at its end.
"""

from __future__ import annotations

import io
import posixpath
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from elftools.elf.elffile import ELFFile
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from pypi_simple import DistributionPackage

from .binaries import read_library
from .cache import content_hash
from .catalogue import Section
from .elf_symbols import ORDER, symbols_only
from .errors import BuildError
from .pinning import Found, Pinned
from .remote_wheel import RangesRefusedError, list_members, listed_packages, pip_settings, read_members
from .transfer import Session

HEADERS_DISTRIBUTION = "intel-sycl-rt"
LINUX_DISTRIBUTION = "intel-cmplr-lib-ur"
# The Windows loader moved from the first to the second, and got its new name, with 2026.2.
WINDOWS_DISTRIBUTIONS = ("intel-cmplr-lib-ur", "intel-cmplr-lib-rt")
WINDOWS, LINUX = re.compile(r"win_amd64"), re.compile(r"manylinux_\d+_\d+_x86_64")
HEADER = re.compile(r".*/data/include/(?:unified-runtime/)?ur_\w+\.(?:h|hpp|def)")
WINDOWS_LOADER = re.compile(r".*/Library/bin/ur_loader(?:_shared)?\.dll")
LINUX_LOADER = re.compile(r".*/data/lib/libur_loader\.so")
EULA = re.compile(r"[^/]+\.dist-info/LICENSE\.txt")
HEADERS_LICENCE, LOADER_LICENCE = "Apache-2.0 WITH LLVM-exception", "LicenseRef-Intel-EULA"


@dataclass(frozen=True)
class Wheel:
    """A wheel on the index, open for reading parts of it."""

    session: Session
    distribution: str
    version: str
    platform: str
    package: DistributionPackage

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The names of its files."""
        return list_members(self.session, self.package.url)

    def matching(self, pattern: re.Pattern[str]) -> list[str]:
        """Return the files whose path matches, sorted."""
        return sorted(filter(pattern.fullmatch, self.members))

    def read(self, *members: str) -> dict[str, bytes]:
        """Return files by their names; BuildError where the index does not serve parts of a wheel."""
        try:
            return read_members(self.session, self.package.url, members)
        except RangesRefusedError as error:
            raise BuildError(f"the index does not serve parts of {self}", found=str(error)) from error

    def location(self, root: str) -> dict[str, str]:
        """Return the location of what is below `root`; BuildError where the index does not tell the sha256."""
        if "sha256" not in self.package.digests:
            raise BuildError(f"the index gives no sha256 of {self}")
        return {
            "kind": "wheel",
            "distribution": self.distribution,
            "version": self.version,
            "platform": self.platform,
            "sha256": self.package.digests["sha256"],
            "root": root,
        }

    def __str__(self) -> str:
        return self.package.filename


def find() -> Found:
    """Return the releases of which the index has every wheel; UnreachableError where it cannot be asked."""
    with _index() as index:
        headers = index.versions(HEADERS_DISTRIBUTION, LINUX)
        linux = index.versions(LINUX_DISTRIBUTION, LINUX)
        windows = [index.versions(name, WINDOWS) for name in WINDOWS_DISTRIBUTIONS]
    return Found({version: partial(pin, version) for version in headers & linux & set().union(*windows)})


def pin(version: str) -> Pinned:
    """Return the row of a release that `find` gives; BuildError where a wheel lacks what it should have."""
    with _index() as index:
        headers_wheel = index.wheel(HEADERS_DISTRIBUTION, version, LINUX)
        paths = headers_wheel.matching(HEADER)
        if not paths:
            raise BuildError(f"{headers_wheel} has no headers of Unified Runtime", wanted=HEADER.pattern)
        headers = {posixpath.basename(path): content for path, content in headers_wheel.read(*paths).items()}
        windows_wheel, dll = _windows_loader(index, version)
        linux_wheel = index.wheel(LINUX_DISTRIBUTION, version, LINUX)
        linux_input, soname = _linux_loader(linux_wheel)
        eula_texts = {
            f"{wheel}: {path}": content
            for wheel in (headers_wheel, windows_wheel, linux_wheel)
            for path, content in wheel.read(*wheel.matching(EULA)).items()
        }
        row = {
            "version": version,
            "loader": {"win_amd64": posixpath.basename(dll), "linux_x86_64": soname},
            "inputs": [
                {
                    "name": "unified-runtime-headers",
                    "role": "headers",
                    "purl": f"pkg:pypi/{HEADERS_DISTRIBUTION}@{version}",
                    "licence": HEADERS_LICENCE,
                    "destination": "include/unified-runtime",
                    "files": sorted(headers),
                    "content": content_hash(headers),
                    "locations": [headers_wheel.location(posixpath.dirname(paths[0]))],
                },
                *_windows_inputs(windows_wheel, dll),
                linux_input,
            ],
        }
    texts = {name: content.decode() for name, content in headers.items()}
    return Pinned(row, texts, eula_texts=eula_texts)


class _Index:
    """Intel's distributions on the configured package indexes."""

    def __init__(self, session: Session, indexes: tuple[str, ...]) -> None:
        self._session = session
        self._indexes = indexes
        self._listed: dict[str, list[DistributionPackage]] = {}

    def versions(self, distribution: str, platform: re.Pattern[str]) -> set[str]:
        """Return the versions that have a wheel for a platform."""
        return {wheel.version for wheel in self._wheels(distribution, platform)}

    def wheel(self, distribution: str, version: str, platform: re.Pattern[str]) -> Wheel:
        """Return a wheel; BuildError where there is none."""
        for wheel in self._wheels(distribution, platform):
            if wheel.version == version:
                return wheel
        raise BuildError(f"no wheel of {distribution} {version} for {platform.pattern}")

    def _wheels(self, distribution: str, platform: re.Pattern[str]) -> Iterator[Wheel]:
        if distribution not in self._listed:
            self._listed[distribution] = listed_packages(self._session, distribution, self._indexes)
        for package in self._listed[distribution]:
            try:
                _, version, _, tags = parse_wheel_filename(package.filename)
            except InvalidWheelFilename:
                continue
            for tag in {tag.platform for tag in tags}:
                if platform.fullmatch(tag) and not version.is_prerelease:
                    yield Wheel(self._session, distribution, str(version), tag, package)


@contextmanager
def _index() -> Iterator[_Index]:
    settings = pip_settings()
    with Session() as session:
        session.verify = settings.certificates or True
        yield _Index(session, settings.indexes)


def _windows_loader(index: _Index, version: str) -> tuple[Wheel, str]:
    """Return the wheel that holds the loader, and its path in it."""
    for distribution in WINDOWS_DISTRIBUTIONS:
        if version in index.versions(distribution, WINDOWS):
            wheel = index.wheel(distribution, version, WINDOWS)
            for path in wheel.matching(WINDOWS_LOADER):
                return wheel, path
    raise BuildError(
        f"no Unified Runtime loader for Windows in release {version}",
        wanted=WINDOWS_LOADER.pattern,
        looked_in=WINDOWS_DISTRIBUTIONS,
    )


def _windows_inputs(wheel: Wheel, dll: str) -> list[dict[str, Any]]:
    """Return the loader, and the import library where there is one."""
    library = dll.replace("/bin/", "/lib/").replace(".dll", ".lib")
    found = {"unified-runtime-loader-windows": ("loader", dll)}
    if library in wheel.members:
        found["unified-runtime-import-library"] = ("import-library", library)
    return [
        {
            "name": name,
            "role": role,
            "platforms": ["win_amd64"],
            "purl": f"pkg:pypi/{wheel.distribution}@{wheel.version}",
            "licence": LOADER_LICENCE,
            "files": [posixpath.basename(path)],
            "content": content_hash({posixpath.basename(path): wheel.read(path)[path]}),
            "locations": [wheel.location(posixpath.dirname(path))],
        }
        for name, (role, path) in found.items()
    ]


def _linux_loader(wheel: Wheel) -> tuple[dict[str, Any], str]:
    """Return the loader, as its symbol table, and its soname."""
    paths = wheel.matching(LINUX_LOADER)
    if not paths:
        raise BuildError(f"{wheel} has no loader", wanted=LINUX_LOADER.pattern)
    (path,) = paths
    name, whole = posixpath.basename(path), wheel.read(path)[path]
    with ELFFile(io.BytesIO(whole)) as elf:
        found = {section: elf.get_section_by_name(section) for section in ORDER}
        sections = {
            section: [header["sh_offset"], header["sh_size"]] for section, header in found.items() if header
        }
    table = symbols_only(
        whole,
        [
            Section.model_validate({"name": section, "offset": offset, "size": size})
            for section, (offset, size) in sections.items()
        ],
    )
    with TemporaryDirectory(prefix="loader-") as scratch:
        file = Path(scratch, name)
        file.write_bytes(table)
        soname = read_library(file).name
    pinned = {
        "name": "unified-runtime-loader-linux",
        "role": "loader",
        "platforms": ["linux_x86_64"],
        "purl": f"pkg:pypi/{wheel.distribution}@{wheel.version}",
        "licence": LOADER_LICENCE,
        "files": [name],
        "content": content_hash({name: table}),
        "sections": sections,
        "locations": [wheel.location(posixpath.dirname(path))],
    }
    return pinned, soname
