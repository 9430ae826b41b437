"""Find Microsoft's compiler: in a developer prompt's environment, else by vswhere and vcvarsall."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from .._files import is_file
from .compilers import Compiler, which

COMPONENT = "Microsoft.VisualStudio.Component.VC.Tools.x86.x64"
QUERY = (
    "-latest",
    "-prerelease",
    "-products",
    "*",
    "-requires",
    COMPONENT,
    "-property",
    "installationPath",
    "-utf8",
)


def compilers() -> Iterator[Compiler]:
    """Yield cl of the environment we are in, then that of the newest Visual Studio or Build Tools."""
    path = which("cl")
    if path and is_complete(os.environ):
        yield Compiler((path,), "msvc", None, "environment")
    for installation in installations():
        environment = _developer_environment(installation)
        path = _cl_of(environment)
        if path and is_complete(environment):
            yield Compiler((path,), "msvc", environment, "vswhere")


def is_complete(environment: Mapping[str, str]) -> bool:
    """Return whether the variables lead to the compiler's headers and to the Windows SDK's libraries."""
    return _holds(environment.get("INCLUDE", ""), "cstddef") and _holds(
        environment.get("LIB", ""), "ucrt.lib"
    )


def parse_environment(text: str) -> dict[str, str]:
    """Return the variables that `set` prints, with the names in upper case as os.environ has them."""
    pairs = (line.partition("=") for line in text.splitlines())
    return {name.upper(): value for name, equals, value in pairs if name and equals}


def _holds(folders: str, name: str) -> bool:
    return any(is_file(Path(folder, name)) for folder in folders.split(os.pathsep) if folder)


def installations() -> Iterator[Path]:
    """Yield the folders of Visual Studio or its Build Tools with a C compiler, the newest first."""
    base = os.environ.get("ProgramFiles(x86)", r"C:\Program Files (x86)")
    vswhere = Path(base, "Microsoft Visual Studio", "Installer", "vswhere.exe")
    if not is_file(vswhere):
        return
    answer = subprocess.run([str(vswhere), *QUERY], capture_output=True, check=False).stdout
    for line in answer.decode("utf-8", "replace").splitlines():
        if line.strip():
            yield Path(line.strip())


def _developer_environment(installation: Path) -> dict[str, str]:
    script = installation / "VC" / "Auxiliary" / "Build" / "vcvarsall.bat"
    if not is_file(script):
        return {}
    # By its full path, since Windows looks for a bare name in the current folder first; a batch file needs cmd.
    cmd = Path(os.environ.get("SystemRoot", r"C:\Windows"), "System32", "cmd.exe")
    # /u: what cmd itself prints is UTF-16, so that any path survives.
    command = f'"{cmd}" /u /s /c ""{script}" x64 >nul && set"'
    answer = subprocess.run(command, capture_output=True, check=False).stdout
    return parse_environment(answer.decode("utf-16-le", "replace"))


def _cl_of(environment: Mapping[str, str]) -> str:
    for folder in environment.get("PATH", "").split(os.pathsep):
        path = Path(folder, "cl.exe")
        if folder and is_file(path):
            return str(path)
    return ""
