#!/usr/bin/env python3
"""Make docs/runtime-choice.md and .svg from docs/runtime-choice.json, the report of `dev.py bench runtime --json`.

    python3 scripts/runtime_page.py

Every figure comes from the report; a test compares page and plot with what this makes.
"""

from __future__ import annotations

import html
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "wheels/intel-xpu-runtime-dev/src"))
from intel_xpu_runtime_dev.compare import text  # noqa: E402 # found through the line above
from intel_xpu_runtime_dev.compare.layers import QUESTIONS  # noqa: E402

DOCS = ROOT / "docs"
REPORT, PAGE, PLOT = (DOCS / f"runtime-choice.{suffix}" for suffix in ("json", "md", "svg"))
Report = dict[str, Any]

INTRODUCTION = """\
# Level Zero, Unified Runtime or SYCL under the launcher

Made by `python3 scripts/runtime_page.py` from [runtime-choice.json](runtime-choice.json), a report of
`python3 scripts/dev.py bench runtime --json FILE`. Do not edit. `xpu-dev compare` does the same, shorter, anywhere.
"""
QUESTIONS_TEXT = """\
Each cell is a test that ran with the add kernel that `xpu-dev smoke` ships. *Build log*: of a kernel with a sub-group
size that no device has. *Binary in*: the native binary was loaded and launched. *Spill size*: the query was answered.
*Not executed*: a virtual GPU, Intel's driver without hardware; launches return success and memory stays as it was.
"""
OVERHEAD_TEXT = """\
Time of a launch divided by that of the baseline on the same device (Level Zero, or OpenCL), repeat by repeat: median
and quartiles of the ratios. One process a layer, all on one processor, taking turns. *Submit* sets the arguments and
enqueues: on OpenCL's device it is held back meanwhile; on the virtual GPU nothing executes, so its figures are
**host-side only**. Cold start: from the start of the process to a result that was compared and right.

![Overhead](runtime-choice.svg)
"""
ORDER_TEXT = """\
An in-order SYCL queue adds, a launch outside of SYCL adds to that, the queue adds to that. The queue is kept busy until
all is submitted. *Launch waits*: for `ext_oneapi_get_last_event` as a native event. *Queue waits*: for the launch's
event by `ext_oneapi_set_external_event`. Wrong rounds, of {rounds} each:
"""
COMPATIBILITY_TEXT = """\
Hosts built with the headers and libraries of one release of `intel-sycl-rt`, started with the runtime of another.
"""
STABILITY_TEXT = """\
From the tables of `xpu-dev api`: functions of each release, and how they differ from those of the release before.
*Changed*: other parameters under the same name, where both headers are known. Releases without changes are left out.
"""


def main() -> int:
    """Write page and plot; return 0."""
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    PAGE.write_text(page(report), encoding="utf-8")
    PLOT.write_text(plot(report), encoding="utf-8")
    return 0


def page(report: Report) -> str:
    """Return the page of a report."""
    sections = [
        INTRODUCTION,
        "\n".join(_made_on(report)) + "\n",
        "## What each layer can do\n",
        QUESTIONS_TEXT,
        _questions(report),
        "## Overhead\n",
        OVERHEAD_TEXT,
        _overhead(report),
        "## Compiling the host\n",
        _hosts(report),
        "## Order against a SYCL queue\n",
        ORDER_TEXT.format(rounds=report["plan"]["rounds"]),
        _order(report),
        "## Binary compatibility\n",
        COMPATIBILITY_TEXT,
        _compatibility(report),
        "## Stability\n",
        STABILITY_TEXT,
    ]
    for component, rows in report["stability"].items():
        sections += [f"### {component}\n", _stability(rows)]
    return "\n".join(sections)


def _made_on(report: Report) -> Iterator[str]:
    machine, plan = report["machine"], report["plan"]
    yield f"- Date: {report['date']}"
    yield f"- Machine: {machine['processor']}, {machine['processors']} processors, {machine['system']}"
    yield f"- Load average: {machine['load_before']} before, {report['load_after']} after"
    yield f"- Versions: {', '.join(f'{name} {version}' for name, version in report['versions'].items())}"
    yield (
        f"- Plan: {plan['repeats']} repeats of {plan['launches']} launches, {plan['cold_starts']} cold starts, "
        f"{plan['rounds']} rounds"
    )


def _questions(report: Report) -> str:
    rows = [
        [row["title"], row["device"] or "none", *(text.verdict(row, name) for name in QUESTIONS)]
        for row in report["layers"]
    ]
    remarks = [
        f"- {row['title']}, {QUESTIONS[name]}: {_cell(answer['detail'])}"
        for row in report["layers"]
        for name, answer in row["answers"].items()
        if answer["verdict"] == "no"
    ]
    missing = [f"- {row['title']}: {_cell(row['reason'])}" for row in report["layers"] if row["reason"]]
    notes = "\n".join([*remarks, *missing])
    return _table(["layer", "device", *QUESTIONS.values()], rows) + (f"\n{notes}\n" if notes else "")


def _overhead(report: Report) -> str:
    rows = []
    for row in report["layers"]:
        if "submit_ratio" not in row["launches"]:
            continue
        kind = "executed" if row["executes"] else "**host-side only**"
        cold = [text.milliseconds(row["cold"].get(form)) for form in ("spirv", "native")]
        absolute = [f"{row['launches'][what]['median'] * 1e6:.2f} µs" for what in ("submit", "finish")]
        ratios = [text.ratio(row, what) for what in ("submit", "finish")]
        rows.append([row["title"], kind, ratios[0], absolute[0], ratios[1], absolute[1], *cold])
    heads = [
        "layer",
        "device",
        "submit",
        "median",
        "submit and finish",
        "median",
        "cold, SPIR-V",
        "cold, binary",
    ]
    return _table(heads, rows)


def _hosts(report: Report) -> str:
    rows = [
        [f"`{host['source']}`", f"{host['seconds']:.2f} s", f"{host['peak_bytes'] / 1e6:.0f} MB"]
        for host in report["hosts"].values()
        if "seconds" in host
    ]
    return _table(["host", "compile time", "compiler's peak memory"], rows)


def _order(report: Report) -> str:
    rows = [
        [row["launcher"], text.waits(row), row["wrong_native"], row["wrong_final"]]
        for row in report["order"]["rows"]
    ]
    return _table(["launch by", "waits", "launch read too early", "end is wrong"], rows)


def _compatibility(report: Report) -> str:
    titles = {row["name"]: row["title"] for row in report["layers"]}
    rows = [
        [
            titles[row["layer"]],
            row["built_with"],
            row["runs_on"],
            "right" if row["right"] else f"**fails**: {_cell(row['detail'])}",
        ]
        for row in report["compatibility"]
    ]
    return _table(["layer", "built with", "runs on", "result"], rows)


def _stability(rows: Sequence[dict[str, Any]]) -> str:
    shown = [
        [row["release"], row["functions"], *(row.get(what, "") for what in ("added", "removed", "changed"))]
        for row in rows
        if "added" not in row or row["added"] or row["removed"] or row["changed"]
    ]
    return _table(["release", "functions", "added", "removed", "changed"], shown)


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


WIDTH, LEFT, ROW, BAR, TOP = 860, 270, 46, 14, 56
COLOURS = {"submit": "#0068b5", "finish": "#8f5da2"}
NAMES = {"submit": "submit", "finish": "submit and finish"}


def plot(report: Report) -> str:
    """Return the ratios of a report as an SVG bar chart, with the quartiles as whiskers."""
    rows = [row for row in report["layers"] if "submit_ratio" in row["launches"]]
    largest = max(row["launches"][f"{what}_ratio"]["upper"] for row in rows for what in COLOURS)
    unit = (WIDTH - LEFT - 90) / largest
    height = TOP + ROW * len(rows) + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">',
        "<style>text { font: 13px sans-serif } .head { font-size: 15px } .remark { font-size: 11px; fill: #a33 }</style>",
        f"<title>Time of a launch, as a ratio to the baseline of the same device, {report['date']}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        '<text class="head" x="10" y="20">Time of a launch, ratio to Level Zero or OpenCL on the same device</text>',
    ]
    for index, (what, colour) in enumerate(COLOURS.items()):
        x = LEFT + index * 120
        parts.append(f'<rect x="{x}" y="30" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{x + 18}" y="41">{NAMES[what]}</text>')
    for index, row in enumerate(rows):
        parts += _bars(row, TOP + index * ROW, unit)
    one = LEFT + unit
    parts.append(
        f'<line x1="{one:.1f}" y1="{TOP - 4}" x2="{one:.1f}" y2="{height - 22}" stroke="#444" stroke-dasharray="3 3"/>'
    )
    parts.append(f'<text x="{one:.1f}" y="{height - 8}" text-anchor="middle">1</text>')
    return "\n".join([*parts, "</svg>", ""])


def _bars(row: dict[str, Any], top: int, unit: float) -> Iterator[str]:
    yield f'<text x="10" y="{top + 13}">{html.escape(row["title"])}</text>'
    if not row["executes"]:
        yield f'<text class="remark" x="10" y="{top + 28}">virtual GPU: host side only</text>'
    for index, (what, colour) in enumerate(COLOURS.items()):
        found = row["launches"][f"{what}_ratio"]
        y, length = top + index * (BAR + 3), found["median"] * unit
        lower, upper = (LEFT + found[name] * unit for name in ("lower", "upper"))
        middle = y + BAR / 2
        yield f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" fill="{colour}"/>'
        yield f'<line x1="{lower:.1f}" y1="{middle}" x2="{upper:.1f}" y2="{middle}" stroke="black"/>'
        yield f'<text x="{max(LEFT + length, upper) + 6:.1f}" y="{y + 12}">{found["median"]:.2f}</text>'


if __name__ == "__main__":
    sys.exit(main())
