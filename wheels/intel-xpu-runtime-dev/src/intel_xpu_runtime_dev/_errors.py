"""The errors that reach people."""

# No `from typing import ...` here: this module is on the way of every include lookup.


class XpuDevError(Exception):
    """A fault of the input, the installation or the machine, told as: wanted, looked in, found, do this."""

    def __init__(
        self,
        problem: str,
        *,
        wanted: str = "",
        looked_in: "tuple[str, ...]" = (),
        found: str = "",
        fix: str = "",
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.wanted = wanted
        self.looked_in = looked_in
        self.found = found
        self.fix = fix

    def __str__(self) -> str:
        lines = [self.problem]
        details = [
            ("wanted", (self.wanted,)),
            ("looked in", self.looked_in),
            ("found", (self.found,)),
            ("do this", (self.fix,)),
        ]
        lines += [f"  {label}: {text}" for label, texts in details for text in texts if text]
        return "\n".join(lines)


class NotFoundError(XpuDevError):
    """A development kit or runtime is in none of the places that were searched."""


class MismatchError(XpuDevError):
    """A runtime and the development kit are of releases that do not go together."""
