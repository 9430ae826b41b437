"""The command `api`: which release of Level Zero and Unified Runtime has which function."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from .._errors import XpuDevError
from .._output import print_json
from ._history import History, Span, history, release_key
from ._parity import COLUMNS, parity

COMPONENTS = ("level-zero", "unified-runtime")
EXAMPLES = """\
examples:
  xpu-dev api zeInitDrivers                               since when, and is it still there
  xpu-dev api --diff level-zero 1.20.6 1.32.0             what came and went
  xpu-dev api --diff unified-runtime 2026.1.2 2026.2.0    and which prototypes changed under one name
  xpu-dev api --parity                                    what Triton needs, in Level Zero, Unified Runtime and SYCL"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EXAMPLES
    question = parser.add_mutually_exclusive_group(required=True)
    question.add_argument(
        "functions", nargs="*", metavar="FUNCTION", default=[], help="tell about these functions"
    )
    question.add_argument("--diff", nargs=3, metavar=("COMPONENT", "OLD", "NEW"), help="compare two releases")
    question.add_argument("--parity", action="store_true", help="what Triton needs, in each runtime")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print the answer; raise `XpuDevError` for a function or release that is in no table."""
    if arguments.parity:
        _tell_parity(arguments.json)
    elif arguments.diff:
        _tell_diff(*arguments.diff, as_json=arguments.json)
    else:
        _tell_functions(arguments.functions, arguments.json)
    return 0


def _tell_functions(names: Iterable[str], as_json: bool) -> None:
    tables = [history(component) for component in COMPONENTS]
    found = {name: _table_with(name, tables) for name in names}
    if as_json:
        print_json(
            {
                name: {
                    "component": table.component,
                    "newest": table.newest,
                    "spans": [_span_data(table, span) for span in table.functions[name]],
                }
                for name, table in found.items()
            }
        )
        return
    for name, table in found.items():
        spans = table.functions[name]
        title = COLUMNS[table.component]
        if spans[-1].last:
            print(f"{name}: {title} {spans[0].first} to {spans[-1].last}, gone since")
        else:
            print(f"{name}: {title} since {spans[0].first}, still in {table.newest}")
        if len({span.prototype for span in spans} - {""}) > 1:
            for span in spans:
                print(f"  {span.first} to {span.last or table.newest}: {_prototype(table, span)}")


def _table_with(name: str, tables: list[History]) -> History:
    for table in tables:
        if name in table.functions:
            return table
    from difflib import get_close_matches

    known = [function for table in tables for function in table.functions]
    close = get_close_matches(name, known, n=3)
    covered = ", ".join(f"{COLUMNS[table.component]} through {table.newest}" for table in tables)
    raise XpuDevError(
        f"no function {name!r} in any release",
        looked_in=(covered,),
        found=f"close to it: {', '.join(close)}" if close else "",
        fix="check the spelling, or update intel-xpu-runtime-dev",
    )


def _tell_diff(component: str, old: str, new: str, *, as_json: bool) -> None:
    if component not in COMPONENTS:
        raise XpuDevError(f"no table of {component!r}", wanted=f"one of: {', '.join(COMPONENTS)}")
    table = history(component)
    for release in (old, new):
        _check_covered(table, release)
    changes = table.changes(old, new)
    if as_json:
        print_json(
            {
                "added": changes.added,
                "removed": changes.removed,
                "changed": {name: _both(table, name, old, new) for name in changes.changed},
            }
        )
        return
    print(
        f"{COLUMNS[component]} {old} to {new}: {len(changes.added)} added, {len(changes.removed)} removed, "
        f"{len(changes.changed)} with another prototype"
    )
    for mark, names in (("+", changes.added), ("-", changes.removed)):
        for name in names:
            print(f"{mark} {name}")
    for name in changes.changed:
        before, after = _both(table, name, old, new)
        print(f"~ {name}\n    {before}\n    {after}")
    if not table.prototypes:
        print("The table has no prototypes of Level Zero, which changed none between 1.20.6 and 1.32.0.")


def _check_covered(table: History, release: str) -> None:
    wanted = release_key(release)
    known = [release_key(each) for each in table.releases]
    # Level Zero's table has only the releases that changed something.
    inside = wanted in known if table.component == "unified-runtime" else known[0] <= wanted <= known[-1]
    if not inside:
        raise XpuDevError(
            f"{COLUMNS[table.component]} {release} is not in the table",
            found=", ".join(table.releases),
            fix="take one of these, or update intel-xpu-runtime-dev",
        )


def _both(table: History, name: str, old: str, new: str) -> list[str]:
    spans = [table.at(name, release) for release in (old, new)]
    return [_prototype(table, span) for span in spans if span]


def _prototype(table: History, span: Span) -> str:
    return table.prototypes.get(span.prototype, "(unknown: these releases came without the header)")


def _span_data(table: History, span: Span) -> dict[str, str | None]:
    return {
        "first": span.first,
        "last": span.last or None,
        "prototype": span.prototype or None,
        "declaration": table.prototypes.get(span.prototype),
    }


def _tell_parity(as_json: bool) -> None:
    rows = parity()
    if as_json:
        print_json(
            {
                need: {column: [symbol._asdict() for symbol in symbols] for column, symbols in cells.items()}
                for need, cells in rows.items()
            }
        )
        return
    for need, cells in rows.items():
        print(need)
        for column, symbols in cells.items():
            print(f"  {COLUMNS[column]:16} {', '.join(map(str, symbols))}")
    print("In brackets the first release that has it; <= where older headers are not published.")
