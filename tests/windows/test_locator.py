"""The locator's own tests, under every Windows Python that it supports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.windows import prefix
from tests.windows.prefix import PYTHONS
from tests.windows.wine import Wine

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "wheels" / "intel-xpu-runtime-dev" / "src"
# Those that need nothing but pytest.
MODULES = ("test_sdk.py", "test_runtime.py", "test_environment.py")


@pytest.mark.parametrize("version", PYTHONS)
def test_locators_own_tests_pass(version: str, wine: Wine, tmp_path: Path) -> None:
    run_tests(wine, version, tmp_path, *MODULES)


def test_cmd_takes_the_environment(wine: Wine, tmp_path: Path) -> None:
    # Many processes, and hardly a difference between the versions: once.
    run_tests(wine, "3.13", tmp_path, "test_cmd.py")


@pytest.mark.parametrize(
    ("release", "loader", "via"),
    [
        ("2025.3.3", "ur_loader.dll", "wheel intel-cmplr-lib-ur"),
        ("2026.2.0", "ur_loader_shared.dll", "wheel intel-cmplr-lib-rt"),
    ],
)
def test_intels_runtime_is_found_and_loaded(release: str, loader: str, via: str, wine: Wine) -> None:
    """Real DLLs, with those that they need in a folder that is not on PATH."""
    python = prefix.python(wine, "3.11").with_intel_runtime(release)
    script = (
        "import json, intel_xpu_runtime_dev as ours\n"
        "found = ours.find_runtime('unified-runtime')\n"
        "loaded = ours.load_runtime('unified-runtime')\n"
        "code = loaded.library.urLoaderInit(0, None)\n"
        "print(json.dumps([found, ours.find_runtime('unified-runtime'), code]))"
    )

    told = python.run("-c", script, env={"PYTHONPATH": wine.windows_path(SOURCE)}).stdout

    path = wine.windows_path(python.folder / "Library" / "bin" / loader)
    found, again, code = json.loads(told)
    assert found == [path, release, via, None]
    assert (again[0].lower(), again[1:]) == (path.lower(), [release, "already loaded", None])
    assert code == 0


def run_tests(wine: Wine, version: str, folder: Path, *modules: str) -> None:
    """Run modules of tests/locator under a Windows Python; all must pass."""
    # Not the repository's settings: they ask for a pytest that Python 3.9 does not have.
    settings = folder / "pytest.ini"
    settings.write_text("[pytest]\nfilterwarnings = error\nxfail_strict = true\n")
    python = prefix.python(wine, version).with_pytest()
    search_path = ";".join(wine.windows_path(folder) for folder in (SOURCE, ROOT))

    result = python.run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib",
        "-c", settings, "--rootdir", ROOT, "--confcutdir", ROOT / "tests" / "locator",
        *(ROOT / "tests" / "locator" / module for module in modules),
        env={"PYTHONPATH": search_path, "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )  # fmt: skip

    assert result.returncode == 0, result.stdout + result.stderr
    assert " passed" in result.stdout
