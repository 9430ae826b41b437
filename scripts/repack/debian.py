"""Debian packages through the machine's configured mirror, without touching the machine's package state."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .catalogue import DebianLocation
from .transfer import UnreachableError

APT_HELPER = Path("/usr/lib/apt/apt-helper")


def download_package(location: DebianLocation, mirrors: Sequence[str], target: Path) -> None:
    """Write the .deb of the first mirror that has it; UnreachableError where none has.

    apt fetches it, with the machine's proxies and credentials, from the pool, where its path follows from its
    name: an `apt-get update` for a foreign suite would cost an index of 11 MB.
    """
    paths = [f"{mirror}/{pool_path(location)}" for mirror in mirrors]
    failures = []
    for url in paths:
        result = _apt_download(url, target)
        if result.returncode == 0 and target.is_file():
            return
        failures += [line for line in result.stderr.splitlines() if line.startswith("E:")][:1]
    raise UnreachableError(
        f"no {location}",
        looked_in=paths,
        found="; ".join(dict.fromkeys(failures)) or "no Debian mirror configured on this machine",
    )


def pool_path(location: DebianLocation) -> str:
    """Return where Debian's pool keeps a package, from the mirror's root (Debian policy 5.6.1 and its pool)."""
    source = location.source
    letter = source[:4] if source.startswith("lib") else source[0]
    version = location.version.partition(":")[2] or location.version  # an epoch is not in the file name
    return f"pool/main/{letter}/{source}/{location.package}_{version}_amd64.deb"


def configured_mirrors() -> list[str]:
    """Return the roots of the archives that apt is set up for, in its order; none on a machine without apt."""
    if not APT_HELPER.exists() or not shutil.which("apt-get"):
        return []
    # Without --no-release-info only what an `apt-get update` has brought counts: nothing, in a fresh image.
    query = ["--no-release-info", "--format", "$(REPO_URI)", "Identifier: Packages"]
    command = ["apt-get", "indextargets", *query]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    return list(dict.fromkeys(line.rstrip("/") for line in result.stdout.splitlines() if line))


def _apt_download(url: str, target: Path) -> subprocess.CompletedProcess[str]:
    options = ["-o", "APT::Sandbox::User=", "-o", "Acquire::Retries=2", "-o", "Acquire::http::Timeout=30"]
    command = [str(APT_HELPER), "-qq", *options, "download-file", url, str(target)]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    if target.is_symlink():  # what apt makes of a mirror on a local disk
        content = target.read_bytes()
        target.unlink()
        target.write_bytes(content)
    return result
