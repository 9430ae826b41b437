"""`config`: flags that a compiler takes, folders that build tools take, and clean errors."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.support.needs import program


def test_each_question(xpu_dev: CommandLine) -> None:
    root = xpu_dev.root
    answers = {
        "--includes": f"-I{root}/include -I{root}/include/level_zero",
        "--cflags": f"-I{root}/include -I{root}/include/level_zero",
        "--ldflags": f"-L{root}/lib",
        "--libs": f"-L{root}/lib -lze_loader",
        "--root": str(root),
        "--cmakedir": f"{root}/lib/cmake/LevelZero",
        "--pkgconfigdir": f"{root}/lib/pkgconfig",
        "--version": "1.32.0",
        "--auditwheel-args": "--exclude libze_loader.so.1",
        "--delvewheel-args": "--exclude ze_loader.dll",
    }
    for question, answer in answers.items():
        assert xpu_dev("config", question) == f"{answer}\n"


def test_several_questions_make_one_line(xpu_dev: CommandLine) -> None:
    assert xpu_dev("config", "--version", "--ldflags") == f"1.32.0 -L{xpu_dev.root}/lib\n"


@pytest.mark.parametrize(
    "order", [("--component", "unified-runtime", "--version"), ("--version", "--component=unified-runtime")]
)
def test_component(order: tuple[str, ...], xpu_dev: CommandLine) -> None:
    assert xpu_dev("config", *order) == "2026.2.0\n"


def test_quick_and_full_parser_answer_alike(xpu_dev: CommandLine) -> None:
    # `--component=...` is for argparse, `--component ...` is answered without it.
    for question in ("--includes", "--libs", "--root", "--auditwheel-args", "--delvewheel-args"):
        for component in ("level-zero", "unified-runtime"):
            quick = xpu_dev("config", question, "--msvc-syntax", "--component", component)
            assert quick == xpu_dev("config", question, "--msvc-syntax", f"--component={component}")


def test_msvc_syntax(xpu_dev: CommandLine) -> None:
    root = xpu_dev.root
    assert (
        xpu_dev("config", "--includes", "--msvc-syntax") == f"/I{root}/include /I{root}/include/level_zero\n"
    )
    assert xpu_dev("config", "--libs", "--msvc-syntax") == f"/LIBPATH:{root}/lib ze_loader.lib\n"


def test_json_has_nothing_quoted(command_line_in: Callable[[str], CommandLine]) -> None:
    xpu_dev = command_line_in("Zoë's kit")

    data = json.loads(xpu_dev("config", "--json", "--root", "--libs"))

    assert data == {"root": str(xpu_dev.root), "libs": [f"-L{xpu_dev.root}/lib", "-lze_loader"]}


@pytest.mark.parametrize("name", ["site", "with space", "o'clock", 'a "quoted" $one'])
def test_compiler_takes_the_flags(
    name: str, command_line_in: Callable[[str], CommandLine], tmp_path: Path
) -> None:
    xpu_dev = command_line_in(name)
    (tmp_path / "a.c").write_text("#include <level_zero/ze_api.h>\n#include <ze_api.h>\n")

    flags = xpu_dev("config", "--cflags", "--ldflags")

    subprocess.run(f"{program('gcc')} -c a.c {flags}", shell=True, cwd=tmp_path, check=True)  # noqa: S602
    assert shlex.split(flags)[-1] == f"-L{xpu_dev.root}/lib"


@pytest.mark.parametrize(
    "words", [["--root"], ["--root", "--json"], ["--cmakedir", "--component=unified-runtime"]]
)
def test_errors_leave_stdout_empty(words: list[str], tmp_path: Path, xpu_dev: CommandLine) -> None:
    variables = {} if "--cmakedir" in words else {"PYTHONPATH": xpu_dev.variables["PYTHONPATH"].split(":")[0]}

    result = xpu_dev.run("config", *words, **variables)

    assert (result.returncode, result.stdout) == (1, b"")
    assert result.stderr.startswith(b"xpu-dev: error: ")
    assert b"do this: pip install" in result.stderr
    assert b"Traceback" not in result.stderr


@pytest.mark.parametrize(
    "words", [[], ["--component", "cuda", "--root"], ["--root", "--component"], ["--nonsense"]]
)
def test_wrong_usage_is_told(words: list[str], xpu_dev: CommandLine) -> None:
    result = xpu_dev.run("config", *words)

    assert (result.returncode, result.stdout) == (1, b"")
    assert result.stderr.startswith(b"usage: xpu-dev ")
