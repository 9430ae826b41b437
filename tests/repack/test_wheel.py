"""The SDK wheels: content, metadata, bill of materials, and what stops their build."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from repack.cache import read_tree
from repack.catalogue import PLATFORMS, Platform, load
from repack.errors import BuildError
from repack.wheel import WHEELS, build_pure_wheel, build_sdk_wheel

from tests.support.wheels import staged, wheel

RELEASES = [(release.component, release.version) for release in load().releases]
EACH_RELEASE = pytest.mark.parametrize(("component", "version"), RELEASES)
EACH_PLATFORM = pytest.mark.parametrize("platform", PLATFORMS)
TAGS = {
    "win_amd64": ["py3-none-win_amd64"],
    "linux_x86_64": ["py3-none-manylinux1_x86_64", "py3-none-manylinux_2_5_x86_64"],
}
EXPRESSIONS = {
    "level-zero": "MIT",
    "unified-runtime": "MIT AND (Apache-2.0 WITH LLVM-exception)",
}


def members(path: Path) -> dict[str, bytes]:
    """Return the files of a wheel."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def headers(files: dict[str, bytes], name: str) -> Message:
    """Return a file of .dist-info as headers."""
    (text,) = [content for path, content in files.items() if path.endswith(f".dist-info/{name}")]
    return Parser().parsestr(text.decode())


@EACH_PLATFORM
@EACH_RELEASE
def test_the_package_is_the_staged_tree(component: str, version: str, platform: Platform) -> None:
    package = f"{component.replace('-', '_')}_devel"
    files = members(wheel(f"{component}-devel", version, platform))
    tree = read_tree(staged(component, version, platform))

    packaged = {
        path.removeprefix(f"{package}/"): content
        for path, content in files.items()
        if path.startswith(f"{package}/")
    }
    code = {"__init__.py", "py.typed"}
    assert {path: packaged[path] for path in packaged.keys() - code} == {
        # The one folder whose own place would make too long a path on Windows.
        path.replace("lib/cmake/unified-runtime/", "cmake/"): content
        for path, content in tree.items()
        if not path.startswith("licenses/")
    }
    assert code <= packaged.keys()


@EACH_PLATFORM
@EACH_RELEASE
def test_only_level_zero_on_windows_fills_the_prefix(
    component: str, version: str, platform: Platform
) -> None:
    files = members(wheel(f"{component}-devel", version, platform))
    tree = read_tree(staged(component, version, platform))
    data = f"{component.replace('-', '_')}_devel-{version}.data/"

    overlay = {path.removeprefix(data): content for path, content in files.items() if path.startswith(data)}

    if (component, platform) == ("level-zero", "win_amd64"):
        wanted = {path for path in tree if path.startswith("include/")} | {"lib/ze_loader.lib"}
        assert overlay == {f"data/Library/{path}": tree[path] for path in wanted}
    else:
        assert overlay == {}


@EACH_PLATFORM
@EACH_RELEASE
def test_metadata(component: str, version: str, platform: Platform) -> None:
    files = members(wheel(f"{component}-devel", version, platform))
    metadata, about = headers(files, "METADATA"), headers(files, "WHEEL")

    assert (metadata["Name"], metadata["Version"]) == (f"{component}-devel", version)
    assert metadata["License-Expression"] == EXPRESSIONS[component]
    assert metadata["Requires-Python"] == ">=3.9"
    assert all(each.endswith("extra == 'cpu'") for each in metadata.get_all("Requires-Dist", []))
    assert sorted(about.get_all("Tag", [])) == TAGS[platform]
    assert about["Root-Is-Purelib"] == "false"
    licences = {path.rpartition("/")[2]: content for path, content in files.items() if "/licenses/" in path}
    assert set(licences) == set(metadata.get_all("License-File", [])) == {"LICENSE", f"{component}.txt"}
    assert licences[f"{component}.txt"] == load().release(component, version).licence_file.read_bytes()


@EACH_PLATFORM
@EACH_RELEASE
def test_the_bill_of_materials_names_every_input(component: str, version: str, platform: Platform) -> None:
    files = members(wheel(f"{component}-devel", version, platform))
    (text,) = [content.decode() for path, content in files.items() if ".dist-info/sboms/" in path]
    inputs = load().release(component, version).build_inputs((platform,))

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    assert bill["metadata"]["component"]["purl"] == f"pkg:pypi/{component}-devel@{version}"
    told = {each["bom-ref"]: each for each in bill["components"]}
    assert told.keys() == {item.name for item in inputs}
    for item in inputs:
        assert PackageURL.from_string(told[item.name]["purl"]) == PackageURL.from_string(item.purl)
        assert told[item.name]["hashes"] == [{"alg": "SHA-256", "content": item.content}]
        hashes = [each["hashes"][0]["content"] for each in told[item.name]["externalReferences"]]
        assert sorted(hashes) == sorted(location.sha256 for location in item.locations)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder into which pip has installed both kits."""
    folder = tmp_path_factory.mktemp("site")
    kits = [
        wheel("level-zero-devel", "1.32.0", "linux_x86_64"),
        wheel("unified-runtime-devel", "2026.2.0", "linux_x86_64"),
    ]
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(folder)]
    subprocess.run([*pip, *map(str, kits)], check=True)
    return folder


@pytest.mark.parametrize("package", ["level_zero_devel", "unified_runtime_devel"])
def test_importing_imports_nothing_else(package: str, site: Path) -> None:
    program = f"import sys; before = set(sys.modules); import {package}; print(set(sys.modules) - before)"

    result = subprocess.run(
        [sys.executable, "-c", program], cwd=site, capture_output=True, text=True, check=True
    )

    assert result.stdout == f"{{'{package}'}}\n"


@pytest.mark.parametrize(
    ("package", "header"),
    [("level_zero_devel", "level_zero/ze_api.h"), ("unified_runtime_devel", "unified-runtime/ur_api.h")],
)
def test_where_things_are(package: str, header: str, site: Path) -> None:
    program = f"import {package} as kit; print(kit.get_root(), kit.get_include(), sep=chr(10))"

    result = subprocess.run(
        [sys.executable, "-c", program], cwd=site, capture_output=True, text=True, check=True
    )

    root, include = map(Path, result.stdout.splitlines())
    assert root == site / package
    assert (include / header).is_file()


def test_entry_points_lead_to_the_kits(site: Path) -> None:
    found = {
        (entry.group, entry.name): entry.value
        for distribution in importlib.metadata.distributions(path=[str(site)])
        for entry in distribution.entry_points
    }

    assert found == {
        ("cmake.root", "LevelZero"): "level_zero_devel",
        ("cmake.root", "unified-runtime"): "unified_runtime_devel",
        ("pkg_config", "level-zero"): "level_zero_devel.lib.pkgconfig",
        ("pkg_config", "unified-runtime"): "unified_runtime_devel.lib.pkgconfig",
    }


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of a staged tree, to change."""
    return shutil.copytree(staged("level-zero", "1.32.0", "win_amd64"), tmp_path / "tree")


def test_an_unlisted_licence_stops_the_build(tree: Path, tmp_path: Path) -> None:
    (tree / "licenses" / "third-party-programs.txt").write_text("more terms\n")

    with pytest.raises(BuildError, match="licence files") as error:
        build_sdk_wheel(tree, tmp_path / "out")

    assert "third-party-programs.txt" in str(error.value)


def test_a_lost_licence_stops_the_build(tree: Path, tmp_path: Path) -> None:
    (tree / "licenses" / "level-zero.txt").unlink()

    with pytest.raises(BuildError, match="licence files"):
        build_sdk_wheel(tree, tmp_path / "out")


def test_a_fault_of_the_backend_is_told_in_its_words(tmp_path: Path) -> None:
    project = shutil.copytree(WHEELS / "level-zero-devel", tmp_path / "projects" / "level-zero-devel")
    shutil.copy(WHEELS / "sdk_build_hook.py", project.parent)

    with pytest.raises(BuildError, match="hatchling cannot build level-zero-devel") as error:
        build_pure_wheel("level-zero-devel", tmp_path / "out", project.parent)

    assert "sdk/manifest.json" in str(error.value)
    assert "Traceback" not in str(error.value)
