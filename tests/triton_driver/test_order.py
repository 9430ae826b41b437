"""Launches are in order with torch: on the queue of its current stream, shown on a real SYCL in-order queue."""

from __future__ import annotations

import os
import subprocess
import sys
import types
import zipfile
from pathlib import Path

import pytest
from intel_xpu_runtime_dev.triton import _torch_queue
from repack.binaries import read_library
from repack.launcher import build_launcher_wheel

from tests.doubles import torch_xpu
from tests.support import environments
from tests.support.needs import program
from tests.support.wheels import ROOT
from tests.windows.interpreters import download_wheels

ORDER = Path(__file__).with_name("order.py")
PACKAGE = ROOT / "wheels" / "intel-xpu-runtime-dev" / "src"
ROUNDS = 1000
# SYCL's release by the name of its library on Linux and Windows.
SYCL = {"2025.3.3": ("libsycl.so.8", "sycl8.dll"), "2026.2.0": ("libsycl.so.9", "sycl9.dll")}
on_the_cpu_device = pytest.mark.xdist_group("triton-driver")


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the C launcher, unpacked."""
    folder = tmp_path_factory.mktemp("launcher")
    with zipfile.ZipFile(build_launcher_wheel("linux_x86_64", folder / "wheel")) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module", params=SYCL)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the stand-in for torch's part, compiled against a release of SYCL; its libraries come first."""
    program("g++")
    sycl = environments.sycl_runtime(request.param).parents[1]
    return torch_xpu.build(sycl, tmp_path_factory.mktemp("sycl"))


def order(library: Path, launcher: Path, cache: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the rounds in the environment with Triton; SYCL's own runtime is the one that is loaded."""
    python = environments.triton_with_runtime()
    (cpu_device,) = python.parents[1].rglob("libintelocl.so")
    sources = [PACKAGE, ROOT, launcher]
    environment = {
        "PATH": "",
        "HOME": str(cache),
        "TRITON_CACHE_DIR": str(cache),
        "OCL_ICD_FILENAMES": str(cpu_device),
        "PYTHONPATH": os.pathsep.join(map(str, sources)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [str(python), str(ORDER), str(library), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@on_the_cpu_device
@pytest.mark.parametrize("kind", ["ctypes", "c"])
def test_no_round_is_wrong_on_the_queue_of_torch(
    library: Path, launcher: Path, tmp_path: Path, kind: str
) -> None:
    result = order(library, launcher, tmp_path, "torch", kind, str(ROUNDS))
    assert result.returncode == 0, result.stderr
    rounds, second, foreign, timing, late, none = result.stdout.splitlines()
    assert rounds == f"wrong 0 of {ROUNDS}"
    assert second == "second stream wrong 0 of 50"
    assert none == "no torch: torch is not imported"
    assert foreign.startswith("foreign stream: torch's current stream is of another SYCL context")
    assert timing == "device time: torch's queues do not measure device time"
    assert late.startswith("late torch: torch with an XPU came after kernels or arrays")


@on_the_cpu_device
@pytest.mark.parametrize("kind", ["ctypes", "c"])
def test_control_on_a_queue_of_our_own_is_wrong(
    library: Path, launcher: Path, tmp_path: Path, kind: str
) -> None:
    result = order(library, launcher, tmp_path, "own", kind, str(ROUNDS))
    assert result.returncode == 0, result.stderr
    wrong = int(result.stdout.split()[1])
    assert wrong > ROUNDS / 2


@pytest.mark.parametrize("release", SYCL)
def test_every_symbol_is_exported_by_the_library_of_its_major(release: str, tmp_path: Path) -> None:
    linux, windows = SYCL[release]
    shared = environments.sycl_runtime(release).parents[1] / "lib" / linux
    listing = [program("nm"), "--dynamic", "--defined-only", str(shared)]
    defined = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.split()
    assert set(_torch_queue.LIBRARIES[linux]) <= set(defined)
    (wheel,) = (
        path for path in download_wheels((f"intel-sycl-rt=={release}",), "3.13", tmp_path)
        if path.name.startswith("intel_sycl_rt")
    )  # fmt: skip
    with zipfile.ZipFile(wheel) as archive:
        (member,) = (name for name in archive.namelist() if name.endswith(f"/{windows}"))
        path = Path(archive.extract(member, tmp_path))
    exported = {export.name for export in read_library(path).exports}
    assert set(_torch_queue.LIBRARIES[windows]) <= exported


def refusal(*libraries: Path) -> str:
    """Return what a process says that holds these libraries and asks for SYCL."""
    lines = [
        "import ctypes",
        *(f"ctypes.CDLL({str(library)!r})" for library in libraries),
        "from intel_xpu_runtime_dev import NotFoundError",
        "from intel_xpu_runtime_dev.triton._torch_queue import Sycl",
        "try: Sycl()",
        "except NotFoundError as error: print(error)",
    ]
    command = [sys.executable, "-c", "\n".join(lines)]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_sycl_that_is_not_there_is_refused() -> None:
    told = refusal()
    assert "its SYCL library is not known" in told
    assert "wanted: one of libsycl.so.8, libsycl.so.9, " in told
    assert "found: none of them" in told
    assert 'do this: activate(queue="own")' in told


def test_sycl_without_the_function_is_refused(tmp_path: Path) -> None:
    """A library of a known name whose exports are others."""
    source = tmp_path / "empty.c"
    source.write_text("int nothing;\n")
    library = tmp_path / "libsycl.so.9"
    subprocess.run([program("cc", "gcc"), "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    told = refusal(library)
    assert "its SYCL library lacks a function" in told
    assert "_ZNK4sycl3_V15queue9getNativeERi" in told
    assert f"looked in: {library}" in told


@pytest.mark.parametrize(("available", "expected"), [(True, "xpu"), (False, None)])
def test_torch_counts_once_it_has_an_xpu(
    available: bool, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert _torch_queue.torch_xpu() is False
    torch = types.ModuleType("torch")
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert _torch_queue.torch_xpu() is False  # while it is being imported
    torch.xpu = types.SimpleNamespace(is_available=lambda: available)  # type: ignore[attr-defined]
    assert _torch_queue.torch_xpu() is (torch.xpu if expected else None)
