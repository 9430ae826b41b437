"""The command `check`: what built files need of Level Zero and Unified Runtime, and whether this machine has it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from .._components import WINDOWS
from .._errors import NotFoundError
from .._output import print_json
from ..api._history import History, history, release_key, runs
from ._binary import Binary, read_binary
from ._needs import RUNTIMES, Needs, first_release, needs
from ._verdict import BROKEN, Available, Verdict, judge
from ._wheel import binaries, is_wheel
from ._window import MalformedError, Window

EXAMPLES = """\
examples:
  xpu-dev check build/mymodule.pyd                  against this machine's runtimes
  xpu-dev check dist/*.whl --level-zero 1.17.28     against the loader of an older driver
  xpu-dev check libfoo.so --functions               every function, with the first release that has it

Only imports are seen: not a function that the file looks up by name at run time, nor which structures and
enumerators it was compiled with.
The exit code is 1 when a file cannot be read or needs what the runtime lacks."""


class Finding(NamedTuple):
    """What one runtime means to a file; `verdict` is None when the file is for another system than this."""

    needed: Needs
    history: History
    verdict: Verdict | None


class Checked(NamedTuple):
    """One checked file or member of a wheel: its findings, or the error that kept it from being read."""

    name: str
    binary: Binary | None
    findings: list[Finding]
    error: str = ""

    @property
    def broken(self) -> bool:
        """Whether the file cannot be read or will not run."""
        return bool(self.error) or any(
            each.verdict and each.verdict.state == BROKEN for each in self.findings
        )


class Checker:
    """Checks files against the machine's runtimes, or against releases that were asked for."""

    def __init__(self, asked: dict[str, str | None]) -> None:
        self._asked = asked
        self._available: dict[str, Available | None] = {}
        self._histories: dict[str, History] = {}

    def check(self, path: str) -> Iterator[Checked]:
        """Yield what a file is, or for a wheel each binary in it."""
        try:
            with Path(path).open("rb") as file:
                if is_wheel(file.read(4)):
                    for member, content in binaries(file):
                        yield self._checked(f"{path}: {member}", content)
                else:
                    yield self._checked(path, file)
        except OSError as error:
            yield Checked(path, None, [], f"cannot be read: {error.strerror or error}")
        except MalformedError as error:
            yield Checked(path, None, [], str(error))

    def _checked(self, name: str, content: IO[bytes]) -> Checked:
        try:
            binary = read_binary(Window(content))
        except MalformedError as error:
            return Checked(name, None, [], str(error))
        return Checked(name, binary, list(self._findings(binary)))

    def _findings(self, binary: Binary) -> Iterator[Finding]:
        for runtime in RUNTIMES:
            if runtime.component not in self._histories:
                self._histories[runtime.component] = history(runtime.component)
            table = self._histories[runtime.component]
            needed = needs(runtime, table, binary)
            if needed:
                yield Finding(needed, table, self._verdict(needed, table, binary))

    def _verdict(self, needed: Needs, table: History, binary: Binary) -> Verdict | None:
        component = needed.runtime.component
        asked = self._asked[component]
        if asked:
            return judge(needed, table, Available("the release asked about", asked))
        if (binary.system == "Windows") != WINDOWS:
            return None
        if component not in self._available:
            self._available[component] = _on_this_machine(component)
        return judge(needed, table, self._available[component])


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EXAMPLES
    parser.add_argument("files", nargs="+", metavar="FILE", help="extension, library, executable or wheel")
    for runtime in RUNTIMES:
        parser.add_argument(
            f"--{runtime.component}",
            metavar="RELEASE",
            help=f"judge against this release of {runtime.title} instead of this machine's",
        )
    parser.add_argument("--functions", action="store_true", help="list every imported function")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print what the files need; return 1 when one cannot be read or will not run."""
    asked = {"level-zero": arguments.level_zero, "unified-runtime": arguments.unified_runtime}
    for release in filter(None, asked.values()):
        release_key(release)
    checker = Checker(asked)
    data = []
    broken = False
    for path in arguments.files:
        count = plain = 0
        for checked in checker.check(path):
            count += 1
            broken = broken or checked.broken
            if arguments.json:
                data.append(_as_data(checked))
            elif checked.findings or checked.error or checked.name == path:
                _print(checked, arguments.functions)
            else:
                plain += 1
        if not arguments.json and plain == count:
            print(f"{path}: {count} PE and ELF files, which import nothing of Level Zero or Unified Runtime")
    if arguments.json:
        print_json({"files": data})
    return int(broken)


def _on_this_machine(component: str) -> Available | None:
    from .._runtime import find_runtime

    try:
        found = find_runtime(component)
    except NotFoundError:
        return None
    return Available("this machine", found.version, found.path)


def _print(checked: Checked, every_function: bool) -> None:
    if checked.binary is None:
        print(f"{checked.name}: error: {checked.error}")
        return
    binary = checked.binary
    print(f"{checked.name}: {binary.kind} {binary.machine}, {binary.system}")
    if not checked.findings:
        print("  imports nothing of Level Zero or Unified Runtime")
    for finding in checked.findings:
        for line in _told(finding, every_function):
            print(f"  {line}")


def _told(finding: Finding, every_function: bool) -> Iterator[str]:
    needed, table, verdict = finding
    names = sorted({each.name for each in needed.functions})
    optional = sum(each.optional for each in needed.functions)
    count = "1 function" if len(names) == 1 else f"{len(names)} functions"
    count += f" of {needed.library}" if needed.library else ""
    if optional:
        count += f", {optional} not needed at load (delayed or weak)"
    yield f"{needed.runtime.title}: {count}"
    if needed.runtime.component == "level-zero":
        yield from _lowest(needed, table, names)
    else:
        yield f"  releases that have them all: {', '.join(runs(table, needed.releases)) or 'none'}"
        yield from _changed(needed, table)
    if verdict:
        yield f"  {verdict.state}: {verdict.reason}" + (f": {verdict.fix}" if verdict.fix else "")
    if every_function:
        for name in names:
            yield f"    {name} {first_release(table, name) or 'in no known release'}"


def _lowest(needed: Needs, table: History, names: list[str]) -> Iterator[str]:
    if needed.releases:
        latest = [name for name in names if first_release(table, name) == needed.lowest]
        yield f"  lowest loader that has them all: {needed.lowest} ({', '.join(latest[:3])})"
    else:
        yield "  no release has them all"
    for name in names:
        spans = table.functions.get(name)
        if spans and spans[-1].last:
            yield f"  {name} went after {spans[-1].last}"


def _changed(needed: Needs, table: History) -> Iterator[str]:
    """Tell what a name alone does not: the releases differ in the parameters of a function."""
    if len(needed.variants) < 2:
        return
    parts = [", ".join(runs(table, variant)) for variant in needed.variants]
    yield f"  built for one of: {' | '.join(parts)}; the names do not tell which, and it runs on that part only"
    for name in needed.changed:
        yield f"  {name} has changed its parameters:"
        for span in table.functions[name]:
            text = table.prototypes.get(span.prototype, "(unknown: these releases came without the header)")
            yield f"    {span.first} to {span.last or table.newest}: {text}"


def _as_data(checked: Checked) -> dict[str, object]:
    data: dict[str, object] = {"name": checked.name}
    if checked.binary is None:
        return {**data, "error": checked.error}
    data.update(
        format=checked.binary.kind,
        machine=checked.binary.machine,
        system=checked.binary.system,
        libraries=checked.binary.libraries,
    )
    for needed, table, verdict in checked.findings:
        data[needed.runtime.component] = {
            "library": needed.library,
            "functions": [
                {**each._asdict(), "first_release": first_release(table, each.name) or None}
                for each in needed.functions
            ],
            "unknown": needed.unknown,
            "lowest": needed.lowest or None,
            "releases": needed.releases,
            "variants": needed.variants,
            "changed": {name: [span._asdict() for span in table.functions[name]] for name in needed.changed},
            "verdict": verdict and verdict._asdict(),
        }
    return data
