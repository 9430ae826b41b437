"""A search: steps that report what they found, run in order until one is a hit."""

# On the way of every include lookup: keep the imports light.
from __future__ import annotations

import os
import sys

from ._errors import NotFoundError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Attempt:
    """What one step of a search did.

    `via` names the step, `outcome` is "hit", "miss" or "skipped", `place` is the root or file that was found or looked at
    ("" when there was none to look at), `reason` says why it is no hit.
    """

    __slots__ = ("outcome", "place", "reason", "via")

    def __init__(self, via: str, outcome: str, place: str = "", reason: str = "") -> None:
        self.via = via
        self.outcome = outcome
        self.place = place
        self.reason = reason

    def __str__(self) -> str:
        told = ", ".join(text for text in (self.place, self.reason) if text)
        return f"{self.via}: {self.outcome} ({told})" if told else f"{self.via}: {self.outcome}"

    def __repr__(self) -> str:
        return f"Attempt({self.via!r}, {self.outcome!r}, {self.place!r}, {self.reason!r})"


def hit(via: str, place: str) -> Attempt:
    """Return the attempt that found the root or file `place`."""
    return Attempt(via, "hit", place)


def miss(via: str, reason: str, place: str = "") -> Attempt:
    """Return an attempt that looked and did not find."""
    return Attempt(via, "miss", place, reason)


def skipped(via: str, reason: str) -> Attempt:
    """Return an attempt that had nothing to look at."""
    return Attempt(via, "skipped", "", reason)


def first_hit(attempts: Iterable[Attempt], problem: str, *, wanted: str, fix: str) -> Attempt:
    """Return the first hit; raise `NotFoundError` with all that was tried when there is none."""
    tried = []
    for attempt in attempts:
        if attempt.outcome == "hit":
            return attempt
        tried.append(str(attempt))
    raise NotFoundError(problem, wanted=wanted, looked_in=tuple(tried), fix=fix)


def conda_prefixes() -> Iterator[str]:
    """Yield the conda environments that this process belongs to, the closest first."""
    # In a conda build PREFIX is the environment that the package is made for, whatever Python runs the script.
    building = os.environ.get("PREFIX", "") if os.environ.get("CONDA_BUILD") == "1" else ""
    seen = set()
    for prefix in (building, sys.prefix, os.environ.get("CONDA_PREFIX", ""), sys.base_prefix):
        if prefix and prefix not in seen and os.path.isdir(os.path.join(prefix, "conda-meta")):
            seen.add(prefix)
            yield prefix
