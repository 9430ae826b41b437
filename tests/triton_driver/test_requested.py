"""Our driver asked for from outside: `xpu-dev run --triton-driver` with unmodified scripts, and Triton's entry point."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.smoke.installs import Install
from tests.support import environments

pytestmark = pytest.mark.xdist_group("triton-driver")

# As it would be written for any backend: nothing of ours in it. The pointer is memory of the host, which the CPU
# device reads; a GPU wants torch's tensors.
SCRIPT = """\
import ctypes, sys
import triton
import triton.language as tl

class Numbers:
    dtype = "float32"
    def __init__(self, values):
        self.memory = (ctypes.c_float * len(values))(*values)
    def data_ptr(self):
        return ctypes.addressof(self.memory)

@triton.autotune([triton.Config({}, num_warps=warps) for warps in (1, 2)], key=["n"])
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

def test_add():
    x, y, out = Numbers([1, 2, 3]), Numbers([10, 20, 30]), Numbers([0, 0, 0])
    add[(1,)](x, y, out, 3, BLOCK=4)
    triton.runtime.driver.active.utils.wait()
    assert list(out.memory) == [11, 22, 33]
    print("right by", type(triton.runtime.driver.active).__module__)

if __name__ == "__main__":
    test_add()
"""
RIGHT = "right by intel_xpu_runtime_dev.triton._driver"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "test_script.py"
    file.write_text(SCRIPT)
    return file


def xpu_dev(
    *words: str | Path, folder: Path, python: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `xpu-dev run` of an installation, with no compiler to be found."""
    environment = {
        "PATH": str(folder / "bin"), "HOME": str(folder), "TRITON_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": str(Install("2026.2.0").packages), **variables,
    }  # fmt: skip
    interpreter = python or environments.triton_with_runtime()
    command = [str(interpreter), "-m", "intel_xpu_runtime_dev", "run", *map(str, words)]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("way", ["file", "module", "command", "child"])
def test_an_unmodified_script_runs_through_unified_runtime(way: str, script: Path, tmp_path: Path) -> None:
    python = str(environments.triton_with_runtime())
    words = {
        "file": [python, str(script)],
        "module": [python, "-m", script.stem],
        "command": [python, "-c", f"import {script.stem} as script; script.test_add()"],
        "child": [python, "-c", f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, {str(script)!r}]))"],
    }[way]  # fmt: skip
    result = xpu_dev("--triton-driver", "ur:cpu", "--", *words, folder=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines() == [RIGHT]


def test_it_is_the_option_that_does_it(script: Path, tmp_path: Path) -> None:
    result = xpu_dev("--", environments.triton_with_runtime(), script, folder=tmp_path)
    assert result.returncode != 0
    assert RIGHT not in result.stdout


def test_without_triton_nothing_is_imported(tmp_path: Path) -> None:
    shown = "import sys; print([name for name in sys.modules if 'triton' in name], 'ctypes' in sys.modules)"
    result = xpu_dev("--triton-driver", "ur", "--", environments.triton_with_runtime(), "-c", shown, folder=tmp_path)  # fmt: skip
    ours = ["intel_xpu_runtime_dev.triton", "intel_xpu_runtime_dev.triton.requested"]
    assert result.stdout == f"{ours} False\n", result.stderr


def test_looking_for_triton_does_not_use_it_up(script: Path, tmp_path: Path) -> None:
    """As torch does: find_spec first, import later."""
    look = (
        "import importlib.util as u; assert u.find_spec('triton'); import test_script; test_script.test_add()"
    )
    python = environments.triton_with_runtime()
    result = xpu_dev("--triton-driver", "ur:cpu", "--", python, "-c", look, folder=tmp_path)
    assert result.stdout == f"{RIGHT}\n", result.stderr


def test_the_users_own_sitecustomize_runs(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("print('own')\n")
    python = environments.triton_with_runtime()
    paths = f"{folder}{os.pathsep}{Install('2026.2.0').packages}"
    shown = "import sitecustomize; print(sitecustomize.__file__)"
    result = xpu_dev("--triton-driver", "ur", "--", python, "-c", shown, folder=tmp_path, PYTHONPATH=paths)
    # Once in `xpu-dev` itself, once in the command.
    assert result.stdout.splitlines() == ["own", "own", str(folder / "sitecustomize.py")], result.stderr


def test_a_python_without_our_package_has_it_all_the_same(tmp_path: Path) -> None:
    """xpu-dev of one environment, the script's Python of another."""
    venv.create(tmp_path / "other", symlinks=True)
    python = tmp_path / "other" / "bin" / "python"
    (site,) = (tmp_path / "other").glob("lib/python*/site-packages")
    (triton_site,) = environments.triton_with_runtime().parents[1].glob("lib/python*/site-packages")
    (site / "triton.pth").write_text(f"{triton_site}\n")
    (tmp_path / "test_script.py").write_text(SCRIPT)
    installed = tmp_path / "xpu-dev"
    venv.create(installed, symlinks=True)
    (own_site,) = installed.glob("lib/python*/site-packages")
    (own_site / "ours.pth").write_text(f"{Install('2026.2.0').packages}\n")
    result = xpu_dev(
        "--triton-driver", "ur:cpu", "--", python, "test_script.py",
        folder=tmp_path, python=installed / "bin" / "python", PYTHONPATH="",
    )  # fmt: skip
    assert result.stdout.splitlines() == [RIGHT], result.stderr


@pytest.mark.parametrize("driver", ["cuda", "ur:tpu", "", "UR"])
def test_an_unknown_driver_is_refused(driver: str, tmp_path: Path) -> None:
    result = xpu_dev("--triton-driver", driver, "--", sys.executable, "-c", "print('ran')", folder=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert f"there is no Triton driver {driver!r}" in result.stderr


def test_no_device_ends_the_script_with_a_message(script: Path, tmp_path: Path) -> None:
    result = xpu_dev(
        "--triton-driver", "ur:gpu", "--", environments.triton_with_runtime(), script, folder=tmp_path
    )
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert result.stderr.startswith("xpu-dev: error: Unified Runtime has no device 'gpu'")


@pytest.mark.parametrize("version", ["3.4.0", pytest.param("3.8.0", marks=pytest.mark.nightly)])
class TestEntryPoint:
    """What Triton 3.4 and later discover: upstream's Triton, which has no backend for Intel's GPUs, and our package."""

    def ask(self, version: str, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run code in that environment."""
        environment = {"PATH": "", "PYTHONPATH": str(Install("2026.2.0").packages), **variables}
        command = [str(environments.upstream_triton(version)), "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def test_being_installed_is_not_being_active(self, version: str) -> None:
        code = (
            "import sys\nfrom triton.backends import backends\nfrom triton.runtime import driver\n"
            "ours = backends['xpu_ur']\nprint(ours.driver.is_active(), ours.compiler.supports_target('xpu'))\n"
            "print('intel_xpu_runtime_dev.triton._driver' in sys.modules)\n"
            "driver.active.get_current_target()"
        )
        result = self.ask(version, code)
        assert result.stdout.split() == ["False", "False", "False"], result.stderr
        assert "0 active drivers" in result.stderr

    def test_asked_for_it_is_the_driver(self, version: str) -> None:
        code = (
            "from triton.runtime import driver\n"
            "print(driver.active.get_current_target().backend, driver.active.get_current_device())"
        )
        result = self.ask(version, code, XPU_DEV_TRITON_DRIVER="ur:cpu")
        assert result.stdout.split() == ["xpu", "0"], result.stderr

    def test_by_tritons_own_variable_where_it_has_one(self, version: str) -> None:
        code = "from triton.runtime import driver\nprint(driver.active.get_current_target().backend)"
        result = self.ask(version, code, TRITON_DEFAULT_BACKEND="xpu_ur")
        assert result.stdout.split() == ["xpu"], result.stderr
