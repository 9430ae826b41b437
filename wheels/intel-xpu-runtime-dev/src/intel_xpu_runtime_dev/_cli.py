"""The command line: a table of commands, each in a module that is imported when it is used."""

import sys
from importlib import import_module

from ._errors import XpuDevError

# name: (module, what it is for). A module offers configure(parser) and run(arguments) -> exit code.
COMMANDS: "dict[str, tuple[str, str]]" = {}


def main(arguments: "list[str] | None" = None) -> int:
    """Run the command line; return the exit code."""
    import argparse

    words = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="xpu-dev", description=__doc__)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    chosen = words[0] if words else ""
    for name, (module, purpose) in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=purpose, description=purpose)
        if name == chosen:
            command = import_module(f".{module}", __package__)
            command.configure(subparser)
    try:
        return int(command.run(parser.parse_args(words)))
    except XpuDevError as error:
        print(f"xpu-dev: error: {error}", file=sys.stderr)
        return 1
