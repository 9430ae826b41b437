"""What docs/security.md promises of child processes, DLLs, temporary files, the build's inputs and released files."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conda_package_streaming.package_streaming import stream_conda_component
from repack.build import _scratch_folder
from repack.cache import cache_folder

from tests.support.needs import program
from tests.support.wheels import ROOT
from tests.windows import prefix as windows
from tests.windows.wine import Wine

SOURCES = sorted(
    path for folder in ("scripts", "wheels", "recipes") for path in (ROOT / folder).rglob("*.py")
)
STARTERS = {"run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"}
# Batch files run in cmd alone: Microsoft's own, by its full path and cmd's.
COMMAND_LINES = {"wheels/intel-xpu-runtime-dev/src/intel_xpu_runtime_dev/smoke/msvc.py"}
# Windows' own, which are never looked for outside System32 (KnownDLLs).
SYSTEM_DLLS = {"kernel32", "shell32"}


def calls(path: Path) -> Iterator[tuple[str, ast.Call, ast.AST]]:
    """Yield each call in a file with the name that it calls, and the function that it stands in."""
    tree = ast.parse(path.read_text("utf-8"))
    for scope in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))]:
        for node in ast.walk(scope):
            if isinstance(node, ast.Call):
                yield ast.unparse(node.func), node, scope


def is_text(node: ast.expr, scope: ast.AST) -> bool:
    """Return whether an expression is a string, or a name that the function gives a string to."""
    if isinstance(node, ast.Name):
        given = [each.value for each in ast.walk(scope) if isinstance(each, ast.Assign)
                 and any(isinstance(name, ast.Name) and name.id == node.id for name in each.targets)]  # fmt: skip
        return any(is_text(value, scope) for value in given if not isinstance(value, ast.Name))
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_child_processes_get_argument_lists() -> None:
    command_lines = set()
    for path in SOURCES:
        for name, call, scope in calls(path):
            assert name not in ("os.system", "os.popen", "os.startfile"), path
            assert not any(keyword.arg == "shell" for keyword in call.keywords), path
            module, _, function = name.rpartition(".")
            if module == "subprocess" and function in STARTERS:
                assert function not in ("getoutput", "getstatusoutput"), path
                if is_text(call.args[0], scope):
                    command_lines.add(path.relative_to(ROOT).as_posix())
    assert command_lines == COMMAND_LINES


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("S602", "import subprocess\n\nsubprocess.run('ls ' + input(), shell=True)\n"),
        ("S604", "from a import start\n\nstart('ls', shell=True)\n"),
        ("S605", "import os\n\nos.system(input())\n"),
        ("S306", "import tempfile\n\ntempfile.mktemp()\n"),
        ("S108", "with open('/tmp/mine') as file:\n    file.read()\n"),
        ("S103", "import os\n\nos.chmod('file', 0o777)\n"),
    ],
)
@pytest.mark.parametrize("place", ["scripts/made_up.py", "wheels/intel-xpu-runtime-dev/src/made_up.py"])
def test_the_linter_refuses(rule: str, code: str, place: str) -> None:
    """The same of new code: `dev.py test` runs it on everything, and no file turns these rules off."""
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--output-format",
        "concise",
        "--stdin-filename",
        place,
        "-",
    ]
    found = subprocess.run(command, cwd=ROOT, input=code, capture_output=True, text=True)
    assert f" {rule} " in found.stdout
    assert not any(re.search(rf"noqa: .*\b{rule}\b", path.read_text("utf-8")) for path in SOURCES)


def test_libraries_are_loaded_by_path() -> None:
    """A literal name would be searched for. That the paths are right is tested in tests/locator/test_runtime.py."""
    named = {
        call.args[0].value
        for path in SOURCES
        if path.is_relative_to(ROOT / "wheels")
        for name, call, _ in calls(path)
        if name.rpartition(".")[2] in ("CDLL", "WinDLL", "OleDLL", "PyDLL", "LoadLibrary")
        if isinstance(call.args[0], ast.Constant)
    }
    assert named == SYSTEM_DLLS


def test_a_cmd_in_the_current_folder_is_not_run(wine: Wine, wheelhouse: Path) -> None:
    """The batch file of a stand-in for Visual Studio is run all the same, by Windows' own cmd."""
    python = windows.python(wine, "3.11")
    with tempfile.TemporaryDirectory(prefix="visual studio ", dir=wine.drive_c) as folder:
        script = Path(folder, "VC", "Auxiliary", "Build", "vcvarsall.bat")
        script.parent.mkdir(parents=True)
        script.write_text("@set STAND_IN=it ran for %1\r\n")
        Path(folder, "cmd.exe").write_bytes(b"planted")
        (locator,) = wheelhouse.glob("intel_xpu_runtime_dev-*.whl")
        code = (
            "import os, sys, pathlib; sys.path.insert(0, sys.argv[1]); os.chdir(sys.argv[2]);"
            "from intel_xpu_runtime_dev.smoke import msvc;"
            "print(msvc._developer_environment(pathlib.Path(sys.argv[2]))['STAND_IN'])"
        )
        assert python.run("-c", code, locator, Path(folder)).stdout.strip() == "it ran for x64"


def test_temporary_folders_are_private() -> None:
    before = os.umask(0)
    try:
        with _scratch_folder() as folder:
            assert folder.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


def test_no_code_of_an_input_is_executed_or_loaded(tmp_path: Path) -> None:
    """A build watched by strace: no program that it starts, and nothing it maps to execute, is of an input or a tree."""
    log = tmp_path / "log"
    command: list[str | Path] = [
        program("strace"), "-f", "-qq", "-y", "-e", "trace=execve,mmap", "-e", "signal=none", "-o", log,
        sys.executable, "-m", "repack.build", "--out", tmp_path / "out",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts"), "TMPDIR": str(tmp_path)}
    options = [
        "--only",
        "level-zero-devel",
        "--only",
        "unified-runtime-devel",
        "--version",
        "1.32.0",
        "--version",
        "2026.2.0",
    ]
    subprocess.run([*command, *options], env=environment, capture_output=True, check=True)
    executed = re.findall(r'execve\("([^"]+)".*= 0$', log.read_text(), re.MULTILINE)
    mapped = re.findall(r"mmap\(.*PROT_EXEC.*\d+<([^>]+)>", log.read_text())
    assert sys.executable in executed
    assert any("libpython" in path or "lib-dynload" in path or ".so" in path for path in mapped)
    forbidden = (str(cache_folder() / "sources"), str(tmp_path))
    assert [path for path in (*executed, *mapped) if path.startswith(forbidden)] == []


@pytest.mark.xdist_group("release")
def test_nothing_released_is_executable_or_writable_for_others(release: Path) -> None:
    for wheel in release.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            modes = {info.external_attr >> 16 for info in archive.infolist()}
        assert modes == {0o100644}, wheel
    for package in release.glob("conda/*/*.conda"):
        for component in ("info", "pkg"):
            for _, member in stream_conda_component(str(package), component=component):
                assert member.isfile()
                assert member.mode == 0o644, member.name
    assert not [path for path in release.rglob("*") if path.stat().st_mode & 0o022]
