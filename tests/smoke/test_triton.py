"""`xpu-dev smoke --triton`: real `@triton.jit` kernels on Intel's CPU device by our driver, with an empty PATH; and how far
Triton's own driver comes without an XPU: its real stub, compiled against our kit."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.doubles import ze_loader
from tests.smoke.installs import Answer, Install
from tests.support import environments
from tests.support.needs import program
from tests.support.wheels import ROOT

pytestmark = pytest.mark.xdist_group("smoke-triton")

STAGES = ("locate", "driver", "build", "launch", "timing")
TORCH = ROOT / "tests" / "doubles" / "torch_without_queue"
SOURCES = ROOT / "wheels" / "intel-xpu-runtime-dev" / "src"


def smoke(folder: Path, *words: str, python: Path | None = None, **variables: Any) -> Answer:
    """Run `xpu-dev smoke --triton --json`; no traceback may come of it."""
    environment = {
        "PATH": "", "HOME": str(folder), "TMPDIR": str(folder),
        "PYTHONPATH": str(Install("2026.2.0").packages), **variables,
    }  # fmt: skip
    interpreter = str(python or environments.triton_with_runtime())
    command = [interpreter, "-m", "intel_xpu_runtime_dev", "smoke", "--triton", "--json", *words]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert "Traceback" not in result.stdout + result.stderr, result.stdout + result.stderr
    return Answer(result.returncode, result.stdout, result.stderr)


def failed(answer: Answer) -> tuple[str, str]:
    """Return the only failed stage and what it says."""
    (stage,) = (stage for stage in answer.run["stages"] if stage["status"] == "failed")
    return stage["name"], stage["detail"]


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_every_number_is_right_without_torch_and_compiler(tmp_path: Path, device: str) -> None:
    answer = smoke(tmp_path, "--device", device, *(["--kernel", "add"] if device == "auto" else []))
    assert answer.code == 0, answer.stdout + answer.stderr
    report = answer.report
    assert list(report) == ["sdk", "runtime", "device", "runs"]
    assert report["device"]["type"] == "cpu"
    assert report["runtime"]["version"] == "2026.2.0"
    kernels = [run["kernel"] for run in report["runs"]]
    assert kernels == (["add", "softmax", "matmul"] if device == "cpu" else ["add"])
    for run in report["runs"]:
        assert list(run) == ["kernel", "backend", "device", "verdict", "max_error", "stages"]
        assert (run["backend"], run["verdict"]) == ("triton-unified-runtime", "right")
        assert run["max_error"] < 1e-5
        assert tuple(stage["name"] for stage in run["stages"]) == STAGES
        assert {stage["status"] for stage in run["stages"]} == {"ok"}
        assert all(stage["seconds"] > 0 for stage in run["stages"])
    assert not list(tmp_path.rglob("*.native"))  # Triton's cache was a fresh one, and is gone


def test_people_see_numbered_stages(tmp_path: Path) -> None:
    environment = {"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": str(Install("2026.2.0").packages)}
    command = [str(environments.triton_with_runtime()), "-m", "intel_xpu_runtime_dev", "smoke", "--triton"]
    result = subprocess.run(
        [*command, "--device", "cpu", "--kernel", "add"], env=environment, capture_output=True, text=True
    )
    lines = [line.split() for line in result.stdout.splitlines()]
    numbered = [line for line in lines if line[0].isdigit()]
    assert [line[:3] for line in numbered] == [[str(i), name, "ok"] for i, name in enumerate(STAGES, 1)]
    assert lines[-1][:3] == ["add:", "right", "on"]


def test_wrong_numbers_are_wrong(tmp_path: Path) -> None:
    """The kernel's source is changed: what Triton compiles is what is compared."""
    packages = tmp_path / "packages"
    subprocess.run(["cp", "-r", str(Install("2026.2.0").packages), str(packages)], check=True)
    source = packages / "intel_xpu_runtime_dev" / "smoke" / "kernels" / "source.py"
    source.write_text(source.read_text().replace("x + y", "x - y"))
    answer = smoke(tmp_path, "--device", "cpu", "--kernel", "add", PYTHONPATH=str(packages))
    assert answer.code == 1
    assert answer.run["verdict"] == "wrong"
    stage, detail = failed(answer)
    assert stage == "launch"
    assert "are wrong, first" in detail


def test_without_triton(tmp_path: Path) -> None:
    answer = smoke(tmp_path, "--kernel", "add", python=Install("2026.2.0").python)
    assert answer.code == 1
    stage, detail = failed(answer)
    assert stage == "locate"
    assert "No module named 'triton'" in detail
    assert "do this: pip install triton-xpu" in detail


def test_without_the_device_is_exit_code_2(tmp_path: Path) -> None:
    answer = smoke(tmp_path, "--device", "gpu", "--kernel", "add")
    assert answer.code == 2
    stage, detail = failed(answer)
    assert stage == "driver"
    assert "there is: <CPU" in detail
    assert 'pip install "intel-xpu-runtime-dev[cpu]"' in detail


def test_a_hang_is_told(tmp_path: Path) -> None:
    hanging = tmp_path / "hanging"
    hanging.mkdir()
    (hanging / "triton.py").write_text("import time\ntime.sleep(600)\n")
    packages = f"{hanging}{os.pathsep}{Install('2026.2.0').packages}"
    stage, detail = failed(smoke(tmp_path, "--kernel", "add", "--timeout", "2", PYTHONPATH=packages))
    assert stage == "locate"
    assert "no answer within 2 s" in detail


@pytest.mark.parametrize("option", [["--stub", "file"], ["--backend", "level-zero"], ["--host", "ctypes"]])
def test_options_of_our_own_host_are_refused(tmp_path: Path, option: list[str]) -> None:
    answer = smoke(tmp_path, *option)
    assert answer.code == 1
    assert f"{option[0]} does not go with --triton" in answer.stderr
    assert not answer.stdout


class TestOwnDriver:
    """Triton's own driver, with a stand-in for torch that claims an XPU: its stub is real, and so is its compiler."""

    RELEASE = "2025.3.3"  # whose SYCL this Triton takes

    def smoke(
        self, folder: Path, *words: str, kit: bool = True, sycl: bool = True, **variables: Any
    ) -> Answer:
        """Run it with the kit and SYCL, or without."""
        folders = [TORCH, Install("2026.2.0").packages if kit else SOURCES]
        if sycl:
            folders += environments.sycl_runtime(self.RELEASE).parents[1].glob("lib/python*/site-packages")
        path = os.pathsep.join(str(Path(program(name)).parent) for name in ("clang++", "ld"))
        paths = os.pathsep.join(map(str, folders))
        return smoke(folder, "--kernel", "add", *words, PYTHONPATH=paths, PATH=path, **variables)

    def test_without_sycl(self, tmp_path: Path) -> None:
        stage, detail = failed(self.smoke(tmp_path, sycl=False))
        assert stage == "driver"
        assert "intel-sycl-rt" in detail
        assert "xpu-dev smoke --triton --device cpu" in detail  # what needs no compiler

    def test_without_our_kit_it_is_the_tickets_error(self, tmp_path: Path) -> None:
        answer = self.smoke(tmp_path, kit=False)
        stage, detail = failed(answer)
        assert answer.report["sdk"] is None
        assert stage == "driver"
        assert "fatal error: 'level_zero/ze_api.h' file not found" in detail

    def test_with_our_kit_its_stub_compiles_and_meets_no_loader(self, tmp_path: Path) -> None:
        answer = self.smoke(tmp_path, "--keep")
        assert answer.report["sdk"]["version"] == "1.32.0"
        stage, detail = failed(answer)
        assert stage == "driver"
        assert "libze_loader.so.1: cannot open shared object file" in detail
        assert len(list(tmp_path.rglob("spirv_utils.so"))) == 1

    def test_a_driver_that_crashes_is_a_finding(self, tmp_path: Path) -> None:
        ze_loader.build(tmp_path, "linux_x86_64")
        settings: dict[str, Any] = ze_loader.Settings(str(tmp_path / "calls.log")).variables()
        answer = self.smoke(tmp_path, LD_LIBRARY_PATH=str(tmp_path), **settings)
        stage, detail = failed(answer)
        assert stage == "driver"
        assert "signal 11" in detail

    def test_cpu_is_our_drivers(self, tmp_path: Path) -> None:
        answer = self.smoke(tmp_path, "--device", "cpu")
        assert answer.code == 0, json.dumps(answer.report, indent=1)
        assert answer.run["backend"] == "triton-unified-runtime"
