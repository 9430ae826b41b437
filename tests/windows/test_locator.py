"""The locator's own tests, under every Windows Python that it supports."""

from __future__ import annotations

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
    # Not the repository's settings: they ask for a pytest that Python 3.9 does not have.
    settings = tmp_path / "pytest.ini"
    settings.write_text("[pytest]\nfilterwarnings = error\nxfail_strict = true\n")
    python = prefix.python(wine, version).with_pytest()
    search_path = ";".join(wine.windows_path(folder) for folder in (SOURCE, ROOT))

    result = python.run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib",
        "-c", settings, "--rootdir", ROOT, "--confcutdir", ROOT / "tests" / "locator",
        *(ROOT / "tests" / "locator" / module for module in MODULES),
        env={"PYTHONPATH": search_path, "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )  # fmt: skip

    assert result.returncode == 0, result.stdout + result.stderr
    assert " passed" in result.stdout
