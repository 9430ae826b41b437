"""The search for runtimes, and their versions. Runs under Windows Python too, but for what says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from intel_xpu_runtime_dev import MismatchError, NotFoundError, XpuDevError, find_runtime, load_runtime
from intel_xpu_runtime_dev._components import WINDOWS, Component
from intel_xpu_runtime_dev._runtime import runtime_attempts

from tests.locator.trees import (
    LEVEL_ZERO,
    SYCL,
    UNIFIED_RUNTIME,
    conda_prefix,
    on_path,
    run_python,
    touch,
    wheel_kit,
)

pytestmark = pytest.mark.usefixtures("empty_machine")

LIBRARY_FOLDER = "Library/bin" if WINDOWS else "lib"


def intel_wheel(
    monkeypatch: pytest.MonkeyPatch, prefix: Path, name: str, file: str, version: str = "2026.2.0"
) -> Path:
    """Install the traces of one of Intel's wheels: its metadata, and a library in the prefix; return the library."""
    site = prefix / "lib" / "python" / "site-packages"
    library = touch(prefix / LIBRARY_FOLDER / file)
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    touch(info / "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    touch(info / "RECORD", f"../../../{LIBRARY_FOLDER}/{file},,\n{info.name}/RECORD,,\n")
    monkeypatch.syspath_prepend(str(site))
    return library


def hits(component: Component) -> list[tuple[str, Path]]:
    return [(hit.via, Path(hit.place)) for hit in runtime_attempts(component) if hit.outcome == "hit"]


def test_wheels_then_conda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = UNIFIED_RUNTIME.runtime_files[-1]
    of_wheel = intel_wheel(monkeypatch, tmp_path / "env", "intel-cmplr-lib-ur", name)
    prefix = conda_prefix(tmp_path / "conda")
    of_conda = touch(prefix / LIBRARY_FOLDER / name)
    monkeypatch.setenv("CONDA_PREFIX", str(prefix))

    assert hits(UNIFIED_RUNTIME) == [("wheel intel-cmplr-lib-ur", of_wheel), ("conda prefix", of_conda)]
    runtime = find_runtime("unified-runtime")
    assert (Path(runtime.path), runtime.version, runtime.via) == (
        of_wheel,
        "2026.2.0",
        "wheel intel-cmplr-lib-ur",
    )


@pytest.mark.parametrize("distribution", ["intel-cmplr-lib-ur", "intel-cmplr-lib-rt"])
@pytest.mark.parametrize("file", UNIFIED_RUNTIME.runtime_files)
def test_loader_moves_between_intels_wheels(
    distribution: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = intel_wheel(monkeypatch, tmp_path, distribution, file)

    assert hits(UNIFIED_RUNTIME) == [(f"wheel {distribution}", library)]


def test_target_installs_move_the_library_beside_the_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = UNIFIED_RUNTIME.runtime_files[-1]
    recorded = intel_wheel(monkeypatch, tmp_path, "intel-cmplr-lib-ur", file)
    moved = tmp_path / "lib" / "python" / "site-packages" / LIBRARY_FOLDER / file
    moved.parent.mkdir(parents=True)
    recorded.rename(moved)

    assert hits(UNIFIED_RUNTIME) == [("wheel intel-cmplr-lib-ur", moved)]


def test_level_zero_is_never_taken_from_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    intel_wheel(monkeypatch, tmp_path, "intel-cmplr-lib-ur", LEVEL_ZERO.runtime_files[0])

    attempts = [str(attempt) for attempt in runtime_attempts(LEVEL_ZERO)]

    assert f"wheel: skipped (no wheel may bring {LEVEL_ZERO.runtime_files[0]})" in attempts


def test_current_directory_is_never_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in LEVEL_ZERO.runtime_files:
        touch(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    assert all(path.parent != tmp_path for _, path in hits(LEVEL_ZERO))


def test_error_tells_every_step_and_what_to_do() -> None:
    with pytest.raises(NotFoundError) as caught:
        find_runtime("sycl")

    told = [line.split(":")[0] for line in caught.value.looked_in]
    assert told[:3] == ["already loaded", "wheel intel-sycl-rt", "conda prefix"]
    assert told[3:] == (["System32"] if WINDOWS else ["system loader"])
    assert caught.value.fix == "pip install intel-sycl-rt"


def test_file_that_is_no_library_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = intel_wheel(monkeypatch, tmp_path, "intel-cmplr-lib-ur", UNIFIED_RUNTIME.runtime_files[-1])

    with pytest.raises(XpuDevError, match="cannot be loaded") as caught:
        load_runtime("unified-runtime")

    assert str(library) in caught.value.found


def test_sycl_is_not_for_ctypes() -> None:
    with pytest.raises(XpuDevError, match="found but not loaded"):
        load_runtime("sycl")


@pytest.mark.parametrize(
    ("kit_version", "goes"),
    [("2026.2.0", True), ("2026.2.1", True), ("2026.1.2", False), ("2025.2.0", False)],
)
def test_verify_names_both_versions(
    kit_version: str, goes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel_kit(tmp_path / "site", UNIFIED_RUNTIME, kit_version)
    on_path(monkeypatch, tmp_path / "site")
    intel_wheel(
        monkeypatch, tmp_path / "env", "intel-cmplr-lib-ur", UNIFIED_RUNTIME.runtime_files[-1], "2026.2.0"
    )

    assert find_runtime("unified-runtime").sdk_version is None
    if goes:
        runtime = find_runtime("unified-runtime", verify=True)
        assert (runtime.version, runtime.sdk_version) == ("2026.2.0", kit_version)
    else:
        with pytest.raises(MismatchError, match=f"{kit_version} .* 2026.2.0") as caught:
            find_runtime("unified-runtime", verify=True)
        assert caught.value.fix == "pip install unified-runtime-devel==2026.2.*"


def test_release_that_nothing_tells_is_not_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file's own number is 0.12.0 in every release."""
    wheel_kit(tmp_path / "site", UNIFIED_RUNTIME, "2026.2.0")
    on_path(monkeypatch, tmp_path / "site")
    prefix = conda_prefix(tmp_path / "env")
    touch(prefix / LIBRARY_FOLDER / UNIFIED_RUNTIME.runtime_files[-1])
    monkeypatch.setenv("CONDA_PREFIX", str(prefix))

    assert find_runtime("unified-runtime").version is None
    with pytest.raises(MismatchError, match="the runtime of an unknown release"):
        find_runtime("unified-runtime", verify=True)

    touch(prefix / "conda-meta" / "intel-cmplr-lib-ur-2026.2.0-intel_7.json")
    assert find_runtime("unified-runtime", verify=True).version == "2026.2.0"


@pytest.mark.skipif(WINDOWS, reason="LD_LIBRARY_PATH and ldconfig are Linux's")
class TestLinuxLoader:
    def test_library_path_comes_before_the_cache(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(LEVEL_ZERO, "sonames", ("libm.so.6",))
        mine = touch(tmp_path / "libm.so.6")
        monkeypatch.setenv("LD_LIBRARY_PATH", f":{tmp_path / 'none'}:{tmp_path}")

        vias = [hit for hit in hits(LEVEL_ZERO) if hit[0] != "already loaded"]

        assert vias[0] == ("LD_LIBRARY_PATH", mine)
        assert vias[1][0] == "system loader"

    def test_cache_answer_is_what_the_loader_opens(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(LEVEL_ZERO, "sonames", ("libutil.so.1",))
        found = find_runtime("level-zero")

        loaded = load_runtime("level-zero")

        assert found.via == "system loader"
        assert Path(loaded.path) == Path(found.path)
        again = find_runtime("level-zero")
        assert again.via == "already loaded"
        assert Path(again.path).samefile(found.path)

    def test_system_without_ldconfig_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("intel_xpu_runtime_dev._runtime.LDCONFIG", "/nowhere/ldconfig")

        told = str(list(runtime_attempts(LEVEL_ZERO))[-1])

        assert told == "system loader: miss (/nowhere/ldconfig: No such file or directory)"

    def test_version_is_that_of_the_file_behind_the_links(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        touch(tmp_path / "libze_loader.so.1.20.6")
        (tmp_path / "libze_loader.so.1").symlink_to("libze_loader.so.1.20.6")
        monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))

        assert find_runtime("level-zero").version == "1.20.6"


@pytest.mark.skipif(not WINDOWS, reason="System32 is Windows'")
class TestWindowsLoader:
    def test_system_folder_by_its_absolute_path(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(LEVEL_ZERO, "dlls", ("winmm.dll",))

        found = [hit for hit in hits(LEVEL_ZERO) if hit[0] != "already loaded"]

        assert [via for via, _ in found] == ["System32"]
        assert found[0][1].parent.name.lower() == "system32"

    def test_loaded_library_comes_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(LEVEL_ZERO, "dlls", ("kernel32.dll",))

        assert find_runtime("level-zero").via == "already loaded"
        assert find_runtime("level-zero").version


def test_metadata_is_searched_only_for_what_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken distribution of somebody else's does not disturb the search."""
    touch(tmp_path / "broken-1.0.dist-info" / "RECORD", "\0")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert hits(SYCL) == []


def test_import_of_the_api_loads_no_library() -> None:
    told = run_python("import intel_xpu_runtime_dev as ours; ours.find_sdk; print('ctypes' in sys.modules)")

    assert told.strip() == "False"
