"""`dev.py update`: from a catalogue without its newest rows to the rows as they are, and all that must be refused."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import tomllib
from repack import pin_level_zero
from repack.api_difference import ApiDifference, api_difference
from repack.cache import read_tree
from repack.catalogue import ROOT, SOURCES, DebianLocation, load
from repack.errors import BuildError
from repack.fetch import obtain
from repack.licence_change import check_licence
from repack.pinning import Pinned
from repack.suites import packages_in
from repack.transfer import UnreachableError
from repack.update import all_or_none, main

from tests.repack.loopback import Server, serving
from tests.support.needs import lacking

CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Something older.\n"
OUT_OF_REACH = ("no versions from Debian", "no releases of", "none of its")


class Copy:
    """A catalogue without a release that the committed one has, and a changelog, in a folder of their own."""

    def __init__(self, folder: Path, component: str, version: str) -> None:
        header = f"[[{component}.releases]]\n"
        text = SOURCES.read_text("utf-8")
        start = text.index(f'{header}version = "{version}"')
        end = text.index(header, start + 1)
        self.component, self.version = component, version
        self.sources, self.changelog = folder / "sources.toml", folder / "CHANGELOG.md"
        self.without = text[:start] + text[end:]
        self.sources.write_text(self.without, "utf-8")
        self.changelog.write_text(CHANGELOG)

    def update(self, *options: str) -> int:
        """Run the command on the copy."""
        files = ["--sources", str(self.sources), "--changelog", str(self.changelog)]
        return main(["--component", self.component, *files, *options])

    def assert_untouched(self) -> None:
        assert self.sources.read_text("utf-8") == self.without
        assert self.changelog.read_text() == CHANGELOG
        assert sorted(self.sources.parent.iterdir()) == [self.changelog, self.sources]


def rows(path: Path, component: str) -> list[dict[str, Any]]:
    releases: list[dict[str, Any]] = tomllib.loads(path.read_text("utf-8"))[component]["releases"]
    return releases


def without_upstream_archives(releases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for release in releases:
        for item in release["inputs"]:
            item["locations"] = [each for each in item["locations"] if each["kind"] != "url"]
    return releases


def reached(code: int, stderr: str) -> None:
    """Skip where the mirror or the index is out of reach; it must have been a success else."""
    if code and any(words in stderr for words in OUT_OF_REACH):
        lacking(stderr)
    assert code == 0, stderr


@pytest.fixture(scope="module")
def in_debian() -> list[DebianLocation]:
    """What Debian's newest suite has now."""
    try:
        return packages_in(
            pin_level_zero.SUITE,
            (pin_level_zero.HEADERS, pin_level_zero.LOADER),
            pin_level_zero.HEADERS_ROOT,
        )
    except UnreachableError as error:
        lacking(str(error))


@pytest.fixture
def level_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_debian: list[DebianLocation]) -> Copy:
    """A copy without 1.32.0; what Debian has is asked once for all tests, and the newest is 1.32.0."""
    kept = [each for each in in_debian if each.version == "1.32.0-1"]
    if not kept:
        lacking("Debian's newest suite no longer has Level Zero 1.32.0")
    monkeypatch.setattr(pin_level_zero, "packages_in", lambda *_: kept)
    (tmp_path / "copy").mkdir()
    return Copy(tmp_path / "copy", "level-zero", "1.32.0")


@pytest.fixture
def upstream_double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A stand-in for upstream's site on loopback: a release list, and the archives of `write_archive`."""
    folder = tmp_path / "upstream"
    folder.mkdir()
    with serving(Server(folder)) as server:
        (folder / "releases").write_text(json.dumps([{"tag_name": "v1.32.0"}, {"tag_name": "v99.0.0"}]))
        monkeypatch.setattr(pin_level_zero, "RELEASE_LIST", f"{server.url}/releases")
        archive = (folder / "v{version}.tar.gz").as_uri().replace("%7B", "{").replace("%7D", "}")
        monkeypatch.setattr(pin_level_zero, "ARCHIVE", archive)
        yield server


def write_archive(folder: Path, licence: str, changes: Mapping[str, bytes] | None = None) -> None:
    """Write the archive of 1.32.0 with upstream's real headers, save for `changes`."""
    release = load().release("level-zero", "1.32.0")
    headers = read_tree(obtain([release.headers("win_amd64")])[release.headers("win_amd64")])
    files = {f"include/{name}": content for name, content in {**headers, **(changes or {})}.items()}
    with tarfile.open(folder / "v1.32.0.tar.gz", "w:gz") as archive:
        for name, content in {"LICENSE": licence.encode(), **files}.items():
            member = tarfile.TarInfo(f"level-zero-1.32.0/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def mit() -> str:
    return load().release("level-zero", "1.32.0").licence_file.read_text("utf-8")


@pytest.mark.parametrize(
    ("component", "version", "facts"),
    [
        (
            "level-zero",
            "1.32.0",
            (
                "Level Zero 1.32.0 against 1.20.6: 143 functions added, 0 removed, 0 prototypes changed",
                "  + zerGetDefaultContext\n",
                "  ~ enumerator ZE_API_VERSION_CURRENT = 0x1000c -> ZE_API_VERSION_CURRENT = 0x10011\n",
            ),
        ),
        (
            "unified-runtime",
            "2026.2.0",
            (
                "Unified Runtime 2026.2.0 against 2026.1.2: 30 functions added, 12 removed",
                "  - urEnqueueKernelLaunch\n",
                "  - enumerator UR_FUNCTION_ENQUEUE_KERNEL_LAUNCH\n",
            ),
        ),
    ],
)
def test_from_the_release_before_to_this_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], component: str, version: str, facts: tuple[str, ...]
) -> None:
    copy = Copy(tmp_path, component, version)
    code = copy.update("--version", version)
    printed = capsys.readouterr()
    reached(code, printed.err)

    wanted, written = rows(SOURCES, component), rows(copy.sources, component)
    if "upstream's archive is out of reach" in printed.err:
        wanted, written = without_upstream_archives(wanted), without_upstream_archives(written)
    assert written == wanted
    carried = sorted(copy.sources.parent.glob("names/*"))
    assert len(carried) == (component == "level-zero")
    assert all(path.read_bytes() == (ROOT / "names" / path.name).read_bytes() for path in carried)
    for fact in facts:
        assert fact in printed.out
    title = facts[0].partition(" against")[0]
    assert f"### Added\n\n- {title}. API against " in copy.changelog.read_text()
    assert copy.changelog.read_text().endswith(".\n- Something older.\n")
    assert all(line in copy.sources.read_text("utf-8") for line in copy.without.splitlines())


def test_upstreams_archive_is_pinned_and_a_release_ahead_of_debian_named(
    level_zero: Copy, upstream_double: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    write_archive(upstream_double.folder, mit())
    assert level_zero.update() == 0
    assert "level-zero: upstream has 99.0.0, Debian sid does not yet" in capsys.readouterr().err
    location = rows(level_zero.sources, "level-zero")[0]["inputs"][0]["locations"][0]
    committed = rows(SOURCES, "level-zero")[0]["inputs"][0]["locations"][0]
    assert location["url"].endswith("v1.32.0.tar.gz")
    assert {**location, "url": "", "sha256": ""} == {**committed, "url": "", "sha256": ""}


def test_headers_that_debian_changed_are_refused(
    level_zero: Copy, upstream_double: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    write_archive(upstream_double.folder, mit(), {"ze_api.h": b"/* another */\n"})
    assert level_zero.update() == 1
    assert "Debian's headers of Level Zero 1.32.0 are not upstream's" in capsys.readouterr().err
    level_zero.assert_untouched()


def test_a_changed_licence_text_is_refused(
    level_zero: Copy, upstream_double: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    write_archive(upstream_double.folder, mit().replace("free of charge", "for a small fee"))
    assert level_zero.update() == 1
    assert "error: the licence text changed: upstream's LICENSE" in capsys.readouterr().err
    level_zero.assert_untouched()


def test_a_fault_at_the_last_step_leaves_both_files_as_they_were(
    level_zero: Copy, upstream_double: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    write_archive(upstream_double.folder, mit())
    level_zero.changelog.write_text("# Changelog\n")
    assert level_zero.update() == 1
    assert "the changelog has no place for a line" in capsys.readouterr().err
    assert level_zero.sources.read_text("utf-8") == level_zero.without


def test_check_only_tells(
    level_zero: Copy, upstream_double: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    assert level_zero.update("--check") == 3
    assert capsys.readouterr().out == "level-zero: 1.32.0 is new, the catalogue has 1.20.6\n"
    level_zero.assert_untouched()
    assert main(["--check", "--component", "level-zero"]) == 0
    assert capsys.readouterr().out == "level-zero: 1.32.0 is the newest\n"


def test_nothing_new_writes_nothing(
    level_zero: Copy, upstream_double: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    level_zero.sources.write_bytes(SOURCES.read_bytes())
    level_zero.changelog.unlink()
    assert level_zero.update() == 0
    assert level_zero.sources.read_bytes() == SOURCES.read_bytes()


@pytest.mark.parametrize(
    ("version", "problem"), [("1.20.6", "is in the catalogue already"), ("1.21.9", "cannot be had")]
)
def test_a_version_that_cannot_be_added_says_why(
    level_zero: Copy, upstream_double: Server, capsys: pytest.CaptureFixture[str], version: str, problem: str
) -> None:
    assert level_zero.update("--version", version) == 1
    assert f"error: level-zero {version} {problem}" in capsys.readouterr().err
    level_zero.assert_untouched()


def test_a_mirror_out_of_reach_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sources.list").write_text("deb http://127.0.0.1:9/debian sid main\n")
    (tmp_path / "apt.conf").write_text(
        f'Dir::Etc::sourcelist "{tmp_path}/sources.list";\nDir::Etc::sourceparts "-";\n'
    )
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))
    (tmp_path / "copy").mkdir()
    copy = Copy(tmp_path / "copy", "level-zero", "1.32.0")
    assert copy.update() == 1
    message = capsys.readouterr().err
    assert "error: no versions from Debian sid" in message
    assert "looked in: http://127.0.0.1:9/debian" in message
    assert "found: E: Failed to fetch" in message
    copy.assert_untouched()


def test_an_index_out_of_reach_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", tmp_path.as_uri())
    (tmp_path / "copy").mkdir()
    copy = Copy(tmp_path / "copy", "unified-runtime", "2026.2.0")
    assert copy.update() == 1
    message = capsys.readouterr().err
    assert "error: no releases of intel-sycl-rt" in message
    assert "looked in: http://127.0.0.1:9/simple" in message
    copy.assert_untouched()


def judged(pinned: Pinned, version: str = "1.32.0", component: str = "level-zero") -> None:
    before = load().release(component, version)
    check_licence(pinned, before, real_headers(version, component))


def real_headers(version: str, component: str) -> dict[str, str]:
    item = load().release(component, version).headers("win_amd64")
    return {name: content.decode() for name, content in read_tree(obtain([item])[item]).items()}


def test_the_licence_that_is_known_passes() -> None:
    headers = real_headers("1.32.0", "level-zero")
    judged(Pinned({}, headers, {"LICENSE": mit().encode()}))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "SPDX-License-Identifier: MIT",
            "SPDX-License-Identifier: GPL-2.0-only",
            "licence text changed: ze_api.h",
        ),
        ("SPDX-License-Identifier: MIT", "", "licence text changed: ze_api.h"),
        (" Intel Corporation", " Intel Corporation, not for sale", "licence text changed: ze_api.h"),
        ("2019-2025", "2019-2031", "does not cover the years"),
    ],
)
def test_a_header_under_another_licence_is_refused(before: str, after: str, message: str) -> None:
    headers = real_headers("1.32.0", "level-zero")
    changed = headers["ze_api.h"].replace(before, after, 1)
    assert changed != headers["ze_api.h"]
    with pytest.raises(BuildError, match=message):
        judged(Pinned({}, {**headers, "ze_api.h": changed}))


def test_another_eula_is_refused() -> None:
    headers = real_headers("2026.2.0", "unified-runtime")
    judged(Pinned({}, headers), "2026.2.0", "unified-runtime")
    with pytest.raises(BuildError, match="the licence text changed: EULA"):
        judged(Pinned({}, headers, eula_texts={"EULA": b"All yours."}), "2026.2.0", "unified-runtime")


def test_a_failing_rename_takes_the_first_one_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    replace = Path.replace

    def failing(path: Path, target: Path) -> Path:
        if target == two:
            raise OSError("no room")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OSError, match="no room"), all_or_none({one: "new", two: "new"}):
        pass
    assert [path.read_text() for path in (one, two)] == ["1", "2"]
    assert sorted(tmp_path.iterdir()) == [one, two]


def test_every_kind_of_difference(tmp_path: Path) -> None:
    texts = {
        "before": 'extern "C" { int kept(int); int gone(void); int other(int);\nenum e { KEPT, GONE, MOVED = 2 }; }',
        "after": 'extern "C" { int kept(int named); int fresh(void); int other(long);\nenum e { KEPT, FRESH, MOVED = 3 }; }',
    }
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "api.h").write_text(text)
    assert api_difference(tmp_path / "before", tmp_path / "after") == ApiDifference(
        functions_added=("fresh",),
        functions_removed=("gone",),
        prototypes_changed=(("int other(int)", "int other(long)"),),
        enumerators_added=("FRESH",),
        enumerators_removed=("GONE",),
        values_changed=(("MOVED = 0x2", "MOVED = 0x3"),),
    )
