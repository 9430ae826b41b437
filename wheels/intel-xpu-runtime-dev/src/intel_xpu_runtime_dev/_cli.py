"""The command line: a table of commands, each in a module that is imported when it is used."""

from __future__ import annotations

import codecs
import os
import sys

from ._errors import XpuDevError

# name: (module, what it is for). A module offers configure(parser) and run(arguments) -> exit code.
COMMANDS: dict[str, tuple[str, str]] = {
    "find": ("_find", "tell what was found, where, and how"),
    "config": ("_config", "print compiler and linker flags, and folders for build tools"),
    "env": ("_env", "print the shell commands that set, or restore, the environment of builds"),
    "run": ("_run", "run a command with that environment"),
    "smoke": (
        "smoke.command",
        "prove that it works: JIT-compile and launch Triton kernels, compare every number",
    ),
    "compare": ("compare.command", "compare Level Zero, Unified Runtime, SYCL and OpenCL on this machine"),
    "doctor": ("doctor.command", "say what is wrong with the installation, and what to do"),
    "check": (
        "check._command",
        "tell what built files need of the runtimes, and whether this machine has it",
    ),
    "api": ("api._command", "tell which release of the runtimes has which function"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    _accept_every_path()
    try:
        return _run(words)
    except XpuDevError as error:
        print(f"xpu-dev: error: {error}", file=sys.stderr)
    except BrokenPipeError:
        # Whoever read this has seen enough; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"xpu-dev: error: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 1


def _run(words: list[str]) -> int:
    if words[:1] == ["config"]:
        # Makefiles ask this again and again: argparse alone would double the time.
        from . import _config

        if _config.answered(words[1:]):
            return 0
    return _run_parsed(words)


def _run_parsed(words: list[str]) -> int:
    import argparse
    from importlib import import_module
    from typing import NoReturn

    from . import __version__

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            # Not argparse's 2, which `smoke` has for a machine without a device.
            self.print_usage(sys.stderr)
            self.exit(1, f"{self.prog}: error: {message}\n")

    parser = Parser(
        prog="xpu-dev",
        description="Find Level Zero and Unified Runtime for builds, and prove that they work.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    chosen = words[0] if words else ""
    for name, (module, purpose) in COMMANDS.items():
        subparser = subparsers.add_parser(
            name, help=purpose, description=purpose, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if name == chosen:
            command = import_module(f".{module}", __package__)
            command.configure(subparser)
    parsed = parser.parse_args(words)
    code = int(command.run(parsed))
    if sys.stdout:  # None when it was closed before the start
        sys.stdout.flush()
    return code


def _accept_every_path() -> None:
    """Keep a path that the output's encoding lacks from ending the program."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is None:
        return
    if os.name == "nt":
        reconfigure(errors="backslashreplace")
    else:
        # Paths go out as the bytes that the file system has, also where the encoding has no such letter.
        codecs.register_error("xpu-dev", _as_bytes)
        reconfigure(encoding=sys.getfilesystemencoding(), errors="xpu-dev")


def _as_bytes(error: UnicodeError) -> tuple[bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return error.object[error.start : error.end].encode("utf-8", "surrogateescape"), error.end
