"""What an SDK was made from and what it holds: `manifest.json`, which depends on the catalogue and the content alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .catalogue import Input, Platform, Release
from .crossing import Crossing, LeftOut

NAME = "manifest.json"


def write_manifest(tree: Path, release: Release, platform: Platform, library: str, names: Crossing) -> None:
    """Describe a staged tree in a file of its own; call it last.

    Of an input every location is told, not the one that served: all give the same bytes.
    """
    content = {
        "component": release.component,
        "version": release.version,
        "platform": platform,
        "licence": release.licence,
        "library": f"lib/{library}",
        "loader": release.loader.on(platform),
        "inputs": [_input(item) for item in release.build_inputs((platform,))],
        "functions": [export.name for export in names.linkable],
        "declared_only": _by_reason(names.declared_only),
        "exported_only": _by_reason(names.exported_only),
        "files": dict(_hashes(tree)),
    }
    # One space: hatchling reads the version off the line that begins with it.
    (tree / NAME).write_text(json.dumps(content, indent=1) + "\n", "utf-8", newline="\n")


def read_manifest(tree: Path) -> dict[str, Any]:
    """Return the description of a staged tree."""
    content: dict[str, Any] = json.loads((tree / NAME).read_text("utf-8"))
    return content


def _input(item: Input) -> dict[str, object]:
    """Return an input as the catalogue has it, with the names of its keys there."""
    return item.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"platforms", "sections"})


def _by_reason(names: Iterable[LeftOut]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for left_out in names:
        reasons.setdefault(left_out.reason, []).append(left_out.name)
    return reasons


def _hashes(tree: Path) -> Iterable[tuple[str, str]]:
    for path in sorted(tree.rglob("*"), key=lambda path: path.as_posix()):
        if path.is_file():
            yield path.relative_to(tree).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()
