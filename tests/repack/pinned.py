"""Pins of made-up inputs, for tests of how inputs are got."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repack.cache import content_hash
from repack.catalogue import Input

from tests.support.needs import program

FILES = {"a.h": b"int a;\n", "sub/b.h": b"int b;\n"}
ROOT = "thing-1.0/include"


def pinned(*locations: Mapping[str, Any], files: Mapping[str, bytes] = FILES, name: str = "thing") -> Input:
    """Return an input that pins these files at these locations."""
    return Input.model_validate(
        {
            "name": name,
            "version": "1.0",
            "role": "headers",
            "purl": f"pkg:generic/{name}@1.0",
            "licence": "MIT",
            "files": list(files),
            "content": content_hash(files),
            "locations": list(locations),
        }
    )


def at_url(url: str, archive: Path, kind: str = "tar") -> dict[str, str]:
    """Return the location of an archive under a URL."""
    return {"kind": "url", "url": url, "format": kind, "sha256": sha256(archive), "root": ROOT}


def sha256(path: Path) -> str:
    """Return the hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_tar(path: Path, files: Mapping[str, bytes] = FILES, root: str = ROOT) -> Path:
    """Write files, below `root`, as a .tar.gz archive."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{root}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def write_zip(path: Path, files: Mapping[str, bytes] = FILES, root: str = ROOT) -> Path:
    """Write files, below `root`, as a zip archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"{root}/{name}", content)
    return path


def write_deb(folder: Path, compression: str = "xz", files: Mapping[str, bytes] = FILES) -> Path:
    """Build a package with the real dpkg-deb, the files below `ROOT`, beside a link."""
    tree = folder / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(
        "Package: thing\nVersion: 1.0\nArchitecture: amd64\nMaintainer: Nobody <n@example.org>\nDescription: x\n"
    )
    for name, content in files.items():
        (tree / ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / ROOT / name).write_bytes(content)
    (tree / ROOT / "link.h").symlink_to("a.h")
    deb = folder / "thing.deb"
    command = [program("dpkg-deb"), "--root-owner-group", f"-Z{compression}", "--build", str(tree), str(deb)]
    subprocess.run(command, check=True, capture_output=True)
    return deb
