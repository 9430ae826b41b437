"""The site serves pip, uv and conda clients by name."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
import venv
from pathlib import Path

import pytest
from pypi_simple import PyPISimple
from rattler.platform import SubdirLiteral

from tests.conda.environments import ensure
from tests.support.needs import program
from tests.windows import prefix as windows
from tests.windows.interpreters import WindowsPython
from tests.windows.wine import Wine

pytestmark = pytest.mark.xdist_group("release")

SHOW = "import intel_xpu_runtime_dev as x; print(x.find_sdk('level-zero').via, x.find_sdk('unified-runtime').version)"
NEWEST = "wheel level-zero-devel 2026.2.0"


def test_pip_installs_by_name(site: str, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--isolated", "--index-url", f"{site}/simple"]
    subprocess.run([*install, "intel-xpu-runtime-dev"], check=True, capture_output=True)
    shown = subprocess.run([python, "-I", "-c", SHOW], check=True, capture_output=True, text=True)
    assert shown.stdout.strip() == NEWEST


def test_uv_installs_by_name(site: str, tmp_path: Path) -> None:
    uv = program("uv")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    subprocess.run(
        [uv, "venv", "--python", sys.executable, "env"],
        cwd=tmp_path, env=environment, check=True, capture_output=True,
    )  # fmt: skip
    python = tmp_path / "env" / "bin" / "python"
    install = [uv, "pip", "install", "--python", str(python), "--no-cache", "--index-url", f"{site}/simple"]
    subprocess.run([*install, "intel-xpu-runtime-dev"], env=environment, check=True, capture_output=True)
    shown = subprocess.run([python, "-I", "-c", SHOW], check=True, capture_output=True, text=True)
    assert shown.stdout.strip() == NEWEST


def test_windows_pip_installs_by_name(site: str, wine: Wine) -> None:
    with tempfile.TemporaryDirectory(dir=wine.drive_c) as folder:
        _install_and_show(windows.python(wine, "3.11").copy(Path(folder, "python")), site)


def _install_and_show(python: WindowsPython, site: str) -> None:
    install = ["-m", "pip", "install", "--isolated", "--no-warn-script-location", "--index-url"]
    python.run(*install, f"{site}/simple", "intel-xpu-runtime-dev", timeout=300)
    assert python.run("-c", SHOW).stdout.strip() == NEWEST
    assert (python.folder / "Library" / "lib" / "ze_loader.lib").is_file()


def test_pages_say_what_clients_ask_for(site: str, release: Path) -> None:
    with PyPISimple(f"{site}/simple/") as client:
        assert set(client.get_index_page().projects) == {
            "intel-xpu-runtime-dev", "intel-xpu-triton-launcher", "level-zero-devel", "unified-runtime-devel",
        }  # fmt: skip
        page = client.get_project_page("level-zero-devel")
        for package in page.packages:
            assert package.requires_python == ">=3.9"
            assert package.has_metadata
            assert package.metadata_digests
            metadata = client.get_package_metadata(package)  # verified against the page
            assert "Name: level-zero-devel" in metadata
    assert {package.filename for package in page.packages} == {
        path.name for path in release.glob("level_zero_devel-*.whl")
    }


def test_json_agrees_with_the_pages(site: str) -> None:
    with urllib.request.urlopen(f"{site}/simple/level-zero-devel/index.json") as answer:
        listed = json.load(answer)
    with PyPISimple(f"{site}/simple/") as client:
        page = client.get_project_page("level-zero-devel")
    assert {file["filename"]: file["hashes"] for file in listed["files"]} == {
        package.filename: package.digests for package in page.packages
    }
    assert listed["versions"] == ["1.20.6", "1.32.0"]


@pytest.mark.parametrize("platform", ["linux-64", "win-64"])
def test_conda_solves_over_http(platform: SubdirLiteral, site: str, tmp_path: Path) -> None:
    prefix = tmp_path / "env"
    records = ensure(prefix, platform, [f"{site}/conda"], ["level-zero-devel", "unified-runtime-devel"])
    assert all(str(record.url).startswith(site) for record in records)
    root = prefix / "Library" if platform == "win-64" else prefix
    assert (root / "opt" / "level-zero" / "include" / "level_zero" / "ze_api.h").is_file()
