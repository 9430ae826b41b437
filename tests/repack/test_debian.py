"""Debian packages through apt, from mirrors that only these tests' apt is set up for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from repack.catalogue import DebianLocation
from repack.debian import APT_HELPER, configured_mirrors, download_package, pool_path
from repack.transfer import UnreachableError

from tests.repack.loopback import Server, serving
from tests.repack.pinned import ROOT, sha256, write_deb
from tests.support.needs import lacking


@pytest.fixture(autouse=True)
def _apt() -> None:
    if not APT_HELPER.exists():
        lacking("apt")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in the pool of a mirror in `tmp_path / "debian"`."""
    pool = tmp_path / "debian" / "pool" / "main" / "t" / "thing"
    pool.mkdir(parents=True)
    return write_deb(tmp_path).rename(pool / "thing_1.0_amd64.deb")


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[Server]:
    with serving(Server(tmp_path)) as server:
        yield server


def pinned_package(archive: Path | None = None, **changes: str) -> DebianLocation:
    row = {
        "kind": "debian",
        "suite": "sid",
        "source": "thing",
        "package": "thing",
        "version": "1.0",
        "sha256": sha256(archive) if archive else "0" * 64,
        "root": ROOT,
    }
    return DebianLocation.model_validate(row | changes)


def set_up_apt(folder: Path, monkeypatch: pytest.MonkeyPatch, *mirrors: str) -> None:
    """Set apt up for these mirrors, which it has never updated from, and nothing else."""
    lines = [f"deb {mirror} sid main\n" for mirror in mirrors]
    (folder / "sources.list").write_text("".join(lines))
    (folder / "apt.conf").write_text(
        f'Dir::Etc::sourcelist "{folder}/sources.list";\nDir::Etc::sourceparts "-";\n'
        f'Dir::State "{folder}/state";\nDir::Cache "{folder}/cache";\n'
    )
    monkeypatch.setenv("APT_CONFIG", str(folder / "apt.conf"))


@pytest.mark.parametrize(
    ("source", "package", "version", "path"),
    [
        ("level-zero", "libze1", "1.32.0-1", "pool/main/l/level-zero/libze1_1.32.0-1_amd64.deb"),
        ("libthing", "libthing1", "1.0", "pool/main/libt/libthing/libthing1_1.0_amd64.deb"),
        ("thing", "thing", "2:1.0-1", "pool/main/t/thing/thing_1.0-1_amd64.deb"),
    ],
)
def test_the_path_in_the_pool_follows_from_the_name(
    source: str, package: str, version: str, path: str
) -> None:
    assert pool_path(pinned_package(source=source, package=package, version=version)) == path


def test_the_configured_mirrors_are_found_before_any_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up_apt(tmp_path, monkeypatch, "http://one.invalid/debian", "http://two.invalid/debian/")
    assert configured_mirrors() == ["http://one.invalid/debian", "http://two.invalid/debian"]


def test_the_first_mirror_that_has_a_package_gives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: Path, mirror: Server
) -> None:
    set_up_apt(tmp_path, monkeypatch, f"{mirror.url}/empty", f"{mirror.url}/debian")
    download_package(pinned_package(package), configured_mirrors(), tmp_path / "got.deb")
    assert (tmp_path / "got.deb").read_bytes() == package.read_bytes()


def test_a_mirror_on_a_local_disk_gives_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: Path
) -> None:
    set_up_apt(tmp_path, monkeypatch, f"file:{tmp_path}/debian")
    download_package(pinned_package(package), configured_mirrors(), tmp_path / "got.deb")
    assert not (tmp_path / "got.deb").is_symlink()
    assert (tmp_path / "got.deb").read_bytes() == package.read_bytes()


def test_nothing_but_the_package_is_fetched_or_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: Path, mirror: Server
) -> None:
    set_up_apt(tmp_path, monkeypatch, f"{mirror.url}/debian")
    (tmp_path / "got").mkdir()
    download_package(pinned_package(package), configured_mirrors(), tmp_path / "got" / "it.deb")
    path = package.relative_to(tmp_path).as_posix()
    assert mirror.requests == [f"GET /{path}"]
    assert [entry.name for entry in (tmp_path / "got").iterdir()] == ["it.deb"]
    assert not (tmp_path / "state").exists()
    assert not (tmp_path / "cache").exists()


def test_a_package_that_no_mirror_has_names_what_was_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mirror: Server
) -> None:
    set_up_apt(tmp_path, monkeypatch, f"{mirror.url}/debian", "http://127.0.0.1:9/debian")
    with pytest.raises(UnreachableError) as error:
        download_package(pinned_package(), configured_mirrors(), tmp_path / "got.deb")
    message = str(error.value)
    assert "no Debian package thing 1.0 (sid)" in message
    assert f"looked in: {mirror.url}/debian/pool/main/t/thing/thing_1.0_amd64.deb" in message
    assert "looked in: http://127.0.0.1:9/debian/pool/main/t/thing/thing_1.0_amd64.deb" in message
    assert "404" in error.value.reason
    assert not (tmp_path / "got.deb").exists()


def test_a_machine_without_mirrors_says_so(tmp_path: Path) -> None:
    with pytest.raises(UnreachableError) as error:
        download_package(pinned_package(), [], tmp_path / "got.deb")
    assert error.value.reason == "no Debian mirror configured on this machine"


def test_without_apt_there_are_no_mirrors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert configured_mirrors() == []
