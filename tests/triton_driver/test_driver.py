"""Real `@triton.jit` kernels through our driver on Intel's CPU device; the checks run in a child with an empty PATH."""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from repack.launcher import build_launcher_wheel

from tests.support import environments
from tests.support.wheels import ROOT

CHECKS = Path(__file__).with_name("checks.py")
PACKAGE = ROOT / "wheels" / "intel-xpu-runtime-dev" / "src"
pytestmark = pytest.mark.xdist_group("triton-driver")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with Triton's cache and the unpacked C launcher."""
    made = tmp_path_factory.mktemp("triton-driver")
    with zipfile.ZipFile(build_launcher_wheel("linux_x86_64", made / "wheel")) as archive:
        archive.extractall(made / "launcher")
    return made


def run(
    folder: Path, *words: str, program: Path = CHECKS, cache: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program of checks in the environment with Triton and the runtime."""
    environment = {
        "PATH": "",  # no compiler, no linker, nothing
        "HOME": str(folder),
        "TRITON_CACHE_DIR": str(cache or folder / "cache"),
        "PYTHONPATH": os.pathsep.join(map(str, [PACKAGE, folder / "launcher", ROOT])),
    }
    python = environments.triton_with_runtime()
    command = [str(python), str(program), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("launcher", ["ctypes", "c"])
def test_every_check_is_right(launcher: str, folder: Path) -> None:
    result = run(folder, "all", launcher)
    assert result.returncode == 0, result.stdout + result.stderr
    checks = re.findall(r"^def (\w+)\(\) -> None:", CHECKS.read_text("utf-8"), re.MULTILINE)
    assert result.stdout.splitlines() == [f"right: {check}" for check in checks]


def test_second_process_starts_from_native_binaries(folder: Path) -> None:
    """Machine code lies in Triton's cache; a damaged file is built again from its source."""
    cache = folder / "second"
    assert run(folder, "add", "ctypes", cache=cache).returncode == 0
    (native,) = cache.rglob("add_kernel.native")
    first = native.stat()
    assert run(folder, "add", "ctypes", cache=cache).returncode == 0
    assert native.stat().st_mtime_ns == first.st_mtime_ns  # read, not written
    whole = native.read_bytes()
    middle = len(whole) // 2
    for damaged in (b"damaged", b"1\nno object", whole[:middle] + bytes(256) + whole[middle + 256 :]):
        native.write_bytes(damaged)
        result = run(folder, "add", "ctypes", cache=cache)
        assert result.returncode == 0, result.stderr
        assert native.stat().st_size == first.st_size  # built again, kept again


@pytest.mark.parametrize("launcher", ["ctypes", "c"])
def test_threads_may_begin_together(launcher: str, folder: Path) -> None:
    """One context, one kernel for all of them: else they would wait for another queue, or launch what is released."""
    result = run(folder, launcher, "8", program=CHECKS.with_name("threads.py"))
    assert (result.returncode, result.stdout) == (0, "right\n"), result.stderr


@pytest.mark.parametrize("launcher", ["ctypes", "c"])
def test_a_second_activation_is_the_first_or_is_refused(launcher: str, folder: Path) -> None:
    result = run(folder, launcher, program=CHECKS.with_name("twice.py"))
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(
        "this driver is active with other options, and kernels or arrays were made"
    )
    assert "a grid of 2147483648, 1, 1 programs: at most 2147483647 each" in result.stdout
    assert result.stdout.endswith("right\n")


@pytest.mark.parametrize("launcher", ["ctypes", "c"])
def test_the_devices_clock_measures_what_the_wall_clock_encloses(launcher: str, folder: Path) -> None:
    result = run(folder, launcher, program=CHECKS.with_name("device_time.py"))
    assert (result.returncode, result.stdout) == (0, "right\n"), result.stderr


@pytest.mark.parametrize("part", range(5))
def test_another_device_or_driver_has_native_binaries_of_its_own(part: int, folder: Path) -> None:
    """As if name, architecture, backend, driver or release had changed: each alone is another file."""
    cache = folder / f"parts{part}"
    assert run(folder, "add", "ctypes", cache=cache).returncode == 0
    changed = folder / f"changed{part}.py"
    patch = (
        "from intel_xpu_runtime_dev.triton._session import Session\n"
        "true = Session.fingerprint.fget\n"
        f"Session.fingerprint = property(lambda own: (*true(own)[:{part}], 'other', *true(own)[{part + 1}:]))\n"
    )
    changed.write_text(patch + CHECKS.read_text("utf-8").replace("from __future__ import annotations", ""))
    assert run(folder, "add", "ctypes", program=changed, cache=cache).returncode == 0
    assert len(list(cache.rglob("add_kernel.native"))) == 2


def test_a_wrong_number_is_found(folder: Path) -> None:
    """The checks themselves can fail."""
    changed = folder / "wrong.py"
    changed.write_text(CHECKS.read_text("utf-8").replace("x.numpy() + y.numpy()", "x.numpy() - y.numpy()"))
    python = environments.triton_with_runtime()
    environment = {"PATH": "", "HOME": str(folder), "PYTHONPATH": str(PACKAGE)}
    result = subprocess.run(
        [str(python), str(changed), "add"], env=environment, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 1
    assert "AssertionError" in result.stderr
