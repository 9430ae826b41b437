"""Which versions of Debian packages a suite has, asked with a private package state.

apt checks the suite's signature, so a package's sha256 is Debian's own word. The machine's lists stay as they are.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

from .catalogue import DebianLocation
from .debian import configured_mirrors
from .transfer import UnreachableError

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
FIELD = re.compile(r"^(Package|Source|Version|SHA256): (\S+)", re.MULTILINE)


def packages_in(suite: str, names: Collection[str], root: str) -> list[DebianLocation]:
    """Return the packages of these names in a suite, as locations of what is below `root` in them.

    UnreachableError where no configured mirror gives the suite, or the suite has none of them.
    """
    mirrors = configured_mirrors()
    failures = []
    for mirror in mirrors:
        with tempfile.TemporaryDirectory(prefix="suite-") as state:
            options = _private_state(Path(state), mirror, suite)
            updated = _run("apt-get", *options, "update")
            if updated.returncode:
                failures += [line for line in updated.stderr.splitlines() if line.startswith("E:")][:1]
                continue
            shown = _run("apt-cache", *options, "show", *names).stdout
        packages = [_location(suite, root, stanza) for stanza in shown.split("\n\n") if stanza.strip()]
        if packages:
            return packages
        failures.append(f"the suite has none of {', '.join(names)}")
    raise UnreachableError(
        f"no versions from Debian {suite}",
        looked_in=mirrors,
        found="; ".join(dict.fromkeys(failures)) or "no Debian mirror configured on this machine",
    )


def _private_state(folder: Path, mirror: str, suite: str) -> Sequence[str]:
    (folder / "lists" / "partial").mkdir(parents=True)
    (folder / "sources.list").write_text(f"deb [arch=amd64 signed-by={KEYRING}] {mirror} {suite} main\n")
    settings = {
        "Dir::State": folder,
        "Dir::State::status": os.devnull,
        "Dir::Cache": folder / "cache",
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Acquire::Languages": "none",
        "Acquire::Retries": "2",
        "Acquire::http::Timeout": "30",
        "APT::Architecture": "amd64",
        "APT::Sandbox::User": "",
        "APT::Update::Error-Mode": "any",  # else a suite that cannot be had is a mere warning
    }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})


def _location(suite: str, root: str, stanza: str) -> DebianLocation:
    fields: dict[str, str] = dict(FIELD.findall(stanza))
    return DebianLocation(
        kind="debian",
        suite=suite,
        source=fields.get("Source", fields["Package"]),
        package=fields["Package"],
        version=fields["Version"],
        sha256=fields["SHA256"],
        root=root,
    )
