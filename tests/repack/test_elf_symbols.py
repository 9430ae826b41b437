"""Symbol tables out of the first bytes of Intel's loaders, against the whole loaders."""

from __future__ import annotations

from pathlib import Path

import pytest
from repack.binaries import read_library
from repack.catalogue import Section, WheelLocation, load
from repack.elf_symbols import needed_bytes, symbols_only
from repack.errors import BuildError
from repack.remote_wheel import find_wheel, pip_settings, read_members
from repack.transfer import Session, UnreachableError

from tests.support.cached import made_once
from tests.support.needs import lacking

RELEASES = load().of("unified-runtime")


def whole_loader(version: str) -> Path:
    """Return Intel's whole loader for Linux, 9 to 25 MB."""
    item = load().release("unified-runtime", version).loader_binary("linux_x86_64")
    (location,) = item.locations
    assert isinstance(location, WheelLocation)

    def read(folder: Path) -> None:
        member = f"{location.root}/{item.files[0]}"
        with Session() as session:
            try:
                url = find_wheel(session, location, pip_settings().indexes)
                (folder / "libur_loader.so").write_bytes(read_members(session, url, [member])[member])
            except UnreachableError as error:
                lacking(f"the package index: {error.reason}")

    return made_once(f"whole-ur-loader-{version}", read) / "libur_loader.so"


@pytest.mark.parametrize("version", [release.version for release in RELEASES])
def test_the_part_says_what_the_whole_says(version: str, tmp_path: Path) -> None:
    item = load().release("unified-runtime", version).loader_binary("linux_x86_64")
    whole = whole_loader(version)
    head = whole.read_bytes()[: needed_bytes(item.sections)]
    assert len(head) < 64_000
    part = tmp_path / "part.so"
    part.write_bytes(symbols_only(head, item.sections))
    library = read_library(part)
    assert library == read_library(whole)
    assert library.name == "libur_loader.so.0"
    assert {"urAdapterGet", "urKernelCreate"} <= {export.name for export in library.exports}


def a_head() -> tuple[bytes, tuple[Section, ...]]:
    item = load().release("unified-runtime", "2026.2.0").loader_binary("linux_x86_64")
    return whole_loader("2026.2.0").read_bytes()[: needed_bytes(item.sections)], item.sections


def test_sections_elsewhere_are_noticed() -> None:
    head, sections = a_head()
    for moved in range(len(sections)):
        wrong = [
            section.model_copy(update={"offset": section.offset - 8}) if index == moved else section
            for index, section in enumerate(sections)
        ]
        with pytest.raises(BuildError):
            symbols_only(head, wrong)


def test_a_missing_section_is_noticed() -> None:
    head, sections = a_head()
    with pytest.raises(BuildError, match="not where the catalogue says"):
        symbols_only(head, sections[1:])


def test_too_few_bytes_are_noticed() -> None:
    head, sections = a_head()
    with pytest.raises(BuildError, match="cut off"):
        symbols_only(head[:-1], sections)


def test_another_kind_of_file_is_noticed() -> None:
    _, sections = a_head()
    with pytest.raises(BuildError, match="not a 64-bit little-endian ELF file"):
        symbols_only(b"MZ" + bytes(100_000), sections)
