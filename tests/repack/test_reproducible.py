"""Two builds that share nothing but the sources give the same bytes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from repack.cache import cache_folder

from tests.support.needs import program
from tests.support.wheels import ROOT

SOURCES = ("LICENSES", "scripts/repack", "sources.toml", "wheels")
WANTED = ("--version", "1.32.0", "--version", "2026.2.0")


def build(repository: Path, umask: int, date: str, **variables: str) -> dict[str, bytes]:
    """Build with the clock, the umask and the environment given; return the output folder's files."""
    work = repository.parent / "work"
    work.mkdir()
    command = [program("faketime"), date, sys.executable, "-m", "repack.build", *WANTED]
    environment = {**os.environ, "PYTHONPATH": str(repository / "scripts"), "TMPDIR": str(work)}
    environment |= {"XPU_DEV_CACHE_DIR": str(cache_folder()), **variables}
    result = subprocess.run(
        [*command, "--out", str(repository / "dist")],
        env=environment, cwd=repository, umask=umask, capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return {path.name: path.read_bytes() for path in (repository / "dist").iterdir()}


def copy_of_the_repository(folder: Path, *, touched: bool) -> Path:
    """Copy what the wheels are made of; `touched` files have other times and modes, and neighbours."""
    target = folder / "repository"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, target / name)
    if touched:
        for path in target.rglob("*"):
            os.utime(path, (1_000_000_000, 1_000_000_000))
            path.chmod(0o777)
        (target / ".gitignore").write_text("*\n")
        cache = target / "wheels" / "level-zero-devel" / "src" / "level_zero_devel" / "__pycache__"
        cache.mkdir()
        (cache / "x.pyc").write_bytes(b"x")
    return target


def test_builds_are_identical(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "another place").mkdir()
    one = build(
        copy_of_the_repository(tmp_path / "one", touched=False), 0o022, "2026-01-02 03:04:05",
        TZ="UTC", LC_ALL="C", PYTHONHASHSEED="1", HOME=str(tmp_path / "one"),
    )  # fmt: skip
    other = build(
        copy_of_the_repository(tmp_path / "another place", touched=True), 0o077, "2037-12-30 23:59:57",
        TZ="Pacific/Kiritimati", LC_ALL="C.UTF-8", PYTHONHASHSEED="2", SOURCE_DATE_EPOCH="1700000000",
    )  # fmt: skip

    assert one.keys() == other.keys()
    assert [name for name in one if one[name] != other[name]] == []
    assert len(one) == 1 + 2 + 4 + 1  # locator, launchers, SDKs, SHA256SUMS
