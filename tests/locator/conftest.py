"""What the locator's tests share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from intel_xpu_runtime_dev._components import COMPONENTS


@pytest.fixture
def empty_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make the machine look as if nothing was installed; return the folder that stands for its system folder."""
    for component in COMPONENTS.values():
        for name, _ in component.variables:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(component, "system_folders", (str(tmp_path / "system"),))
        monkeypatch.delitem(sys.modules, component.package, raising=False)
    for name in ("CONDA_BUILD", "CONDA_PREFIX", "PREFIX", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "prefix"))
    return tmp_path / "system"
