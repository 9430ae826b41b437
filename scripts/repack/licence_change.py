"""Refuse a release whose licence is not, word for word, the one that the repository has read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

from .catalogue import Release
from .errors import BuildError
from .pinning import Pinned

# Intel's EULA of its wheels, as it was read; nothing under it is redistributed.
EULA_SHA256 = "febfb69a5b058f55892dc7f341108a9ca29d50e9fe85723a57eebbb826436958"
YEARS = re.compile(r"\b\d{4}(?:-\d{4})?\b")
LEADING_COMMENT = re.compile(r"\s*/\*(.*?)\*/", re.DOTALL)
OF_ONE_FILE = re.compile(r"@(?:file|version|brief)\b.*")
SPDX = re.compile(r"SPDX-License-Identifier: (.+)")
COPYRIGHT_YEARS = re.compile(r"Copyright \(C\) (\d{4})(?:-(\d{4}))? Intel Corporation")


def check_licence(pinned: Pinned, before: Release, headers_before: Mapping[str, str]) -> None:
    """Compare the licence of a new release with that of the one before; BuildError where any text is another."""
    stated = {_statement(text) for text in headers_before.values()}
    for name, text in pinned.headers.items():
        if [identifier.strip() for identifier in SPDX.findall(text)] != [before.licence]:
            raise _changed(name, before.licence, ", ".join(SPDX.findall(text)) or "no SPDX identifier")
        if _statement(text) not in stated:
            raise _changed(name, " | ".join(sorted(stated)), _statement(text))
    kept = before.licence_file.read_text("utf-8")
    _check_years(pinned.headers.values(), before, kept)
    for name, content in pinned.licence_texts.items():
        if _terms(kept) not in _words(content.decode("utf-8", "replace")):
            raise _changed(name, f"the terms in {before.licence_text}", "other words")
    for name, content in pinned.eula_texts.items():
        if (sha256 := hashlib.sha256(content).hexdigest()) != EULA_SHA256:
            raise _changed(name, f"sha256 {EULA_SHA256}", f"sha256 {sha256}")


def _statement(header: str) -> str:
    """Return what a header's first comment says, without what differs from file to file and year to year."""
    match = LEADING_COMMENT.match(header)
    text = OF_ONE_FILE.sub("", match[1] if match else "")
    return " ".join(YEARS.sub("YEARS", text).replace("*", " ").split())


def _words(text: str) -> str:
    """Return a text without its line breaks; a lone period is how Debian writes an empty line."""
    return " ".join(word for word in text.split() if word != ".")


def _terms(licence: str) -> str:
    """Return what follows the copyright notice of a licence text."""
    lines = licence.splitlines()
    notices = [number for number, line in enumerate(lines) if COPYRIGHT_YEARS.search(line)]
    return _words("\n".join(lines[notices[-1] + 1 :] if notices else lines))


def _check_years(headers: Iterable[str], before: Release, kept: str) -> None:
    """Refuse headers with a year that the notice in the kept licence text does not cover."""
    notice = COPYRIGHT_YEARS.search(kept)
    if not notice:
        return  # the licence text has no notice of its own
    covered = range(int(notice[1]), int(notice[2] or notice[1]) + 1)
    for text in headers:
        for first, last in COPYRIGHT_YEARS.findall(text):
            if not {int(first), int(last or first)} <= set(covered):
                raise BuildError(
                    "the copyright notice does not cover the years of the new headers",
                    wanted=f"{first}-{last or first}",
                    looked_in=[before.licence_text],
                    found=f"{covered[0]}-{covered[-1]}",
                    fix="widen the years in the licence text, which changes the packages of older releases too",
                )


def _changed(name: str, wanted: str, found: str) -> BuildError:
    return BuildError(
        f"the licence text changed: {name}",
        wanted=wanted,
        found=found,
        fix="read it; a person has to decide whether this release may be repackaged, and on which terms",
    )
