"""Environments from the channel: found by the locator, activated by real shells, changed and emptied."""

from __future__ import annotations

import asyncio
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from rattler import MatchSpec
from rattler.platform import SubdirLiteral
from rattler.shell import Shell
from ruamel.yaml import YAML

from tests.support.needs import program
from tests.support.wheels import ROOT
from tests.windows import prefix as windows
from tests.windows.wine import Wine

from .environments import activation, ensure, files, solution

pytestmark = pytest.mark.xdist_group("conda")

PROGRAM = "#include <level_zero/ze_api.h>\nint main(void) { return zeInit(0) == ZE_RESULT_SUCCESS; }\n"
SHOW = 'echo "{mark}=[${{LEVEL_ZERO_V1_SDK_PATH-unset}}] [${{_LEVEL_ZERO_DEVEL_SET-unset}}]"'


@pytest.fixture(scope="module")
def linux(channel: Path, stand_ins: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment for linux-64, in a folder with a space."""
    prefix = tmp_path_factory.mktemp("linux") / "with space" / "env"
    ensure(prefix, "linux-64", [channel, stand_ins], ["intel-xpu-runtime-dev"])
    return prefix


@pytest.fixture(scope="module")
def win(channel: Path, stand_ins: Path, wine: Wine) -> Iterator[Path]:
    """Return an environment for win-64 on the Wine prefix's drive C, in a folder with a space."""
    with tempfile.TemporaryDirectory(prefix="conda test ", dir=wine.drive_c) as folder:
        prefix = Path(folder, "env")
        ensure(prefix, "win-64", [channel, stand_ins], ["intel-xpu-runtime-dev"])
        yield prefix


def bash(script: str, **variables: str) -> str:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", **variables}
    result = subprocess.run(
        ["bash", "--norc", "-eu", "-c", script], env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def deactivation(prefix: Path) -> str:
    scripts = sorted((prefix / "etc" / "conda" / "deactivate.d").glob("*.sh"))
    assert scripts
    return "\n".join(f'. "{script}"' for script in scripts)


def test_bash_activates_and_restores(linux: Path) -> None:
    activate = activation(linux, Shell.bash, "linux-64")
    script = [activate, SHOW.format(mark="active"), deactivation(linux), SHOW.format(mark="after")]
    root = linux / "opt" / "level-zero"
    assert bash("\n".join(script)) == f"active=[{root}] [{root}]\nafter=[unset] [unset]\n"


@pytest.mark.parametrize("component", ["level-zero", "unified-runtime"])
def test_locator_finds_the_environment(component: str, linux: Path) -> None:
    script = f"{activation(linux, Shell.bash, 'linux-64')}\nxpu-dev find {component} --json"
    answer = bash(script)
    assert json.dumps(str(linux / "opt" / component)) in answer
    assert '"conda prefix"' in answer


def test_a_value_of_the_users_own_stays(linux: Path) -> None:
    script = "\n".join(
        [activation(linux, Shell.bash, "linux-64"), deactivation(linux), SHOW.format(mark="x")]
    )
    assert bash(script, LEVEL_ZERO_V1_SDK_PATH="/my own") == "x=[/my own] [unset]\n"


def test_a_value_changed_meanwhile_stays(linux: Path) -> None:
    change = "export LEVEL_ZERO_V1_SDK_PATH=/changed"
    script = [activation(linux, Shell.bash, "linux-64"), change, deactivation(linux), SHOW.format(mark="x")]
    assert bash("\n".join(script)) == "x=[/changed] [unset]\n"


def test_programs_compile_and_link_on_linux(linux: Path, tmp_path: Path) -> None:
    program("gcc", "cmake", "pkg-config")
    (tmp_path / "main.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\nproject(test C)\nadd_executable(by-cmake main.c)\n"
        "find_package(LevelZero 1.20 REQUIRED CONFIG)\nfind_package(unified-runtime REQUIRED CONFIG)\n"
        "target_link_libraries(by-cmake LevelZero::level-zero unified-runtime::headers)\n"
    )
    script = f"""
{activation(linux, Shell.bash, "linux-64")}
cd {tmp_path}
gcc main.c -I"$LEVEL_ZERO_V1_SDK_PATH/include" -L"$LEVEL_ZERO_V1_SDK_PATH/lib" -lze_loader -o by-variable
gcc main.c -I"$CONDA_PREFIX/include" -L"$CONDA_PREFIX/lib" -lze_loader -o by-prefix
export PKG_CONFIG_PATH="$CONDA_PREFIX/lib/pkgconfig"
eval gcc main.c $(pkg-config --cflags --libs libze_loader libur_loader) -o by-pkg-config
cmake -S . -B build -DCMAKE_PREFIX_PATH="$CONDA_PREFIX" >cmake.log && cmake --build build >>cmake.log
"""
    bash(script)
    for binary in ("by-variable", "by-prefix", "by-pkg-config", "build/by-cmake"):
        needed = subprocess.run(
            ["readelf", "-d", str(tmp_path / binary)], capture_output=True, text=True, check=True
        )
        assert "[libze_loader.so.1]" in needed.stdout
        assert str(linux) not in needed.stdout  # no RPATH into the environment's link stubs


def test_programs_compile_and_link_for_windows(win: Path, tmp_path: Path) -> None:
    gcc = program("x86_64-w64-mingw32-gcc")
    (tmp_path / "main.c").write_text(PROGRAM)
    for root in (win / "Library", win / "Library" / "opt" / "level-zero"):
        command = [
            gcc,
            "main.c",
            f"-I{root / 'include'}",
            str(root / "lib" / "ze_loader.lib"),
            "-o",
            "main.exe",
        ]
        subprocess.run(command, cwd=tmp_path, check=True)
        imports = subprocess.run(
            ["x86_64-w64-mingw32-objdump", "-p", "main.exe"],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert "DLL Name: ze_loader.dll" in imports.stdout


def test_cmd_activates_and_restores(win: Path, wine: Wine) -> None:
    python = windows.python(wine, "3.11")
    folder = wine.windows_path(win)
    show = ["echo [%LEVEL_ZERO_V1_SDK_PATH%] [%_LEVEL_ZERO_DEVEL_SET%]"]
    find = f'"{wine.windows_path(python.executable)}" -m intel_xpu_runtime_dev find level-zero --json'
    scripts = {
        kind: [
            f'@call "{wine.windows_path(path)}"'
            for path in sorted((win / "etc" / "conda" / f"{kind}.d").glob("*.bat"))
        ]
        for kind in ("activate", "deactivate")
    }
    assert all(scripts.values())
    lines = ["@echo off", *show, *scripts["activate"], *show, find, *scripts["deactivate"], *show]
    lines += ["set LEVEL_ZERO_V1_SDK_PATH=C:\\my (own)", *scripts["activate"], *scripts["deactivate"], *show]
    batch = win.parent / "session.bat"
    batch.write_text("\r\n".join([*lines, ""]))
    packages = wine.windows_path(win / "Lib" / "site-packages")
    result = wine.run(["cmd", "/c", batch], env={"CONDA_PREFIX": folder, "PYTHONPATH": packages})
    before, active, *found, after, own = result.stdout.splitlines()
    root = f"{folder}\\Library\\opt\\level-zero"
    assert (before, after) == ("[] []", "[] []")
    assert active == f"[{root}] [{root}]"
    assert own == "[C:\\my (own)] []"
    answer = json.loads("\n".join(found))
    assert '"conda prefix"' in json.dumps(answer)
    assert json.dumps(root) in json.dumps(answer)


def test_upgrade_downgrade_and_removal_leave_nothing(channel: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "env"
    neighbour = prefix / "include" / "sycl" / "sycl.hpp"
    neighbour.parent.mkdir(parents=True)
    neighbour.write_text("// of another package\n")
    seen = []
    for version in ("1.20.6", "1.32.0", "1.20.6"):
        ensure(prefix, "linux-64", [channel], [f"level-zero-devel =={version}", "unified-runtime-devel"])
        config = prefix / "lib" / "cmake" / "LevelZero" / "LevelZeroConfigVersion.cmake"
        assert version in config.read_text()
        seen.append(files(prefix))
    assert seen[0] == seen[2]
    assert "include/level_zero/zer_api.h" in seen[1] - seen[0]  # new in 1.32.0, gone again
    ensure(prefix, "linux-64", [channel], [])
    assert files(prefix) == {"include/sycl/sycl.hpp"}
    assert not (prefix / "opt").exists()


def test_beside_the_loader_of_conda_forge(channel: Path, stand_ins: Path, tmp_path: Path) -> None:
    """A program linked by conda-forge's paths runs with the loader package of the same environment."""
    prefix = tmp_path / "env"
    ensure(prefix, "linux-64", [channel, stand_ins], ["level-zero-devel", "level-zero"])
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\n#include <level_zero/ze_api.h>\n"
        'int main(void) { printf("%x\\n", (unsigned)zeInit(0)); return 0; }\n'
    )
    subprocess.run(
        [program("gcc"), "main.c", f"-I{prefix / 'include'}", f"-L{prefix / 'lib'}", "-lze_loader", "-o", "main"],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    environment = {"LD_LIBRARY_PATH": str(prefix / "lib")}
    answer = subprocess.run([tmp_path / "main"], env=environment, capture_output=True, text=True, check=True)
    assert answer.stdout == "78000001\n"  # ZE_RESULT_ERROR_UNINITIALIZED: the real loader found no driver
    ensure(prefix, "linux-64", [channel, stand_ins], ["level-zero"])
    assert files(prefix) == {"lib/libze_loader.so.1"}


def test_newest_is_the_default(channel: Path, tmp_path: Path) -> None:
    records = ensure(tmp_path / "env", "win-64", [channel], ["level-zero-devel", "unified-runtime-devel"])
    assert {record.name.normalized: str(record.version) for record in records} == {
        "level-zero-devel": "1.32.0",
        "unified-runtime-devel": "2026.2.0",
    }


@pytest.mark.parametrize("platform", ["linux-64", "win-64"])
@pytest.mark.parametrize("file", sorted((ROOT / "environments").glob("*.yml")), ids=lambda path: path.stem)
def test_environment_files_solve(file: Path, platform: SubdirLiteral, channel: Path, stand_ins: Path) -> None:
    """What is ours in them can be had from the channel, with a Python beside it."""
    wanted = YAML(typ="safe").load(file)["dependencies"]
    ours = [text for text in wanted if MatchSpec(text).name.normalized.endswith(("-devel", "-runtime-dev"))]
    assert "intel-xpu-runtime-dev" in ours
    records = asyncio.run(solution(platform, [channel, stand_ins], [*ours, "python"]))
    assert {"intel-xpu-runtime-dev", "level-zero-devel", "unified-runtime-devel"} < {
        record.name.normalized for record in records
    }
