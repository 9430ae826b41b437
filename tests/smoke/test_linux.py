"""`xpu-dev smoke` on Linux with Intel's CPU device, of every release, from each host: every number compared."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from tests.smoke.installs import RELEASES, Answer, Install
from tests.support import level_zero
from tests.support.needs import lacking, program

NEWEST = RELEASES[-1]
STAGES = (
    "locate", "compile", "link", "load", "devices", "build", "properties", "native-binary", "launch", "timing",
)  # fmt: skip


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.mark.parametrize("host", ["compiled", "ctypes"])
@pytest.mark.parametrize("sub_group", ["16", "32"])
@pytest.mark.parametrize("release", RELEASES)
def test_every_kernel_is_right(release: str, sub_group: str, host: str, cache: Path) -> None:
    answer = Install(release).smoke(cache, "--host", host, "--sub-group", sub_group, "--json")
    assert answer.code == 0, answer.stdout + answer.stderr
    assert [run["kernel"] for run in answer.report["runs"]] == ["add", "softmax", "matmul"]
    for run in answer.report["runs"]:
        assert (run["verdict"], run["backend"]) == ("right", "unified-runtime")
        assert run["max_error"] < 1e-5
        stages = {stage["name"]: stage for stage in run["stages"]}
        not_ok = {name for name, stage in stages.items() if stage["status"] != "ok"}
        assert not_ok == (set() if host == "compiled" else {"compile", "link"})
        assert f"sub-group {sub_group}" in stages["properties"]["detail"]


@pytest.mark.parametrize("compiler", ["gcc", "clang", "zig"])
def test_named_compiler_compiles_the_host(compiler: str, cache: Path) -> None:
    answer = _with_compiler(compiler, cache)
    assert answer.code == 0, answer.stdout
    assert answer.stages["compile"]["detail"].startswith("zig cc (" if compiler == "zig" else f"{compiler} (")


def _with_compiler(compiler: str, cache: Path) -> Answer:
    if compiler == "zig":
        # As zig's own archive would be on PATH.
        folder = Path(sysconfig.get_path("purelib"), "ziglang")
        if not (folder / "zig").is_file():
            lacking("the pinned ziglang is not installed")
        path = str(folder)
    else:
        path = str(Path(program(compiler)).parent)
    words = ("--kernel", "add", "--compiler", compiler, "--json")
    return Install(NEWEST).smoke(cache, *words, PATH=path)


def test_json_has_what_is_documented(cache: Path) -> None:
    report = Install(NEWEST).smoke(cache, "--kernel", "add", "--json").report
    assert list(report) == ["sdk", "runtime", "device", "runs"]
    assert report["sdk"]["version"] == report["runtime"]["version"] == NEWEST
    assert report["device"]["type"] == "cpu"
    (run,) = report["runs"]
    assert list(run) == ["kernel", "backend", "device", "verdict", "max_error", "stages"]
    assert run["device"] == report["device"]["name"]
    assert tuple(stage["name"] for stage in run["stages"]) == STAGES
    for stage in run["stages"]:
        assert list(stage) == ["name", "status", "seconds", "detail"]
        assert stage["seconds"] > 0, stage


def test_people_see_numbered_stages_with_times(cache: Path) -> None:
    answer = Install(NEWEST).smoke(cache, "--kernel", "add")
    lines = [line.split() for line in answer.stdout.splitlines()]
    numbered = [line for line in lines if line[0].isdigit()]
    assert [line[:3] for line in numbered] == [[str(i), name, "ok"] for i, name in enumerate(STAGES, 1)]
    assert all(float(line[3]) >= 0 and line[4] == "s" for line in numbered)
    assert lines[-1][:3] == ["add:", "right", "on"]


def test_no_compiler_means_ctypes_and_says_what_was_not_exercised(cache: Path) -> None:
    answer = Install(NEWEST).smoke(cache, "--kernel", "add", "--json", PATH="")
    assert answer.code == 0
    for name in ("compile", "link"):
        stage = answer.stages[name]
        assert stage["status"] == "skipped"
        assert stage["detail"].startswith("no compiler (CC, cc, gcc")
        assert "intel-xpu-runtime-dev[zig]" in stage["detail"]


def test_named_compiler_that_is_missing_is_an_error(cache: Path) -> None:
    answer = Install(NEWEST).smoke(cache, "--kernel", "add", "--compiler", "zig", "--json", PATH="")
    assert answer.code == 1
    assert answer.stages["compile"]["status"] == "failed"
    assert "wanted: zig" in answer.stages["compile"]["detail"]


def test_no_such_device_is_exit_code_2(cache: Path) -> None:
    answer = Install(NEWEST).smoke(cache, "--device", "gpu", "--backend", "unified-runtime", "--kernel", "add", "--json")  # fmt: skip
    assert answer.code == 2
    assert answer.run["verdict"] == "failed"
    detail = answer.stages["devices"]["detail"]
    assert "no device for --device gpu" in detail
    assert "intel-xpu-runtime-dev[cpu]" in detail
    assert answer.stages["build"]["detail"] == "not reached: stage 5 (devices) failed"


def test_kit_and_runtime_of_different_releases_are_refused(cache: Path) -> None:
    """2026.2 has no function that a host for 2025.3 calls."""
    answer = Install("2026.2.0", kit="2025.3.3").smoke(cache, "--kernel", "add", "--json")
    assert answer.code == 1
    detail = answer.stages["locate"]["detail"]
    assert answer.stages["locate"]["status"] == "failed"
    assert "2026.2.0" in detail
    assert "2025.3.3" in detail


def test_host_compiled_ahead_for_another_release_is_refused(cache: Path, tmp_path: Path) -> None:
    install = Install("2026.2.0")
    ahead = Install("2025.3.3").smoke(cache, "--kernel", "add", "--keep", TMPDIR=str(tmp_path))
    (host,) = tmp_path.glob("xpu-dev-smoke-*/host")
    assert ahead.stderr == f"kept: {host.parent}\n"
    # Bound lazily: else the system's loader refuses it before it has said a word.
    answer = install.smoke(cache, "--kernel", "add", "--stub", host, "--json")
    assert answer.code == 1
    assert answer.stages["load"]["status"] == "failed"
    detail = answer.stages["load"]["detail"]
    assert "undefined symbol: urKernelSet" in detail  # 2026.2 has no such function
    assert "the loader is of another release" in detail


def test_kit_without_its_link_stub(cache: Path, tmp_path: Path) -> None:
    install = Install(NEWEST)
    packages = tmp_path / "packages"
    shutil.copytree(install.packages, packages)
    (packages / "unified_runtime_devel" / "lib" / "libur_loader.so").unlink()
    answer = install.smoke(cache, "--kernel", "add", "--json", packages=packages)
    assert answer.code == 1
    assert answer.stages["locate"]["status"] == "failed"
    assert (
        "has the header but no libur_loader_shared.so or libur_loader.so" in answer.stages["locate"]["detail"]
    )


def test_a_loader_without_a_driver_leaves_the_cpu_device(cache: Path) -> None:
    """The way down from Level Zero, whose host was built before it found no device; as with no GPU on Windows."""
    folder = str(level_zero.loader_folder())
    answer = Install(NEWEST).smoke(cache, "--device", "auto", "--kernel", "add", LD_LIBRARY_PATH=folder)
    assert answer.code == 0, answer.stderr
    assert "no driver: zeInit gives 0x78000001" in answer.stdout
    assert "add: right on" in answer.stdout


def test_nothing_is_kept_unless_asked(cache: Path, tmp_path: Path) -> None:
    answer = Install(NEWEST).smoke(cache, "--kernel", "add", TMPDIR=str(tmp_path))
    assert answer.code == 0
    assert not list(tmp_path.glob("xpu-dev-smoke-*"))


class TestNativeBinaries:
    """The second run starts from the native binary of the first."""

    def _build(self, cache: Path, *words: str, **options: Any) -> tuple[str, str]:
        answer = Install(NEWEST).smoke(cache, "--kernel", "add", "--json", *words, **options)
        assert answer.code == 0, answer.stdout
        return answer.stages["build"]["status"], answer.stages["native-binary"]["detail"]

    def test_second_run_starts_from_it(self, cache: Path) -> None:
        assert self._build(cache)[0] == "ok"
        (kept,) = cache.glob("smoke/*.bin")
        assert self._build(cache) == ("skipped", "loaded from the cache")
        assert self._build(cache, "--no-cache")[0] == "ok"
        assert [kept] == list(cache.glob("smoke/*"))

    def test_damaged_one_is_built_again(self, cache: Path) -> None:
        self._build(cache)
        (kept,) = cache.glob("smoke/*.bin")
        whole = kept.read_bytes()
        for content in (whole[:-8] + b"\0" * 8, whole[:100], b""):
            kept.write_bytes(content)
            status, detail = self._build(cache)
            assert status == "ok"
            assert detail.endswith("; the cached one was damaged")
            assert len(kept.read_bytes()) == len(whole)
        assert self._build(cache)[0] == "skipped"

    def test_one_that_the_driver_refuses_is_built_again(self, cache: Path) -> None:
        import hashlib

        self._build(cache)
        (kept,) = cache.glob("smoke/*.bin")
        nonsense = b"not a binary"
        kept.write_bytes(hashlib.sha256(nonsense).digest() + nonsense)
        status, detail = self._build(cache)
        assert status == "ok"
        assert detail.endswith("; the cached one was refused")

    def test_folder_that_cannot_be_written_is_no_failure(self, cache: Path) -> None:
        cache.write_text("a file where the folder should be")
        assert self._build(cache)[0] == "ok"


def test_other_spirv_is_not_taken_for_the_shipped_one(cache: Path, tmp_path: Path) -> None:
    """Corrupt SPIR-V: refused by the driver, at the stage that compiles it, and told apart from what was shipped."""
    install = Install(NEWEST)
    packages = tmp_path / "packages"
    shutil.copytree(install.packages, packages)
    (spirv,) = packages.glob("intel_xpu_runtime_dev/smoke/kernels/add_sg16.cpu.spv")
    spirv.write_bytes(spirv.read_bytes()[:-400])
    for host in ("compiled", "ctypes"):
        answer = install.smoke(cache, "--kernel", "add", "--host", host, "--json", packages=packages)
        assert answer.code == 1
        assert answer.run["verdict"] == "failed"
        stage = answer.stages["build"]
        assert stage["status"] == "failed"
        assert "the SPIR-V is not the one that was shipped" in stage["detail"], stage
        assert "do this:" in stage["detail"]
