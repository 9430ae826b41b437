"""The command `find`: development kits and runtimes, where they are and how they were found."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ._ask_level_zero import ask_versions
from ._components import COMPONENTS, Component
from ._errors import NotFoundError
from ._output import print_json
from ._results import SDK, Runtime
from ._runtime import find_runtime, load_runtime, runtime_attempts
from ._sdk import find_sdk, sdk_attempts
from ._search import Attempt

EXAMPLES = """\
examples:
  xpu-dev find                            everything
  xpu-dev find level-zero --steps         each place that is searched, and what was there
  xpu-dev find unified-runtime --verify   an error when runtime and development kit do not go together
  xpu-dev find level-zero --ask           also the versions that the loader and the drivers tell
  xpu-dev find --json                     for programs"""


class Kind(NamedTuple):
    """A kind of thing to find for a component."""

    name: str
    find: Callable[[str], SDK | Runtime]
    attempts: Callable[[Component], Iterable[Attempt]]


KINDS = (
    Kind("development kit", find_sdk, sdk_attempts),
    Kind("runtime", find_runtime, runtime_attempts),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EXAMPLES
    parser.add_argument("component", nargs="?", choices=COMPONENTS, help="default: all of them")
    parser.add_argument("--steps", action="store_true", help="print every step of the searches")
    parser.add_argument(
        "--verify", action="store_true", help="fail unless runtime and development kit go together"
    )
    parser.add_argument(
        "--ask", action="store_true", help="load Level Zero and ask loader and drivers for their versions"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print what was found; raise `NotFoundError` when there is no development kit of the component asked for."""
    asked = arguments.component or "level-zero"
    names = [arguments.component] if arguments.component else list(COMPONENTS)
    found = {name: {kind.name: _found(kind, name) for kind in KINDS} for name in names}
    asked_versions = ask_versions(load_runtime("level-zero").library) if arguments.ask else None
    if arguments.json:
        data = {name: _as_data(name, things, arguments.steps) for name, things in found.items()}
        if asked_versions:
            data["asked"] = dict(asked_versions._asdict())
        print_json(data)
    else:
        for name, things in found.items():
            _print(name, things, arguments.steps)
        if asked_versions:
            print("level-zero loader says", asked_versions.loader or "nothing")
            print("level-zero drivers say", ", ".join(asked_versions.drivers) or "nothing")
    find_sdk(asked)
    if arguments.verify:
        for name, things in found.items():
            if name == arguments.component or all(things.values()):
                find_runtime(name, verify=True)
    return 0


def _found(kind: Kind, component: str) -> SDK | Runtime | None:
    try:
        return kind.find(component)
    except NotFoundError:
        return None


def _print(component: str, things: dict[str, SDK | Runtime | None], steps: bool) -> None:
    for kind in KINDS:
        thing = things[kind.name]
        if thing:
            print(component, kind.name, thing.version or "(version unknown)", _place(thing), f"({thing.via})")
        else:
            print(component, kind.name, "not found")
        if steps:
            for attempt in kind.attempts(COMPONENTS[component]):
                print(f"  {attempt}")


def _place(thing: SDK | Runtime) -> str:
    return thing.root if isinstance(thing, SDK) else thing.path


def _as_data(component: str, things: dict[str, SDK | Runtime | None], steps: bool) -> dict[str, object]:
    data: dict[str, object] = {kind: thing and thing._asdict() for kind, thing in things.items()}
    if steps:
        data["steps"] = {
            kind.name: [
                {
                    "via": attempt.via,
                    "outcome": attempt.outcome,
                    "place": attempt.place,
                    "reason": attempt.reason,
                }
                for attempt in kind.attempts(COMPONENTS[component])
            ]
            for kind in KINDS
        }
    return data
