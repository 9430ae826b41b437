"""`env` in each real shell: values arrive unchanged, and the undo restores what was there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, CommandLine
from tests.support.needs import program

HOSTILE = (
    "plain",
    "with space",
    "o'clock",
    '"quoted" \\back\\slash',
    "Zoë 中文 \N{GRINNING FACE}",
    "$HOME `id` 100%; !x * ~",
)
# What the user had before; the values must survive every shell as well.
OWN = {"ZE_PATH": "my own 'old' \"value\" $PATH é", "CPATH": "/mine", "CC": "my-cc", "CXX": "my-cxx"}
# Each shell writes its environment before, with the variables set, and after the undo.
STATES = ("before", "after", "restored")

SCRIPTS = {
    "bash": """
env -0 > {before}
eval "$({command} env --shell bash)" && env -0 > {after}
eval "$({command} env --shell bash --unset)" && env -0 > {restored}
""",
    "zsh": """
env -0 > {before}
eval "$({command} env --shell zsh)" && env -0 > {after}
eval "$({command} env --shell zsh --unset)" && env -0 > {restored}
""",
    "fish": """
env -0 > {before}
{command} env --shell fish | source; and env -0 > {after}
{command} env --shell fish --unset | source; and env -0 > {restored}
""",
    "pwsh": """
$ErrorActionPreference = 'Stop'; env -0 > {before}
{command} env --shell pwsh | Out-String | Invoke-Expression; env -0 > {after}
{command} env --shell pwsh --unset | Out-String | Invoke-Expression; env -0 > {restored}
""",
}
OPTIONS = {
    "bash": ["--norc"],
    "zsh": ["-f"],
    "fish": ["--no-config"],
    "pwsh": ["-NoProfile", "-NonInteractive"],
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("shell", SCRIPTS)
def test_values_arrive_and_the_undo_restores(
    shell: str, name: str, command_line_in: Callable[[str], CommandLine], tmp_path: Path
) -> None:
    if shell == "pwsh" and not shutil.which("pwsh"):
        # Not `lacking`: neither Debian nor PyPI has PowerShell; the runners of the CI matrix bring it.
        pytest.skip("PowerShell is not installed")
    xpu_dev = command_line_in(name)
    before, after, restored = run_script(shell, {**xpu_dev.variables, **OWN}, tmp_path)

    assert after["LEVEL_ZERO_V1_SDK_PATH"] == after["ZE_PATH"] == after["LEVEL_ZERO_DIR"] == str(xpu_dev.root)
    assert after["PKG_CONFIG_PATH"] == str(xpu_dev.root / "lib" / "pkgconfig")
    assert after["CPATH"] == f"{xpu_dev.root / 'include'}:/mine"
    assert (after["CC"], after["CXX"]) == ("my-cc", "my-cxx")
    assert restored == before


@pytest.mark.parametrize("name", HOSTILE)
def test_powershell_statements_say_the_values(
    name: str, command_line_in: Callable[[str], CommandLine]
) -> None:
    """Read by PowerShell's rules, for where there is none; and ASCII, since it reads in the console's code page."""
    xpu_dev = command_line_in(name)

    text = xpu_dev("env", "--shell", "pwsh", **OWN)
    values = read_powershell(text)
    undo = read_powershell(xpu_dev("env", "--shell", "pwsh", "--unset", **{**OWN, **values}))

    assert text.isascii()
    assert values["ZE_PATH"] == values["LEVEL_ZERO_DIR"] == str(xpu_dev.root)
    assert undo["ZE_PATH"] == OWN["ZE_PATH"]
    assert "LEVEL_ZERO_DIR" not in undo


@pytest.mark.parametrize("name", [*HOSTILE, "two\nlines"])
def test_github_environment_file(name: str, command_line_in: Callable[[str], CommandLine]) -> None:
    xpu_dev = command_line_in(name)

    set_values = read_github(xpu_dev("env", "--shell", "github", **OWN))
    after = {**OWN, **set_values}
    unset_values = read_github(xpu_dev("env", "--shell", "github", "--unset", **after))

    assert set_values["ZE_PATH"] == str(xpu_dev.root)
    assert "CC" not in set_values
    assert unset_values["ZE_PATH"] == OWN["ZE_PATH"]
    assert unset_values["LEVEL_ZERO_DIR"] == ""


@pytest.mark.parametrize(
    ("variables", "statement"),
    [
        ({"SHELL": "/usr/bin/fish"}, "set -gx ZE_PATH "),
        ({"SHELL": "/bin/zsh"}, "export ZE_PATH="),
        ({"SHELL": "/usr/bin/pwsh"}, "$env:ZE_PATH = "),
        ({"SHELL": "/bin/tcsh"}, "export ZE_PATH="),
        ({"SHELL": ""}, "export ZE_PATH="),
    ],
)
def test_shell_is_guessed(variables: dict[str, str], statement: str, xpu_dev: CommandLine) -> None:
    assert statement in xpu_dev("env", **variables)


def test_bytes_that_are_no_text_pass_through(tmp_path: Path) -> None:
    folder = tmp_path / "caf\udce9"
    folder.mkdir()
    xpu_dev = CommandLine(folder)

    _, after, _ = run_script("bash", xpu_dev.variables, tmp_path)

    assert after["ZE_PATH"] == str(xpu_dev.root)


def run_script(shell: str, variables: Mapping[str, str], folder: Path) -> list[dict[str, str]]:
    """Run a shell's script; return the environments of the states."""
    files = {state: folder / state for state in STATES}
    script = SCRIPTS[shell].format(command=shlex.join(COMMAND), **files)
    subprocess.run([program(shell), *OPTIONS[shell], "-c", script], env=variables, check=True)
    return [read_environment(file) for file in files.values()]


def read_environment(file: Path) -> dict[str, str]:
    """Read what `env -0` printed."""
    entries = file.read_bytes().decode(errors="surrogateescape").split("\0")
    # Which shells change on their own: the last command, and how deep they are.
    return dict(entry.split("=", 1) for entry in entries if entry and not entry.startswith(("_=", "SHLVL=")))


def read_powershell(text: str) -> dict[str, str]:
    """Read assignments: in single quotes only a quote is special; Regex.Unescape knows code units by number."""
    values = {}
    for line in text.splitlines():
        if match := re.fullmatch(r"\$env:(\w+) = '((?:[^']|'')*)'", line):
            values[match[1]] = match[2].replace("''", "'")
        elif match := re.fullmatch(r"\$env:(\w+) = \(\[regex\]::Unescape\('([^']*)'\)\)", line):
            units = re.sub(r"\\u([0-9a-f]{4})", lambda unit: chr(int(unit[1], 16)), match[2])
            values[match[1]] = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        else:
            assert line.startswith("Remove-Item Env:")
    return values


def read_github(text: str) -> dict[str, str]:
    """Read lines for $GITHUB_ENV by the rules of GitHub's documentation."""
    values = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, equals, value = line.partition("=")
        if "<<" in name:
            name, _, end = line.partition("<<")
            value = "\n".join(iter(lambda: next(lines), end))
        else:
            assert equals
        values[name] = value
    return values
