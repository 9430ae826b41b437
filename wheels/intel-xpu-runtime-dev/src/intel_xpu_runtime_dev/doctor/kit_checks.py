"""Checks of the development kits, as the locator finds them, and of their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from .._components import COMPONENTS
from .._errors import NotFoundError
from .._files import is_dir, is_file
from .._sdk import find_sdk, sdk_attempts
from .findings import BROKEN, WARNING, Finding, not_applicable, ok
from .machine import Machine
from .triton_lookup import BOTH, HEADER


def kit(component: str) -> Callable[[Machine], Finding]:
    """Return the check that the locator finds a development kit; its steps are the details."""

    def check(machine: Machine) -> Finding:
        steps = tuple(str(attempt) for attempt in sdk_attempts(COMPONENTS[component]))
        try:
            found = find_sdk(component)
        except NotFoundError as error:
            # Unified Runtime serves the driver on it and smoke tests only.
            verdict = BROKEN if component == "level-zero" else WARNING
            return Finding(verdict, error.problem, error.wanted, error.fix, steps)
        return ok(f"{found.version or 'unknown version'} in {found.root} ({found.via})", *steps)

    check.__doc__ = f"The development kit of {component} that builds find through us."
    return check


def variables(machine: Machine) -> Finding:
    """Variables that name a development kit: each must lead to one."""
    names = [name for name, _ in COMPONENTS["level-zero"].variables if name in machine.environ]
    if not names:
        return not_applicable("none of the variables of Level Zero is set")
    faults = [fault for name in names for fault in _faults(name, machine.environ[name])]
    if not faults:
        return ok(f"{', '.join(names)}: right")
    return Finding(
        WARNING,
        "; ".join(faults),
        "the root of a development kit",
        "correct or unset them; xpu-dev env does it",
    )


def _faults(name: str, value: str) -> Iterator[str]:
    if not value:
        yield f"{name} is set to nothing, which counts as set"
    elif value.strip("\"'") != value:
        yield f"{name} has quotes in it: {value}"
    elif not is_file(Path(value, "include", HEADER)):
        state = "has no include/level_zero/ze_api.h" if is_dir(Path(value)) else "does not exist"
        yield f"{name}={value} {state}"
    elif value.endswith(("\\", "/")) and name not in BOTH:
        yield f"{name}={value} ends with a separator, which some builds double"


def conda(machine: Machine) -> Finding:
    """conda's `level-zero-devel` beside ours."""
    prefix = machine.conda
    if prefix is None:
        return not_applicable("no conda environment")
    records = sorted(prefix.glob("conda-meta/level-zero-devel-*.json"))
    wheel = machine.distribution("level-zero-devel")
    if records and wheel:
        return Finding(
            WARNING,
            f"conda's {records[0].stem} and the wheel level-zero-devel {wheel.version} are both in {prefix}",
            "one of them",
            "pip uninstall level-zero-devel, or conda remove level-zero-devel",
        )
    return ok(records[0].stem if records else f"{prefix} has no level-zero-devel of conda")
