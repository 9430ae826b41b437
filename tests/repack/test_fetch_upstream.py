"""The whole catalogue from the real mirrors and index: reachable, small, and under the licences it states."""

from __future__ import annotations

import posixpath
import re
from importlib.metadata import distribution
from pathlib import Path

import pytest
from repack.binaries import read_library
from repack.cache import read_tree
from repack.catalogue import PLATFORMS, Input, Release, WheelLocation, load
from repack.fetch import Outcome, fetch
from repack.remote_wheel import list_members, listed_packages, pip_settings, read_members
from repack.transfer import Session, UnreachableError

from tests.support.needs import lacking

RELEASES = load().releases
MEGABYTE = 1_000_000


@pytest.fixture(scope="session")
def cold(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Everything in the catalogue, into an empty cache."""
    inputs = [item for release in RELEASES for item in release.inputs]
    outcome = fetch(inputs, tmp_path_factory.mktemp("cold"))
    if outcome.unreachable:
        lacking("\n".join(str(error) for error in outcome.unreachable.values()))
    return outcome


def headers(release: Release, cold: Outcome) -> dict[str, str]:
    folder = cold.obtained[release.headers("linux_x86_64")].folder
    return {path: content.decode() for path, content in read_tree(folder).items()}


def test_everything_costs_less_than_15_megabytes(cold: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\na cold build receives {cold.received / MEGABYTE:.2f} MB for {len(cold.obtained)} inputs")
    assert len(cold.obtained) == sum(len(release.inputs) for release in RELEASES)
    assert MEGABYTE < cold.received < 15 * MEGABYTE


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_every_header_states_the_licence_of_its_release(release: Release, cold: Outcome) -> None:
    for path, text in headers(release, cold).items():
        assert re.findall(r"SPDX-License-Identifier: (.+)", text) == [release.licence], path


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_headers_come_with_unix_line_ends(release: Release, cold: Outcome) -> None:
    for path, text in headers(release, cold).items():
        assert "\r" not in text, path


def test_the_mit_notice_covers_the_years_of_every_header(cold: Outcome) -> None:
    for release in load().of("level-zero"):
        first, last = notice_years(release.licence_file.read_text("utf-8"))
        for path, text in headers(release, cold).items():
            start, end = notice_years(text)
            assert first <= start <= end <= last, path


def notice_years(text: str) -> tuple[int, int]:
    match = re.search(r"Copyright \(C\) (\d{4})(?:-(\d{4}))? Intel Corporation", text)
    assert match
    return int(match[1]), int(match[2] or match[1])


def test_the_llvm_licence_is_that_of_the_llvm_project() -> None:
    (path,) = (file for file in distribution("libclang").files or () if file.name == "LICENSE.TXT")
    ours = load().release("unified-runtime", "2026.2.0").licence_file.read_text("utf-8")
    assert ours in Path(str(path.locate())).read_text("utf-8")
    assert "Apache License\n" in ours
    assert "LLVM Exceptions to the Apache 2.0 License" in ours


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_a_loader_is_named_as_programs_ask_for_it(release: Release, cold: Outcome) -> None:
    for platform in PLATFORMS:
        item = release.loader_binary(platform)
        if item.platforms == (platform,):  # else it stands for another platform's loader too
            name = read_library(only_file(item, cold)).name
            assert name.lower() == release.loader.on(platform).lower()


def only_file(item: Input, cold: Outcome) -> Path:
    (name,) = item.files
    return cold.obtained[item].folder / name


@pytest.mark.parametrize("release", load().of("unified-runtime"), ids=str)
def test_the_windows_headers_differ_in_line_ends_only(release: Release, cold: Outcome) -> None:
    """Why one set of headers serves both platforms."""
    item = release.headers("win_amd64")
    (linux,) = item.locations
    assert isinstance(linux, WheelLocation)
    wheel = f"intel_sycl_rt-{release.version}-py2.py3-none-win_amd64.whl"
    with Session() as session:
        try:
            packages = listed_packages(session, linux.distribution, pip_settings().indexes)
            (url,) = (package.url for package in packages if package.filename == wheel)
            (api,) = (name for name in list_members(session, url) if name.endswith("/ur_api.h"))
            root = posixpath.dirname(api)
            members = read_members(session, url, [f"{root}/{name}" for name in item.files])
        except UnreachableError as error:
            lacking(str(error))
    ours = read_tree(cold.obtained[item].folder)
    for name in item.files:
        theirs = members[f"{root}/{name}"]
        assert b"\r\n" in theirs
        assert theirs.replace(b"\r\n", b"\n") == ours[name], name
