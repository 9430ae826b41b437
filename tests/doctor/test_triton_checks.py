"""The checks of Triton and PyTorch, each with both outcomes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from intel_xpu_runtime_dev.doctor import triton_checks
from intel_xpu_runtime_dev.doctor.findings import BROKEN, NOT_APPLICABLE, OK, WARNING
from intel_xpu_runtime_dev.doctor.triton_lookup import lookup, rules

from tests.doctor.machines import HEADER, IMPORT_LIBRARY, LINK_NAME, Layout, write
from tests.support.environments import triton


def test_one_owner(windows: Layout) -> None:
    assert triton_checks.owner(windows.machine()).verdict == NOT_APPLICABLE
    windows.install("triton-xpu", "3.7.2")
    assert triton_checks.owner(windows.machine()).verdict == OK


@pytest.mark.parametrize("other", ["triton", "triton-windows", "pytorch-triton-xpu"])
def test_several_owners(windows: Layout, other: str) -> None:
    windows.install("triton-xpu", "3.7.2")
    windows.install(other, "3.5.0")
    finding = triton_checks.owner(windows.machine())
    assert finding.verdict == BROKEN
    assert finding.fix.startswith("pip uninstall -y ")
    keep = "pytorch-triton-xpu" if other == "pytorch-triton-xpu" else "triton-xpu"
    assert finding.fix.endswith(f"then pip install {keep}")


def test_owner_without_intels_backend(windows: Layout) -> None:
    windows.install("triton-windows", "3.5.0")
    assert triton_checks.owner(windows.machine()).verdict == WARNING


@pytest.mark.parametrize("version", ["3.3.1", "3.6.0", "3.7.2", "3.8.0"])
def test_overlay_is_found_with_no_variable(windows: Layout, version: str) -> None:
    windows.install("triton-xpu", version)
    windows.install_sycl("2025.3.3", "lib/sycl8.lib", "lib/sycl.lib")
    windows.install_overlay()
    finding = triton_checks.level_zero(windows.machine())
    assert finding.verdict == OK
    assert all("intel-sycl-rt" in detail for detail in finding.details)


def test_without_the_header_and_without_the_library(windows: Layout) -> None:
    windows.install("triton-xpu", "3.7.2")
    windows.install_sycl("2025.3.3", "lib/sycl.lib")
    windows.install_overlay()
    (windows.overlay / IMPORT_LIBRARY).unlink()
    finding = triton_checks.level_zero(windows.machine())
    assert finding.verdict == BROKEN
    assert "finds no ze_loader library" in finding.found
    write(windows.overlay / IMPORT_LIBRARY)
    (windows.overlay / HEADER).unlink()
    assert "finds no level_zero/ze_api.h" in triton_checks.level_zero(windows.machine()).found


def test_version_3_2_on_windows_searches_no_library_folder(windows: Layout) -> None:
    windows.install("triton-xpu", "3.2.0")
    windows.install_sycl("2025.0.0", "lib/sycl.lib")
    windows.install_overlay()
    assert "finds no ze_loader library" in triton_checks.level_zero(windows.machine()).found


def test_variable_of_each_version(windows: Layout) -> None:
    """3.3.0 reads ZE_PATH only; later ones LEVEL_ZERO_V1_SDK_PATH before it."""
    windows.environ.update(LEVEL_ZERO_V1_SDK_PATH=str(windows.kit("new")), ZE_PATH=str(windows.kit("old")))
    for version, via, root in (("3.3.0", "ZE_PATH", "old"), ("3.3.1", "LEVEL_ZERO_V1_SDK_PATH", "new")):
        found = lookup(windows.machine(), rules(version))
        assert (found.via, Path(found.root).name) == (via, root)


def test_linux_needs_the_library_where_the_linker_looks(linux: Layout) -> None:
    linux.install("triton-xpu", "3.7.2")
    linux.install_sycl()
    kit = linux.kit("kit")
    linux.environ["LEVEL_ZERO_V1_SDK_PATH"] = str(kit)
    assert "finds no ze_loader library" in triton_checks.level_zero(linux.machine()).found
    linux.environ["LIBRARY_PATH"] = str(kit / "lib")
    assert triton_checks.level_zero(linux.machine()).verdict == OK


def test_header_and_library_from_one_kit(windows: Layout) -> None:
    windows.install("triton-xpu", "3.7.2")
    windows.environ["LEVEL_ZERO_V1_SDK_PATH"] = str(windows.kit("kit"))
    assert triton_checks.one_origin(windows.machine()).verdict == OK


def test_header_from_the_variable_and_library_from_the_overlay(windows: Layout) -> None:
    windows.install("triton-xpu", "3.7.2")
    windows.install_sycl("2026.2.0", "lib/sycl.lib")
    windows.install_overlay()
    windows.environ["LEVEL_ZERO_V1_SDK_PATH"] = str(windows.kit("kit"))
    finding = triton_checks.one_origin(windows.machine())
    assert finding.verdict == WARNING
    assert "kit" in finding.found
    assert str(windows.overlay / "lib") in finding.found


def test_good_variable(linux: Layout) -> None:
    assert triton_checks.dead_variable(linux.machine()).verdict == NOT_APPLICABLE
    linux.environ["LEVEL_ZERO_V1_SDK_PATH"] = str(linux.kit("kit"))
    assert triton_checks.dead_variable(linux.machine()).verdict == OK


@pytest.mark.parametrize("value", ["", "/nowhere", '"{kit}"'])
def test_dead_variable_hides_the_next(linux: Layout, value: str) -> None:
    kit = linux.kit("kit")
    linux.environ.update(LEVEL_ZERO_V1_SDK_PATH=value.format(kit=kit), ZE_PATH=str(kit))
    finding = triton_checks.dead_variable(linux.machine())
    assert finding.verdict == WARNING
    assert f"hides ZE_PATH={kit}" in finding.found


@pytest.mark.parametrize("folder", ["sycl", "unified-runtime"])
def test_shadowing(linux: Layout, folder: str) -> None:
    linux.install("triton-xpu", "3.7.2")
    kit = linux.kit("kit")
    linux.environ["LEVEL_ZERO_V1_SDK_PATH"] = str(kit)
    assert triton_checks.shadowing(linux.machine()).verdict == OK
    (kit / "include" / folder).mkdir()
    finding = triton_checks.shadowing(linux.machine())
    assert finding.verdict == WARNING
    assert folder in finding.found


def test_overlay_is_searched(windows: Layout) -> None:
    windows.install_overlay()
    assert triton_checks.overlay(windows.machine()).verdict == OK


def test_icpx_turns_the_overlay_off(windows: Layout) -> None:
    windows.install_overlay()
    windows.program("icpx")
    finding = triton_checks.overlay(windows.machine())
    assert finding.verdict == WARNING
    assert "icpx on PATH" in finding.found


def test_oneapi_root_turns_the_overlay_off(windows: Layout) -> None:
    windows.install_overlay()
    windows.environ["ONEAPI_ROOT"] = r"C:\oneapi"
    assert "ONEAPI_ROOT" in triton_checks.overlay(windows.machine()).found


def test_overlay_is_windows_only(linux: Layout) -> None:
    assert triton_checks.overlay(linux.machine()).verdict == NOT_APPLICABLE


def test_one_prefix(windows: Layout) -> None:
    windows.install_sycl()
    windows.install_overlay()
    assert triton_checks.one_prefix(windows.machine()).verdict == OK


def test_two_prefixes(windows: Layout) -> None:
    base = windows.folder / "base" / "Lib" / "site-packages"
    windows.sites = [windows.site, base]
    windows.install("intel-sycl-rt", "2025.3.3", "Library/include/sycl/sycl.hpp", site=base)
    windows.install_overlay()
    finding = triton_checks.one_prefix(windows.machine())
    assert finding.verdict == WARNING
    assert str(base) in finding.found


@pytest.mark.parametrize(
    ("version", "release", "library", "verdict"),
    [
        ("3.3.1", "2025.3.3", "lib/sycl8.lib", OK),
        ("3.6.0", "2026.2.0", "lib/sycl.lib", BROKEN),
        ("3.7.2", "2025.3.3", "lib/sycl.lib", OK),
        ("3.8.0", "2026.2.0", "lib/sycl.lib", OK),
        ("3.7.2", "2026.2.0", "lib/other.lib", BROKEN),
    ],
)
def test_sycl_that_triton_takes(
    windows: Layout, version: str, release: str, library: str, verdict: str
) -> None:
    windows.install("triton-xpu", version)
    windows.install_sycl(release, library)
    finding = triton_checks.sycl(windows.machine())
    assert finding.verdict == verdict
    if verdict == BROKEN:
        assert "pip install intel-sycl-rt==" in finding.fix


def test_no_sycl_at_all(linux: Layout) -> None:
    linux.install("triton-xpu", "3.6.0")
    assert triton_checks.sycl(linux.machine()).verdict == BROKEN
    linux.program("icpx")
    assert triton_checks.sycl(linux.machine()).verdict == OK


@pytest.mark.parametrize(
    ("version", "text", "verdict"),
    [
        ("2.9.0+xpu", "", OK),
        ("2.9.0", "xpu: Optional[str] = '20250302'\n", OK),
        ("2.9.0", "xpu: Optional[str] = None\n", WARNING),
        ("2.9.0+cpu", "", WARNING),
    ],
)
def test_torch(linux: Layout, version: str, text: str, verdict: str) -> None:
    assert triton_checks.torch(linux.machine()).verdict == NOT_APPLICABLE
    linux.install("torch", version)
    write(linux.site / "torch" / "version.py", text)
    assert triton_checks.torch(linux.machine()).verdict == verdict


def test_inductor_on_windows(windows: Layout) -> None:
    assert triton_checks.inductor(windows.machine()).verdict == NOT_APPLICABLE
    windows.install("torch", "2.9.0+xpu")
    finding = triton_checks.inductor(windows.machine())
    assert finding.verdict == WARNING
    assert "icpx" in finding.found
    assert "LEVEL_ZERO_V1_SDK_PATH" in finding.found
    windows.program("icpx")
    windows.environ["LEVEL_ZERO_V1_SDK_PATH"] = str(windows.kit("kit"))
    assert triton_checks.inductor(windows.machine()).verdict == OK


def test_inductor_on_linux(linux: Layout) -> None:
    linux.install("torch", "2.9.0+xpu")
    linux.environ["SYCL_HOME"] = "/opt/intel/oneapi/compiler/latest"
    assert "libze_loader.so" in triton_checks.inductor(linux.machine()).found
    linux.cache.append(("libze_loader.so.1", Path("/usr/lib/libze_loader.so.1")))
    assert triton_checks.inductor(linux.machine()).verdict == OK


def test_cache_older_than_the_kit(windows: Layout) -> None:
    windows.install_overlay()
    cache = windows.folder / "cache"
    windows.environ["TRITON_CACHE_DIR"] = str(cache)
    assert triton_checks.cache(windows.machine()).verdict == NOT_APPLICABLE
    module = write(cache / "KEY" / "module.pyd").parent
    installed = (windows.overlay / HEADER).parent.stat().st_mtime
    os.utime(module, (installed + 60, installed + 60))
    assert triton_checks.cache(windows.machine()).verdict == OK
    os.utime(module, (installed - 60, installed - 60))
    finding = triton_checks.cache(windows.machine())
    assert finding.verdict == WARNING
    assert finding.found.startswith("1 of the 1 modules")


ASK_TRITON = """
import json
from triton.backends.intel.driver import CompilationHelper
helper = CompilationHelper()
print(json.dumps([helper.include_dir, helper.library_dir]))
"""


@pytest.mark.parametrize("source", ["wheel", "icpx", "oneapi"])
@pytest.mark.parametrize("variable", [None, "", "kit"])
def test_same_folders_as_triton_itself(linux: Layout, source: str, variable: str | None) -> None:
    """Triton 3.3.0's own code, asked in a process of its own."""
    linux.install_sycl()
    linux.install("triton-xpu", "3.3.0")
    if source == "icpx":
        linux.program("icpx").chmod(0o755)
    if source == "oneapi":
        linux.environ["ONEAPI_ROOT"] = str(linux.folder / "oneapi")
    if variable is not None:
        linux.environ["ZE_PATH"] = variable and str(linux.kit(variable))
    python = triton()
    environment = {"PATH": "/usr/bin:/bin", **linux.environ, "PYTHONPATH": str(linux.site)}
    answer = subprocess.run(
        [python, "-c", ASK_TRITON], env=environment, capture_output=True, text=True, check=True
    )
    includes, libraries = json.loads(answer.stdout)
    ours = lookup(linux.machine(), rules("3.3.0"))
    # Behind these come Triton's own two folders.
    assert [str(folder) for folder, _ in ours.includes] == includes[:-1]
    assert [str(folder) for folder, _ in ours.libraries] == libraries[:-1]


def test_link_name_counts_for_triton_on_linux(linux: Layout) -> None:
    linux.install("triton-xpu", "3.7.2")
    linux.install_sycl()
    write(linux.root / "usr" / HEADER)
    write(linux.root / "usr" / LINK_NAME)
    assert triton_checks.level_zero(linux.machine()).verdict == OK


@pytest.mark.parametrize("layout", ["windows", "linux"])
def test_without_a_compiler_our_driver_is_recommended(layout: str, request: pytest.FixtureRequest) -> None:
    machine: Layout = request.getfixturevalue(layout)
    command = "xpu-dev run --triton-driver ur -- python SCRIPT"
    assert command not in triton_checks.compiler(machine.machine()).fix  # no Triton, nothing to launch
    machine.install("triton-xpu", "3.7.2")
    finding = triton_checks.compiler(machine.machine())
    assert finding.verdict == BROKEN
    assert finding.fix.endswith(f"; or do without one (with intel-cmplr-lib-ur installed): {command}")
    machine.install("intel-cmplr-lib-ur", "2026.2.0")
    assert triton_checks.compiler(machine.machine()).fix.endswith(f"; or do without one: {command}")


def test_with_a_compiler_it_is_not(linux: Layout) -> None:
    linux.install("triton-xpu", "3.7.2")
    linux.program("clang")
    finding = triton_checks.compiler(linux.machine())
    assert (finding.verdict, finding.fix) == (OK, "")
