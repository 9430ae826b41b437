"""Build the newest wheels, install them in a new environment, run `xpu-dev smoke` there: `dev.py smoke [arguments]`.

Arguments are passed on, the exit code is that of `xpu-dev smoke`. Intel's runtime and CPU device come from the index
that pip is configured for.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from repack import build
from repack.catalogue import Platform, load
from repack.errors import BuildError, reported
from repack.wheel import LOCATOR

WINDOWS = os.name == "nt"
COMPONENTS = ("level-zero", "unified-runtime")


@reported
def main(arguments: list[str]) -> int:
    """Return the exit code of `xpu-dev smoke`; BuildError where it could not be built or installed."""
    if {"-h", "--help"} & set(arguments):
        return subprocess.run([sys.executable, "-m", "intel_xpu_runtime_dev", "smoke", "--help"]).returncode
    with tempfile.TemporaryDirectory(prefix="dev-smoke-") as scratch:
        wheels, environment = Path(scratch, "wheels"), Path(scratch, "environment")
        build_newest(wheels, "win_amd64" if WINDOWS else "linux_x86_64")
        install(wheels, environment)
        program = scripts_folder(environment) / ("xpu-dev.exe" if WINDOWS else "xpu-dev")
        # A cache of its own: a native binary of an earlier run would stand in for the JIT compilation.
        own_cache = {**os.environ, "XPU_DEV_CACHE_DIR": str(Path(scratch, "cache"))}
        return subprocess.run([str(program), "smoke", *arguments], env=own_cache, check=False).returncode


def build_newest(out: Path, platform: Platform) -> None:
    """Build the newest wheel of each component for a platform, and the locator's, into `out`."""
    catalogue = load()
    command = ["--out", str(out), "--platform", platform, "--only", LOCATOR]
    for component in COMPONENTS:
        command += ["--only", f"{component}-devel"]
        command += ["--version", catalogue.of(component)[0].version]
    # Standard output is for what smoke prints.
    with contextlib.redirect_stdout(sys.stderr):
        code = build.main(command)
    if code == 130:  # interrupted, and said so
        raise SystemExit(code)
    if code:
        raise BuildError("the wheels cannot be built", found="see above")


def install(wheels: Path, environment: Path) -> None:
    """Install the wheels with the CPU device in a new environment."""
    say("installing them with Intel's CPU device in a new environment")
    call("venv", str(environment))
    call(
        "pip", "--python", str(environment), "install", "--quiet", "--disable-pip-version-check",
        "--find-links", str(wheels), f"{LOCATOR}[cpu]",
    )  # fmt: skip


def call(module: str, *arguments: str) -> None:
    """Run a module of this interpreter; BuildError where it fails, after its own words."""
    command = [sys.executable, "-m", module, *arguments]
    # A session of its own, so that Ctrl-C comes here alone, and what it has started ends with it.
    with subprocess.Popen(command, stdout=sys.stderr, start_new_session=not WINDOWS) as process:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            if not WINDOWS:
                os.killpg(process.pid, signal.SIGTERM)
            raise
    if code:
        raise BuildError(f"failed: {' '.join(command)}", found="see above")


def scripts_folder(environment: Path) -> Path:
    """Return the folder of an environment's programs."""
    return environment / ("Scripts" if WINDOWS else "bin")


def say(message: str) -> None:
    """Print what is going on, apart from what smoke prints."""
    print(f"smoke: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
