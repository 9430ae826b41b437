"""A private root with Intel's Level Zero driver from Debian sid, and the settings that give it a virtual GPU."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from repack.debian import configured_mirrors

from tests.support.cached import made_once
from tests.support.needs import lacking, program

# The driver loads the compiler (libigc, libigdfcl) by name, so no dependency leads there. With an empty package state
# apt adds what they depend on, glibc included, which is newer in sid than on the machine.
PACKAGES = ("libze1", "libze-intel-gpu1", "libigc2", "libigdfcl2")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
LIBRARIES = Path("usr", "lib", "x86_64-linux-gnu")

# Product and slices x sub-slices x execution units, as the driver's ProductFamilyOverride and HardwareInfoOverride.
DEVICES = {"pvc": "8x8x8", "bmg": "5x4x8", "dg2": "8x4x16"}


@dataclasses.dataclass(frozen=True)
class Root:
    """The unpacked packages; programs of the host run on their libraries."""

    folder: Path

    @property
    def libraries(self) -> Path:
        """Return the folder of the root's libraries."""
        return self.folder / LIBRARIES

    @property
    def loader(self) -> Path:
        """Return Debian's Level Zero loader."""
        return self.libraries / "libze_loader.so.1"

    @property
    def launcher(self) -> tuple[str, ...]:
        """Return what to put in front of a command: this root's dynamic linker, with this root's libraries first."""
        return (str(self.folder / "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", str(self.libraries))

    def variables(self, device: str) -> dict[str, str]:
        """Return the variables with which the driver offers a device of `DEVICES`, simulated to the point of launch."""
        return {
            "NEOReadDebugKeys": "1",
            "UseAubStream": "0",
            "SetCommandStreamReceiver": "5",
            "UseExternalAllocatorForSshAndDsh": "0",
            "ProductFamilyOverride": device,
            "HardwareInfoOverride": DEVICES[device],
            "ZE_ENABLE_ALT_DRIVERS": str(self.libraries / "libze_intel_gpu.so.1"),
            "NEO_CACHE_PERSISTENT": "0",
        }


def root() -> Root:
    """Return the root, unpacked the first time (90 MB) from what sid has that day and kept in the cache folder."""
    key = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:10]
    return Root(made_once(f"virtual-gpu-{key}", _unpack))


def _unpack(folder: Path) -> None:
    """Unpack the packages; `packages.txt` tells which versions they are."""
    state = folder / "apt"
    for name in ("lists/partial", "cache/archives/partial"):
        (state / name).mkdir(parents=True)
    (state / "status").touch()
    mirrors = configured_mirrors()
    if not mirrors:
        lacking("no Debian mirror is configured on this machine")
    sources = state / "sources.list"
    sources.write_text(f"deb [signed-by={KEYRING}] {mirrors[0]} sid main\n")
    _apt(state, "update")
    _apt(state, "--download-only", "install", *PACKAGES)
    packages = sorted(state.glob("cache/archives/*.deb"))
    for package in packages:
        subprocess.run([program("dpkg-deb"), "-x", package, folder], check=True)
    (folder / "packages.txt").write_text("".join(f"{package.name}\n" for package in packages))
    for path in sorted(state.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    state.rmdir()


def _apt(state: Path, *command: str) -> None:
    """Run apt-get on a state of its own, which says that nothing is installed."""
    options = {
        "Dir::Etc::sourcelist": state / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": state / "lists",
        "Dir::State::status": state / "status",
        "Dir::Cache": state / "cache",
        # A mirror that lags behind still has the packages that its own list names.
        "Acquire::Check-Valid-Until": "false",
        "Acquire::Languages": "none",
        "APT::Architecture": "amd64",
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
        "Debug::NoLocking": "true",
    }
    arguments = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    run: Sequence[str] = [program("apt-get"), "--quiet", "--assume-yes", *arguments, *command]
    result = subprocess.run(run, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    if result.returncode:
        errors = [line for line in result.stderr.splitlines() if line.startswith("E:")]
        lacking(f"Debian sid's packages of Intel's GPU driver cannot be had: {'; '.join(errors[:3])}")
