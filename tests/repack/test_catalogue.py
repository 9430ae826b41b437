"""The catalogue: what it lists, and how it refuses mistakes."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pydantic
import pytest
from repack.cache import content_hash
from repack.catalogue import PLATFORMS, Input, load
from repack.errors import BuildError

from tests.support.needs import program

INPUT = """
[[thing.releases.inputs]]
name = "thing-{role}"
role = "{role}"
purl = "pkg:generic/thing@1.0"
licence = "MIT"
files = ["a.h"]
content = "{hash}"

[[thing.releases.inputs.locations]]
kind = "url"
url = "https://example.org/thing.tar"
format = "tar"
sha256 = "{hash}"
root = "thing"
"""
GOOD = """
[thing]
licence = "MIT"
licence-text = "LICENSES/thing.txt"
loader = { win_amd64 = "thing.dll", linux_x86_64 = "libthing.so.1" }

[[thing.releases]]
version = "1.0"
""" + "".join(
    INPUT.replace("{role}", role).replace("{hash}", "0123456789abcdef" * 4) for role in ("headers", "loader")
)


def written(folder: Path, text: str) -> Path:
    path = folder / "sources.toml"
    path.write_text(text)
    return path


def test_lists_the_releases_the_project_promises() -> None:
    catalogue = load()
    versions = {name: [release.version for release in catalogue.of(name)] for name in catalogue.components}
    assert versions == {
        "level-zero": ["1.32.0", "1.20.6"],
        "unified-runtime": ["2026.2.0", "2026.1.2", "2025.3.3"],
    }


def test_only_headers_are_redistributed() -> None:
    inputs = [item for release in load().releases for item in release.inputs]
    assert {item.role for item in inputs if item.destination} == {"headers"}
    assert {item.role for item in inputs if not item.destination} == {"loader", "import-library"}


def test_every_release_has_its_licence_text() -> None:
    for release in load().releases:
        assert release.licence_file.is_file(), release


def test_a_build_needs_no_import_library_of_intel() -> None:
    release = load().release("unified-runtime", "2026.2.0")
    assert release.import_library() not in release.build_inputs()
    assert release.import_library() is not None


def test_a_build_for_one_platform_needs_that_platforms_loader_only() -> None:
    release = load().release("unified-runtime", "2026.2.0")
    for platform in PLATFORMS:
        assert release.build_inputs((platform,)) == (
            release.headers(platform),
            release.loader_binary(platform),
        )


def test_tables_are_frozen_and_hashable() -> None:
    item = load().releases[0].inputs[0]
    assert len({item, item}) == 1
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        item.name = "other"


def test_an_unknown_component_lists_the_known_ones() -> None:
    with pytest.raises(BuildError) as error:
        load().of("cuda")
    assert "no component 'cuda'" in str(error.value)
    assert "level-zero, unified-runtime" in str(error.value)


def test_an_unknown_version_lists_the_known_ones() -> None:
    with pytest.raises(BuildError) as error:
        load().release("level-zero", "9.9")
    assert "no version '9.9' of level-zero" in str(error.value)
    assert "1.32.0, 1.20.6" in str(error.value)


def test_a_small_catalogue_is_read(tmp_path: Path) -> None:
    release = load(written(tmp_path, GOOD)).release("thing", "1.0")
    assert release.headers("win_amd64").version == "1.0"
    assert release.loader.on("win_amd64") == "thing.dll"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[thing]", "[thing", "cannot be read"),
        ('purl = "pkg', 'colour = "red"\npurl = "pkg', "thing 1.0: inputs.0.colour: Extra inputs are not permitted"),
        ('licence-text = "LICENSES/thing.txt"', "", "licence-text: Field required"),
        (f'content = "{"0123456789abcdef" * 4}"', "", "content: Field required"),
        (f'sha256 = "{"0123456789abcdef" * 4}"', "", "sha256: Field required"),
        (f'sha256 = "{"0123456789abcdef" * 4}"', 'sha256 = "0123"', "sha256: String should match pattern"),
        ('kind = "url"', 'kind = "ftp"', "Input tag 'ftp' found using 'kind'"),
        ("https://", "http://", "url: String should match pattern"),
        ('files = ["a.h"]', 'files = ["../a.h"]', "want a plain relative path"),
        ('files = ["a.h"]', 'files = ["/a.h"]', "want a plain relative path"),
        ('files = ["a.h"]', 'files = ["a.h", "a.h"]', "a file is listed twice"),
        ('files = ["a.h"]', "files = []", "at least 1 item"),
        ('role = "loader"', 'role = "driver"', "role: Input should be 'headers'"),
        ('role = "loader"', 'role = "headers"', "want one input 'headers' for win_amd64, have 2"),
        ('purl = "pkg:generic/thing@1.0"\nlicence = "MIT"', 'purl = "pkg:a/b"\ndestination = "include"\nlicence = "X"',
         "redistributed under X"),
        ("[[thing.releases]]\n", '[[thing.releases]]\nversion = "0"\n[[thing.releases]]\n', "want one input"),
        ("[thing]", "[other]\n[thing]", "'other' of the catalogue has no releases"),
    ],
)  # fmt: skip
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(BuildError) as error:
        load(path)
    assert message in str(error.value)


def test_a_release_listed_twice_is_refused(tmp_path: Path) -> None:
    start = GOOD.index("[[thing.releases]]")
    with pytest.raises(BuildError, match="mistakes") as error:
        load(written(tmp_path, GOOD + GOOD[start:]))
    assert "thing 1.0: listed twice" in str(error.value)


def test_a_missing_catalogue_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as error:
        load(tmp_path / "none.toml")
    assert str(tmp_path / "none.toml") in str(error.value)


def test_a_section_is_that_of_a_single_file() -> None:
    item = load().release("unified-runtime", "2026.2.0").loader_binary("linux_x86_64")
    row = item.model_dump(by_alias=True) | {"files": ["a", "b"]}
    with pytest.raises(pydantic.ValidationError, match="sections are those of one file"):
        Input.model_validate(row)


def test_the_content_hash_can_be_made_by_hand(tmp_path: Path) -> None:
    """The command that the head of sources.toml gives."""
    program("sha256sum")
    files = {"z.h": b"1", "a/b.h": b"2", "a.h": b"3", "B.h": b"4"}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    command = f"sha256sum {shlex.join(files)} | LC_ALL=C sort -k 2 | sha256sum"
    result = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout.split()[0] == content_hash(files)
