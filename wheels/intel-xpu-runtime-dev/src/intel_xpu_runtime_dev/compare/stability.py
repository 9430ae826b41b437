"""How the functions of both APIs changed from release to release, from the tables of `xpu-dev api`."""

from __future__ import annotations

from typing import Any

from ..api._history import history


def stability(component: str) -> list[dict[str, Any]]:
    """Return a row for each release: its functions, and how many were added, removed, and given other parameters.

    The first release has only `functions`. A prototype counts as changed when both releases' headers are known.
    """
    table = history(component)
    rows: list[dict[str, Any]] = []
    for index, release in enumerate(table.releases):
        spans = [table.at(name, release) for name in table.functions]
        row: dict[str, Any] = {"release": release, "functions": sum(span is not None for span in spans)}
        if index:
            changes = table.changes(table.releases[index - 1], release)
            row["added"], row["removed"] = len(changes.added), len(changes.removed)
            row["changed"] = len(changes.changed)
        rows.append(row)
    return rows
