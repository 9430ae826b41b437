"""`find`, `run`, and what all commands have in common."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, CommandLine

COMMANDS = ("find", "config", "env", "run")


def test_find_tells_what_where_and_how(xpu_dev: CommandLine) -> None:
    lines = xpu_dev("find").splitlines()

    assert lines[0] == f"level-zero development kit 1.32.0 {xpu_dev.root} (wheel level-zero-devel)"
    assert (
        f"unified-runtime development kit 2026.2.0 {xpu_dev.site}/unified_runtime_devel"
        " (wheel unified-runtime-devel)" in lines
    )
    assert "sycl development kit not found" in lines


def test_find_json(xpu_dev: CommandLine) -> None:
    data = json.loads(xpu_dev("find", "level-zero", "--json", "--steps"))

    assert data["level-zero"]["development kit"] == {
        "component": "level-zero",
        "version": "1.32.0",
        "root": f"{xpu_dev.root}",
        "include_dirs": [f"{xpu_dev.root}/include", f"{xpu_dev.root}/include/level_zero"],
        "library_dirs": [f"{xpu_dev.root}/lib"],
        "libraries": ["ze_loader"],
        "via": "wheel level-zero-devel",
    }
    assert data["level-zero"]["steps"]["development kit"][0] == {
        "via": "wheel level-zero-devel",
        "outcome": "hit",
        "place": f"{xpu_dev.root}",
        "reason": "",
    }


def test_find_steps_go_on_after_the_hit(xpu_dev: CommandLine) -> None:
    steps = xpu_dev("find", "level-zero", "--steps", ZE_PATH="/nowhere").splitlines()

    assert f"  wheel level-zero-devel: hit ({xpu_dev.root})" in steps
    assert "  ZE_PATH: miss (/nowhere, no include/level_zero/ze_api.h)" in steps
    assert "  LEVEL_ZERO_DIR: skipped (not set)" in steps


def test_find_fails_for_what_is_not_there(xpu_dev: CommandLine) -> None:
    result = xpu_dev.run("find", "sycl")

    assert result.returncode == 1
    assert b"do this: pip install intel-sycl-rt" in result.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_paths_outside_the_encoding_end_nothing(
    encoding: str, command_line_in: Callable[[str], CommandLine]
) -> None:
    xpu_dev = command_line_in("Кириллица 中文")
    for words in (["find"], ["find", "--json"], ["config", "--includes"], ["config", "--root"], ["env"]):
        assert xpu_dev(*words, PYTHONIOENCODING=encoding)
    assert xpu_dev("config", "--root", PYTHONIOENCODING=encoding) == f"{xpu_dev.root}\n"


def test_bytes_that_are_no_text_are_printed_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "caf\udce9"
    folder.mkdir()
    xpu_dev = CommandLine(folder)

    assert xpu_dev("config", "--root") == f"{xpu_dev.root}\n"
    assert json.loads(xpu_dev("config", "--root", "--json"))["root"] == str(xpu_dev.root)


def test_reader_may_stop_early(xpu_dev: CommandLine) -> None:
    process = subprocess.Popen(
        [*COMMAND, "find", "--steps"], env=xpu_dev.variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate()

    assert errors == b""


def test_no_home_and_next_to_no_environment(xpu_dev: CommandLine) -> None:
    result = subprocess.run(
        [*COMMAND, "config", "--root"],
        env={"PYTHONPATH": xpu_dev.variables["PYTHONPATH"]},
        capture_output=True,
        text=True,
        check=True,
    )

    assert result.stdout == f"{xpu_dev.root}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command: str, xpu_dev: CommandLine) -> None:
    assert f"xpu-dev {command} " in xpu_dev(command, "--help").partition("usage: ")[2].partition("\n")[2]
    assert command in xpu_dev("--help")


def test_run_gives_the_environment_and_the_exit_code(xpu_dev: CommandLine) -> None:
    result = xpu_dev.run("run", "--", "sh", "-c", 'printf %s "$ZE_PATH"; exit 7')

    assert (result.returncode, result.stdout.decode()) == (7, str(xpu_dev.root))


def test_run_passes_every_word_on(xpu_dev: CommandLine) -> None:
    words = ["--", "-x", "--shell", "--", "a b", ""]

    assert xpu_dev("run", "--", "printf", "[%s]", *words) == "".join(f"[{word}]" for word in words)
    assert xpu_dev("run", "printf", "[%s]", "--", "-x") == "[--][-x]"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_run_passes_signals_on(number: signal.Signals, xpu_dev: CommandLine) -> None:
    process = subprocess.Popen(
        [*COMMAND, "run", "--", "sh", "-c", "echo ready; exec sleep 60"],
        env=xpu_dev.variables,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    with process.stdout:
        process.stdout.readline()
        process.send_signal(number)
        assert process.wait(timeout=30) == -number


@pytest.mark.parametrize(
    ("words", "message"), [([], b"no command to run"), (["no-such-thing"], b"no command 'no-such-thing'")]
)
def test_run_without_a_command_is_an_error(words: list[str], message: bytes, xpu_dev: CommandLine) -> None:
    result = xpu_dev.run("run", "--", *words)

    assert (result.returncode, result.stdout) == (1, b"")
    assert message in result.stderr
