"""`env` in Windows' cmd, and the command line's ways there. Runs under Windows Python only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import intel_xpu_runtime_dev
import pytest
from intel_xpu_runtime_dev._components import WINDOWS

from tests.locator.trees import wheel_kit

pytestmark = pytest.mark.skipif(not WINDOWS, reason="cmd is Windows'")

SOURCE = Path(intel_xpu_runtime_dev.__file__).parents[1]
OWN = {"ZE_PATH": r"C:\my own & 100%\old", "INCLUDE": r"C:\msvc\include", "CC": "my-cc"}


@pytest.mark.parametrize(
    "name",
    [
        "plain",
        "with space",
        "o'clock",
        "100% & (x)",
        "^caret! ,=",
        "Zo\N{LATIN SMALL LETTER E WITH DIAERESIS}",
    ],
)
def test_values_arrive_and_the_undo_restores(name: str, tmp_path: Path) -> None:
    root = wheel_kit(tmp_path / name)
    before = environment(tmp_path / name, **OWN)

    after = through_cmd(tmp_path, before)
    restored = through_cmd(tmp_path, {**before, **after}, "--unset")

    assert after["ZE_PATH"] == after["LEVEL_ZERO_V1_SDK_PATH"] == str(root)
    assert after["INCLUDE"] == rf"C:\msvc\include;{root}\include"
    assert not {"CPATH", "LIB"} & set(after)
    assert {name: restored.get(name) for name in OWN} == OWN
    assert not {"LEVEL_ZERO_DIR", "CMAKE_PREFIX_PATH", "XPU_DEV_ENV"} & set(restored)


def test_letters_outside_the_code_page_are_an_error_that_helps(tmp_path: Path) -> None:
    wheel_kit(tmp_path / "中文")

    result = run(environment(tmp_path / "中文"), "env", "--shell", "cmd")

    assert (result.returncode, result.stdout) == (1, b"")
    assert b"chcp 65001" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["find"],
        ["find", "--json"],
        ["config", "--root"],
        ["config", "--includes", "--libs"],
        ["env", "--shell", "pwsh"],
    ],
)
def test_paths_outside_the_code_page_end_nothing(words: list[str], tmp_path: Path) -> None:
    root = wheel_kit(tmp_path / "中文")

    result = run(environment(tmp_path / "中文"), *words)

    assert (result.returncode, result.stderr) == (0, b"")
    assert b"level_zero_devel" in result.stdout
    if "--json" in words:
        assert json.loads(result.stdout)["level-zero"]["development kit"]["root"] == str(root)


def test_flags_are_quoted_for_cmd(tmp_path: Path) -> None:
    root = wheel_kit(tmp_path / "with space")

    result = run(environment(tmp_path / "with space"), "config", "--libs", "--msvc-syntax")

    assert result.stdout.decode().strip() == rf'"/LIBPATH:{root}\lib" ze_loader.lib'


@pytest.mark.parametrize("code", [0, 3, 255, 0xC0000005])
def test_run_passes_the_exit_code_on(code: int, tmp_path: Path) -> None:
    wheel_kit(tmp_path)
    script = f"import os; print(os.environ['ZE_PATH'], flush=True); os._exit({code - (code >> 31 << 32)})"

    result = run(environment(tmp_path), "run", "--", sys.executable, "-c", script)

    assert result.returncode == code
    assert result.stdout.decode().strip() == str(tmp_path / "level_zero_devel")


def environment(site: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a user who has a kit in `site`."""
    path = os.pathsep.join([str(SOURCE), str(site)])
    return {**os.environ, "PYTHONPATH": path, **variables}


def run(variables: dict[str, str], *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "intel_xpu_runtime_dev", *words],
        env=variables,
        stdin=subprocess.PIPE,
        capture_output=True,
        check=False,
    )


def through_cmd(folder: Path, variables: dict[str, str], *options: str) -> dict[str, str]:
    """Have cmd run what `env` prints; return the environment of a program that it starts then."""
    result = run(variables, "env", "--shell", "cmd", *options)
    assert result.returncode == 0, result.stderr
    dump = "import json, os; print(json.dumps(dict(os.environ)))"
    script = folder / "script.bat"
    script.write_bytes(
        result.stdout.replace(b"\n", b"\r\n") + f'@"{sys.executable}" -c "{dump}"\r\n'.encode()
    )
    told = subprocess.run(
        ["cmd", "/d", "/c", str(script)],
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        check=True,
    )
    result_variables: dict[str, str] = json.loads(told.stdout)
    return result_variables
