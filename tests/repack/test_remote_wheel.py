"""Members of wheels on package indexes: loopback ones, which serve ranges or not, and folders."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pypi_simple import PYPI_SIMPLE_ENDPOINT
from repack.catalogue import WheelLocation
from repack.errors import BuildError
from repack.remote_wheel import (
    RangesRefusedError,
    find_wheel,
    pip_settings,
    read_head,
    read_members,
)
from repack.transfer import Session, UnreachableError

from tests.repack.loopback import Server, serving
from tests.repack.pinned import sha256

MEMBER = "thing-1.0.data/data/lib/thing.so"

OTHER = "thing-1.0.data/data/lib/other.so"
FILENAME = "thing-1.0-py3-none-win_amd64.whl"


def incompressible(size: int, seed: bytes) -> bytes:
    return hashlib.shake_128(seed).digest(size)


CONTENT = incompressible(300_000, b"thing")


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel of 1.3 MB in an index in `tmp_path`, of the simple API's plainest form."""
    project = tmp_path / "simple" / "thing"
    project.mkdir(parents=True)
    path = project / FILENAME
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("thing/big", incompressible(500_000, b"big"))
        archive.writestr(MEMBER, CONTENT)
        archive.writestr(OTHER, incompressible(500_000, b"other"))
    others = "".join(f'<a href="{name}">{name}</a>' for name in ("thing-0.9.tar.gz", "thing-1.0-bad.whl"))
    (project / "index.html").write_text(
        f'{others}<a href="{FILENAME.replace("win_amd64", "any")}">{FILENAME.replace("win_amd64", "any")}</a>'
        f'<a href="{FILENAME}#sha256={sha256(path)}">{FILENAME}</a>'
    )
    return path


@pytest.fixture
def index(wheel: Path) -> Iterator[Server]:
    with serving(Server(wheel.parents[2])) as server:
        yield server


@pytest.fixture
def session() -> Iterator[Session]:
    with Session() as opened:
        yield opened


def pinned_wheel(wheel: Path, **changes: str) -> WheelLocation:
    row = {
        "kind": "wheel",
        "distribution": "thing",
        "version": "1.0",
        "platform": "win_amd64",
        "sha256": sha256(wheel),
        "root": "thing-1.0.data/data/lib",
    }
    return WheelLocation.model_validate(row | changes)


def test_only_the_members_wanted_are_transferred(wheel: Path, index: Server, session: Session) -> None:
    url = find_wheel(session, pinned_wheel(wheel), [f"{index.url}/simple/"])
    assert read_members(session, url, [MEMBER]) == {MEMBER: CONTENT}
    assert len(CONTENT) < session.received < len(CONTENT) + 100_000
    assert session.received == index.bytes_sent


def test_only_the_first_bytes_of_a_member_are_transferred(
    wheel: Path, index: Server, session: Session
) -> None:
    url = find_wheel(session, pinned_wheel(wheel), [f"{index.url}/simple/"])
    assert read_head(session, url, MEMBER, 50_000) == CONTENT[:50_000]
    # The first read of the directory is 64 KB, the second stops where the range does.
    assert session.received == index.bytes_sent < 65_536 + 50_000 + 3_000


def test_a_server_without_suffix_ranges_is_asked_for_the_size(
    wheel: Path, index: Server, session: Session
) -> None:
    index.suffix_ranges = False
    url = find_wheel(session, pinned_wheel(wheel), [f"{index.url}/simple/"])
    assert read_members(session, url, [MEMBER]) == {MEMBER: CONTENT}


def test_a_server_without_ranges_is_noticed(wheel: Path, index: Server, session: Session) -> None:
    index.ranges = False
    url = find_wheel(session, pinned_wheel(wheel), [f"{index.url}/simple/"])
    with pytest.raises(RangesRefusedError):
        read_members(session, url, [MEMBER])
    with pytest.raises(RangesRefusedError):
        read_head(session, url, MEMBER, 10)


def test_an_index_may_be_a_folder(wheel: Path, session: Session) -> None:
    index = (wheel.parents[1]).as_uri() + "/"
    assert find_wheel(session, pinned_wheel(wheel), [index]) == wheel.as_uri()
    assert session.received == 0


def test_the_first_index_that_has_the_wheel_gives_it(wheel: Path, index: Server, session: Session) -> None:
    indexes = ["http://127.0.0.1:9/simple/", f"{index.url}/empty/", f"{index.url}/simple/"]
    assert find_wheel(session, pinned_wheel(wheel), indexes) == f"{index.url}/simple/thing/{FILENAME}"


def test_a_wheel_that_no_index_has_names_them_without_passwords(
    wheel: Path, index: Server, session: Session
) -> None:
    address = index.url.removeprefix("http://")
    with pytest.raises(UnreachableError) as error:
        find_wheel(session, pinned_wheel(wheel, version="2.0"), [f"http://me:secret@{address}/simple/"])
    message = str(error.value)
    assert "no wheel thing 2.0 (win_amd64)" in message
    assert f"looked in: http://{address}/simple/" in message
    assert "secret" not in message


def test_no_index_is_said_to_be_none(wheel: Path, session: Session) -> None:
    with pytest.raises(UnreachableError) as error:
        find_wheel(session, pinned_wheel(wheel), [])
    assert error.value.reason == "no package index configured"


def test_an_index_with_another_file_is_refused(wheel: Path, index: Server, session: Session) -> None:
    with pytest.raises(BuildError, match="the index has another file") as error:
        find_wheel(session, pinned_wheel(wheel, sha256="0" * 64), [f"{index.url}/simple/"])
    assert f"wanted: sha256 {'0' * 64}" in str(error.value)
    assert f"found: sha256 {sha256(wheel)}" in str(error.value)


def test_a_missing_member_is_named(wheel: Path, index: Server, session: Session) -> None:
    url = find_wheel(session, pinned_wheel(wheel), [f"{index.url}/simple/"])
    with pytest.raises(BuildError, match="lacks 1 of 1 files"):
        read_members(session, url, ["thing/none"])


def test_a_damaged_member_is_noticed(wheel: Path, index: Server, session: Session) -> None:
    content = bytearray(wheel.read_bytes())
    place = content.index(CONTENT[1000:1016])
    content[place] ^= 1
    wheel.write_bytes(content)
    location = pinned_wheel(wheel)
    (wheel.parent / "index.html").write_text(f'<a href="{FILENAME}">{FILENAME}</a>')
    url = find_wheel(session, location, [f"{index.url}/simple/"])
    with pytest.raises(BuildError, match="damaged wheel"):
        read_members(session, url, [MEMBER])


def test_a_server_that_hangs_up_is_unreachable(wheel: Path, index: Server, session: Session) -> None:
    url = find_wheel(session, pinned_wheel(wheel), [f"{index.url}/simple/"])
    index.stops_after = 100_000  # enough for the directory, not for the member
    with pytest.raises(UnreachableError):
        read_members(session, url, [MEMBER])


def test_pip_is_asked_for_its_indexes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nindex-url = https://one.invalid/simple\nextra-index-url =\n"
        "    https://two.invalid/simple\n    file:///three\ncert = /some/authority.pem\n"
    )
    for variable in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_CERT"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    settings = pip_settings()
    assert settings.indexes == ("https://one.invalid/simple", "https://two.invalid/simple", "file:///three")
    assert settings.certificates == "/some/authority.pem"

    monkeypatch.setenv("PIP_INDEX_URL", "https://four.invalid/simple")
    assert pip_settings().indexes[0] == "https://four.invalid/simple"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert pip_settings().indexes == ()


def test_pip_without_settings_means_the_default_index(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_CERT"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    assert pip_settings().indexes == (PYPI_SIMPLE_ENDPOINT,)
