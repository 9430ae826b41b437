"""Build the wheels of intel-xpu-triton-launcher: one stable-ABI extension a platform, cross-compiled by zig.

`build_launcher_wheel("win_amd64", out)` -> the audited wheel. The bytes depend on the source and the pinned tools alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from .catalogue import Platform
from .errors import BuildError
from .import_library import import_library
from .wheel import WHEELS, build_pure_wheel, normalise

DISTRIBUTION = "intel-xpu-triton-launcher"
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-s", "-fvisibility=hidden")
# Deterministic archives: no wheel may be older than what zip can express.
EPOCH = "315532800"


class Target(NamedTuple):
    """How one platform's extension is compiled, and which tool makes its wheel installable and checks it."""

    triple: str
    file: str
    flags: tuple[str, ...]
    repair: tuple[str, ...]


TARGETS: dict[Platform, Target] = {
    "linux_x86_64": Target(
        "x86_64-linux-gnu.2.17",
        "_launcher.abi3.so",
        ("-fPIC",),
        ("auditwheel", "repair", "--only-plat", "--plat", "manylinux_2_5_x86_64"),
    ),
    # No C runtime: the extension calls nothing but Python.
    "win_amd64": Target("x86_64-windows-gnu", "_launcher.pyd", ("-nostdlib",), ("delvewheel", "repair")),
}


def build_launcher_wheel(platform: Platform, out: Path) -> Path:
    """Build, repair and audit the launcher's wheel into the folder `out`; return its path."""
    target = TARGETS[platform]
    with tempfile.TemporaryDirectory(prefix="launcher-") as scratch:
        project = Path(scratch, "projects", DISTRIBUTION)
        shutil.copytree(WHEELS / DISTRIBUTION, project, ignore=shutil.ignore_patterns("__pycache__"))
        (project / "native").mkdir()
        compile_extension(platform, project / "native" / target.file)
        wheel = build_pure_wheel(DISTRIBUTION, Path(scratch, "built"), project.parent)
        repaired = Path(scratch, "repaired")
        _run(*target.repair, "--wheel-dir", str(repaired), str(wheel))
        (installable,) = repaired.glob("*.whl")
        # Strict: no symbol outside the stable ABI, and none newer than the wheel's tag says.
        _run("abi3audit", "--strict", "--report", str(installable))
        normalise(installable)
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(installable, out / installable.name))


def compile_extension(platform: Platform, output: Path) -> None:
    """Compile the extension of a platform; BuildError with the compiler's words when it fails."""
    target = TARGETS[platform]
    source = WHEELS / DISTRIBUTION / "src"
    with tempfile.TemporaryDirectory(prefix="launcher-") as scratch:
        libraries = []
        if platform == "win_amd64":
            libraries = [Path(scratch, "python3.lib")]
            libraries[0].write_bytes(python_import_library((source / "stable_abi.h").read_text("utf-8")))
        # The linker writes the output's name into the file, and an import library beside it.
        made = Path(scratch, target.file)
        _run(
            "ziglang", "cc", "-target", target.triple, *FLAGS, *target.flags,
            # Paths of this machine must not reach the file.
            f"-ffile-prefix-map={source}=.",
            str(source / "launcher.c"), *map(str, libraries), "-o", str(made),
        )  # fmt: skip
        shutil.copyfile(made, output)


def python_import_library(header: str) -> bytes:
    """Return an import library of `python3.dll` with what the header declares."""
    data = re.findall(r"^PYTHON_DATA .*?(\w+);", header, re.MULTILINE)
    functions = re.findall(r"^[\w ]+?[ *](_?Py\w+)\(.*\);", header, re.MULTILINE)
    return import_library("python3.dll", [*functions, *data], data=data)


def _run(tool: str, *arguments: str) -> None:
    """Run a pinned tool of this environment."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", "")])
    command = [sys.executable, "-m", tool, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    if result.returncode:
        raise BuildError(
            f"{tool} failed for {DISTRIBUTION}",
            found=(result.stderr.strip() or result.stdout.strip()),
            fix=" ".join(command),
        )
