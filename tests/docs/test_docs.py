"""The documents: links lead somewhere, command lines parse, and what packagers are told to write is what tests build."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import dev
import pytest
from intel_xpu_runtime_dev._cli import COMMANDS

from tests.support.wheels import ROOT

DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(ROOT.glob("wheels/*/README.md")),
]
LINK = re.compile(r"\]\(([^)\s]+)\)")
INLINE_CODE = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:xpu-dev|python3? scripts/dev\.py) .*")
SUBSTITUTION = re.compile(r"\$\((?:shell )?([^()]*)\)")
# What a shell does with a command's output, and comments.
REST_OF_LINE = re.compile(r"\s([|&>#].*|-- .*)$")
# Command lines that need neither network nor device.
CHEAP = ("xpu-dev api ", "xpu-dev doctor --explain ")


def code_in(text: str) -> Iterator[str]:
    """Yield the code in a document: lines that are indented or fenced, and what stands between backticks."""
    for block in FENCE.findall(text):
        yield from block.splitlines()
    for line in FENCE.sub("", text).splitlines():
        yield from [line.strip()] if line.startswith("    ") else INLINE_CODE.findall(line)


def commands_in(code: str) -> Iterator[str]:
    """Yield our command lines in a line of code, also those that a shell substitutes."""
    for part in [*SUBSTITUTION.findall(code), SUBSTITUTION.sub("X", code)]:
        if match := COMMAND.search(part):
            yield REST_OF_LINE.sub("", match[0]).strip()


def name(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


SHOWN = sorted(
    {
        (name(document), command)
        for document in DOCUMENTS
        for code in code_in(document.read_text("utf-8"))
        for command in commands_in(code)
    }
)


class ParsedError(Exception):
    """Raised in place of running a task, once its arguments were parsed."""


def parse_task(task: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse a task's arguments as the task itself does; SystemExit where it refuses them."""
    real = argparse.ArgumentParser.parse_args

    def parse_only(parser: argparse.ArgumentParser, words: list[str]) -> NoReturn:
        real(parser, words)
        raise ParsedError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_only)
    with pytest.raises(ParsedError):
        import_module(dev.TASKS[task].module).main(arguments)


def parse_xpu_dev(command: str, arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog=f"xpu-dev {command}")
    import_module(f"intel_xpu_runtime_dev.{COMMANDS[command][0]}").configure(parser)
    parser.parse_args(arguments)


def test_the_documents_show_commands() -> None:
    assert {document for document, _ in SHOWN} > {"README.md", "docs/security.md", "docs/contributing.md"}
    assert ("README.md", "python3 scripts/dev.py test") in SHOWN
    assert ("docs/packagers.md", "xpu-dev config --auditwheel-args") in SHOWN


@pytest.mark.parametrize(("document", "command"), SHOWN)
def test_a_command_line_parses(document: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(command)
    if words[0] == "xpu-dev":
        assert words[1] in COMMANDS
        if words[1] == "run":
            words = [*words, "--", "python"]  # it takes any command; the one shown was cut off
        if words[2:]:  # else prose names the command
            parse_xpu_dev(words[1], words[2:])
        return
    task, arguments = words[2], words[3:]
    assert task in dev.TASKS
    if task == "smoke":
        parse_xpu_dev("smoke", arguments)
    elif task == "bench":
        assert not arguments or (ROOT / "scripts" / "bench" / f"{arguments[0]}.py").is_file()
    elif task == "test":
        assert arguments in ([], ["-m", "nightly"]) or all((ROOT / word).exists() for word in arguments)
    elif task == "troubleshooting":
        assert arguments == []
    else:
        parse_task(task, arguments, monkeypatch)


@pytest.mark.parametrize("command", ["--no-such-option", "--version"])
def test_a_wrong_command_line_does_not(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit):
        parse_task("update", [command], monkeypatch)


@pytest.mark.parametrize(
    "command",
    sorted({command for _, command in SHOWN if command.startswith(CHEAP) and "MESSAGE" not in command}),
)
def test_a_cheap_command_runs(command: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "wheels" / "intel-xpu-runtime-dev" / "src")}
    result = subprocess.run(
        [sys.executable, "-m", "intel_xpu_runtime_dev", *shlex.split(command)[1:]],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert "Traceback" not in result.stderr
    assert result.returncode in (0, 1), result.stderr
    assert result.stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_relative_links_lead_somewhere(document: Path) -> None:
    for target in LINK.findall(FENCE.sub("", document.read_text("utf-8"))):
        if not target.startswith(("https://", "#")):
            assert (document.parent / target.partition("#")[0]).exists(), target


def test_what_packagers_write_is_what_tests_build() -> None:
    document = ROOT / "docs" / "packagers.md"
    _, *sections = re.split(r"^## ", document.read_text("utf-8"), flags=re.MULTILINE)
    blocks = 0
    for section in sections:
        linked = [(document.parent / target).read_text("utf-8") for target in LINK.findall(section)]
        for block in FENCE.findall(section):
            lines = [line.strip() for line in block.splitlines() if line.strip()]
            assert lines
            assert any(all(line in text for line in lines) for text in linked), block
            blocks += 1
    assert blocks >= 8
