"""The machinery itself: what later tests take for granted."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from tests.windows import prefix
from tests.windows.prefix import PYTHONS
from tests.windows.wine import Wine


@pytest.mark.parametrize("version", PYTHONS)
def test_each_python_is_a_windows_python(wine: Wine, version: str) -> None:
    python = prefix.python(wine, version)
    code = "import sys, platform, ssl; print(sys.platform, *sys.version_info[:2], platform.machine(), sys.prefix)"
    expected = f"win32 {version.replace('.', ' ')} AMD64 C:\\Python{version.replace('.', '')}\n"
    assert python.run("-c", code).stdout == expected


def test_a_copy_installs_for_itself(wine: Wine, tmp_path: Path) -> None:
    base = prefix.python(wine, "3.11")
    python = base.copy(tmp_path / "Zoë Müller")
    (python.site_packages / "only_here.py").write_text("print('imported')")
    assert python.run("-c", "import only_here").stdout == "imported\n"
    assert base.run("-c", "import only_here", check=False).returncode == 1


def test_paths_have_their_windows_names(wine: Wine, tmp_path: Path) -> None:
    assert wine.windows_path(wine.drive_c / "Python311" / "python.exe") == r"C:\Python311\python.exe"
    script = tmp_path / "скрипт.py"
    script.write_text("import sys; print(ascii(sys.argv))")
    told = prefix.python(wine, "3.11").run(script, tmp_path).stdout
    assert told == ascii([wine.windows_path(script), wine.windows_path(tmp_path)]) + "\n"


def test_nothing_of_the_host_leaks_in(wine: Wine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/from/the/host")
    monkeypatch.setenv("ZE_PATH", "/from/the/host")
    told = prefix.python(wine, "3.11").run("-c", "import os, sys; print(sys.path, dict(os.environ))").stdout
    assert "from" not in told
    assert "PATHEXT': '.COM;.EXE;.BAT;.CMD'" in told


def test_a_failing_program_shows_its_output(wine: Wine) -> None:
    with pytest.raises(AssertionError, match=r"ended with 3\nseen"):
        prefix.python(wine, "3.11").run("-c", "print('seen'); raise SystemExit(3)")


def test_a_time_limit_ends_what_the_program_started(wine: Wine, tmp_path: Path) -> None:
    begun, late = tmp_path / "begun", tmp_path / "late"
    child = tmp_path / "child.py"
    child.write_text(
        f"import time\nopen({wine.windows_path(begun)!r}, 'w')\ntime.sleep(5)\nopen({wine.windows_path(late)!r}, 'w')"
    )
    parent = f"import subprocess, sys; subprocess.run([sys.executable, {wine.windows_path(child)!r}])"
    with pytest.raises(subprocess.TimeoutExpired):
        prefix.python(wine, "3.11").run("-c", parent, timeout=3)
    assert begun.exists()
    time.sleep(4)
    assert not late.exists()


def test_uv_installs_without_an_index(wine: Wine, tmp_path: Path) -> None:
    python = prefix.python(wine, "3.11").copy(tmp_path / "python")
    wine.run([prefix.uv(wine), "venv", "--python", python.executable, tmp_path / "venv"])
    venv_python = tmp_path / "venv" / "Scripts" / "python.exe"
    assert (
        wine.run([venv_python, "-c", "import sys; print(sys.prefix != sys.base_prefix)"]).stdout == "True\n"
    )
