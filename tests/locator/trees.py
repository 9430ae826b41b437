"""Folders that look like development kits; only the names of the files matter to a search.

Runs on every Python that the locator supports, on Windows too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import intel_xpu_runtime_dev
import pytest
from intel_xpu_runtime_dev._components import COMPONENTS, WINDOWS, Component

LEVEL_ZERO = COMPONENTS["level-zero"]
UNIFIED_RUNTIME = COMPONENTS["unified-runtime"]
SYCL = COMPONENTS["sycl"]


def touch(path: Path, text: str = "") -> Path:
    """Make a file with its folders; return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def kit(root: Path, component: Component = LEVEL_ZERO, *, library: str = "") -> Path:
    """Make a development kit's root; return it."""
    touch(root / "include" / component.header)
    touch(root / "lib" / (library or component.link_files[-1]))
    return root


def wheel_kit(site: Path, component: Component = LEVEL_ZERO, version: str = "1.32.0") -> Path:
    """Make what an SDK wheel installs into `site`; return the root."""
    root = kit(site / component.package, component)
    touch(root / "__init__.py")
    touch(root / "manifest.json", json.dumps({"version": version}))
    return root


def conda_prefix(prefix: Path, *packages: str) -> Path:
    """Make an environment's folder with the records of packages, each NAME-VERSION-BUILD; return it."""
    (prefix / "conda-meta").mkdir(parents=True)
    for package in packages:
        touch(prefix / "conda-meta" / f"{package}.json", "{}")
    return prefix


def conda_root(prefix: Path) -> Path:
    """Return the folder of a conda environment that has include and lib."""
    return prefix / "Library" if WINDOWS else prefix


def run_python(script: str) -> str:
    """Run a script in a fresh interpreter that has the locator under test; return what it prints."""
    source = str(Path(intel_xpu_runtime_dev.__file__).parents[1])
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r})\n{script}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return result.stdout


def on_path(monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    """Put a folder on `sys.path`, before the others, and forget what was imported before."""
    monkeypatch.syspath_prepend(str(site))
    for component in COMPONENTS.values():
        monkeypatch.delitem(sys.modules, component.package, raising=False)
