"""The compile gate with real compilers on upstream's headers, and what it says of a fault."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from repack import compile_gate
from repack.cache import cache_folder
from repack.catalogue import PLATFORMS, Platform, Release, load
from repack.compile_gate import (
    FAULTS,
    Case,
    Compiler,
    Compilers,
    Fault,
    check,
    find_compilers,
    judge,
    known_faults,
)
from repack.errors import BuildError

from tests.support.needs import lacking
from tests.support.wheels import staged

RELEASES = load().releases


@pytest.fixture(scope="module")
def compilers() -> Compilers:
    """Return gcc, clang and zig for both targets."""
    found = find_compilers()
    if found.missing:
        lacking(f"compilers: {', '.join(found.missing)}")
    return found


@pytest.fixture
def zig(compilers: Compilers) -> Compilers:
    """Return zig alone, which is on every machine."""
    return Compilers(tuple(compiler for compiler in compilers.here if compiler.name == "zig"), ())


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_shipped_headers(release: Release, platform: Platform, compilers: Compilers) -> None:
    """Cached for the build, which runs the very same check."""
    include = staged(release.component, release.version, platform) / "include"

    check(release.component, release.version, platform, include, compilers, cache_folder())


def test_every_compiler_and_target(compilers: Compilers) -> None:
    assert {str(compiler) for compiler in compilers.here} == {
        f"{name} for {target}" for name in ("gcc", "clang", "zig") for target in ("linux", "windows-gnu")
    }


def level_zero(folder: Path) -> Path:
    """Return a copy of real headers, to be spoilt."""
    include = staged("level-zero", "1.20.6", "linux_x86_64") / "include"
    return Path(shutil.copytree(include, folder / "include"))


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_new_fault(platform: Platform, compilers: Compilers, tmp_path: Path) -> None:
    include = level_zero(tmp_path)
    with (include / "level_zero" / "zes_api.h").open("a") as file:
        file.write("\n#ifndef NEW\n#define NEW\ntypedef struct new_t { bool brand_new; } new_t;\n#endif\n")

    with pytest.raises(BuildError) as error:
        check("level-zero", "1.20.6", platform, include, compilers, tmp_path)

    problems = [line for line in str(error.value).splitlines() if "new fault:" in line]
    target = {"linux_x86_64": "linux", "win_amd64": "windows-gnu"}[platform]
    for name in ("gcc", "clang", "zig"):
        assert any(f"{name} for {target}: level_zero/zes_api.h as c: new fault" in line for line in problems)
    assert [line for line in problems if not ("as c:" in line and "bool" in line)] == []
    # Those that include it fail with it.
    assert any("level_zero/zes_ddi.h" in line for line in problems)


def test_a_listed_fault_that_is_gone(zig: Compilers, tmp_path: Path) -> None:
    include = level_zero(tmp_path)
    header = include / "level_zero" / "layers" / "zel_tracing_ddi.h"
    header.write_text(header.read_text().replace('"layers/zel_tracing_api.h"', '"zel_tracing_api.h"'))

    with pytest.raises(BuildError) as error:
        check("level-zero", "1.20.6", "linux_x86_64", include, zig, tmp_path)

    assert str(error.value).count("the listed fault is gone") == 2


def test_another_fault_in_a_header_with_a_listed_one(zig: Compilers, tmp_path: Path) -> None:
    include = level_zero(tmp_path)
    header = include / "level_zero" / "layers" / "zel_tracing_ddi.h"
    header.write_text(f"#error spoilt\n{header.read_text()}")

    with pytest.raises(BuildError) as error:
        check("level-zero", "1.20.6", "linux_x86_64", include, zig, tmp_path)

    # zig goes on after #error, and tells the first.
    assert str(error.value).count("another fault than the listed one") == 2


def test_outcomes_are_kept_by_content(
    zig: Compilers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    include = level_zero(tmp_path)
    check("level-zero", "1.20.6", "linux_x86_64", include, zig, tmp_path / "cache")
    compiled: list[Case] = []
    compile_one = compile_gate._compile

    def counted(compiler: Compiler, case: Case, include: Path, folder: Path) -> str:
        compiled.append(case)
        return compile_one(compiler, case, include, folder)

    monkeypatch.setattr(compile_gate, "_compile", counted)

    moved = include.rename(tmp_path / "elsewhere")
    check("level-zero", "1.20.6", "linux_x86_64", moved, zig, tmp_path / "cache")
    assert not compiled

    with (moved / "level_zero" / "ze_api.h").open("a") as file:
        file.write("\n")
    check("level-zero", "1.20.6", "linux_x86_64", moved, zig, tmp_path / "cache")
    assert compiled


def test_a_machine_without_compilers_uses_zig_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    found = find_compilers()

    assert [compiler.name for compiler in found.here] == ["zig", "zig"]
    assert str(found).endswith(
        "(not on this machine: gcc for linux, clang for linux, gcc for windows-gnu, clang for windows-gnu)"
    )


def test_each_row_of_the_table_is_about_a_release_that_is_built() -> None:
    used = {fault for release in RELEASES for fault in known_faults(release.component, release.version)}

    assert used == set(FAULTS)


ROW = Fault("c", "", "a.h", ("c",), "symptom", ("-DREMEDY",), still="still")


@pytest.mark.parametrize(
    ("alone", "remedied", "problem"),
    [
        ("a symptom", "", None),
        ("a symptom", "it is still there", None),
        ("a symptom", "another", "-DREMEDY does not help: another"),
        ("", "", "the listed fault is gone (symptom)"),
        ("another", "", "another fault than the listed one: another"),
    ],
)
def test_judgement_of_a_listed_fault(alone: str, remedied: str, problem: str | None) -> None:
    errors = {
        str(Case("c", "a.h")): alone,
        str(Case("c", "a.h", ROW.remedy)): remedied,
        str(Case("c++", "a.h")): "",
    }

    assert list(judge(["a.h"], [ROW], errors)) == ([f"a.h as c: {problem}"] if problem else [])
