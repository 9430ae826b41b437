"""The wheels' overlay of the prefix on Windows: there after the install, where Triton looks, gone after the uninstall."""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path, PureWindowsPath

import pytest

from tests.support import environments
from tests.support.needs import program
from tests.windows import prefix
from tests.windows.interpreters import WindowsPython
from tests.windows.sdk_installs import our_wheels
from tests.windows.wine import Wine

HEADER = Path("Library", "include", "level_zero", "ze_api.h")
LIBRARY = Path("Library", "lib", "ze_loader.lib")
OURS = ("level-zero-devel", "unified-runtime-devel", "intel-xpu-runtime-dev")
SYCL = "2025.3.3"  # Triton 3.3 needs SYCL 8

# What of Triton's driver.py looks for things, and its answer as JSON.
LOOKUP = ("find_sycl", "CompilationHelper")
IMPORTS = "import importlib.metadata, json, os, shutil\nfrom functools import cached_property\n"
ANSWER = "found = CompilationHelper()\nprint(json.dumps([found.include_dir, found.library_dir, found.libraries]))\n"
PROGRAM = "#include <level_zero/ze_api.h>\nint main(void) { return zeInit(0); }\n"


def files(python: WindowsPython) -> set[str]:
    """Return every file of a Python's prefix but compiled modules."""
    found = (path for path in python.folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(python.folder).as_posix() for path in found}


@pytest.mark.parametrize("version", ["3.11", "3.13"])
def test_install_reinstall_uninstall_by_pip(wine: Wine, tmp_path: Path, version: str) -> None:
    python = prefix.python(wine, version).copy(tmp_path / "python")
    before = files(python)
    python.install(*our_wheels())
    installed = files(python)
    assert {HEADER.as_posix(), LIBRARY.as_posix()} <= installed - before
    assert not [name for name in installed - before if name.lower().endswith(".dll")]
    python.pip("install", "--quiet", "--no-deps", "--no-compile", "--force-reinstall", *our_wheels())
    assert files(python) == installed
    python.pip("uninstall", "--quiet", "--yes", *OURS)
    assert files(python) == before


def test_install_and_uninstall_by_uv(wine: Wine, tmp_path: Path) -> None:
    python = prefix.python(wine, "3.11").copy(tmp_path / "python")
    before = files(python)
    target: list[str | Path] = ["--python", python.executable, "--break-system-packages", "--no-cache"]
    wine.run([prefix.uv(wine), "pip", "install", *target, "--no-deps", "--no-index", *our_wheels()])
    assert {HEADER.as_posix(), LIBRARY.as_posix()} <= files(python) - before
    wine.run([prefix.uv(wine), "pip", "uninstall", *target[:3], *OURS])
    assert files(python) - before <= {".lock"}


def triton_lookup(python: WindowsPython, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the lookup of Triton's own driver.py, cut out of the module since the rest of it needs Triton."""
    (source,) = environments.triton().parents[1].glob("lib/*/site-packages/triton/backends/intel/driver.py")
    parsed = ast.parse(source.read_text())
    parts = [node for node in parsed.body if getattr(node, "name", "") in LOOKUP]
    assert [getattr(part, "name", "") for part in parts] == list(LOOKUP)
    script = folder / "triton_lookup.py"
    script.write_text(IMPORTS + "\n".join(map(ast.unparse, parts)) + "\n" + ANSWER)
    return python.run(script, check=False)


def test_triton_finds_the_kit_with_no_variable_set(wine: Wine, tmp_path: Path) -> None:
    base = prefix.python(wine, "3.11").with_wheels(f"sycl-{SYCL}", f"intel-sycl-rt=={SYCL}")
    python = base.copy(tmp_path / "python")
    code = tmp_path / "program.c"
    code.write_text(PROGRAM)

    def link() -> subprocess.CompletedProcess[str]:
        includes, libraries, names = json.loads(triton_lookup(python, tmp_path).stdout)
        assert "ze_loader" in names
        flags = [f"-I{host_path(name)}" for name in includes] + [f"-L{host_path(name)}" for name in libraries]
        command = [
            program("x86_64-w64-mingw32-gcc"),
            str(code),
            *flags,
            "-lze_loader",
            "-o",
            str(tmp_path / "a.exe"),
        ]
        return subprocess.run(command, capture_output=True, text=True)

    assert "level_zero/ze_api.h: No such file" in link().stderr
    python.install(*our_wheels())
    result = link()
    assert result.returncode == 0, result.stderr
    imports = subprocess.run(
        [program("x86_64-w64-mingw32-objdump"), "-p", tmp_path / "a.exe"], capture_output=True, text=True
    )
    assert "DLL Name: ze_loader.dll" in imports.stdout
    (python.folder / LIBRARY).unlink()
    assert "cannot find -lze_loader" in link().stderr


def test_triton_without_sycl_says_what_it_needs(wine: Wine, tmp_path: Path) -> None:
    python = prefix.python(wine, "3.11").copy(tmp_path / "python")
    python.install(*our_wheels())
    assert "intel-sycl-rt>=2025.0.0" in triton_lookup(python, tmp_path).stderr


def host_path(name: str) -> Path:
    """Return the host's path of a Windows path on Z:, which Wine makes the host's root; others exist nowhere."""
    path = PureWindowsPath(name)
    return Path("/", *path.parts[1:]) if path.drive == "Z:" else Path("/nonexistent")
