"""The output folder: wheels and their SHA256SUMS, all of a build or nothing of it."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import BuildError

SUMS = "SHA256SUMS"


def publish(wheels: Iterable[Path], out: Path) -> list[Path]:
    """Copy wheels into the folder `out`, list all its wheels in SHA256SUMS; return the new paths.

    Every file is complete before the first one is renamed into place. BuildError where that cannot be done,
    and then the folder is as it was.
    """
    try:
        with _created(out), tempfile.TemporaryDirectory(prefix=".partial-", dir=out) as partial:
            new = [Path(shutil.copyfile(wheel, Path(partial, wheel.name))) for wheel in wheels]
            listed = {path.name: path for path in [*out.glob("*.whl"), *new]}
            sums = Path(partial, SUMS)
            lines = (f"{sha256(listed[name])}  {name}\n" for name in sorted(listed))
            sums.write_text("".join(lines), "utf-8", newline="\n")
            _replace([*new, sums], out)
            return [out / path.name for path in new]
    except OSError as error:
        raise BuildError(
            "the output folder cannot be written; it is as it was",
            looked_in=[str(out)],
            found=str(error),
            fix="choose another one with --out",
        ) from error


def sha256(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _created(folder: Path) -> Iterator[None]:
    """Make a folder; take away what was made when the block fails."""
    missing = [path for path in [folder, *folder.parents] if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for path in missing:
            if path.exists():
                path.rmdir()
        raise


def _replace(files: Iterable[Path], out: Path) -> None:
    """Rename files into `out`; where one cannot be, put back what the others have replaced."""
    changed = [path for path in files if not _same(path, out / path.name)]
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=out) as saved:
        for path in changed:
            if (out / path.name).exists():
                shutil.copy2(out / path.name, saved)
        done: list[Path] = []
        try:
            for path in changed:
                done.append(path)
                path.replace(out / path.name)
        except BaseException:
            for path in done:
                _put_back(Path(saved, path.name), out / path.name)
            raise


def _put_back(saved: Path, target: Path) -> None:
    if saved.exists():
        saved.replace(target)
    else:
        target.unlink(missing_ok=True)


def _same(one: Path, other: Path) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()
