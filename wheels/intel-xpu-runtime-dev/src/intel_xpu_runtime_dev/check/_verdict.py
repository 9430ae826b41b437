"""Whether a runtime of a certain release serves a binary, and what to do when it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..api._history import History, release_key, runs
from ._binary import Import
from ._needs import Needs, first_release

OK, WARNING, BROKEN, UNKNOWN = "ok", "warning", "broken", "unknown"
NAMED_AT_MOST = 3
INSTALL = {
    "level-zero": "install Intel's graphics driver, which brings the loader",
    "unified-runtime": "pip install intel-cmplr-lib-ur intel-cmplr-lib-rt, in the release it was built for",
}


class Available(NamedTuple):
    """The runtime to judge against: this machine's, or one asked for. `version` is None when nothing tells it."""

    whose: str
    version: str | None
    place: str = ""


class Verdict(NamedTuple):
    """A state, the reason, and the one thing to do."""

    state: str
    reason: str
    fix: str = ""


def judge(needed: Needs, history: History, available: Available | None) -> Verdict:
    """Return whether a runtime serves a binary; `available` is None when the machine has none."""
    if needed.unknown:
        return Verdict(
            UNKNOWN,
            f"no release through {history.newest} has {_listed(needed.unknown)}",
            "update intel-xpu-runtime-dev, whose table may be older than the file",
        )
    title, component = needed.runtime.title, needed.runtime.component
    if available is None:
        return Verdict(BROKEN, f"this machine has no {title}", INSTALL[component])
    if not available.version or (
        component == "unified-runtime" and release_key(available.version) < release_key(history.releases[0])
    ):
        return Verdict(UNKNOWN, f"the release of {available.place or available.version} cannot be told")
    lacking = [each for each in needed.functions if not history.at(each.name, available.version)]
    if lacking:
        return _lacking(needed, history, available, lacking)
    if component == "unified-runtime":
        return _same_prototypes(needed, history, available.whose, available.version)
    return Verdict(OK, f"{available.whose} has {available.version}")


def _lacking(needed: Needs, history: History, available: Available, lacking: Sequence[Import]) -> Verdict:
    """Return the verdict on a release that lacks functions: at load, or only when they are called."""
    names = sorted({each.name for each in lacking})
    told = _listed([f"{name} ({_when(history, name)})" for name in names])
    reason = f"needs {told}, {available.whose} has {available.version}"
    if needed.runtime.component == "level-zero":
        subject = "it" if len(names) == 1 else "them"
        fix = f"update the driver, or load {subject} dynamically"
    else:
        fix = f"install Intel's runtime of one of these releases: {', '.join(runs(history, needed.releases)) or 'none'}"
    if all(each.optional for each in lacking):
        return Verdict(WARNING, f"{reason}; the file loads, and fails when it calls what is missing", fix)
    return Verdict(BROKEN, reason, fix)


def _same_prototypes(needed: Needs, history: History, whose: str, version: str) -> Verdict:
    """Return the verdict on a release that has every name, some of which mean different things in others."""
    if release_key(version) > release_key(history.newest):
        return Verdict(UNKNOWN, f"{version} is newer than the table, which ends at {history.newest}")
    if len(needed.variants) == 1:
        return Verdict(OK, f"{whose} has {version}")
    for variant in needed.variants:
        if release_key(variant[0]) <= release_key(version) <= release_key(variant[-1]):
            built_for = ", ".join(runs(history, variant))
            return Verdict(
                WARNING,
                f"{whose} has {version}: right if it was built for {built_for}, wrong without any error if not",
                f"build it with unified-runtime-devel of a release in {built_for}",
            )
    return Verdict(UNKNOWN, f"{version} is not in the table")


def _when(history: History, name: str) -> str:
    """Return since when a function is there, and until when."""
    last = history.functions[name][-1].last
    first = first_release(history, name)
    return f"{first} to {last}" if last else first


def _listed(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - NAMED_AT_MOST
    return ", ".join(names[:NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")
