"""The search for development kits, on folders that look like them. Runs under Windows Python too."""

from __future__ import annotations

from pathlib import Path

import pytest
from intel_xpu_runtime_dev import NotFoundError, XpuDevError, find_sdk, get_include
from intel_xpu_runtime_dev._components import WINDOWS, Component
from intel_xpu_runtime_dev._sdk import sdk_attempts

from tests.locator.trees import (
    LEVEL_ZERO,
    SYCL,
    UNIFIED_RUNTIME,
    conda_prefix,
    conda_root,
    kit,
    on_path,
    run_python,
    touch,
    wheel_kit,
)

pytestmark = pytest.mark.usefixtures("empty_machine")


def test_wheel_then_conda_then_variables_then_system(
    empty_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit(empty_machine)
    expected = [("system folder", empty_machine)]
    for name, _ in reversed(LEVEL_ZERO.variables):
        monkeypatch.setenv(name, str(kit(tmp_path / name)))
        expected.append((name, tmp_path / name))
    prefix = conda_prefix(tmp_path / "conda")
    kit(conda_root(prefix))
    monkeypatch.setenv("CONDA_PREFIX", str(prefix))
    expected.append(("conda prefix", conda_root(prefix)))
    root = wheel_kit(tmp_path / "site")
    on_path(monkeypatch, tmp_path / "site")
    expected.append(("wheel level-zero-devel", root))

    hits = [(hit.via, Path(hit.place)) for hit in sdk_attempts(LEVEL_ZERO) if hit.outcome == "hit"]

    assert hits == expected[::-1]
    sdk = find_sdk("level-zero")
    assert (sdk.via, Path(sdk.root)) == hits[0]


@pytest.mark.parametrize("component", [LEVEL_ZERO, UNIFIED_RUNTIME], ids=lambda component: component.name)
def test_result_has_what_a_build_needs(
    component: Component, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = wheel_kit(tmp_path, component, "7.8.9")
    on_path(monkeypatch, tmp_path)

    sdk = find_sdk(component.name)

    assert sdk.component == component.name
    assert sdk.version == "7.8.9"
    assert Path(sdk.root) == root
    assert list(map(Path, sdk.include_dirs)) == [
        root / "include",
        (root / "include" / component.header).parent,
    ]
    assert list(map(Path, sdk.library_dirs)) == [root / "lib"]
    assert sdk.libraries == component.libraries[-1:]
    assert get_include(component.name) == str(root / "include")


@pytest.mark.parametrize("library", UNIFIED_RUNTIME.libraries)
def test_library_is_the_one_of_the_release(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"{library}.lib" if WINDOWS else f"lib{library}.so"
    monkeypatch.setenv("CMPLR_ROOT", str(kit(tmp_path / "oneapi", UNIFIED_RUNTIME, library=name)))

    assert find_sdk("unified-runtime").libraries == (library,)


def test_oneapi_root_has_the_compiler_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = kit(tmp_path / "oneapi" / "compiler" / "latest", SYCL)
    monkeypatch.setenv("ONEAPI_ROOT", str(tmp_path / "oneapi"))

    sdk = find_sdk("sycl")

    assert (Path(sdk.root), sdk.via) == (root, "ONEAPI_ROOT")


@pytest.mark.parametrize("moved", [False, True], ids=["venv", "target"])
def test_sycl_of_intels_wheel_is_in_the_prefix(
    moved: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel has data files only; with --target they lie beside its metadata, which RECORD does not know."""
    site = tmp_path / "lib" / "python" / "site-packages"
    folder = "Library" if WINDOWS else ""
    root = kit((site if moved else tmp_path) / folder, SYCL, library=SYCL.link_files[0])
    info = site / "intel_sycl_rt-2026.2.0.dist-info"
    touch(info / "METADATA", "Metadata-Version: 2.1\nName: intel-sycl-rt\nVersion: 2026.2.0\n")
    below = f"{folder}/" if folder else ""
    touch(
        info / "RECORD", f"../../../{below}include/sycl/sycl.hpp,sha256=x,9\n../../../{below}bin/x.so,,\n\n"
    )
    on_path(monkeypatch, site)

    sdk = find_sdk("sycl")

    assert (Path(sdk.root), sdk.version, sdk.via) == (root, "2026.2.0", "wheel intel-sycl-rt")
    assert sdk.libraries == ("sycl",)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ((), "no include/level_zero/ze_api.h"),
        (("lib/{library}",), "no include/level_zero/ze_api.h"),
        (("include/level_zero/ze_ddi.h", "lib/{library}"), "no include/level_zero/ze_api.h"),
        (("include/level_zero/ze_api.h/file", "lib/{library}"), "no include/level_zero/ze_api.h"),
        (("include/level_zero/ze_api.h",), "has the header but no {library}"),
        (("include/level_zero/ze_api.h", "lib/{library}/file"), "has the header but no {library}"),
    ],
)
def test_root_counts_only_with_its_files(
    files: tuple[str, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (library,) = LEVEL_ZERO.link_files
    for name in files:
        touch(tmp_path / "sdk" / name.format(library=library))
    monkeypatch.setenv("ZE_PATH", str(tmp_path / "sdk"))

    with pytest.raises(NotFoundError) as caught:
        find_sdk("level-zero")

    place = tmp_path / "sdk"
    assert f"ZE_PATH: miss ({place}, {reason.format(library=library)})" in caught.value.looked_in


def test_error_tells_every_step_and_what_to_do(monkeypatch: pytest.MonkeyPatch, empty_machine: Path) -> None:
    monkeypatch.setenv("ZE_PATH", "")

    with pytest.raises(NotFoundError) as caught:
        get_include()

    assert caught.value.looked_in == (
        "wheel level-zero-devel: miss (level_zero_devel cannot be imported)",
        "conda prefix: skipped (no conda environment is active)",
        "LEVEL_ZERO_V1_SDK_PATH: skipped (not set)",
        "ZE_PATH: skipped (set to nothing)",
        "LEVEL_ZERO_ROOT: skipped (not set)",
        "LEVEL_ZERO_ROOT_DIR: skipped (not set)",
        "LEVEL_ZERO_DIR: skipped (not set)",
        f"system folder: miss ({empty_machine}, no include/level_zero/ze_api.h)",
    )
    assert caught.value.fix == "pip install level-zero-devel"
    assert "ze_api.h" in caught.value.wanted


def test_unknown_component_is_told_the_known_ones() -> None:
    with pytest.raises(XpuDevError, match="level-zero, unified-runtime, sycl"):
        find_sdk("cuda")


def test_folder_left_by_an_uninstall_is_no_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path / "level_zero_devel" / "include" / "level_zero" / "mine.h")
    on_path(monkeypatch, tmp_path)

    first = next(iter(sdk_attempts(LEVEL_ZERO)))

    assert (first.outcome, first.reason) == (
        "miss",
        "level_zero_devel is a folder without __init__.py, left by an uninstall",
    )


def test_first_copy_on_the_path_counts_with_its_own_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel_kit(tmp_path / "second", version="1.20.6")
    root = wheel_kit(tmp_path / "first", version="1.32.0")
    on_path(monkeypatch, tmp_path / "second")
    on_path(monkeypatch, tmp_path / "first")

    sdk = find_sdk("level-zero")

    assert (Path(sdk.root), sdk.version) == (root, "1.32.0")


@pytest.mark.parametrize("variable", ["CONDA_PREFIX", "sys.prefix", "sys.base_prefix", "PREFIX"])
def test_conda_prefix_of_every_kind(variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # conda-forge's package: headers and library in the prefix, no .pc file; a second package begins like it.
    prefix = conda_prefix(
        tmp_path / "env", "level-zero-devel-1.29.0-h5888daf_0", "level-zero-devel-extra-9.9-0"
    )
    root = kit(conda_root(prefix))
    if variable.startswith("sys."):
        monkeypatch.setattr(variable, str(prefix))
    else:
        monkeypatch.setenv(variable, str(prefix))
        monkeypatch.setenv("CONDA_BUILD", "1")

    sdk = find_sdk("level-zero")

    assert (sdk.via, sdk.version, Path(sdk.root)) == ("conda prefix", "1.29.0", root)


def test_our_conda_package_has_a_root_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = conda_prefix(tmp_path / "env", "level-zero-devel-1.29.0-h5888daf_0")
    kit(conda_root(prefix))
    root = kit(conda_root(prefix) / "opt" / "level-zero")
    touch(root / "manifest.json", '{"version": "1.32.0"}')
    monkeypatch.setenv("CONDA_PREFIX", str(prefix))

    sdk = find_sdk("level-zero")

    assert (sdk.via, sdk.version, Path(sdk.root)) == ("conda prefix", "1.32.0", root)


def test_folder_without_conda_records_is_no_conda_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit(conda_root(tmp_path))
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path))

    with pytest.raises(NotFoundError, match="no conda environment is active"):
        find_sdk("level-zero")


def test_version_of_a_system_kit_comes_from_its_pkg_config_file(empty_machine: Path) -> None:
    kit(empty_machine)
    pc = touch(empty_machine / "lib" / "pkgconfig" / "libze_loader.pc", "Name: x\nVersion: 1.20.6\n")
    assert find_sdk("level-zero").version == "1.20.6"

    pc.unlink()
    assert find_sdk("level-zero").version is None


@pytest.mark.skipif(WINDOWS, reason="only Linux keeps libraries of several architectures in one root")
@pytest.mark.parametrize("folder", ["lib", "lib64", "lib/x86_64-linux-gnu"])
def test_linux_library_folders(folder: str, empty_machine: Path) -> None:
    touch(empty_machine / "include" / "level_zero" / "ze_api.h")
    touch(empty_machine / folder / "libze_loader.so")

    assert list(map(Path, find_sdk("level-zero").library_dirs)) == [empty_machine / folder]


def test_newest_of_several_system_kits(
    empty_machine: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for version in ("1.9.4", "1.28.0", "1.20.6"):
        kit(empty_machine / version)
    monkeypatch.setenv("PROGRAMS", str(empty_machine))
    pattern = "%PROGRAMS%/*" if WINDOWS else "$PROGRAMS/*"
    monkeypatch.setattr(LEVEL_ZERO, "system_folders", (pattern,))

    assert Path(find_sdk("level-zero").root).name == "1.28.0"


def test_lookup_imports_next_to_nothing(tmp_path: Path) -> None:
    """What makes it fast, told without a clock: no module that Python itself does not need at start."""
    wheel_kit(tmp_path)
    told = run_python(
        f"sys.path.insert(0, {str(tmp_path)!r}); before = set(sys.modules)\n"
        "import intel_xpu_runtime_dev as ours; ours.get_include()\n"
        "print(*sorted(set(sys.modules) - before))"
    )

    ours = {f"intel_xpu_runtime_dev{name}" for name in ("", "._components", "._errors", "._sdk", "._search")}
    assert set(told.split()) == {"__future__", "level_zero_devel", *ours}
