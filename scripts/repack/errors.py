"""The one error that reaches people."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable


class BuildError(Exception):
    """A fault of the input or the machine, told as: what is wrong, wanted, looked in, found, do this."""

    def __init__(
        self, problem: str, *, wanted: str = "", looked_in: Iterable[str] = (), found: str = "", fix: str = ""
    ):
        self.problem = problem
        self.details = [
            ("wanted", [wanted]),
            ("looked in", list(looked_in)),
            ("found", [found]),
            ("do this", [fix]),
        ]
        super().__init__(problem)

    def __str__(self) -> str:
        lines = [f"error: {self.problem}"]
        lines += [f"  {label}: {text}" for label, texts in self.details for text in texts if text]
        return "\n".join(lines)


def reported(main: Callable[[list[str]], int]) -> Callable[[list[str]], int]:
    """Turn a `BuildError` that leaves `main` into a message on stderr and exit code 1."""

    @functools.wraps(main)
    def wrapper(arguments: list[str]) -> int:
        try:
            return main(arguments)
        except BuildError as error:
            print(error, file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("error: interrupted", file=sys.stderr)
            return 130

    return wrapper
