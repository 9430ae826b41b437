"""Triton's compiler and our driver on virtual GPUs: everything is compiled and submitted, and no number is claimed."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from repack.launcher import build_launcher_wheel

from tests.doubles import residency_layer, torch_xpu
from tests.support import environments
from tests.support.wheels import ROOT, staged
from tests.virtual_gpu.root import DEVICES, Root, root

RELEASE = "2026.2.0"
LARGE_REGISTERS = "-cl-intel-256-GRF-per-thread"
CHILD = Path(__file__).with_name("triton_child.py")

pytestmark = pytest.mark.xdist_group("virtual-gpu")


@pytest.fixture(scope="module")
def gpu_root() -> Root:
    """Return the root with Intel's driver."""
    return root()


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the C launcher, unpacked."""
    folder = tmp_path_factory.mktemp("launcher")
    with zipfile.ZipFile(build_launcher_wheel("linux_x86_64", folder / "wheel")) as archive:
        archive.extractall(folder)
    return folder


def child(
    gpu_root: Root, device: str, launcher: Path, home: Path, *words: str, layer: Path | None = None, adapter: int = 1
) -> dict[str, Any]:  # fmt: skip
    """Run the child on a virtual GPU, by one of Unified Runtime's Level Zero adapters; return its report."""
    python = environments.triton_with_runtime(RELEASE)
    linker, option, libraries = gpu_root.launcher
    folders = [*([layer] if layer else []), libraries, python.parents[1] / "lib"]
    sources = [ROOT / "wheels/intel-xpu-runtime-dev/src", ROOT, launcher]
    environment = {
        "PATH": "",
        "HOME": str(home),
        "TRITON_CACHE_DIR": str(home),
        "PYTHONPATH": os.pathsep.join(map(str, sources)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "UR_LOADER_USE_LEVEL_ZERO_V2": str(adapter - 1),
        **gpu_root.variables(device),
        **(residency_layer.VARIABLES if layer else {}),
    }
    command = [linker, option, os.pathsep.join(map(str, folders)), str(python), str(CHILD), *words]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    report: dict[str, Any] = json.loads(result.stdout)
    return report


@pytest.mark.parametrize("kind", ["c", "ctypes"])
@pytest.mark.parametrize("device", DEVICES)
def test_compiled_for_the_device_and_submitted(
    gpu_root: Root, launcher: Path, tmp_path: Path, device: str, kind: str
) -> None:
    report = child(gpu_root, device, launcher, tmp_path, kind)
    has_engines = device != "dg2"  # at sub-group size 16, with 2D block loads
    assert ("dpas" in report["layout"]) == has_engines
    assert report["matrix"] == has_engines
    assert report["block_reads"] == has_engines
    assert (report["threads_per_warp"] == 16) == has_engines
    # The first build spills more than Triton's limit, the second with the large register file less.
    assert report["small_spill"] > 1000
    assert report["spill"] < report["small_spill"]
    assert report["flags"] == LARGE_REGISTERS
    assert report["registers"] == 256


@pytest.mark.parametrize(("adapter", "kind"), [(1, "ctypes"), (2, "c")])
def test_native_queue_of_sycl_is_taken_over_on_level_zero(
    gpu_root: Root, launcher: Path, tmp_path: Path, adapter: int, kind: str
) -> None:
    library = torch_xpu.build(environments.sycl_runtime(RELEASE).parents[1], tmp_path)
    layer = residency_layer.folder(staged("level-zero", "1.32.0", "linux_x86_64") / "include")
    report = child(gpu_root, "bmg", launcher, tmp_path, kind, str(library), layer=layer, adapter=adapter)
    # Level Zero, an immediate command list.
    assert report == {"follows_torch": True, "backend": 1, "description": 1}
