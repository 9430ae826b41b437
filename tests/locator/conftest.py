"""What the locator's tests share."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest
from intel_xpu_runtime_dev._components import COMPONENTS

from tests.locator.installs import call


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


@pytest.fixture(scope="session")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheelhouse")
    project = Path(__file__).resolve().parents[2] / "wheels" / "intel-xpu-runtime-dev"
    call([sys.executable, "-m", "build", "-n", "--wheel", "--outdir", folder, project])
    for name, version, files in (
        ("level_zero_devel", "1.32.0", ("include/level_zero/ze_api.h", "lib/libze_loader.so")),
        ("unified_runtime_devel", "2026.2.0", ("include/unified-runtime/ur_api.h", "lib/libur_loader.so")),
    ):
        with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as z:
            z.writestr(f"{name}/__init__.py", "")
            for f in files:
                z.writestr(f"{name}/{f}", "")
            z.writestr(f"{name}/manifest.json", f'{{"version": "{version}"}}')
            i = f"{name}-{version}.dist-info"
            z.writestr(f"{i}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            z.writestr(
                f"{i}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            z.writestr(f"{i}/RECORD", "")
            z.writestr(f"{i}/entry_points.txt", f"[pkg_config]\n{name} = {name}.lib.pkgconfig\n")
            z.writestr(
                f"{name}/lib/pkgconfig/level-zero.pc",
                "Name: x\nDescription: x\nVersion: 1\nCflags: -I${pcfiledir}/../../include\n",
            )
    return folder
