"""`xpu-dev smoke` from Windows Python, on Intel's CPU device: real Windows binaries, every number compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.windows import prefix
from tests.windows.interpreters import WindowsPython
from tests.windows.sdk_installs import RELEASE, compiled_ahead, our_wheels
from tests.windows.wine import Wine

pytestmark = pytest.mark.xdist_group("windows-smoke")


@pytest.fixture(scope="module", params=["3.11", "3.13"])
def installed(
    request: pytest.FixtureRequest, wine: Wine, tmp_path_factory: pytest.TempPathFactory
) -> WindowsPython:
    """Return a Windows Python with Intel's runtime and our wheels, all by its own pip."""
    base = prefix.python(wine, request.param).with_intel_runtime(RELEASE)
    python = base.copy(tmp_path_factory.mktemp("smoke") / "python")
    python.install(*our_wheels())
    return python


def smoke(python: WindowsPython, cache: Path, *words: str | Path) -> tuple[int, dict[str, Any]]:
    """Run `xpu-dev smoke --json` by the program that pip installed; return exit code and report."""
    result = python.wine.run(
        [python.folder / "Scripts" / "xpu-dev.exe", "smoke", "--json", "--device", "cpu", *words],
        env={"XPU_DEV_CACHE_DIR": python.wine.windows_path(cache)},
        timeout=300,
        check=False,
    )
    assert result.stdout.startswith("{"), result.stdout + result.stderr
    return result.returncode, json.loads(result.stdout)


def told(run: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return status and detail of each stage."""
    return {stage["name"]: (stage["status"], stage["detail"]) for stage in run["stages"]}


@pytest.mark.parametrize("host", ["mingw-w64", "zig", "ctypes"])
def test_every_number_is_right(installed: WindowsPython, tmp_path: Path, host: str) -> None:
    words: list[str | Path] = ["--host", "ctypes"]
    if host != "ctypes":
        words = ["--stub", compiled_ahead(installed, "unified-runtime", host, tmp_path)]
    code, report = smoke(installed, tmp_path / "cache", *words)
    assert code == 0, report
    assert [run["kernel"] for run in report["runs"]] == ["add", "softmax", "matmul"]
    for run in report["runs"]:
        stages = told(run)
        assert run["verdict"] == "right", run
        assert run["backend"] == "unified-runtime"
        assert run["max_error"] < 1e-5
        assert {name for name, (status, _) in stages.items() if status != "ok"} == {"compile", "link"}
        assert "from SPIR-V and from the native binary" in stages["launch"][1]
        assert "ur_loader_shared.dll" in stages["load"][1]
    assert report["device"]["type"] == "cpu"
    assert report["sdk"]["version"] == report["runtime"]["version"] == RELEASE


def test_sub_group_of_32_and_the_cached_binary(installed: WindowsPython, tmp_path: Path) -> None:
    words = ("--host", "ctypes", "--sub-group", "32", "--kernel", "softmax")
    for expected in ("ok", "skipped"):
        code, report = smoke(installed, tmp_path, *words)
        assert code == 0, report
        assert told(report["runs"][0])["build"][0] == expected


def test_a_stub_for_another_release_is_refused(installed: WindowsPython, tmp_path: Path) -> None:
    package = installed.site_packages / "unified_runtime_devel"
    stub = compiled_ahead(installed, "unified-runtime", "mingw-w64", tmp_path)
    content = stub.read_bytes()
    assert content.count(RELEASE.encode()) == 1, package
    stub.write_bytes(content.replace(RELEASE.encode(), b"2026.1.2"))
    code, report = smoke(installed, tmp_path, "--stub", stub, "--kernel", "add")
    assert code == 1
    status, detail = told(report["runs"][0])["load"]
    assert status == "failed"
    assert "2026.1.2" in detail
    assert RELEASE in detail


def test_no_compiler_is_no_obstacle(installed: WindowsPython, tmp_path: Path) -> None:
    code, report = smoke(installed, tmp_path, "--kernel", "add")
    assert code == 0, report
    assert told(report["runs"][0])["compile"][0] == "skipped"
    assert "no compiler" in told(report["runs"][0])["compile"][1]
