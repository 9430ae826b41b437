"""How each shell sets and unsets an environment variable, with quoting that any path survives."""

from __future__ import annotations

import os
import re
import secrets
import shlex
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ._errors import XpuDevError


class Shell(NamedTuple):
    """A shell: its statements, and the encoding in which it reads a program's output ("" for the console's)."""

    set: Callable[[str, str], str]
    unset: Callable[[str], str]
    encoding: str


def _fish_quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _pwsh_quoted(value: str) -> str:
    if value.isascii():
        return "'" + value.replace("'", "''") + "'"
    # PowerShell decodes a program's output in the console's code page, which may lack these letters.
    escaped = "".join(
        f"\\u{unit:04x}" if unit > 126 or chr(unit) in "'\\" else chr(unit) for unit in _utf16_units(value)
    )
    return f"([regex]::Unescape('{escaped}'))"


def _utf16_units(value: str) -> tuple[int, ...]:
    data = value.encode("utf-16-le", "surrogatepass")
    return tuple(memoryview(data).cast("H"))


def _cmd_set(name: str, value: str) -> str:
    # In a batch file a percent sign is doubled; within the quotes nothing else is special.
    return f'@set "{name}={value.replace("%", "%%")}"'


def _github_set(name: str, value: str) -> str:
    if "\n" not in value:
        return f"{name}={value}"
    end = f"end-{secrets.token_hex(8)}"
    return f"{name}<<{end}\n{value}\n{end}"


SHELLS = {
    "bash": Shell(
        lambda name, value: f"export {name}={shlex.quote(value)}", lambda name: f"unset {name}", "utf-8"
    ),
    "zsh": Shell(
        lambda name, value: f"export {name}={shlex.quote(value)}", lambda name: f"unset {name}", "utf-8"
    ),
    "fish": Shell(
        lambda name, value: f"set -gx {name} {_fish_quoted(value)}", lambda name: f"set -e {name}", "utf-8"
    ),
    "pwsh": Shell(
        lambda name, value: f"$env:{name} = {_pwsh_quoted(value)}",
        lambda name: f"Remove-Item Env:{name} -ErrorAction SilentlyContinue",
        "ascii",
    ),
    "cmd": Shell(_cmd_set, lambda name: f'@set "{name}="', ""),
    # Lines for $GITHUB_ENV, which cannot unset.
    "github": Shell(_github_set, lambda name: f"{name}=", "utf-8"),
}


def own_shell(environment: Mapping[str, str]) -> str:
    """Guess the shell that the user is in."""
    named = re.split(r"[/\\]", environment.get("SHELL", ""))[-1].lower()
    for name in ("bash", "zsh", "fish", "pwsh"):
        if named in (name, f"{name}.exe"):
            return name
    if os.name != "nt":
        return "bash"
    # Of the two, only cmd sets PROMPT.
    return "cmd" if "PROMPT" in environment else "pwsh"


def script(shell: str, changes: Mapping[str, str | None]) -> bytes:
    """Return the statements that make these changes, in the encoding in which the shell reads them.

    Raise `XpuDevError` when the console's code page lacks a letter of a path.
    """
    statements = SHELLS[shell]
    lines = [
        statements.unset(name) if value is None else statements.set(name, value)
        for name, value in changes.items()
    ]
    text = "".join(f"{line}\n" for line in lines)
    encoding = statements.encoding or _console_encoding()
    # On POSIX a path is bytes, not all of them text.
    errors = "strict" if os.name == "nt" else "surrogateescape"
    try:
        return text.encode(encoding, errors)
    except UnicodeEncodeError as error:
        letter = text[error.start]
        raise XpuDevError(
            f"{letter!a} of a path is not in {encoding}, the console's code page",
            fix="run `chcp 65001` first, which makes the console read UTF-8",
        ) from None


def _console_encoding() -> str:
    if os.name != "nt":
        return "utf-8"
    import ctypes

    page = ctypes.WinDLL("kernel32").GetConsoleOutputCP()  # type: ignore[attr-defined,unused-ignore]
    return f"cp{page}" if page else "oem"
