"""The cache folder: containers and contents named by their hash, complete or not there at all.

A writer holds a lock, writes under another name and renames when the hash is right. Readers need no lock, so a
warm cache may be read-only. What a killed run leaves is overwritten by the next one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import filelock
import platformdirs

from .errors import BuildError


def cache_folder() -> Path:
    """Return the folder of everything downloaded or prepared: `XPU_DEV_CACHE_DIR`, else the platform's own."""
    override = os.environ.get("XPU_DEV_CACHE_DIR")
    return (
        Path(override) if override else platformdirs.user_cache_path("intel-xpu-runtime-dev", appauthor=False)
    )


def keep_file(folder: Path, sha256: str, name: str, fetch: Callable[[Path], None]) -> Path:
    """Return the file with this hash in `folder`, written by `fetch` if need be.

    BuildError where `fetch` writes another file, which is not kept; `name` is what the message calls it.
    """
    target = folder / sha256
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(f"{target}.lock"):
        if target.is_file() and _file_hash(target) == sha256:
            return target
        partial = target.with_suffix(".partial")
        partial.unlink(missing_ok=True)
        try:
            fetch(partial)
            if (got := _file_hash(partial)) != sha256:
                raise BuildError(
                    f"wrong file: {name}",
                    wanted=f"sha256 {sha256}",
                    found=f"sha256 {got} ({partial.stat().st_size} bytes), which is not kept",
                    fix="look whether a proxy answers in its place; a release that changed needs a new pin",
                )
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    return target


def content_hash(files: Mapping[str, bytes]) -> str:
    """Return the sha256 of the lines `<sha256 of the bytes>  <path>`, sorted by path, as sha256sum writes them."""
    lines = (f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n" for path in sorted(files))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def read_tree(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder by their relative paths with forward slashes."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def kept_tree(folder: Path, content: str) -> bool:
    """Return whether a folder holds exactly the files of this content hash."""
    return folder.is_dir() and content_hash(read_tree(folder)) == content


def keep_tree(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files as a folder, all or nothing; the caller holds the lock."""
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        for path, content in files.items():
            (partial / path).parent.mkdir(parents=True, exist_ok=True)
            (partial / path).write_bytes(content)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
