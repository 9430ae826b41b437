"""What the conda packages hold, that they can be built again, and that they match the wheels."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rattler_build
import tomllib
from conda_package_streaming.package_streaming import stream_conda_component
from repack import catalogue, conda
from repack.conda_archive import read_component
from repack.wheel import distribution_of

from tests.support.needs import lacking
from tests.support.wheels import ROOT, wheel

from . import channels

pytestmark = pytest.mark.xdist_group("conda")

SDK_PACKAGES = [(release, platform) for release in catalogue.load().releases for platform in conda.PLATFORMS]


def package_of(channel: Path, name: str, version: str, platform: str) -> Path:
    (package,) = (channel / platform).glob(f"{name}-{version}-*.conda")
    return package


def members(package: Path) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    for archive, member in stream_conda_component(str(package), component="pkg"):
        handle = archive.extractfile(member)
        yield member, handle.read() if handle else b""


def contents(package: Path, component: str = "pkg") -> dict[str, bytes]:
    return read_component(package, component)


def index_of(package: Path) -> dict[str, object]:
    index: dict[str, object] = json.loads(contents(package, "info")["info/index.json"])
    return index


def hashes(folder: Path) -> dict[str, str]:
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths
    }


def test_two_builds_are_identical(channel: Path, tmp_path: Path) -> None:
    channels.build_ours(tmp_path / "elsewhere" / "again", TZ="Asia/Kathmandu", LC_ALL="C", HOME=str(tmp_path))
    assert hashes(tmp_path / "elsewhere" / "again") == hashes(channel)


def test_builds_without_any_network(channel: Path, tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if not unshare or subprocess.run([unshare, "--net", "true"], capture_output=True).returncode:
        lacking("this user may not make a network namespace (unshare --net)")
    command = [unshare, "--net", sys.executable, "-m", "repack.conda", "--out", str(tmp_path / "offline")]
    result = subprocess.run(command, cwd=ROOT / "scripts", capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert hashes(tmp_path / "offline") == hashes(channel)


@pytest.mark.parametrize(("release", "platform"), SDK_PACKAGES, ids=str)
def test_holds_what_the_wheel_holds(release: catalogue.Release, platform: str, channel: Path) -> None:
    name = distribution_of(release.component)
    packed = contents(package_of(channel, name, release.version, platform))
    root = f"{'Library/' if platform == 'win-64' else ''}opt/{release.component}/"
    package = name.replace("-", "_") + "/"
    with zipfile.ZipFile(wheel(name, release.version, conda.PLATFORMS[platform])) as archive:
        in_wheel = {
            member.removeprefix(package).replace("cmake/u", "lib/cmake/unified-runtime/u"): archive.read(
                member
            )
            for member in archive.namelist()
            if member.startswith((f"{package}include/", f"{package}lib/", f"{package}cmake/"))
        }
    assert {path.removeprefix(root): packed[path] for path in packed if path.startswith((f"{root}include/", f"{root}lib/"))} == in_wheel  # fmt: skip
    if release.component == "level-zero":
        # conda-forge's paths, too.
        top = root.removesuffix("opt/level-zero/")
        assert {path: packed[top + path] for path in in_wheel} == in_wheel


@pytest.mark.parametrize(("release", "platform"), SDK_PACKAGES, ids=str)
def test_sdk_packages_are_clean(release: catalogue.Release, platform: str, channel: Path) -> None:
    package = package_of(channel, distribution_of(release.component), release.version, platform)
    packed = list(members(package))
    names = [member.name for member, _ in packed]
    assert not [name for name in names if name.lower().endswith(".dll") or ".so." in name]
    assert not [member.name for member, _ in packed if member.mode & 0o133 or not member.isfile()]
    machine = (str(ROOT).encode(), b"conda-build-", str(Path.home()).encode() + b"/")
    assert not [member.name for member, content in packed if any(text in content for text in machine)]
    information = contents(package, "info")
    licence = [text for name, text in information.items() if name.startswith("info/licenses/")]
    assert licence == [release.licence_file.read_bytes()]
    assert json.loads(information["info/about.json"])["license"] == release.licence
    assert index_of(package)["depends"] == []


def test_only_linux_asks_for_a_loader_at_run_time(channel: Path) -> None:
    exports = {
        package.relative_to(channel).as_posix().split("-h")[0]: json.loads(text)
        for package in sorted(channel.glob("*/*.conda"))
        if (text := contents(package, "info").get("info/run_exports.json"))
    }
    assert exports == {
        "linux-64/level-zero-devel-1.20.6": {"weak": ["level-zero >=1.20.6,<2"]},
        "linux-64/level-zero-devel-1.32.0": {"weak": ["level-zero >=1.32.0,<2"]},
    }


def test_locator_package_is_the_wheel(channel: Path) -> None:
    (package,) = (channel / "noarch").glob("intel-xpu-runtime-dev-*.conda")
    packed = contents(package)
    with zipfile.ZipFile(wheel("intel-xpu-runtime-dev", "*", "any")) as archive:
        expected = {f"site-packages/{name}": archive.read(name) for name in archive.namelist()}
    (record,) = (name for name in expected if name.endswith("/RECORD"))
    del expected[record]
    assert packed == {**expected, record.replace("RECORD", "INSTALLER"): b"conda\n"}
    assert index_of(package)["depends"] == ["python >=3.9", "level-zero-devel", "unified-runtime-devel"]


def test_locator_recipe_follows_the_project() -> None:
    project = tomllib.loads((ROOT / "wheels/intel-xpu-runtime-dev/pyproject.toml").read_text("utf-8"))[
        "project"
    ]
    rendered = render("intel-xpu-runtime-dev")
    scripts = [f"{name} = {target}" for name, target in project["scripts"].items()]
    assert rendered["build"]["python"]["entry_points"] == scripts
    assert f"python {project['requires-python']}" in str(rendered["requirements"]["run"])


@pytest.mark.parametrize("component", catalogue.load().components)
def test_feedstock_takes_what_the_catalogue_pins(component: str) -> None:
    """Without a staged tree the recipes name upstream's newest release, by the catalogue's URL and hash."""
    release = catalogue.load().of(component)[0]
    rendered = render(distribution_of(component))
    assert rendered["package"]["version"] == release.version
    urls = {
        location.url: location.sha256
        for location in release.headers("linux_x86_64").locations
        if isinstance(location, catalogue.UrlLocation) and location.url.startswith("https://github.com/")
    }
    assert {source["url"]: source["sha256"] for source in rendered["source"] if "url" in source} == urls


def render(recipe: str) -> dict[str, Any]:
    platform = rattler_build.PlatformConfig(
        build_platform="linux-64", host_platform="linux-64", target_platform="linux-64"
    )
    (variant,) = rattler_build.Stage0Recipe.from_file(ROOT / "recipes" / recipe / "recipe.yaml").render(
        rattler_build.VariantConfig(), rattler_build.RenderConfig(platform=platform)
    )
    rendered: dict[str, Any] = variant.recipe.to_dict()
    return rendered
