"""Staged trees: what is in them, and that nothing but the catalogue decides it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from repack.cache import content_hash, read_tree
from repack.catalogue import PLATFORMS, Platform, Release, load
from repack.errors import BuildError
from repack.fetch import obtain
from repack.package_files import link_name
from repack.stage import linked_file, stage_release

from tests.support.wheels import staged

RELEASES = load().releases
EACH = [
    pytest.param(release, platform, id=f"{release}-{platform}")
    for release in RELEASES
    for platform in PLATFORMS
]
PACKAGE_FILES = {
    "level-zero": {
        "lib/cmake/LevelZero/LevelZeroConfig.cmake",
        "lib/cmake/LevelZero/LevelZeroConfigVersion.cmake",
        "lib/pkgconfig/level-zero.pc",
        "lib/pkgconfig/libze_loader.pc",
        "licenses/level-zero.txt",
    },
    "unified-runtime": {
        "lib/cmake/unified-runtime/unified-runtime-config-version.cmake",
        "lib/cmake/unified-runtime/unified-runtime-config.cmake",
        "lib/pkgconfig/libur_loader.pc",
        "licenses/unified-runtime.txt",
    },
}


@pytest.mark.parametrize(("release", "platform"), EACH)
def test_a_tree_holds_the_pinned_headers_the_library_and_nothing_unknown(
    release: Release, platform: Platform
) -> None:
    tree = staged(release.component, release.version, platform)
    files = read_tree(tree)
    headers = release.headers(platform)
    root = f"{headers.destination}/"

    shipped = {
        path.removeprefix(root): content for path, content in files.items() if path.startswith("include/")
    }
    assert set(shipped) == set(headers.files)
    assert content_hash(shipped) == headers.content
    assert [path.name for path in (tree / "include").iterdir()] == [root.split("/")[1]]

    library = linked_file(release.loader.on(platform))
    rest = {path for path in files if not path.startswith("include/")}
    assert rest == {*PACKAGE_FILES[release.component], f"lib/{library}", "manifest.json"}
    assert not any(b"@" in files[path] for path in rest if path.endswith((".cmake", ".pc")))


@pytest.mark.parametrize(("release", "platform"), EACH)
def test_the_manifest_describes_the_tree(release: Release, platform: Platform) -> None:
    tree = staged(release.component, release.version, platform)
    files = read_tree(tree)
    manifest = json.loads(files.pop("manifest.json"))

    assert (manifest["component"], manifest["version"]) == (release.component, release.version)
    assert manifest["platform"] == platform
    assert manifest["files"] == {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    assert manifest["library"] in files
    assert [item["content"] for item in manifest["inputs"]] == [
        release.headers(platform).content,
        release.loader_binary(platform).content,
    ]
    assert all(location["sha256"] for item in manifest["inputs"] for location in item["locations"])
    linkable = set(manifest["functions"])
    left_out = [*manifest["declared_only"].values(), *manifest["exported_only"].values()]
    assert linkable
    assert not any(linkable & set(names) for names in left_out)


@pytest.mark.parametrize("version", ["1.32.0", "1.20.6"])
def test_the_name_that_no_loader_exports_is_told_with_the_reason(version: str) -> None:
    tree = staged("level-zero", version, "win_amd64")
    ((reason, names),) = json.loads((tree / "manifest.json").read_text())["declared_only"].items()

    assert names == ["zelTracerResetAllCallbacks"]
    assert reason.endswith("does not export it")
    assert b"zelTracerResetAllCallbacks" not in (tree / "lib" / "ze_loader.lib").read_bytes()


def test_the_import_library_is_intels_but_for_the_case_of_the_dlls_name() -> None:
    release = load().release("unified-runtime", "2026.2.0")
    theirs = release.import_library()
    assert theirs is not None

    ours = staged("unified-runtime", "2026.2.0", "win_amd64") / "lib" / theirs.files[0]

    assert ours.read_bytes().lower() == (obtain([theirs])[theirs] / theirs.files[0]).read_bytes().lower()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_bytes_do_not_depend_on_where_the_inputs_came_from(platform: Platform, tmp_path: Path) -> None:
    release = load().release("level-zero", "1.32.0")
    folders = obtain(release.build_inputs((platform,)))
    copies = {item: shutil.copytree(folder, tmp_path / item.name) for item, folder in folders.items()}
    for path in tmp_path.rglob("*"):
        path.chmod(0o777)
        os.utime(path, (0, 0))

    again = stage_release(release, platform, copies, tmp_path / "deep" / "er" / "tree")

    assert read_tree(again) == read_tree(staged("level-zero", "1.32.0", platform))


def test_a_loader_of_another_name_is_refused(tmp_path: Path) -> None:
    release = load().release("unified-runtime", "2026.2.0")
    other = load().release("unified-runtime", "2026.1.2")
    folders = obtain([*release.build_inputs(("win_amd64",)), *other.build_inputs(("win_amd64",))])
    binary = release.loader_binary("win_amd64")
    dll = folders[other.loader_binary("win_amd64")] / "ur_loader.dll"
    (tmp_path / "bin").mkdir()
    shutil.copyfile(dll, tmp_path / "bin" / binary.files[0])

    with pytest.raises(BuildError, match="another name") as error:
        stage_release(release, "win_amd64", {**folders, binary: tmp_path / "bin"}, tmp_path / "tree")

    assert "found: ur_loader.dll" in str(error.value)


@pytest.mark.parametrize(
    ("loader", "file", "name"),
    [
        ("ze_loader.dll", "ze_loader.lib", "ze_loader"),
        ("ur_loader_shared.dll", "ur_loader_shared.lib", "ur_loader_shared"),
        ("libze_loader.so.1", "libze_loader.so", "ze_loader"),
        ("libur_loader.so.0", "libur_loader.so", "ur_loader"),
    ],
)
def test_names_of_the_library_to_link(loader: str, file: str, name: str) -> None:
    assert linked_file(loader) == file
    assert link_name(file) == name
