"""The documents: links lead somewhere, and what packagers are told to write is what tests build."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.documents import DOCUMENTS, FENCE, name, other_blocks
from tests.support.wheels import ROOT

LINK = re.compile(r"\]\(([^)\s]+)\)")
PACKAGERS = ROOT / "docs" / "packagers.md"


@pytest.mark.parametrize("document", [each for each in DOCUMENTS if each.suffix == ".md"], ids=name)
def test_relative_links_lead_somewhere(document: Path) -> None:
    for target in LINK.findall(FENCE.sub("", document.read_text("utf-8"))):
        if not target.startswith(("https://", "#")):
            assert (document.parent / target.partition("#")[0]).exists(), target


def test_what_packagers_write_is_what_tests_build() -> None:
    """The lines of a block all stand in one of the files that its section links: those that tests build."""
    _, *sections = re.split(r"^## ", PACKAGERS.read_text("utf-8"), flags=re.MULTILINE)
    blocks = []
    for section in sections:
        linked = [(PACKAGERS.parent / target).read_text("utf-8") for target in LINK.findall(section)]
        for _, block in FENCE.findall(section):
            lines = [line.strip() for line in block.splitlines() if line.strip()]
            assert lines
            assert any(all(line in text for line in lines) for text in linked), block
            blocks.append(block)
    assert len(blocks) >= 8
    assert {block.text for block in other_blocks()} <= set(blocks)  # there are none in other documents
