"""Look for newer releases of Level Zero and Unified Runtime, and add them to the catalogue: `dev.py update`.

Asks Debian and the package index through the machine's own apt and pip settings, and upstream where it can be reached.
Writes the row into sources.toml, a line into CHANGELOG.md and the list of names that this repository carries, all or
none, after every new input was fetched again by its new pins. Prints what changed in the API. Refuses a release whose
licence text changed.

With --check nothing is written. Exit code 0: done, or nothing new; 3: --check found something new; 1: an error.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit
from packaging.version import Version
from tomlkit.items import Integer, Trivia

from . import pin_level_zero, pin_unified_runtime
from .api_difference import api_difference
from .catalogue import ROOT, SOURCES, Catalogue, Release, load
from .errors import BuildError, reported
from .fetch import fetch, obtain
from .licence_change import check_licence
from .pinning import Found, Pinned

CHANGELOG = ROOT / "CHANGELOG.md"
UNRELEASED, ADDED = "## [Unreleased]", "### Added"
SOMETHING_NEW = 3
LINE_LENGTH = 110


class Upstream(NamedTuple):
    """What people call a component, and how its releases are found."""

    title: str
    find: Callable[[], Found]


UPSTREAMS = {
    "level-zero": Upstream("Level Zero", pin_level_zero.find),
    "unified-runtime": Upstream("Unified Runtime", pin_unified_runtime.find),
}


@reported
def main(arguments: list[str]) -> int:
    """Add what is new, or with --check only say so."""
    parser = argparse.ArgumentParser(
        prog="dev.py update", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--component", choices=UPSTREAMS, help="only this one (both)")
    parser.add_argument("--version", help="this release instead of the newest; needs --component")
    parser.add_argument("--check", action="store_true", help="only look; exit code 3 where something is new")
    parser.add_argument("--sources", type=Path, default=SOURCES, help="the catalogue (sources.toml)")
    parser.add_argument("--changelog", type=Path, default=CHANGELOG, help="the changelog (CHANGELOG.md)")
    chosen = parser.parse_args(arguments)
    if chosen.version and not chosen.component:
        parser.error("--version needs --component")
    catalogue = load(chosen.sources)
    wanted = {}
    for component in [chosen.component] if chosen.component else UPSTREAMS:
        found = UPSTREAMS[component].find()
        for note in found.notes:
            print(f"{component}: {note}", file=sys.stderr)
        if version := new_version(catalogue, component, found, chosen.version):
            wanted[component, version] = found.versions[version]
    if chosen.check or not wanted:
        return SOMETHING_NEW if wanted else 0
    catalogue_text, changelog_text = _read(chosen.sources), _read(chosen.changelog)
    texts: dict[Path, str] = {}
    for (component, _), pin in wanted.items():
        pinned = pin()
        row, line = new_release(catalogue, component, pinned)
        catalogue_text = with_row(catalogue_text, catalogue, component, row)
        changelog_text = with_line(changelog_text, line)
        texts |= {chosen.sources.parent / path: text for path, text in pinned.carried.items()}
    texts |= {chosen.sources: catalogue_text, chosen.changelog: changelog_text}
    with all_or_none(texts) as written:
        fresh = load(written[chosen.sources])
        check_pins(fresh.release(*component_and_version) for component_and_version in wanted)
    print(
        f"wrote {', '.join(path.name for path in texts)}; now: dev.py api-history, the version table of README.md, dev.py test"
    )
    return 0


def new_version(catalogue: Catalogue, component: str, found: Found, asked: str | None) -> str | None:
    """Return the version to add, None where there is nothing newer; BuildError where `asked` cannot be had."""
    known = [release.version for release in catalogue.of(component)]
    newest = max(known, key=Version)
    if asked in known:
        raise BuildError(f"{component} {asked} is in the catalogue already")
    if asked and asked not in found.versions:
        had = ", ".join(sorted(found.versions, key=Version))
        raise BuildError(f"{component} {asked} cannot be had", wanted=f"one of: {had}")
    candidate = asked or max(found.versions, key=Version, default=newest)
    if not asked and Version(candidate) <= Version(newest):
        print(f"{component}: {newest} is the newest")
        return None
    print(f"{component}: {candidate} is new, the catalogue has {newest}")
    return candidate


def new_release(catalogue: Catalogue, component: str, pinned: Pinned) -> tuple[Mapping[str, Any], str]:
    """Judge a release's licence and print its API difference; return its row and the changelog line."""
    version = pinned.row["version"]
    older = [release for release in catalogue.of(component) if Version(release.version) < Version(version)]
    if not older:
        raise BuildError(f"the catalogue has no release of {component} before {version} to compare with")
    before = older[0]
    for note in pinned.notes:
        print(f"{component}: {note}", file=sys.stderr)
    headers = before.headers("linux_x86_64")
    folder = obtain([headers])[headers]
    headers_before = {name: (folder / name).read_text("utf-8") for name in headers.files}
    check_licence(pinned, before, headers_before)
    _check_soname(pinned.row, before)
    with tempfile.TemporaryDirectory(prefix="headers-") as scratch:
        # Headers include their neighbours by the name of their folder.
        inner = Path(str(headers.destination)).name
        _write(Path(scratch, "before", inner), headers_before)
        _write(Path(scratch, "after", inner), pinned.headers)
        difference = api_difference(Path(scratch, "before"), Path(scratch, "after"))
    title = f"{UPSTREAMS[component].title} {version}"
    print(f"{title} against {before.version}: {difference.summary()}")
    for line in difference.lines():
        print(f"  {line}")
    return pinned.row, f"- {title}. API against {before.version}: {difference.summary()}."


def check_pins(releases: Iterable[Release]) -> None:
    """Get every input from upstream by its pins, past the cache; BuildError where one cannot be had."""
    with tempfile.TemporaryDirectory(prefix="pins-") as cache:
        outcome = fetch([item.upstream for release in releases for item in release.inputs], Path(cache))
    for error in outcome.unreachable.values():
        raise error


def _check_soname(row: Mapping[str, Any], before: Release) -> None:
    # A row without a loader has the one of its component.
    found = row.get("loader", {}).get("linux_x86_64", before.loader.linux_x86_64)
    if found != before.loader.linux_x86_64:
        raise BuildError(
            "the loader's soname changed: programs built before do not find it",
            wanted=before.loader.linux_x86_64,
            found=found,
            fix="add this release by hand, with all that depends on the soname",
        )


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def with_row(text: str, catalogue: Catalogue, component: str, row: Mapping[str, Any]) -> str:
    """Return the catalogue's text with a row before the first release that is older; all else as it was."""
    position = next(
        number
        for number, release in enumerate(catalogue.of(component))
        if Version(release.version) < Version(row["version"])
    )
    header = f"[[{component}.releases]]\n"
    parts = text.split(header)
    before, after = header.join(parts[: position + 1]), header.join(parts[position + 1 :])
    return f"{before}{_as_toml(component, row)}\n{header}{after}"


def _as_toml(component: str, row: Mapping[str, Any]) -> str:
    """Return a row in the style of the file."""
    release = tomlkit.table()
    release.update({key: value for key, value in row.items() if key not in ("inputs", "loader")})
    if "loader" in row:
        loader = tomlkit.inline_table()
        loader.update(row["loader"])
        release["loader"] = loader
    text = f"[[{component}.releases]]\n{release.as_string()}"
    for item in row["inputs"]:
        text += f"\n[[{component}.releases.inputs]]\n{_plain(item).as_string()}"
        if "sections" in item:
            sections = tomlkit.table()
            for name, place in item["sections"].items():
                sections[name] = [Integer(number, Trivia(), hex(number)) for number in place]
            text += f"\n[{component}.releases.inputs.sections]\n{sections.as_string()}"
        for location in item["locations"]:
            text += f"\n[[{component}.releases.inputs.locations]]\n{_plain(location).as_string()}"
    return text


def _plain(values: Mapping[str, Any]) -> tomlkit.items.Table:
    """Return the values that are no tables as a table; a long list has one value a line."""
    table = tomlkit.table()
    for key, value in values.items():
        if key in ("sections", "locations"):
            continue
        table[key] = value
        if isinstance(value, list):
            table[key].multiline(len(table[key].as_string()) > LINE_LENGTH - len("files = "))
    return table


def with_line(text: str, line: str) -> str:
    """Return the changelog with a line under what was added since the last version."""
    if text.count(f"{UNRELEASED}\n\n{ADDED}\n\n") != 1:
        raise BuildError("the changelog has no place for a line", wanted=f"{UNRELEASED}, then {ADDED}")
    start, end = text.split(f"{UNRELEASED}\n\n{ADDED}\n\n")
    return f"{start}{UNRELEASED}\n\n{ADDED}\n\n{line}\n{end}"


@contextmanager
def all_or_none(texts: Mapping[Path, str]) -> Iterator[Mapping[Path, Path]]:
    """Write texts beside the files that they replace when the block ends without an error; give where they are."""
    partials = {path: path.with_name(f".{path.name}.partial") for path in texts}
    originals = {path: path.read_bytes() if path.exists() else None for path in texts}
    try:
        for path, text in texts.items():
            path.parent.mkdir(exist_ok=True)
            partials[path].write_text(text, "utf-8", newline="\n")
        yield partials
        for path, partial in partials.items():
            partial.replace(path)
    except BaseException:
        for path, content in originals.items():
            if content is None:
                path.unlink(missing_ok=True)
            elif path.read_bytes() != content:
                path.write_bytes(content)
        raise
    finally:
        for partial in partials.values():
            partial.unlink(missing_ok=True)
            with suppress(OSError):  # a folder with other files stays
                partial.parent.rmdir()


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise BuildError(f"{path.name} cannot be read", looked_in=[str(path)], found=str(error)) from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
