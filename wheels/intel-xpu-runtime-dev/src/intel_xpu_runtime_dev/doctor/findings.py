"""What a check comes to."""

from __future__ import annotations

from typing import NamedTuple

OK, WARNING, BROKEN, NOT_APPLICABLE = "ok", "warning", "broken", "not applicable"


class Finding(NamedTuple):
    """A verdict with its reason: what was wanted, what was found and where, and the one thing to do."""

    verdict: str
    found: str
    wanted: str = ""
    fix: str = ""
    details: tuple[str, ...] = ()


def ok(found: str, *details: str) -> Finding:
    """Return the finding that all is well."""
    return Finding(OK, found, details=details)


def not_applicable(reason: str) -> Finding:
    """Return the finding that a check has nothing to look at here."""
    return Finding(NOT_APPLICABLE, reason)
