"""Options of `xpu-dev smoke` that cannot be, and machines that are short of something: told in words, with what to do."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.smoke.installs import Answer, Install

NEWEST = "2026.2.0"


def smoke(folder: Path, *words: str, **variables: str) -> Answer:
    """Run the kernel add; no traceback may come of it."""
    return Install(NEWEST).smoke(folder / "cache", "--kernel", "add", *words, packages=None, **variables)


def failed(answer: Answer) -> tuple[str, str]:
    """Return the only failed stage and what it says."""
    (stage,) = (stage for stage in answer.run["stages"] if stage["status"] == "failed")
    return stage["name"], stage["detail"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--device", "foo"], "gpu, cpu, or a number"),
        (["--device", "²"], "gpu, cpu, or a number"),
        (["--device=-1"], "gpu, cpu, or a number"),
        (["--kernel", "mul"], "invalid choice: 'mul'"),
        (["extra"], "unrecognized arguments: extra"),
        *((["--timeout", text], "a number of seconds above 0") for text in ("nan", "inf", "0", "-5", "1e30", "x")),
        (["--launcher", "'"], "--launcher is no command line"),
        (["--host", "ctypes", "--stub", "file"], "--stub does not go with --host ctypes"),
        (["--host", "ctypes", "--compiler", "gcc"], "--compiler does not go with --host ctypes"),
        (["--triton", "--sub-group", "32"], "--sub-group does not go with --triton"),
        (["--triton", "--no-cache"], "--no-cache does not go with --triton"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_exit_code_1(tmp_path: Path, words: list[str], said: str) -> None:
    answer = smoke(tmp_path, *words)
    assert (answer.code, answer.stdout) == (1, "")
    assert said in answer.stderr


def test_a_number_that_is_not_in_the_list(tmp_path: Path) -> None:
    answer = smoke(tmp_path, "--device", "7", "--backend", "unified-runtime", "--json")
    stage, detail = failed(answer)
    assert (answer.code, stage) == (1, "devices")
    assert "do this: take a number of this list" in detail


def test_too_little_time_is_not_a_broken_compiler(tmp_path: Path) -> None:
    stage, detail = failed(smoke(tmp_path, "--timeout", "0.001", "--host", "compiled", "--json"))
    assert stage == "compile"
    assert "do this: give it more time with --timeout" in detail


@pytest.mark.parametrize("host", ["compiled", "ctypes"])
def test_no_room_for_temporary_files(tmp_path: Path, host: str) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True
    )
    if mount.returncode:
        pytest.skip("cannot mount a small file system here")
    try:
        _, detail = failed(smoke(tmp_path, "--host", host, "--json", TMPDIR=str(small)))
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert "do this: make room in the folder for temporary files" in detail


def test_a_variable_that_hides_the_device_is_named(tmp_path: Path) -> None:
    answer = smoke(
        tmp_path, "--json", ONEAPI_DEVICE_SELECTOR="level_zero:*", OCL_ICD_FILENAMES="/nonexistent"
    )
    assert answer.code == 2
    assert "unset what hides devices: OCL_ICD_FILENAMES=/nonexistent" in failed(answer)[1]


@pytest.mark.parametrize("launcher", ["true", "no-such-command"])
def test_a_launcher_that_starts_nothing(tmp_path: Path, launcher: str) -> None:
    stage, detail = failed(smoke(tmp_path, "--launcher", launcher, "--json"))
    assert stage == "load"
    assert "do this: name a program that starts the command behind it" in detail


def test_nothing_is_left_of_a_run_that_is_terminated(tmp_path: Path) -> None:
    """As by `timeout` or a supervisor, while a driver hangs."""
    mark = f"sleep 300.{os.getpid()}"
    environment = {**os.environ, "PYTHONPATH": str(Install(NEWEST).packages), "TMPDIR": str(tmp_path)}
    command = [str(Install(NEWEST).python), "-m", "intel_xpu_runtime_dev", "smoke", "--device", "cpu"]
    command += ["--kernel", "add", "--host", "ctypes", "--launcher", f"sh -c '{mark}' --"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout or ():
            if line.startswith("add,"):
                break
        deadline = time.monotonic() + 20
        while not [command for command in commands() if command.startswith(mark)]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        running.terminate()
        assert running.wait(30) == 143
    assert not list(tmp_path.glob("xpu-dev-smoke-*"))
    assert not [command for command in commands() if command.startswith(mark)]


def commands() -> list[str]:
    """Return the command lines of all processes."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            found.append(file.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return found


def test_a_stub_that_is_not_there(tmp_path: Path) -> None:
    stage, detail = failed(smoke(tmp_path, "--stub", str(tmp_path / "host"), "--json"))
    assert stage == "load"
    assert "--stub names no file" in detail


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")
def test_a_folder_of_path_that_may_not_be_read(tmp_path: Path) -> None:
    """As `su` without `-` leaves it: the next folder's compiler serves."""
    closed = tmp_path / "closed"
    (closed / "bin").mkdir(parents=True)
    closed.chmod(0)
    # Imported by root, whose folders others may not enter; asked as somebody else.
    code = (
        "import os; from intel_xpu_runtime_dev.smoke import compilers; os.setgid(65534); os.setuid(65534); "
        "print(compilers.which('cc'), list(compilers.named('cc'))[0].command)"
    )
    environment = {
        "PATH": f"{closed / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(Install(NEWEST).packages),
    }  # fmt: skip
    command = [str(Install(NEWEST).python), "-c", code]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert "/cc ('/" in result.stdout, result.stderr


def test_an_environment_in_a_folder_with_a_space_is_warned_of(tmp_path: Path) -> None:
    from intel_xpu_runtime_dev.smoke.cpu_device import LIBRARY, SPACE, offer

    for name, warned in (("a folder", True), ("folder", False)):
        (tmp_path / name).mkdir()
        (tmp_path / name / LIBRARY).touch()
        assert (SPACE in offer(str(tmp_path / name / "libur_loader.so.0")).remark) == warned


def test_a_closed_output_is_no_traceback() -> None:
    environment = {"PYTHONPATH": str(Install(NEWEST).packages), "PATH": os.environ["PATH"]}
    command = f"{Install(NEWEST).python} -m intel_xpu_runtime_dev find >&-"
    result = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True)
    assert "Traceback" not in result.stderr


def test_a_path_that_the_encoding_lacks(tmp_path: Path) -> None:
    folder = tmp_path / "ü"
    folder.mkdir()
    answer = smoke(folder, "--keep", TMPDIR=str(folder), LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert answer.code == 0, answer.stderr
