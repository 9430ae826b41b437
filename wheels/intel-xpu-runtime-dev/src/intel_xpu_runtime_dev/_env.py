"""The command `env`: shell statements that set, or restore, the environment of builds."""

from __future__ import annotations

import argparse
import os
import sys

from ._environment import activated, changes, deactivated
from ._output import print_json
from ._shells import SHELLS, own_shell, script

EXAMPLES = """\
use:
  bash, zsh    eval "$(xpu-dev env)"
  fish         xpu-dev env --shell fish | source
  PowerShell   xpu-dev env --shell pwsh | Out-String | Invoke-Expression
  cmd          xpu-dev env --shell cmd > "%TEMP%\\xpu.bat" & call "%TEMP%\\xpu.bat"
  GitHub       xpu-dev env --shell github >> "$GITHUB_ENV"      (with shell: bash, on Windows too)

The same with --unset restores what was there before. CC and CXX are never set."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EXAMPLES
    parser.add_argument("--shell", choices=SHELLS, help="default: the one this runs in, as far as it shows")
    parser.add_argument("--unset", action="store_true", help="undo: restore the values from before")
    parser.add_argument(
        "--json", action="store_true", help="print the changes as one JSON object, null for unset"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the statements."""
    wanted = deactivated(os.environ) if arguments.unset else activated(os.environ)
    needed = changes(os.environ, wanted)
    if arguments.json:
        print_json(needed)
        return 0
    statements = script(arguments.shell or own_shell(os.environ), needed)
    sys.stdout.flush()
    sys.stdout.buffer.write(statements)
    return 0
