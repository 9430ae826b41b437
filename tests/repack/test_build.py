"""`dev.py build`: what it makes, what it refuses, and that a failed run changes nothing."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
import rich.console
from repack import build, compile_gate, publish
from repack.build import build_wheels
from repack.catalogue import Release, UrlLocation, load
from repack.errors import BuildError

from tests.support.needs import lacking, program
from tests.support.wheels import ROOT, built

ONE = ("--only", "level-zero-devel", "--version", "1.32.0", "--platform", "win_amd64")
ONE_NAME = "level_zero_devel-1.32.0-py3-none-win_amd64.whl"


def command(*arguments: str | Path) -> list[str]:
    """Return the command of a build."""
    return [sys.executable, "-m", "repack.build", *map(str, arguments)]


def environment(**variables: str | Path) -> dict[str, str]:
    """Return the environment of a build."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT / "scripts"),
        **{name: str(value) for name, value in variables.items()},
    }


def run(words: list[str], variables: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command; return what it says."""
    return subprocess.run(words, env=variables or environment(), capture_output=True, text=True)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return an output folder with something in it."""
    folder = tmp_path / "dist"
    folder.mkdir()
    (folder / ONE_NAME).write_bytes(b"an older wheel")
    (folder / "notes.txt").write_text("mine\n")
    return folder


def listing(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, hidden ones too."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_everything_is_built_without_options() -> None:
    names = {path.name.rsplit("-", 3)[0] for path in built().glob("*.whl")}
    releases = {
        f"{release.component.replace('-', '_')}_devel-{release.version}" for release in load().releases
    }

    assert releases <= names
    assert any(name.startswith("intel_xpu_runtime_dev-") for name in names)
    assert len(list(built().glob("*_devel-*.whl"))) == 2 * len(releases)


def test_sums_are_those_of_the_files() -> None:
    lines = (built() / publish.SUMS).read_text().splitlines()

    assert lines == [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"
        for path in sorted(built().glob("*.whl"))
    ]


def test_one_line_a_wheel_and_nothing_else_without_a_terminal(out: Path) -> None:
    result = run(command(*ONE, "--out", out))

    assert result.returncode == 0, result.stderr
    assert result.stderr == "" or "not on this machine" in result.stderr
    wheel = (out / ONE_NAME).read_bytes()
    assert (
        result.stdout == f"{len(wheel):>9,} bytes  sha256 {hashlib.sha256(wheel).hexdigest()}  {ONE_NAME}\n"
    )
    assert listing(out).keys() == {ONE_NAME, "notes.txt", "SHA256SUMS"}


def test_a_bar_on_a_terminal(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    console = rich.console.Console
    monkeypatch.setattr(
        build, "Console", lambda **options: console(**options, force_terminal=True, width=100)
    )

    assert build.main([*ONE, "--out", str(out)]) == 0

    said = capsys.readouterr()
    assert "building wheels" in said.err
    assert said.out.count("\n") == 1


def test_needs_no_network_once_the_cache_is_warm(out: Path) -> None:
    run(command(*ONE, "--out", out))
    offline = [program("unshare"), "--map-root-user", "--net"]
    if run([*offline, "true"]).returncode:
        lacking("this machine does not let a process give up its network")

    result = run(
        [*offline, *command(*ONE, "--only", "unified-runtime-devel", "--version", "2026.2.0", "--out", out)]
    )

    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "problem", "known"),
    [
        (("--only", "level-zero"), "no distribution 'level-zero'", "level-zero-devel, unified-runtime-devel"),
        (("--platform", "win_arm64"), "no platform 'win_arm64'", "win_amd64, linux_x86_64"),
        (("--version", "1.33.0"), "no version '1.33.0'", "1.32.0, 1.20.6, 2026.2.0, 2026.1.2, 2025.3.3"),
        (
            ("--only", "level-zero-devel", "--version", "2026.2.0"),
            "no version '2026.2.0'",
            "one of: 1.32.0, 1.20.6\n",
        ),
    ],
)
def test_unknown_names_list_the_known_ones(
    arguments: tuple[str, ...], problem: str, known: str, tmp_path: Path
) -> None:
    result = run(command(*arguments, "--out", tmp_path / "dist"))

    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"error: {problem}\n")
    assert known in result.stderr
    assert not (tmp_path / "dist").exists()


def out_of_reach() -> Release:
    """Return a release that cannot be had."""
    release, none = load().release("level-zero", "1.20.6"), "0" * 64
    nowhere = UrlLocation(kind="url", url="file:///nowhere/x", format="tar", sha256=none, root="x")
    lost = {"content": none, "locations": (nowhere,)}
    return release.model_copy(
        update={"inputs": tuple(item.model_copy(update=lost) for item in release.inputs)}
    )


def test_a_version_out_of_reach_is_skipped_loudly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    releases = [load().release("level-zero", "1.32.0"), out_of_reach()]

    wheels = build_wheels(releases, ("win_amd64",), tmp_path, own=())

    assert [wheel.name for wheel in wheels] == [ONE_NAME]
    told = capsys.readouterr().err
    assert told.startswith("SKIPPED level-zero 1.20.6: ")
    assert "file:///nowhere/x" in told


def test_nothing_left_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="no release can be had"):
        build_wheels([out_of_reach()], ("win_amd64",), tmp_path, own=())


def test_a_new_fault_of_a_header_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compilers = compile_gate.find_compilers()
    zig = tuple(compiler for compiler in compilers.here if compiler.name == "zig")
    monkeypatch.setattr(compile_gate, "find_compilers", lambda: compilers._replace(here=zig))
    monkeypatch.setattr(compile_gate, "FAULTS", ())

    with pytest.raises(BuildError, match="do not compile") as error:
        build_wheels([load().release("level-zero", "1.32.0")], ("win_amd64",), tmp_path, own=())

    assert "zel_tracing_ddi.h as c: new fault" in str(error.value)
    assert not list((tmp_path / "wheels").iterdir())


def mounted(out: Path, options: str, words: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command with a file system of its own on `out`, then list it; nothing is left mounted."""
    unshare = [program("unshare"), "--map-root-user", "--mount"]
    mount = f"mount -t tmpfs -o size=200k none '{out}' && echo mine >'{out}/notes.txt'"
    if run([*unshare, "sh", "-c", mount]).returncode:
        lacking("this machine does not let a process mount a file system of its own")
    remount = f"mount -o remount,{options} '{out}'"
    script = f'{mount} && {remount} && {{ "$@"; rc=$?; ls -A "{out}"; cat "{out}/notes.txt"; exit $rc; }}'
    return run([*unshare, "sh", "-c", script, "sh", *words])


@pytest.mark.parametrize(
    ("options", "reason"), [("size=200k", "No space left"), ("ro", "Read-only file system")]
)
def test_a_full_or_read_only_output_folder(options: str, reason: str, tmp_path: Path) -> None:
    result = mounted(tmp_path, options, command(*ONE, "--out", tmp_path))

    assert result.returncode == 1
    assert result.stdout == "notes.txt\nmine\n"
    assert result.stderr.startswith("error: the output folder cannot be written; it is as it was\n")
    assert f"looked in: {tmp_path}\n" in result.stderr
    assert reason in result.stderr
    assert "Traceback" not in result.stderr


def test_an_output_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "dist").write_text("mine\n")

    result = run(command(*ONE, "--out", tmp_path / "dist" / "deeper"))

    assert result.returncode == 1
    assert "the output folder cannot be written" in result.stderr
    assert listing(tmp_path) == {"dist": b"mine\n"}


def test_no_room_for_the_work(tmp_path: Path, out: Path) -> None:
    """A limit on the size of files stands for a full disk: the largest header is over it."""
    before = listing(out)
    limited = ["sh", "-c", 'ulimit -f 512; exec "$@"', "sh", *command(*ONE, "--out", out)]
    (tmp_path / "work").mkdir()

    result = run(limited, environment(TMPDIR=tmp_path / "work"))

    assert result.returncode == 1
    assert result.stderr.startswith("error: ")
    assert "File too large" in result.stderr
    assert "Traceback" not in result.stderr
    assert listing(out) == before
    assert not list((tmp_path / "work").iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("reached", ["xpu-build-*", "xpu-build-*/*/manifest.json", "xpu-build-*/wheels/*"])
def test_stopped_half_way(number: signal.Signals, reached: str, tmp_path: Path, out: Path) -> None:
    work, before = tmp_path / "work", listing(out)
    work.mkdir()
    process = subprocess.Popen(
        command(*ONE, "--out", out), env=environment(TMPDIR=work), stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not list(work.glob(reached)) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)

    process.send_signal(number)
    _, said = process.communicate(timeout=60)

    assert listing(out) == before
    if number is signal.SIGKILL:
        assert process.returncode == -number
    else:
        assert process.returncode == {signal.SIGTERM: 1, signal.SIGINT: 130}[number]
        assert said.startswith("error: ")
        assert said.count("\n") == 1
        assert not list(work.iterdir())


def test_a_file_that_cannot_be_replaced_puts_the_others_back(out: Path, tmp_path: Path) -> None:
    new = [tmp_path / name for name in (ONE_NAME, "z.whl")]
    for path in new:
        path.write_bytes(b"new")
    (out / "z.whl").mkdir()
    (out / "z.whl" / "in the way").write_text("x")

    with pytest.raises(BuildError, match="cannot be written"):
        publish.publish(new, out)

    assert (out / ONE_NAME).read_bytes() == b"an older wheel"
    assert {path.name for path in out.iterdir()} == {ONE_NAME, "notes.txt", "z.whl"}


def test_what_is_the_same_is_left_alone(out: Path, tmp_path: Path) -> None:
    (tmp_path / ONE_NAME).write_bytes(b"an older wheel")
    before = (out / ONE_NAME).stat()

    publish.publish([tmp_path / ONE_NAME], out)

    assert (out / ONE_NAME).stat() == before
