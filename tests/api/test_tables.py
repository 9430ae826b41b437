"""The tables in the package against what they were made from: real headers and real DLLs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import requests
from api_history import (
    HEADER,
    SYCL_HEADER,
    Index,
    digest,
    level_zero_extended,
    oldest_mentions,
    releases,
    unified_runtime_release,
    written,
)
from intel_xpu_runtime_dev.api._history import DATA, History, history, release_key
from intel_xpu_runtime_dev.api._parity import COLUMNS, NEEDS, parity
from packaging.version import Version
from repack.catalogue import load
from repack.declarations import Function, declared_functions
from repack.errors import BuildError
from repack.fetch import obtain
from repack.transfer import UnreachableError

from tests.support.needs import lacking

LEVEL_ZERO_RELEASES = ("1.20.6", "1.32.0")
# One of each loader file name, and the two sides of a changed prototype.
REMADE = ("2025.2.2", "2025.3.3", "2026.2.0")


@pytest.fixture(scope="module")
def level_zero() -> History:
    return history("level-zero")


@pytest.fixture(scope="module")
def unified_runtime() -> History:
    return history("unified-runtime")


@pytest.fixture(scope="module")
def index() -> Index:
    found = Index()
    try:
        found.wheels("intel-sycl-rt")
    except requests.RequestException as error:
        lacking(f"the package index cannot be asked: {error}")
    return found


def level_zero_folder(version: str) -> Path:
    """Return the include folder of the pinned headers of a release."""
    release = load().release("level-zero", version)
    try:
        (folder,) = obtain(item for item in release.inputs if item.role == "headers").values()
    except UnreachableError as error:
        lacking(str(error))
    return folder


@pytest.fixture(scope="module")
def declared() -> dict[str, dict[str, Function]]:
    """Return the functions that the headers of each pinned release of Level Zero declare."""
    return {
        version: {each.name: each for each in declared_functions(level_zero_folder(version))}
        for version in LEVEL_ZERO_RELEASES
    }


@pytest.mark.parametrize("version", LEVEL_ZERO_RELEASES)
def test_level_zero_has_what_the_headers_declare(
    level_zero: History, declared: dict[str, dict[str, Function]], version: str
) -> None:
    assert {name for name in level_zero.functions if level_zero.at(name, version)} == declared[version].keys()


def test_level_zero_changed_no_prototype(declared: dict[str, dict[str, Function]]) -> None:
    """So its table needs none; `api --diff` says so."""
    old, new = (declared[version] for version in LEVEL_ZERO_RELEASES)
    assert len(old.keys() & new.keys()) > 500
    assert {name for name in old.keys() & new.keys() if old[name].prototype != new[name].prototype} == set()


@pytest.mark.parametrize("version", REMADE)
def test_unified_runtime_is_what_the_script_finds(
    unified_runtime: History, index: Index, version: str
) -> None:
    release = unified_runtime_release(index, Version(version))
    spans = {name: unified_runtime.at(name, version) for name in unified_runtime.functions}
    assert {name: span.prototype for name, span in spans.items() if span} == {
        name: digest(prototype) for name, prototype in release.functions.items()
    }
    assert release.library == unified_runtime.library(version)
    for name, prototype in release.functions.items():
        changed = unified_runtime.prototypes.get(digest(prototype))
        assert changed in (None, prototype), name


def test_every_release_of_the_index_is_in_the_table(unified_runtime: History, index: Index) -> None:
    """A newer one means: run `python3 scripts/dev.py api-history`."""
    newest = Version(unified_runtime.newest)
    assert [str(each) for each in releases(index) if each <= newest] == unified_runtime.releases


@pytest.mark.parametrize(
    ("old", "new", "added", "removed"),
    [
        ("2024.2.0", "2025.0.0", 29, 11),
        ("2025.0.0", "2025.1.0", 20, 0),
        ("2025.1.0", "2025.2.0", 38, 18),
        ("2025.2.0", "2025.3.0", 33, 14),
        ("2025.3.0", "2026.0.0", 53, 2),
        ("2026.0.0", "2026.1.2", 10, 0),
        ("2026.1.2", "2026.2.0", 30, 12),
    ],
)
def test_counts_that_were_counted_by_hand(
    unified_runtime: History, old: str, new: str, added: int, removed: int
) -> None:
    changes = unified_runtime.changes(old, new)
    assert (len(changes.added), len(changes.removed)) == (added, removed)


def test_launch_lost_a_parameter_under_one_name(unified_runtime: History) -> None:
    before, after = (unified_runtime.at("urEnqueueKernelLaunch", each) for each in ("2025.3.3", "2026.1.2"))
    assert before
    assert after
    parameters = [unified_runtime.prototypes[span.prototype].count(",") + 1 for span in (before, after)]
    assert parameters == [11, 10]


@pytest.mark.parametrize("name", ["level_zero.json", "unified_runtime.json", "parity.json"])
def test_files_are_as_the_script_writes_them(name: str) -> None:
    text = (DATA / name).read_text(encoding="utf-8")
    assert written(json.loads(text)) == text


def test_parity_has_every_need_in_every_column() -> None:
    rows = parity()
    assert list(rows) == [need.name for need in NEEDS]
    assert all(cells.keys() == COLUMNS.keys() and all(cells.values()) for cells in rows.values())


def test_parity_in_the_headers_of_level_zero() -> None:
    for version in LEVEL_ZERO_RELEASES:
        paths = level_zero_folder(version).rglob("*.h")
        text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
        names = [symbol.name for cells in parity().values() for symbol in cells["level-zero"]]
        assert oldest_mentions([(version, text)], names) == dict.fromkeys(sorted(names), version)


def test_parity_in_the_headers_around_each_first_release(index: Index) -> None:
    """A symbol is in the headers of its first release, and not in those of the one before."""
    for column, pattern in (("unified-runtime", HEADER), ("sycl", SYCL_HEADER)):
        exact = {
            symbol.name: symbol.first
            for cells in parity().values()
            for symbol in cells[column]
            if not symbol.or_earlier
        }
        assert exact, column
        for name, first in exact.items():
            versions = [str(version) for version in index.wheels("intel-sycl-rt")]
            before = versions[versions.index(first) - 1]
            oldest_mentions([(first, index.header_text(Version(first), pattern))], [name])
            with pytest.raises(BuildError):
                oldest_mentions([(before, index.header_text(Version(before), pattern))], [name])


@pytest.mark.parametrize(
    ("older", "newer"), [("1.9.9", "1.10.0"), ("2025.3.3", "2026.0.0"), ("1.18", "1.18.1")]
)
def test_releases_compare_as_numbers(older: str, newer: str) -> None:
    assert release_key(older) < release_key(newer)
    assert release_key("1.18") == release_key("1.18.0")


def test_next_release_of_level_zero() -> None:
    table = json.loads((DATA / "level_zero.json").read_text(encoding="utf-8"))
    names = {name for name, spans in table["functions"].items() if not spans[-1][1]}
    back, gone, new = "zesGetVFManagementProcAddrTable", "zeInit", "zeFromTheFuture"
    functions = level_zero_extended(table, "1.33.0", names - {gone} | {back, new})["functions"]
    assert functions[gone] == [["1.0.12", "1.32.0", ""]]
    assert functions[back] == [["1.18.0", "1.18.1", ""], ["1.33.0", "", ""]]
    assert functions[new] == [["1.33.0", "", ""]]
    assert functions["zeInitDrivers"] == table["functions"]["zeInitDrivers"]
