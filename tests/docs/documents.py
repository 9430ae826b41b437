"""The commands and Python blocks of the documents, as a reader copies them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support.wheels import ROOT

DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(ROOT.glob("wheels/*/README.md")),
    *sorted((ROOT / "environments").glob("*.yml")),
]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^    .*\n(?:[ \t]*\n(?=    ))*)+", re.MULTILINE)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
COMMENT = re.compile(r"\s+# .*$")
# An environment file says in its first line how it is used.
USE = re.compile(r"^# .*: (conda env create .*)$", re.MULTILINE)
# What is between backticks is a command where it begins so and goes on; the rest names a file, a package or an option.
PROGRAM = re.compile(
    r"(?:auditwheel|cmake|conda|delvewheel|gh|meson|pip|python3?|sha256sum|twine|uv|xpu-dev)\s+[^\s=].*|.*\$\((?:shell )?xpu-dev .*"
)
# Fences in which people read what to type.
SHELLS = ("", "bash", "console", "sh", "shell", "powershell", "pwsh", "bat", "cmd", "batch")


class Shown(NamedTuple):
    """Something to run: where it is shown, and the text."""

    document: str
    text: str


def commands() -> list[Shown]:
    """Return every command: lines that are indented or fenced, and what stands between backticks."""
    found = (Shown(name(path), text) for path in DOCUMENTS for text in _commands_in(path.read_text("utf-8")))
    return list(dict.fromkeys(found))


def python_blocks() -> list[Shown]:
    """Return the blocks of Python."""
    return [
        Shown(name(path), text)
        for path in DOCUMENTS
        for language, text in _blocks(path.read_text("utf-8"))
        if language == "python"
    ]


def other_blocks() -> list[Shown]:
    """Return the fenced blocks that are neither commands nor Python."""
    return [
        Shown(name(path), text)
        for path in DOCUMENTS
        for language, text in _blocks(path.read_text("utf-8"))
        if language not in (*SHELLS, "python")
    ]


def name(document: Path) -> str:
    """Return a document's path in the repository."""
    return document.relative_to(ROOT).as_posix()


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield each block with its language; an indented one holds commands, unless it begins as Python does."""
    yield from ((language, block) for language, block in FENCE.findall(text))
    for match in INDENTED.finditer(FENCE.sub("", text)):
        block = "".join(line.removeprefix("    ") for line in match[0].splitlines(keepends=True))
        parts = re.split(r"\n{2,}", block.strip("\n"))
        yield from (("python" if part.startswith("import ") else "", f"{part}\n") for part in parts)


def _commands_in(text: str) -> Iterator[str]:
    if text.startswith("#") and (use := USE.search(text)):
        yield use[1]
        return
    for language, block in _blocks(text):
        if language in SHELLS:
            yield from _lines(block)
    prose = INDENTED.sub("", FENCE.sub("", text))
    yield from (code for code in INLINE.findall(prose) if PROGRAM.fullmatch(code))


def _lines(block: str) -> Iterator[str]:
    """Yield a block's commands; lines that go on, and variables for the command after them, belong together."""
    begun = ""
    for line in block.splitlines():
        begun += COMMENT.sub("", line)
        if line.endswith("\\") or line.startswith("export "):
            begun += "\n"
        elif begun:
            yield begun.strip()
            begun = ""
