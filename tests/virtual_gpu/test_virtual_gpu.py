"""`xpu-dev smoke` through Intel's driver on virtual GPUs: stages 1 to 8 are real, stage 9 must not pass."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.smoke.installs import Answer, Install
from tests.virtual_gpu.root import DEVICES, Root, root

KERNELS = ("add", "softmax", "matmul")
# Bytes that a work-item of the matmul kernel spills, sub-group 16. They move with the driver's compiler, by how much
# nobody promises; that they differ between the products shows that each was compiled for itself.
SPILLS = {"pvc": 2816, "bmg": 3200, "dg2": 10432}
DEVICE_IDS = {"pvc": "0x0bd5", "bmg": "0xe202", "dg2": "0x4f80"}

pytestmark = pytest.mark.xdist_group("virtual-gpu")


@pytest.fixture(scope="module")
def gpu_root() -> Root:
    """Return the root with Intel's driver."""
    return root()


def smoke(gpu_root: Root, device: str, cache: Path, *words: str | Path) -> Answer:
    """Run smoke by Level Zero on a virtual GPU."""
    return Install("2026.2.0").smoke(
        cache, "--backend", "level-zero", "--device", "gpu", "--runtime", gpu_root.loader,
        "--launcher", shlex.join(gpu_root.launcher), *words, packages=None, **gpu_root.variables(device),
    )  # fmt: skip


def stages(run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the stages of a run by name."""
    return {stage["name"]: stage for stage in run["stages"]}


@pytest.mark.parametrize("device", DEVICES)
def test_stages_1_to_8_are_real_and_stage_9_does_not_pass(
    gpu_root: Root, device: str, tmp_path: Path
) -> None:
    answer = smoke(gpu_root, device, tmp_path, "--host", "compiled", "--json")
    assert answer.code == 1
    report = answer.report
    assert [run["kernel"] for run in report["runs"]] == list(KERNELS)
    assert report["device"]["type"] == "gpu"
    assert DEVICE_IDS[device] in report["device"]["name"]
    assert report["runtime"]["path"] == str(gpu_root.loader)
    for run in report["runs"]:
        found = stages(run)
        statuses = [stage["status"] for stage in run["stages"]]
        assert statuses == ["ok"] * 8 + ["failed", "skipped"], run
        assert run["verdict"] == "not executed"
        assert run["max_error"] is None
        assert "this device does not execute" in found["launch"]["detail"]
        assert re.search(
            r"[1-9]\d{3,} bytes out and in again, registers \d+", found["native-binary"]["detail"]
        )
        assert "sub-group 16" in found["properties"]["detail"]


def test_spill_sizes_are_each_products_own(gpu_root: Root, tmp_path: Path) -> None:
    told = {}
    for device in DEVICES:
        answer = smoke(gpu_root, device, tmp_path, "--kernel", "matmul", "--host", "ctypes", "--json")
        match = re.match(r"spill (\d+) bytes", answer.stages["properties"]["detail"])
        assert match, answer.stages["properties"]
        told[device] = int(match[1])
    assert len(set(told.values())) == len(DEVICES), told
    for device, spill in told.items():
        assert SPILLS[device] / 4 < spill < SPILLS[device] * 4, told


def test_sub_group_of_32_on_pvc(gpu_root: Root, tmp_path: Path) -> None:
    answer = smoke(gpu_root, "pvc", tmp_path, "--kernel", "add", "--sub-group", "32", "--json")
    assert "sub-group 32" in answer.stages["properties"]["detail"]
    assert answer.run["verdict"] == "not executed"


def test_people_read_that_the_device_does_not_execute(gpu_root: Root, tmp_path: Path) -> None:
    answer = smoke(gpu_root, "bmg", tmp_path, "--kernel", "add")
    assert answer.code == 1
    assert re.search(r"9 launch +failed .*this device does not execute", answer.stdout)
    assert "add: not executed on Intel(R) Graphics [0xe202] (gpu)" in answer.stdout


def test_nothing_that_did_not_run_is_kept(gpu_root: Root, tmp_path: Path) -> None:
    """A native binary whose numbers nobody saw must not be what the next run starts from."""
    for _ in range(2):
        answer = smoke(gpu_root, "pvc", tmp_path, "--kernel", "add", "--json")
        assert answer.stages["build"]["status"] == "ok"
    assert not list(tmp_path.rglob("*.bin"))
