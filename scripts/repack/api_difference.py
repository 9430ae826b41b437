"""What changed in an API between two sets of headers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .declarations import declared_enumerators, declared_functions


@dataclass(frozen=True)
class ApiDifference:
    """Functions and enumerators by name; what changed is a pair of before and after."""

    functions_added: tuple[str, ...]
    functions_removed: tuple[str, ...]
    prototypes_changed: tuple[tuple[str, str], ...]
    enumerators_added: tuple[str, ...]
    enumerators_removed: tuple[str, ...]
    values_changed: tuple[tuple[str, str], ...]

    def lines(self) -> list[str]:
        """Return the whole difference as text."""
        return [
            *(f"+ {name}" for name in self.functions_added),
            *(f"- {name}" for name in self.functions_removed),
            *(f"~ {before} -> {after}" for before, after in self.prototypes_changed),
            *(f"+ enumerator {name}" for name in self.enumerators_added),
            *(f"- enumerator {name}" for name in self.enumerators_removed),
            *(f"~ enumerator {before} -> {after}" for before, after in self.values_changed),
        ]

    def summary(self) -> str:
        """Return the numbers in one line."""
        counts = (
            (len(self.functions_added), "functions added"),
            (len(self.functions_removed), "removed"),
            (len(self.prototypes_changed), "prototypes changed"),
            (len(self.enumerators_added), "enumerators added"),
            (len(self.enumerators_removed), "removed"),
            (len(self.values_changed), "values changed"),
        )
        return ", ".join(f"{count} {what}" for count, what in counts)


def api_difference(before: Path, after: Path) -> ApiDifference:
    """Compare the headers in two include folders; BuildError where one does not parse."""
    old_functions, new_functions = (
        {function.name: function.prototype for function in declared_functions(folder)}
        for folder in (before, after)
    )
    old_values, new_values = (
        {constant.name: f"{constant.name} = {constant.value:#x}" for constant in declared_enumerators(folder)}
        for folder in (before, after)
    )
    return ApiDifference(
        *_added_and_removed(old_functions, new_functions),
        _changed(old_functions, new_functions),
        *_added_and_removed(old_values, new_values),
        _changed(old_values, new_values),
    )


def _added_and_removed(old: dict[str, str], new: dict[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(sorted(new.keys() - old.keys())), tuple(sorted(old.keys() - new.keys()))


def _changed(old: dict[str, str], new: dict[str, str]) -> tuple[tuple[str, str], ...]:
    both = sorted(old.keys() & new.keys())
    return tuple((old[name], new[name]) for name in both if old[name] != new[name])
