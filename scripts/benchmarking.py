"""What the benchmarks of scripts/bench have in common: interleaved rounds, rows with targets, one table.

Timings on a shared machine are noisy: the cases of a benchmark take turns, so that the machine's moods meet all alike. A
row is the median over the rounds, with the quartiles.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Row(NamedTuple):
    """One line of the table. `low` and `high` are the quartiles; `met` is None where there is no target."""

    group: str
    case: str
    value: float
    low: float
    high: float
    unit: str
    target: str = ""
    met: bool | None = None

    def held_to(self, target: str, met: bool) -> Row:
        """Return the row with a target."""
        return self._replace(target=target, met=met)

    def at_most(self, limit: float) -> Row:
        """Return the row held to an upper limit in its own unit."""
        return self.held_to(f"at most {limit:g} {self.unit}".strip(), self.value <= limit)


# Gives the rows; quick: as few rounds as show that it works.
Benchmark = Callable[[bool], Iterable[Row]]


def row(group: str, case: str, samples: Sequence[float], unit: str) -> Row:
    """Return the row of a case's samples."""
    if len(samples) == 1:
        return Row(group, case, samples[0], samples[0], samples[0], unit)
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Row(group, case, middle, low, high, unit)


def interleaved(cases: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Return what each case measured in each round; a round before them, which warms up, does not count."""
    samples: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, measure in cases.items():
            progress(f"round {number} of {rounds}: {name}")
            value = measure()
            if number:
                samples[name].append(value)
    progress("")
    return samples


def milliseconds(run: Callable[[], object]) -> Callable[[], float]:
    """Return a measure: the milliseconds that a call takes."""

    def measure() -> float:
        started = time.perf_counter()
        run()
        return (time.perf_counter() - started) * 1000

    return measure


def process(
    words: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    codes: tuple[int, ...] = (0,),
) -> Callable[[], object]:
    """Return a call that runs a program unseen to its end, which must be one of these exit codes."""

    def run() -> object:
        result = subprocess.run([*map(str, words)], env=env, cwd=cwd, capture_output=True)
        if result.returncode not in codes:
            raise SystemExit(f"error: {words[0]} ended with {result.returncode}: {result.stderr.decode()}")
        return result

    return run


def progress(text: str) -> None:
    """Show on a terminal what is being measured."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:100]}", end="", file=sys.stderr, flush=True)


def main(benchmark: Benchmark, description: str | None, arguments: Sequence[str]) -> int:
    """Run one benchmark: print its table, write JSON when asked; return 1 when a target is missed."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows as well")
    parser.add_argument("--quick", action="store_true", help="few rounds: shows that it works, not how fast")
    chosen = parser.parse_args(arguments)
    rows = list(benchmark(chosen.quick))
    report(rows, chosen.json)
    return 1 if missed(rows) else 0


def report(rows: Sequence[Row], file: Path | None) -> None:
    """Print the table; write it to a file with what the machine was."""
    print("\n".join(table(rows)), flush=True)
    if file:
        machine = {
            "date": time.strftime("%Y-%m-%d"),
            "system": platform.platform(),
            "python": platform.python_version(),
            "cores": len(os.sched_getaffinity(0)),
            "load": round(os.getloadavg()[0], 1),
        }
        content = json.dumps({"machine": machine, "rows": [one._asdict() for one in rows]}, indent=1) + "\n"
        partial = file.with_name(f"{file.name}.partial")
        partial.write_text(content, "utf-8")
        partial.replace(file)


def read(file: Path) -> list[Row]:
    """Return the rows of a file that `report` wrote."""
    return [Row(**values) for values in json.loads(file.read_text("utf-8"))["rows"]]


def missed(rows: Iterable[Row]) -> list[str]:
    """Return the rows that miss their target, as people read them."""
    return [f"{one.group}: {one.case}" for one in rows if one.met is False]


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the table: a group's first case is ours, ratios are to it."""
    width = max((len(one.case) for one in rows), default=0)
    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    yield f"median, quartiles, ratio to the first of its group; {cores} cores, load {load:.1f}"
    group, first = None, 0.0
    for one in rows:
        if one.group != group:
            group, first = one.group, one.value
            yield one.group
        ratio = f"{one.value / first:6.2f}x" if first else " " * 7
        verdict = {None: "", True: f"{one.target}: met", False: f"{one.target}: MISSED"}[one.met]
        spread = f"{one.low:,.4g} to {one.high:,.4g}"
        line = f"  {one.case:{width}}  {one.value:>10,.4g} {one.unit:2}  {spread:20} {ratio}  {verdict}"
        yield line.rstrip()
