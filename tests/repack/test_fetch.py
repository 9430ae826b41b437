"""Getting inputs: locations in order, checked bytes, a cache that is whole or empty."""

from __future__ import annotations

import json
import os
import pty
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import trustme
from repack.cache import read_tree
from repack.catalogue import Input, Release
from repack.errors import BuildError
from repack.fetch import fetch, obtain, obtain_releases
from repack.transfer import UnreachableError

from tests.repack.loopback import Server, serving
from tests.repack.pinned import FILES, ROOT, at_url, pinned, sha256, write_deb, write_tar, write_zip
from tests.repack.test_debian import pinned_package, set_up_apt
from tests.support.needs import program

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
NOWHERE = {
    "kind": "url", "url": "https://127.0.0.1:9/thing.tar.gz", "format": "tar", "sha256": "0" * 64, "root": ROOT,
}  # fmt: skip
OTHER_FILES = {"a.h": b"another\n"}
CHILD = """
import pathlib, sys
from repack.catalogue import Input
from repack.errors import reported
from repack.fetch import fetch
def main(arguments):
    item = Input.model_validate_json(sys.argv[2])
    print(fetch([item], pathlib.Path(sys.argv[1])).obtained[item].folder)
    return 0
sys.exit(reported(main)([]))
"""


@pytest.fixture
def tar(tmp_path: Path) -> Path:
    (tmp_path / "site").mkdir()
    return write_tar(tmp_path / "site" / "thing.tar.gz")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "authority.pem"))
    return authority


@pytest.fixture
def site(tar: Path, trusted: trustme.CA) -> Iterator[Server]:
    """An https server of the folder that holds `tar`."""
    with serving(Server(tar.parent), trusted) as server:
        yield server


def get(item: Input, cache: Path) -> Path:
    outcome = fetch([item], cache)
    for error in outcome.unreachable.values():
        raise error
    return outcome.obtained[item].folder


def child(cache: Path, item: Input, *prefix: str) -> list[str]:
    return [*prefix, sys.executable, "-c", CHILD, str(cache), item.model_dump_json(by_alias=True)]


def run_child(
    cache: Path, item: Input, *prefix: str, prepare: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        child(cache, item, *prefix),
        capture_output=True,
        text=True,
        env=child_environment(),
        preexec_fn=prepare,
    )


def child_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SCRIPTS)}


def kept_in(cache: Path) -> list[str]:
    """Return what the cache holds, apart from locks."""
    names = (path.relative_to(cache).as_posix() for path in cache.rglob("*") if path.is_file())
    return sorted(name for name in names if not name.endswith(".lock"))


def test_a_file_url(tar: Path, cache: Path) -> None:
    item = pinned(at_url(tar.as_uri(), tar))
    outcome = fetch([item], cache)
    obtained = outcome.obtained[item]
    assert read_tree(obtained.folder) == FILES
    assert (obtained.via, obtained.container_checked) == (tar.as_uri(), True)
    assert outcome.received == 0


def test_an_https_url_and_what_it_costs(site: Server, tar: Path, cache: Path) -> None:
    item = pinned(at_url(f"{site.url}/thing.tar.gz", tar))
    outcome = fetch([item], cache)
    assert read_tree(outcome.obtained[item].folder) == FILES
    assert outcome.received == site.bytes_sent == tar.stat().st_size


def test_a_server_nobody_trusts_is_unreachable(
    site: Server, tar: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trustme.CA().cert_pem.write_to_path(tmp_path / "other.pem")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "other.pem"))
    with pytest.raises(UnreachableError, match="none of its 1 locations") as error:
        get(pinned(at_url(f"{site.url}/thing.tar.gz", tar)), cache)
    assert "certificate verify failed" in str(error.value)


def test_the_first_location_that_answers_is_used(site: Server, tar: Path, cache: Path) -> None:
    item = pinned(
        NOWHERE,
        at_url(f"{site.url}/none.tar.gz", tar),
        at_url(f"{site.url}/thing.tar.gz", tar),
        at_url(f"{site.url}/thing.tar.gz?unused", tar),
    )
    assert fetch([item], cache).obtained[item].via == f"{site.url}/thing.tar.gz"
    assert site.requests == ["GET /none.tar.gz", "GET /thing.tar.gz"]


def test_a_debian_location(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = tmp_path / "debian" / "pool" / "main" / "t" / "thing"
    pool.mkdir(parents=True)
    deb = write_deb(tmp_path).rename(pool / "thing_1.0_amd64.deb")
    item = pinned(pinned_package(deb).model_dump())
    with serving(Server(tmp_path)) as mirror:
        set_up_apt(tmp_path, monkeypatch, f"{mirror.url}/debian")
        outcome = fetch([item], cache)
    assert read_tree(outcome.obtained[item].folder) == FILES
    assert outcome.obtained[item].container_checked
    assert outcome.received == deb.stat().st_size


@pytest.mark.parametrize("ranges", [True, False])
def test_a_wheel_location(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranges: bool) -> None:
    item, wheel = an_indexed_wheel(tmp_path)
    with serving(Server(tmp_path, ranges=ranges)) as index:
        set_up_pip(monkeypatch, f"{index.url}/simple")
        outcome = fetch([item], cache)
    obtained = outcome.obtained[item]
    assert read_tree(obtained.folder) == FILES
    assert obtained.container_checked is not ranges  # by parts only the content can be checked
    assert obtained.container_sha256 == sha256(wheel)
    assert obtained.via == "wheel thing 1.0 (any)"
    assert "127.0.0.1" not in (obtained.folder.with_suffix(".json")).read_text()


def an_indexed_wheel(folder: Path) -> tuple[Input, Path]:
    project = folder / "simple" / "thing"
    project.mkdir(parents=True)
    wheel = write_zip(project / "thing-1.0-py3-none-any.whl")
    (project / "index.html").write_text(f'<a href="{wheel.name}">{wheel.name}</a>')
    row = {"kind": "wheel", "distribution": "thing", "version": "1.0", "platform": "any", "root": ROOT}
    return pinned(row | {"sha256": sha256(wheel)}), wheel


def set_up_pip(monkeypatch: pytest.MonkeyPatch, index: str) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", index)
    for variable in ("PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(("ranges", "wrong"), [(True, "wrong content"), (False, "wrong file")])
def test_another_wheel_of_that_name_is_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranges: bool, wrong: str
) -> None:
    item, wheel = an_indexed_wheel(tmp_path)
    write_zip(wheel, dict.fromkeys(FILES, b"evil"))
    with serving(Server(tmp_path, ranges=ranges)) as index:
        set_up_pip(monkeypatch, f"{index.url}/simple")
        with pytest.raises(BuildError, match=wrong) as error:
            fetch([item], cache)
    assert "wheel thing 1.0 (any)" in str(error.value)
    assert kept_in(cache) == []


def test_a_wrong_file_says_expected_got_and_where_from_and_is_not_kept(
    site: Server, tar: Path, cache: Path
) -> None:
    item = pinned(at_url(f"{site.url}/thing.tar.gz", tar), at_url(f"{site.url}/thing.tar.gz?another", tar))
    expected = sha256(tar)
    write_tar(tar, {**FILES, "a.h": b"int evil;\n"})
    with pytest.raises(BuildError) as error:
        fetch([item], cache)
    message = str(error.value)
    assert not isinstance(error.value, UnreachableError)
    assert f"wrong file: {site.url}/thing.tar.gz" in message
    assert f"wanted: sha256 {expected}" in message
    assert f"found: sha256 {sha256(tar)}" in message
    assert kept_in(cache) == []
    assert site.requests == ["GET /thing.tar.gz"]  # no second try elsewhere: somebody should look


def test_wrong_content_in_the_right_container_is_not_kept(tar: Path, cache: Path) -> None:
    item = pinned(at_url(tar.as_uri(), tar), files={**FILES, "a.h": b"int other;\n"})
    with pytest.raises(BuildError, match=r"wrong content: thing 1\.0") as error:
        fetch([item], cache)
    assert f"wanted: content {item.content}" in str(error.value)
    assert f"looked in: {tar.as_uri()}" in str(error.value)
    assert not any(name.startswith("sources/contents") for name in kept_in(cache))


@pytest.mark.parametrize("kind", ["tar", "deb", "zip"])
def test_a_pinned_archive_that_is_cut_off_names_its_location(cache: Path, tmp_path: Path, kind: str) -> None:
    writers = {
        "tar": lambda: write_tar(tmp_path / "thing.tar.gz"),
        "deb": lambda: write_deb(tmp_path),
        "zip": lambda: write_zip(tmp_path / "thing.zip"),
    }
    archive = writers[kind]()
    archive.write_bytes(archive.read_bytes()[:-40])
    with pytest.raises(BuildError, match=f"damaged or cut off: {archive.as_uri()}"):
        fetch([pinned(at_url(archive.as_uri(), archive, kind))], cache)


def test_a_transfer_that_stops_early_is_unreachable_and_the_next_is_tried(
    site: Server, tar: Path, cache: Path
) -> None:
    site.stops_after = tar.stat().st_size // 2
    item = pinned(at_url(f"{site.url}/thing.tar.gz", tar), at_url(tar.as_uri(), tar))
    assert fetch([item], cache).obtained[item].via == tar.as_uri()
    assert not any(name.endswith(".partial") for name in kept_in(cache))


def test_an_unreachable_input_lists_every_location_tried(
    site: Server, tar: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    set_up_apt(tmp_path, monkeypatch)
    item = pinned(
        NOWHERE,
        at_url(f"{site.url}/none.tar.gz", tar),
        at_url((tmp_path / "none.tar.gz").as_uri(), tar),
        pinned_package().model_dump(),
    )
    with pytest.raises(UnreachableError) as error:
        get(item, cache)
    lines = str(error.value).splitlines()
    assert lines[0] == "error: thing 1.0: none of its 4 locations can be reached"
    assert [line.split(": ")[1] for line in lines[1:5]] == [str(location) for location in item.locations]
    assert "Connection refused" in lines[1]
    assert "404" in lines[2]
    assert "No such file" in lines[3]
    assert "no Debian mirror configured" in lines[4]


def test_one_input_out_of_reach_does_not_stop_the_others(tar: Path, cache: Path) -> None:
    good, bad = pinned(at_url(tar.as_uri(), tar)), pinned(NOWHERE, files=OTHER_FILES)
    outcome = fetch([bad, good], cache)
    assert list(outcome.obtained) == [good]
    assert list(outcome.unreachable) == [bad]


def test_obtain_gives_folders_or_says_what_is_out_of_reach(
    tar: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XPU_DEV_CACHE_DIR", str(cache))
    item = pinned(at_url(tar.as_uri(), tar))
    folders = obtain([item, item])
    assert list(folders) == [item]
    assert read_tree(folders[item]) == FILES
    with pytest.raises(UnreachableError):
        obtain([item, pinned(NOWHERE, files=OTHER_FILES)])


def a_release(version: str, files: dict[str, bytes], *locations: dict[str, str]) -> Release:
    headers = pinned(*locations, files=files).model_dump(by_alias=True)
    return Release.model_validate(
        {
            "component": "thing",
            "version": version,
            "licence": "MIT",
            "licence-text": "LICENSES/thing.txt",
            "loader": {"win_amd64": "thing.dll", "linux_x86_64": "libthing.so"},
            "inputs": [headers | {"name": f"headers {version}"}, headers | {"role": "loader"}],
        }
    )


def test_a_release_out_of_reach_is_skipped_loudly(
    tar: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XPU_DEV_CACHE_DIR", str(cache))
    near, far = a_release("1.0", FILES, at_url(tar.as_uri(), tar)), a_release("2.0", OTHER_FILES, NOWHERE)
    at_hand, _ = obtain_releases([far, near], ("win_amd64",))
    assert list(at_hand) == [near]
    assert read_tree(at_hand[near][near.headers("win_amd64")]) == FILES
    error = capsys.readouterr().err
    assert error.startswith("SKIPPED thing 2.0: headers 2.0 1.0: none of its 1 locations can be reached\n")
    assert f"looked in: {NOWHERE['url']}: " in error

    with pytest.raises(BuildError, match="no release can be had") as failure:
        obtain_releases([far], ("win_amd64",))
    assert "wanted: thing 2.0" in str(failure.value)


def test_a_build_says_what_it_received(
    site: Server,
    tar: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XPU_DEV_CACHE_DIR", str(cache))
    big = {"a.h": os.urandom(300_000)}
    release = a_release("1.0", big, at_url(f"{site.url}/thing.tar.gz", write_tar(tar, big)))
    for message in ("received 0.3 MB of sources\n", ""):
        obtain_releases([release], ("win_amd64",))
        assert capsys.readouterr().err == message


def test_a_warm_cache_needs_no_network(site: Server, tar: Path, cache: Path) -> None:
    item = pinned(at_url(f"{site.url}/thing.tar.gz", tar))
    cold = fetch([item], cache)
    site.requests.clear()
    warm = fetch([item], cache)
    assert warm.obtained == cold.obtained
    assert (site.requests, warm.received) == ([], 0)


def test_what_was_damaged_in_the_cache_is_fetched_again(site: Server, tar: Path, cache: Path) -> None:
    item = pinned(at_url(f"{site.url}/thing.tar.gz", tar))
    folder = get(item, cache)
    for path in cache.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-1])
    (folder / "more.h").touch()
    assert read_tree(get(item, cache)) == FILES
    assert site.requests == ["GET /thing.tar.gz"] * 2


@pytest.mark.parametrize("damaged", ["contents/*/a.h", "contents/*.json", "containers/*"])
def test_damage_to_any_part_of_the_cache_is_made_good(
    site: Server, tar: Path, cache: Path, damaged: str
) -> None:
    item = pinned(at_url(f"{site.url}/thing.tar.gz", tar))
    get(item, cache)
    for path in (cache / "sources").glob(damaged):
        path.write_bytes(path.read_bytes()[:-1])
    assert read_tree(get(item, cache)) == FILES
    assert site.requests == ["GET /thing.tar.gz"]  # the other parts were enough


def test_several_inputs_of_one_container_transfer_it_once(site: Server, tar: Path, cache: Path) -> None:
    location = at_url(f"{site.url}/thing.tar.gz", tar)
    items = [pinned(location, files={name: content}, name=name) for name, content in FILES.items()]
    assert len(fetch(items, cache).obtained) == 2
    assert site.requests == ["GET /thing.tar.gz"]


def test_several_builds_at_once_share_one_transfer(site: Server, tar: Path, cache: Path) -> None:
    item = pinned(at_url(f"{site.url}/thing.tar.gz", tar))
    assert read_tree(build_four_times_at_once(cache, item)) == FILES
    assert site.requests == ["GET /thing.tar.gz"]


def test_several_builds_at_once_read_a_wheel_once(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item, _ = an_indexed_wheel(tmp_path)
    with serving(Server(tmp_path)) as index:
        set_up_pip(monkeypatch, f"{index.url}/simple")
        assert read_tree(build_four_times_at_once(cache, item)) == FILES
    assert index.requests.count("GET /simple/thing/") == 1


def build_four_times_at_once(cache: Path, item: Input) -> Path:
    builds = [
        subprocess.Popen(child(cache, item), stdout=subprocess.PIPE, text=True, env=child_environment())
        for _ in range(4)
    ]
    folders = {build.communicate()[0].strip() for build in builds}
    assert [build.returncode for build in builds] == [0] * 4
    assert len(folders) == 1
    return Path(folders.pop())


def test_a_build_killed_in_a_transfer_leaves_nothing_that_counts(
    site: Server, tar: Path, cache: Path
) -> None:
    big = {"a.h": os.urandom(1 << 20)}
    write_tar(tar, big)
    item = pinned(at_url(f"{site.url}/thing.tar.gz", tar), files=big)
    site.stops_after, site.hangs = 1 << 19, True
    build = subprocess.Popen(child(cache, item), stderr=subprocess.PIPE, env=child_environment())
    try:
        wait_until(lambda: any(path.stat().st_size for path in cache.rglob("*.partial")))
    finally:
        build.kill()
        build.communicate()
    assert build.returncode == -signal.SIGKILL
    assert all(name.endswith(".partial") for name in kept_in(cache))

    site.stops_after, site.hangs = None, False
    assert read_tree(get(item, cache)) == big
    assert not any(name.endswith(".partial") for name in kept_in(cache))


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


@pytest.fixture
def unprivileged() -> Sequence[str]:
    """What makes a child obey file permissions even when it is run by root."""
    if os.geteuid():
        return ()
    capabilities = "-dac_override,-dac_read_search,-fowner"
    return (program("setpriv"), f"--bounding-set={capabilities}", f"--inh-caps={capabilities}")


def test_a_read_only_cache_folder_says_what_to_do(
    tar: Path, cache: Path, unprivileged: Sequence[str]
) -> None:
    cache.mkdir(mode=0o555)
    result = run_child(cache, pinned(at_url(tar.as_uri(), tar)), *unprivileged)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("error: the cache folder cannot be written\n")
    assert f"looked in: {cache}" in result.stderr
    assert "Permission denied" in result.stderr
    assert "XPU_DEV_CACHE_DIR" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_warm_cache_may_be_read_only(
    site: Server, tar: Path, cache: Path, unprivileged: Sequence[str]
) -> None:
    item = pinned(at_url(f"{site.url}/thing.tar.gz", tar))
    folder = get(item, cache)
    folders = [path for path in (cache, *cache.rglob("*")) if path.is_dir()]
    for path in folders:
        path.chmod(0o555)
    try:
        result = run_child(cache, item, *unprivileged)
    finally:
        for path in folders:
            path.chmod(0o755)
    assert result.stdout.strip() == str(folder)


def test_a_disk_that_takes_no_more_says_so_and_keeps_nothing(site: Server, tar: Path, cache: Path) -> None:
    big = {"a.h": os.urandom(1 << 16)}
    write_tar(tar, big)
    item = pinned(at_url(f"{site.url}/thing.tar.gz", tar), files=big)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 15, 1 << 15))

    result = run_child(cache, item, prepare=limit)
    assert result.returncode == 1
    assert "error: the cache folder cannot be written" in result.stderr
    assert "File too large" in result.stderr
    assert kept_in(cache) == []


def test_a_cache_that_is_a_file_says_so(tar: Path, cache: Path) -> None:
    cache.touch()
    with pytest.raises(BuildError, match="cannot be written"):
        fetch([pinned(at_url(tar.as_uri(), tar))], cache)


def test_progress_is_for_terminals(tar: Path, cache: Path) -> None:
    item = pinned(at_url(tar.as_uri(), tar))
    quiet = run_child(cache / "quiet", item)
    assert (quiet.returncode, quiet.stderr) == (0, "")

    master, terminal = pty.openpty()
    build = subprocess.Popen(
        child(cache / "shown", item), stdout=subprocess.PIPE, stderr=terminal,
        env={**child_environment(), "TERM": "xterm"},
    )  # fmt: skip
    os.close(terminal)
    shown = b""
    try:
        while chunk := os.read(master, 4096):
            shown += chunk
    except OSError:
        pass  # how Linux ends a terminal nobody holds any more
    os.close(master)
    output, _ = build.communicate()
    assert build.returncode == 0
    assert b"thing 1.0" in shown
    assert output.decode().strip().startswith(str(cache))


def test_the_record_says_where_the_bytes_came_from(tar: Path, cache: Path) -> None:
    item = pinned(at_url(tar.as_uri(), tar))
    record = get(item, cache).with_suffix(".json")
    assert json.loads(record.read_text()) == {
        "via": tar.as_uri(),
        "container_sha256": sha256(tar),
        "container_checked": True,
    }
