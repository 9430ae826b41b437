"""Bad input to the conda build: clear errors, and nothing half-written."""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path

import pytest
from repack import catalogue, conda
from repack.errors import BuildError
from repack.feedstock import stage_from
from repack.fetch import obtain
from repack.stage import stage_release

from tests.support.wheels import ROOT

pytestmark = pytest.mark.xdist_group("conda")

NEWEST = catalogue.load().of("level-zero")[0]


def recipe_with(monkeypatch: pytest.MonkeyPatch, folder: Path, *, url: str) -> None:
    """Let the build read a copy of the recipe whose source is another URL, with the hash left as it is."""
    recipes = folder / "recipes"
    shutil.copytree(ROOT / "recipes", recipes)
    for place in ("scripts", "LICENSES", "sources.toml"):
        (folder / place).symlink_to(ROOT / place)
    recipe = recipes / "level-zero-devel" / "recipe.yaml"
    lines = recipe.read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines) if line.strip().startswith("url: "))
    lines[number] = f"{lines[number].split('url:')[0]}url: {url}"
    recipe.write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(conda, "RECIPES", recipes)


def test_wrong_source_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    archive = tmp_path / "upstream.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(ROOT / "LICENSE", "upstream/LICENSE")
    recipe_with(monkeypatch, tmp_path / "copy", url=archive.as_uri())
    channel = tmp_path / "channel"
    with pytest.raises(BuildError, match="level-zero-devel for win-64 could not be built") as caught:
        conda.build_package(conda.Job("level-zero-devel", "win-64", {}), channel)
    assert "hash" in str(caught.value).lower() or "sha256" in str(caught.value).lower()
    assert not list(tmp_path.rglob("*.conda"))


def test_staged_tree_is_missing(tmp_path: Path) -> None:
    job = conda.Job("level-zero-devel", "linux-64", {"STAGED_TREE": str(tmp_path / "no such tree")})
    with pytest.raises(BuildError, match="could not be built") as caught:
        conda.build_package(job, tmp_path / "channel")
    assert "no such tree" in str(caught.value)
    assert not list(tmp_path.rglob("*.conda"))


def test_channel_folder_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    assert conda.main(["--out", str(tmp_path / "file" / "channel")]) == 1
    error = capsys.readouterr().err
    assert "cannot be written" in error
    assert "do this: name another with --out" in error


def test_failed_build_leaves_the_channel_as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    channel = tmp_path / "channel"
    channel.mkdir()
    (channel / "old").write_text("kept")
    monkeypatch.setattr(conda, "RECIPES", tmp_path / "no recipes")
    with pytest.raises(BuildError):
        conda.build_channel((NEWEST,), channel)
    assert [path.name for path in tmp_path.iterdir()] == ["channel"]
    assert [path.read_text() for path in channel.iterdir()] == ["kept"]


def test_environment_is_left_as_it_was(tmp_path: Path) -> None:
    before = dict(os.environ)
    with pytest.raises(BuildError):
        conda.build_package(conda.Job("no such recipe", "linux-64", {"SDK_VERSION": "1"}), tmp_path)
    assert dict(os.environ) == before


@pytest.mark.parametrize("release", catalogue.load().releases, ids=str)
@pytest.mark.parametrize("platform", catalogue.PLATFORMS)
def test_feedstock_stages_the_same_tree(
    release: catalogue.Release, platform: catalogue.Platform, tmp_path: Path
) -> None:
    inputs = obtain(release.build_inputs((platform,)))
    headers, loader = release.headers(platform), release.loader_binary(platform)
    stage_release(release, platform, inputs, tmp_path / "ours")
    stage_from(
        release.component, release.version, platform, inputs[headers],
        inputs[loader] / loader.files[0], tmp_path / "feedstock",
    )  # fmt: skip
    trees = [
        {path.relative_to(tree): path.read_bytes() for path in tree.rglob("*") if path.is_file()}
        for tree in (tmp_path / "ours", tmp_path / "feedstock")
    ]
    assert trees[0] == trees[1]


def test_feedstock_without_its_sources(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="cannot be staged") as caught:
        stage_from(
            "level-zero", NEWEST.version, "win_amd64", tmp_path, tmp_path / "ze_loader.dll", tmp_path / "x"
        )
    assert "ze_api.h" in str(caught.value)
    assert not (tmp_path / "x").exists()
