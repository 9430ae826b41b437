"""Pinned inputs as folders: `obtain(inputs)[item]` holds the files of `item.files`, checked by their content hash."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Literal

import filelock
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from .cache import cache_folder, content_hash, keep_file, keep_tree, kept_tree
from .catalogue import (
    ROOT,
    CarriedLocation,
    DebianLocation,
    Input,
    Location,
    Platform,
    Release,
    WheelLocation,
)
from .debian import configured_mirrors, download_package
from .elf_symbols import needed_bytes, symbols_only
from .errors import BuildError
from .extract import extract
from .name_list import name_list
from .remote_wheel import PipSettings, RangesRefusedError, find_wheel, pip_settings, read_head, read_members
from .transfer import Session, UnreachableError, download

WORKERS = 8
REDRAW = 0.1  # seconds


@dataclass(frozen=True)
class Obtained:
    """An input at hand: its folder, and where its bytes came from, in this run or in the one that cached them.

    `via` is the location in words; `container_checked` whether that location's own sha256 was checked too,
    which cannot be where only parts of a wheel were read.
    """

    folder: Path
    via: str
    container_sha256: str
    container_checked: bool


@dataclass(frozen=True)
class Outcome:
    """What a run has obtained, why the rest is out of reach, and the bytes received over the network."""

    obtained: Mapping[Input, Obtained]
    unreachable: Mapping[Input, UnreachableError]
    received: int


def obtain(inputs: Iterable[Input]) -> dict[Input, Path]:
    """Return a folder with the files of each input; UnreachableError where one cannot be had."""
    outcome = fetch(inputs)
    for error in outcome.unreachable.values():
        raise error
    return {item: obtained.folder for item, obtained in outcome.obtained.items()}


def obtain_releases(
    releases: Iterable[Release], platforms: tuple[Platform, ...]
) -> tuple[dict[Release, dict[Input, Path]], Outcome]:
    """Return the releases whose inputs can be had, each with its folders; BuildError where none is left.

    A release that cannot be had is named on stderr, with the reason, and so is what the network had to bring.
    """
    wanted = {release: release.build_inputs(platforms) for release in releases}
    outcome = fetch(itertools.chain.from_iterable(wanted.values()))
    if outcome.received:
        print(f"received {outcome.received / 1e6:.1f} MB of sources", file=sys.stderr, flush=True)
    at_hand: dict[Release, dict[Input, Path]] = {}
    for release, inputs in wanted.items():
        missing = [outcome.unreachable[item] for item in inputs if item in outcome.unreachable]
        if missing:
            reasons = "\n".join(str(error).removeprefix("error: ") for error in missing)
            print(f"SKIPPED {release}: {reasons}", file=sys.stderr, flush=True)
        else:
            at_hand[release] = {item: outcome.obtained[item].folder for item in inputs}
    if not at_hand:
        raise BuildError(
            "no release can be had from any of its locations",
            wanted=", ".join(str(release) for release in wanted),
            fix="see above what was tried; a warm cache (XPU_DEV_CACHE_DIR) needs no network",
        )
    return at_hand, outcome


def fetch(inputs: Iterable[Input], cache: Path | None = None) -> Outcome:
    """Get all inputs, several at a time; one out of reach does not stop the others, any other fault does."""
    store = _Store((cache or cache_folder()) / "sources")
    items = list(dict.fromkeys(inputs))
    obtained = {item: kept for item in items if (kept := store.kept(item))}
    unreachable: dict[Input, UnreachableError] = {}
    sessions = {item: Session() for item in items if item not in obtained}
    with ThreadPoolExecutor(WORKERS) as pool:
        futures = {item: pool.submit(store.obtain, item, session) for item, session in sessions.items()}
        try:
            _show_progress(futures, sessions)
            for item, future in futures.items():
                try:
                    obtained[item] = future.result()
                except UnreachableError as error:
                    unreachable[item] = error
        finally:
            pool.shutdown(cancel_futures=True)
    received = sum(session.received for session in sessions.values())
    return Outcome({item: obtained[item] for item in items if item in obtained}, unreachable, received)


class _Store:
    """The cache's part for inputs: `contents/<content hash>/` beside a record, `containers/<sha256>`."""

    def __init__(self, folder: Path):
        self.folder = folder

    def kept(self, item: Input) -> Obtained | None:
        """Return an input that is in the cache, whole; it needs no lock, no network and no right to write."""
        folder, record = self._places(item)
        try:
            if kept_tree(folder, item.content):
                return Obtained(folder, **json.loads(record.read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            pass  # what cannot be read is made again
        return None

    def obtain(self, item: Input, session: Session) -> Obtained:
        """Return an input from the cache, else from its first location that has it."""
        folder, record = self._places(item)
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with session, filelock.FileLock(f"{folder}.lock"):
                if kept := self.kept(item):
                    return kept
                files, location, checked = self._read_first(item, session)
                origin = {
                    "via": str(location),
                    "container_sha256": location.sha256,
                    "container_checked": checked,
                }
                partial = record.with_suffix(".partial")
                partial.write_text(json.dumps(origin), "utf-8")
                partial.replace(record)
                keep_tree(folder, files)
        except OSError as error:
            raise BuildError(
                "the cache folder cannot be written",
                looked_in=[str(self.folder)],
                found=str(error),
                fix="set XPU_DEV_CACHE_DIR to a folder with room that you may write",
            ) from error
        return Obtained(folder, str(location), location.sha256, checked)

    def _read_first(self, item: Input, session: Session) -> tuple[dict[str, bytes], Location, bool]:
        failures = []
        for location in item.locations:
            try:
                files, checked = self._read(item, location, session)
            except UnreachableError as error:
                failures.append(error)
                continue
            if (got := content_hash(files)) != item.content:
                raise BuildError(
                    f"wrong content: {item}",
                    wanted=f"content {item.content}",
                    looked_in=[str(location)],
                    found=f"content {got}, which is not kept",
                )
            return files, location, checked
        raise UnreachableError(
            f"{item}: none of its {len(item.locations)} locations can be reached",
            looked_in=[
                f"{location}: {failure.reason}"
                for location, failure in zip(item.locations, failures, strict=True)
            ],
        )

    def _read(self, item: Input, location: Location, session: Session) -> tuple[dict[str, bytes], bool]:
        """Return the files of an input at a location, and whether the container's own hash was checked."""
        if isinstance(location, CarriedLocation):
            return _carried(item, location), True  # one file, so that the content's hash is its own
        members = [f"{location.root}/{file}" for file in item.files]
        kind: Literal["tar", "deb", "zip"]
        if isinstance(location, WheelLocation):
            session.verify = self._pip.certificates or True
            url = find_wheel(session, location, self._pip.indexes)
            try:
                return _taken(item, _read_parts(item, session, url, members), location.root), False
            except RangesRefusedError:
                kind, get = "zip", partial(download, session, url)
        elif isinstance(location, DebianLocation):
            kind, get = "deb", partial(self._debian, location, session)
        else:
            kind, get = location.format, partial(download, session, location.url)
        container = keep_file(self.folder / "containers", location.sha256, str(location), get)
        return _taken(item, extract(container, kind, members, str(location)), location.root), True

    def _debian(self, location: DebianLocation, session: Session, target: Path) -> None:
        download_package(location, self._mirrors, target)
        session.count(target.stat().st_size)

    def _places(self, item: Input) -> tuple[Path, Path]:
        """Return the folder of an input's files and the record of where they came from."""
        folder = self.folder / "contents" / item.content
        return folder, folder.with_suffix(".json")

    @cached_property
    def _pip(self) -> PipSettings:
        return pip_settings()

    @cached_property
    def _mirrors(self) -> list[str]:
        return configured_mirrors()


def _read_parts(item: Input, session: Session, url: str, members: list[str]) -> dict[str, bytes]:
    """Read no more of a remote wheel than the input needs."""
    if item.sections:
        return {members[0]: read_head(session, url, members[0], needed_bytes(item.sections))}
    return read_members(session, url, members)


def _carried(item: Input, location: CarriedLocation) -> dict[str, bytes]:
    try:
        return {item.files[0]: (ROOT / location.path).read_bytes()}
    except OSError as error:
        raise UnreachableError(f"no {location}", looked_in=[str(ROOT)], found=str(error)) from error


def _taken(item: Input, members: Mapping[str, bytes], root: str) -> dict[str, bytes]:
    """Return the input's files, by their paths below the location's root."""
    files = {path.removeprefix(f"{root}/"): content for path, content in members.items()}
    if item.sections:
        return {path: symbols_only(content, item.sections) for path, content in files.items()}
    if item.names_only:
        return {path: name_list(content, path) for path, content in files.items()}
    return files


def _show_progress(futures: Mapping[Input, Future[Obtained]], sessions: Mapping[Input, Session]) -> None:
    """Wait for all; on a terminal draw a bar for each input meanwhile."""
    console = Console(stderr=True)
    if not console.is_terminal:
        wait(futures.values())
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bars = {item: progress.add_task(str(item), total=None) for item in futures}
        running = True
        while running:
            running = bool(wait(futures.values(), timeout=REDRAW).not_done)
            for item, bar in bars.items():
                done = futures[item].done()
                session = sessions[item]
                total = session.received if done else max(session.announced, session.received) or None
                progress.update(bar, completed=session.received, total=total)
