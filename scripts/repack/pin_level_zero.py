"""Releases of Level Zero: found in Debian's newest suite and in upstream's list, pinned from the packages.

The loader's names come from Debian's build, so a version can be pinned once Debian has it. Debian's newest suite drops
a version when it has the next one, so the list of names stays here. Upstream's archive is pinned too where it can be
reached; its headers must be the bytes that Debian packages.
"""

from __future__ import annotations

import hashlib
import io
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import requests
from packaging.version import Version

from .cache import cache_folder, content_hash, keep_file
from .catalogue import DebianLocation
from .debian import configured_mirrors, download_package
from .errors import BuildError
from .extract import extract
from .name_list import name_list
from .pinning import Found, Pinned, sorted_names
from .suites import packages_in
from .transfer import Session, UnreachableError, brief, download

# Where a new version comes first; what other suites have has been in this one.
SUITE = "sid"
HEADERS, LOADER = "libze-dev", "libze1"
HEADERS_ROOT, LOADER_ROOT = "usr/include/level_zero", "usr/lib/x86_64-linux-gnu"
NAMES = "names/{loader}.txt"
DEBIAN_COPYRIGHT = "usr/share/doc/libze-dev/copyright"
# Debian's own revision follows the last hyphen; a version that is not plain is not upstream's release.
DEBIAN_VERSION = re.compile(r"(?:\d+:)?(\d+(?:\.\d+)+)-[^-]+")
RELEASE_LIST = "https://api.github.com/repos/oneapi-src/level-zero/releases?per_page=100"
ARCHIVE = "https://github.com/oneapi-src/level-zero/archive/refs/tags/v{version}.tar.gz"


def find() -> Found:
    """Return the versions that Debian has; UnreachableError where it cannot be asked."""
    packages = _packages()
    versions = {version: partial(pin, version, each) for version, each in packages.items()}
    newest = max(map(Version, versions))
    try:
        ahead = [version for version in _upstream_versions() if Version(version) > newest]
    except UnreachableError as error:
        return Found(versions, (f"upstream's release list is out of reach: {error.reason}",))
    return Found(versions, tuple(f"upstream has {version}, Debian {SUITE} does not yet" for version in ahead))


def pin(version: str, packages: Mapping[str, DebianLocation]) -> Pinned:
    """Return the row of a version from its two packages, by name; BuildError where its parts do not agree."""
    headers_deb, loader_deb = (_downloaded(packages[name]) for name in (HEADERS, LOADER))
    headers = _below(headers_deb, packages[HEADERS])
    loader_name = f"libze_loader.so.{version}"
    loader = extract(loader_deb, "deb", [f"{LOADER_ROOT}/{loader_name}"], str(packages[LOADER]))
    names = name_list(loader[f"{LOADER_ROOT}/{loader_name}"], loader_name)
    carried = NAMES.format(loader=loader_name)
    copyright_text = extract(headers_deb, "deb", [DEBIAN_COPYRIGHT], str(packages[HEADERS]))[DEBIAN_COPYRIGHT]
    licence_texts = {f"Debian's {DEBIAN_COPYRIGHT}": copyright_text}
    locations = [packages[HEADERS].model_dump()]
    notes = []
    try:
        location, licence = _archive(version, headers)
    except UnreachableError as error:
        notes.append(
            f"upstream's archive is out of reach, so the row does not have its location: {error.reason}"
        )
    else:
        locations.insert(0, location)
        licence_texts["upstream's LICENSE"] = licence
    row = {
        "version": version,
        "inputs": [
            {
                "name": "level-zero-headers",
                "role": "headers",
                "purl": f"pkg:github/oneapi-src/level-zero@v{version}",
                "licence": "MIT",
                "destination": "include/level_zero",
                "files": sorted_names(headers),
                "content": content_hash(headers),
                "locations": locations,
            },
            {
                "name": "level-zero-loader",
                "role": "loader",
                "purl": f"pkg:deb/debian/{LOADER}@{packages[LOADER].version}?arch=amd64&distro={SUITE}",
                "licence": "MIT",
                "files": [loader_name],
                "names-only": True,
                "content": content_hash({loader_name: names}),
                "locations": [
                    {"kind": "carried", "path": carried, "sha256": hashlib.sha256(names).hexdigest()},
                    packages[LOADER].model_dump(),
                ],
            },
        ],
    }
    texts = {name: content.decode() for name, content in headers.items()}
    return Pinned(row, texts, licence_texts, carried={carried: names.decode()}, notes=tuple(notes))


def _packages() -> dict[str, dict[str, DebianLocation]]:
    """Return, by upstream's version, the two packages of it."""
    found: dict[str, dict[str, DebianLocation]] = {}
    for package in packages_in(SUITE, (HEADERS, LOADER), HEADERS_ROOT):
        if match := DEBIAN_VERSION.fullmatch(package.version):
            root = HEADERS_ROOT if package.package == HEADERS else LOADER_ROOT
            found.setdefault(match[1], {})[package.package] = package.model_copy(update={"root": root})
    complete = {version: packages for version, packages in found.items() if len(packages) == 2}
    if not complete:
        raise BuildError(f"Debian {SUITE} has no version of both {HEADERS} and {LOADER}")
    return complete


def _upstream_versions() -> list[str]:
    try:
        with Session() as session, session.get(RELEASE_LIST) as response:
            response.raise_for_status()
            tags = [str(release["tag_name"]) for release in response.json()]
    except (requests.RequestException, KeyError, TypeError) as error:
        raise UnreachableError("no list of upstream's releases", found=brief(error)) from error
    return [tag[1:] for tag in tags if re.fullmatch(r"v\d+(\.\d+)+", tag)]


def _downloaded(package: DebianLocation) -> Path:
    get = partial(download_package, package, configured_mirrors())
    return keep_file(cache_folder() / "sources" / "containers", package.sha256, str(package), get)


def _below(deb: Path, package: DebianLocation) -> dict[str, bytes]:
    """Return all files below the location's root, by their paths in it."""
    wanted = [name for name in _names_in(deb) if name.startswith(f"{package.root}/")]
    if not wanted:
        raise BuildError(f"{package} has no headers", wanted=package.root)
    members = extract(deb, "deb", wanted, str(package))
    return {name.removeprefix(f"{package.root}/"): content for name, content in members.items()}


def _names_in(deb: Path) -> Iterator[str]:
    tar = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(deb)], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        yield from (member.name.removeprefix("./") for member in archive if member.isfile())


def _archive(version: str, headers: Mapping[str, bytes]) -> tuple[dict[str, str], bytes]:
    """Return the location of upstream's archive and the licence in it; BuildError where its headers are others."""
    url, folder = ARCHIVE.format(version=version), f"level-zero-{version}"
    root, licence = f"{folder}/include", f"{folder}/LICENSE"
    with tempfile.TemporaryDirectory(prefix="upstream-") as scratch, Session() as session:
        archive = Path(scratch, "archive.tar.gz")
        download(session, url, archive)
        sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
        members = extract(archive, "tar", [licence, *(f"{root}/{name}" for name in headers)], url)
    different = [name for name, content in headers.items() if members[f"{root}/{name}"] != content]
    if different:
        raise BuildError(
            f"Debian's headers of Level Zero {version} are not upstream's",
            looked_in=[url],
            found=f"other bytes in {', '.join(different)}",
        )
    location = {"kind": "url", "url": url, "format": "tar", "sha256": sha256, "root": root}
    return location, members[licence]
