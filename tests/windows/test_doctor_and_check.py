"""`doctor`, `check` and `api` as Windows programs: a registry, system folders and Intel's DLLs for real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.check.downloads import LINKED_RELEASE, WINDOWS, wheel
from tests.windows import prefix
from tests.windows.interpreters import WindowsPython
from tests.windows.wine import Wine

SOURCE = Path(__file__).resolve().parents[2] / "wheels" / "intel-xpu-runtime-dev" / "src"

# One test writes a driver into the registry that another one reads.
pytestmark = pytest.mark.xdist_group("windows-doctor")


def xpu_dev(python: WindowsPython, *words: str | Path, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Run the command line; return exit code and output."""
    paths = {"PYTHONPATH": python.wine.windows_path(SOURCE), **(env or {})}
    result = python.run("-m", "intel_xpu_runtime_dev", *words, env=paths, check=False)
    assert "Traceback" not in result.stderr, result.stderr
    return result.returncode, result.stdout


def verdicts(
    python: WindowsPython, *words: str, env: dict[str, str] | None = None
) -> dict[str, dict[str, object]]:
    """Return what each check of the doctor finds."""
    _, output = xpu_dev(python, "doctor", "--json", *words, env=env)
    return {each["check"]: each for each in json.loads(output)["checks"]}


@pytest.mark.parametrize("version", ["3.9", "3.13"])
def test_doctor(version: str, wine: Wine) -> None:
    found = verdicts(prefix.python(wine, version))
    assert found["compiler"]["verdict"] == "broken"
    assert found["loader"]["verdict"] == "broken"
    assert "the registry" in str(found["drivers"]["found"])
    assert found["render-nodes"]["verdict"] == "not applicable"
    assert "long paths are" in str(found["long-paths"]["found"])


def test_driver_in_the_registry(wine: Wine) -> None:
    python = prefix.python(wine, "3.11")
    key = r"HKLM\SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}\0009"
    wine.run(
        [
            "reg",
            "add",
            key,
            "/v",
            "LevelZeroDriverPath",
            "/t",
            "REG_SZ",
            "/d",
            r"C:\gone\ze_intel_gpu64.dll",
            "/f",
        ]
    )
    try:
        finding = verdicts(python, "--for", "triton")["drivers"]
    finally:
        wine.run(["reg", "delete", key, "/f"])
    assert finding["verdict"] == "broken"
    assert r"C:\gone\ze_intel_gpu64.dll is registered but not there" in str(finding["found"])


def test_intels_runtime_and_a_loader_on_path(wine: Wine, tmp_path: Path) -> None:
    python = prefix.python(wine, "3.11").with_intel_runtime("2026.2.0")
    # A DLL with a version resource stands in for a second loader.
    second = tmp_path / "ze_loader.dll"
    second.write_bytes((python.folder / "Library" / "bin" / "ur_loader_shared.dll").read_bytes())
    found = verdicts(python, env={"WINEPATH": wine.windows_path(tmp_path)})
    assert "2026.2.0" in str(found["unified-runtime"]["found"])
    assert found["cpu-device"]["verdict"] == "ok"
    assert "ze_loader.dll (PATH)" in str(found["loader"]["found"])


def test_check_and_api(wine: Wine) -> None:
    python = prefix.python(wine, "3.9")
    path = wheel(f"intel-cmplr-lib-ur=={LINKED_RELEASE}", WINDOWS)
    code, output = xpu_dev(python, "check", "--json", path)
    assert code == 1
    files = {each["name"].rpartition("/")[2]: each for each in json.loads(output)["files"]}
    adapter = files["ur_adapter_level_zero.dll"]["level-zero"]
    assert adapter["lowest"] == "1.13.0"
    assert adapter["verdict"]["reason"] == "this machine has no Level Zero"
    assert xpu_dev(python, "api", "zeInitDrivers") == (
        0,
        "zeInitDrivers: Level Zero since 1.18.0, still in 1.32.0\n",
    )
