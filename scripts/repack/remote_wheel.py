"""Single members of a wheel on the configured package index, read by HTTP range requests."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import remotezip
import requests
import urllib3
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version
from pypi_simple import PYPI_SIMPLE_ENDPOINT, DistributionPackage, NoSuchProjectError, PyPISimple

from .catalogue import WheelLocation
from .errors import BuildError
from .extract import find_zip_members, zip_members
from .transfer import Session, UnreachableError, brief, without_password

# A member's local header: 30 bytes, its name, and an extra field that wheels leave nearly empty.
LOCAL_HEADER, LARGEST_EXTRA = 30, 1024


class RangesRefusedError(Exception):
    """The server does not serve parts of the file."""


def find_wheel(session: Session, location: WheelLocation, indexes: Sequence[str]) -> str:
    """Return the URL of a wheel on the first index that has it.

    UnreachableError where none has it; BuildError where an index says that the wheel has another sha256.
    """
    failures = []
    for index in indexes:
        try:
            packages = PyPISimple(index, session=session).get_project_page(location.distribution).packages
        except (requests.RequestException, NoSuchProjectError) as error:
            failures.append(brief(error))
            continue
        for package in packages:
            if _is_wheel_of(package, location):
                _check_digest(package, location)
                return package.url
        failures.append("no such file")
    raise UnreachableError(
        f"no {location}",
        looked_in=[without_password(index) for index in indexes],
        found="; ".join(dict.fromkeys(failures)) or "no package index configured",
    )


def listed_packages(session: Session, distribution: str, indexes: Sequence[str]) -> list[DistributionPackage]:
    """Return the files of a distribution on the first index that has it; UnreachableError where none has."""
    failures = []
    for index in indexes:
        try:
            return PyPISimple(index, session=session).get_project_page(distribution).packages
        except (requests.RequestException, NoSuchProjectError) as error:
            failures.append(brief(error))
    raise UnreachableError(
        f"no releases of {distribution}",
        looked_in=[without_password(index) for index in indexes],
        found="; ".join(dict.fromkeys(failures)) or "no package index configured",
    )


def list_members(session: Session, url: str) -> tuple[str, ...]:
    """Return the names of all files in a remote wheel; RangesRefusedError as `read_members`."""
    with _faults(url), _opened(session, url) as wheel:
        return tuple(info.filename for info in wheel.infolist() if not info.is_dir())


def read_members(session: Session, url: str, wanted: Collection[str]) -> dict[str, bytes]:
    """Return the wanted members of a remote wheel; RangesRefusedError where only the whole file is served."""
    with _faults(url), _opened(session, url) as wheel:
        return zip_members(wheel, wanted)


def read_head(session: Session, url: str, member: str, size: int) -> bytes:
    """Return the first bytes of one member, transferring hardly more; RangesRefusedError as `read_members`."""
    with _faults(url):
        with _opened(session, url) as wheel:
            info = find_zip_members(wheel, [member])[member]
        if info.compress_type != zipfile.ZIP_DEFLATED:
            raise RangesRefusedError(f"{member} is not deflated")
        # Deflate makes nothing noticeably longer, so `size` bytes of it are enough.
        end = info.header_offset + LOCAL_HEADER + len(info.filename.encode()) + LARGEST_EXTRA + size
        with session.get(
            url, headers={"Range": f"bytes={info.header_offset}-{end}"}, stream=True
        ) as response:
            response.raise_for_status()
            if response.status_code != requests.codes.partial_content:
                raise RangesRefusedError(f"status {response.status_code} for a range")
            local = response.raw.read()
        start = LOCAL_HEADER + int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(local[start:], size)


@dataclass(frozen=True)
class PipSettings:
    """What pip is set up with: its package indexes in order, and a file of certificates to trust."""

    indexes: tuple[str, ...]
    certificates: str | None


def pip_settings() -> PipSettings:
    """Return the settings of this interpreter's pip, from its files and environment variables."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    result = subprocess.run(command, capture_output=True, text=True)
    sections: dict[str, dict[str, str]] = {"global": {}, "download": {}, ":env:": {}}
    for line in result.stdout.splitlines():
        key, _, value = line.partition("=")
        section, _, option = key.rpartition(".")
        if section in sections:
            sections[section][option] = str(ast.literal_eval(value))
    # pip's own order: a command's section beats the global one, the environment beats both.
    options = sections["global"] | sections["download"] | sections[":env:"]
    indexes = [options.get("index-url", PYPI_SIMPLE_ENDPOINT), *options.get("extra-index-url", "").split()]
    if options.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        indexes = []
    return PipSettings(tuple(dict.fromkeys(indexes)), options.get("cert"))


@contextmanager
def _faults(url: str) -> Iterator[None]:
    """Turn the faults of reading a remote wheel into ours."""
    try:
        yield
    except (requests.RequestException, urllib3.exceptions.HTTPError, remotezip.RemoteZipError) as error:
        raise UnreachableError(f"cannot read {without_password(url)}", found=brief(error)) from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise BuildError("damaged wheel", looked_in=[without_password(url)], found=str(error)) from error


def _opened(session: Session, url: str) -> remotezip.RemoteZip:
    # Azure's blob store serves ranges but no suffix ranges.
    for suffix in (True, False):
        try:
            return remotezip.RemoteZip(url, session=session, support_suffix_range=suffix)
        except (remotezip.RemoteZipError, zipfile.BadZipFile) as error:
            reason = str(error)
    raise RangesRefusedError(reason)


def _is_wheel_of(package: DistributionPackage, location: WheelLocation) -> bool:
    try:
        name, version, _, tags = parse_wheel_filename(package.filename)
    except InvalidWheelFilename:
        return False
    return (
        name == canonicalize_name(location.distribution)
        and version == Version(location.version)
        and location.platform in {tag.platform for tag in tags}
    )


def _check_digest(package: DistributionPackage, location: WheelLocation) -> None:
    listed = package.digests.get("sha256", location.sha256)
    if listed != location.sha256:
        raise BuildError(
            f"the index has another file: {location}",
            wanted=f"sha256 {location.sha256}",
            found=f"sha256 {listed} of {package.filename}",
        )
