"""Run Windows programs in a Wine prefix, with pipes that close and time limits that hold."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PureWindowsPath

# Every process of a run inherits this variable of the Unix side, also those that Windows programs start.
RUN_MARK = "XPU_DEV_WINE_RUN"
# Explorer, which the first program that asks for the desktop starts, keeps that program's pipes open.
KEEPER = "import ctypes; ctypes.windll.user32.GetDesktopWindow(); print('ready', flush=True); input()"

Argument = str | Path


@dataclasses.dataclass(frozen=True)
class Wine:
    """A Wine prefix; programs run in it as on a Windows 10 machine of its own."""

    prefix: Path

    @property
    def drive_c(self) -> Path:
        """Return the host's folder that Windows programs see as C:."""
        return self.prefix / "drive_c"

    def windows_path(self, path: Path) -> str:
        """Return the name that Windows programs know a path of the host by: on C:, else on Z:, the host's root."""
        path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow the links inside the prefix
        if path.is_relative_to(self.drive_c):
            return str(PureWindowsPath("C:/", path.relative_to(self.drive_c)))
        return str(PureWindowsPath("Z:/", path.relative_to("/")))

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the whole environment of a run: nothing of the host's but where its programs are, then `extra`.

        `WINEPATH` in `extra` holds folders to put in front of the Windows PATH.
        """
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.prefix),
            "LC_ALL": "C.UTF-8",
            "DISPLAY": "",
            "WINEPREFIX": str(self.prefix),
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            # OpenCL only as Intel's wheels bring it: Wine's own forwards to the host's. The others are Wine's
            # offers to download Mono and Gecko, menu entries for the host, and a debugger that would wait.
            "WINEDLLOVERRIDES": "opencl=n;mscoree=;mshtml=;winemenubuilder.exe=;winedbg.exe=",
            **(extra or {}),
        }

    def run(
        self,
        command: Sequence[Argument],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: str = "",
        timeout: float = 120,
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run a Windows program to its end; paths of the host in `command` are given their Windows names.

        `env` is added to `environment()`; `cwd` is C:\\work unless given, since a folder on Z: makes the host's
        `/usr` visible as `\\usr`. Output is decoded as UTF-8, with what is not UTF-8 escaped. Raises AssertionError
        with the output when `check` and the exit code is not 0, and TimeoutExpired after `timeout` seconds with
        every process of the run ended.
        """
        arguments = [self.windows_path(item) if isinstance(item, Path) else item for item in command]
        mark = uuid.uuid4().hex
        with subprocess.Popen(
            ["wine", *arguments],
            env={**self.environment(env), RUN_MARK: mark},
            cwd=cwd or self.drive_c / "work",
            # Windows Python dies on a standard stream that is a host's file or /dev/null: pipes only.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="backslashreplace",
            start_new_session=True,
        ) as process:
            try:
                stdout, stderr = process.communicate(stdin, timeout)
            except BaseException:
                _end_run(mark)
                raise
        result = subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)
        if check and result.returncode:
            raise AssertionError(
                f"{' '.join(arguments)} ended with {result.returncode}\n{stdout[-4000:]}\n{stderr[-4000:]}"
            )
        return result

    @contextlib.contextmanager
    def started(self, python: Path) -> Iterator[None]:
        """Keep the prefix's services and desktop running meanwhile, so that a run neither starts nor holds them.

        Several processes may do so at once. Wine's server ends by itself some seconds after the last of them, even
        when that one was killed: what keeps it is a Windows Python that waits for the end of its input.
        """
        self.start_services()
        with subprocess.Popen(
            ["wine", self.windows_path(python), "-c", KEEPER],
            env=self.environment(),
            cwd=self.drive_c,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as keeper:
            assert keeper.stdin
            assert keeper.stdout
            if keeper.stdout.readline().strip() != "ready":
                raise AssertionError(f"Wine does not start in {self.prefix}: {keeper.stdout.read()}")
            try:
                yield
            finally:
                keeper.stdin.close()
                keeper.wait(60)
                # Explorer keeps the other end open until Wine's server goes.
                keeper.stdout.close()

    def start_services(self) -> None:
        """Start the server and the services, with no pipe of ours in their hands; the first time, make the prefix."""
        quiet = subprocess.DEVNULL
        subprocess.run(
            ["wine", "cmd", "/c", "exit"], env=self.environment(), check=True, start_new_session=True,
            stdin=quiet, stdout=quiet, stderr=quiet,
        )  # fmt: skip

    def wait_for_end(self) -> None:
        """Wait until the prefix's server has ended, with the registry written."""
        subprocess.run(["wineserver", "-w"], env=self.environment(), check=True, timeout=120)


def _end_run(mark: str) -> None:
    """Kill every process of one run; Wine gives its processes no common process group."""
    wanted = f"{RUN_MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
