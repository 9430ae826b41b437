"""Lists of exported names that this repository carries, against the libraries that they were read from."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from repack.binaries import read_library
from repack.cache import read_tree
from repack.catalogue import ROOT, CarriedLocation, Input, load
from repack.errors import BuildError
from repack.fetch import fetch, obtain
from repack.name_list import name_list, read_exports
from repack.transfer import UnreachableError

from tests.support.needs import program

CARRIED = [item for release in load().releases for item in release.inputs if item.names_only]


def test_every_level_zero_loader_is_carried_and_no_list_is_left_over() -> None:
    assert len(CARRIED) == len(load().of("level-zero"))
    paths = [each.path for item in CARRIED for each in item.locations if isinstance(each, CarriedLocation)]
    assert {ROOT / path for path in paths} == set((ROOT / "names").iterdir())


@pytest.mark.parametrize("item", CARRIED, ids=str)
def test_is_the_list_of_the_real_loader(item: Input, tmp_path: Path) -> None:
    """Made again from Debian's package, past the cache. A suite drops versions: that is what the lists are for."""
    outcome = fetch([item.upstream], tmp_path)
    for error in outcome.unreachable.values():
        pytest.skip(f"the real loader cannot be had any more, so its list was not compared: {error}")
    made = read_tree(outcome.obtained[item.upstream].folder)
    assert made == read_tree(obtain([item])[item])


@pytest.mark.parametrize("item", CARRIED, ids=str)
def test_a_cold_cache_needs_no_binary(item: Input, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise UnreachableError("no network in this test")

    monkeypatch.setattr("repack.fetch.download_package", refuse)
    outcome = fetch([item], tmp_path)
    assert outcome.obtained[item].via == f"names/{item.files[0]}.txt"
    assert outcome.received == 0


def test_a_changed_list_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "names").mkdir()
    carried = Path("names", f"{CARRIED[0].files[0]}.txt")
    (tmp_path / carried).write_bytes((ROOT / carried).read_bytes() + b"zeAnother\n")
    monkeypatch.setattr("repack.fetch.ROOT", tmp_path)
    with pytest.raises(BuildError, match="wrong content"):
        fetch([CARRIED[0]], tmp_path / "cache")


def test_a_list_says_what_the_library_says(tmp_path: Path) -> None:
    source, library = tmp_path / "made.c", tmp_path / "libmade.so.1"
    source.write_text("int count; void run(void) {}\n")
    options = ["-shared", "-fPIC", "-nostdlib", "-Wl,-soname,libmade.so.1"]
    subprocess.run([program("gcc"), *options, source, "-o", library], check=True)
    names = tmp_path / "made.txt"
    names.write_bytes(name_list(library.read_bytes(), library.name))
    assert read_exports(names) == read_exports(library) == read_library(library)
    assert names.read_text().splitlines()[1:] == ["count data", "run"]


def test_a_library_with_symbol_versions_has_more_than_names(tmp_path: Path) -> None:
    source, versions, library = tmp_path / "made.c", tmp_path / "versions", tmp_path / "libmade.so.1"
    source.write_text("void run(void) {}\n")
    versions.write_text("MADE_1 { run; };\n")
    options = ["-shared", "-nostdlib", "-Wl,-soname,libmade.so.1", f"-Wl,--version-script={versions}"]
    subprocess.run([program("gcc"), *options, source, "-o", library], check=True)
    with pytest.raises(BuildError, match="exports versions of symbols"):
        name_list(library.read_bytes(), library.name)


def test_a_damaged_first_line_is_told(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("# names exported by nobody\nzeInit\n")
    with pytest.raises(BuildError, match="is no list of names"):
        read_exports(tmp_path / "names.txt")
