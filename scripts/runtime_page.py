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
from typing import Any, NamedTuple

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
SUMMARY_TEXT = """\
What Triton's launcher needs, by API. A submit is a ratio to the baseline of its device, by the best way through the API.
"""
QUESTIONS_TEXT = """\
Each cell is a test that ran with the add kernel that `xpu-dev smoke` ships. *Build log*: of a kernel with a sub-group
size that no device has. *Binary in*: the native binary was loaded and launched. *Spill size*: of the matmul kernel.
*Not executed*: a virtual GPU, Intel's driver without hardware; launches return success and memory stays as it was.
"""
OVERHEAD_TEXT = """\
Time of a launch divided by that of the baseline on the same device (Level Zero, or OpenCL), repeat by repeat: median
and quartiles of the ratios. One process a layer, all on one processor, taking turns. *Submit* sets the arguments and
enqueues: on OpenCL's device it is held back meanwhile; on the virtual GPU nothing executes, so its figures are
**host-side only**. Where *submit* is the longer one, a launch among thousands with no wait between them took longer than
one with a wait behind it. Cold start: from the start of the process to a result that was compared and right.

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
        "## In short\n",
        SUMMARY_TEXT,
        _summary(report),
        "\n".join(_conclusion(report)) + "\n",
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


class Api(NamedTuple):
    """An API under the launcher: its layers' names begin with `prefix`; `component` is the one of `xpu-dev api`."""

    title: str
    prefix: str
    host: str
    component: str


APIS = (
    Api("Level Zero", "level-zero", "level-zero", "level-zero"),
    Api("Unified Runtime", "ur-", "unified-runtime", "unified-runtime"),
    Api("SYCL", "sycl-", "sycl", ""),
)


def _layers(report: Report, api: Api) -> list[dict[str, Any]]:
    return [row for row in report["layers"] if row["name"].startswith(api.prefix)]


def _summary(report: Report) -> str:
    heads = [
        "API", "devices that answered", "answered by no layer of it on a GPU", "submit, GPU", "submit, CPU device",
        "compiling the host", "release pairs that work", "functions removed, changed",
    ]  # fmt: skip
    return _table(heads, [_summary_row(report, api) for api in APIS])


def _summary_row(report: Report, api: Api) -> list[str]:
    layers = _layers(report, api)
    host = report["hosts"][api.host]
    pairs = [row["right"] for row in report["compatibility"] if row["layer"].startswith(api.prefix)]
    compiled = f"{host['seconds']:.2f} s, {host['peak_bytes'] / 1e6:.0f} MB" if "seconds" in host else "-"
    return [
        api.title,
        ", ".join(dict.fromkeys(row["device"] for row in layers if row["device"])) or "none",
        ", ".join(QUESTIONS[name] for name in _unanswered(layers)) or "nothing",
        _best(layers, "level-zero"),
        _best(layers, "opencl"),
        compiled,
        f"{sum(pairs)} of {len(pairs)}" if pairs else "-",
        _losses(report, api),
    ]


def _unanswered(layers: Sequence[dict[str, Any]]) -> list[str]:
    """Return the questions that every layer on Level Zero answers with no."""
    on_gpu = [row for row in layers if row["baseline"] == "level-zero" and row["answers"]]
    return [name for name in QUESTIONS if all(text.verdict(row, name) in ("no", "-") for row in on_gpu)]


def _best(layers: Sequence[dict[str, Any]], baseline: str) -> str:
    """Return the smallest ratio of a submit to the baseline's, with the layer that has it."""
    there = [row for row in layers if row["baseline"] == baseline and "submit_ratio" in row["launches"]]
    if not there:
        return "-"
    best = min(there, key=lambda row: float(row["launches"]["submit_ratio"]["median"]))
    remark = "" if best["executes"] else ", host side only"
    return f"{best['launches']['submit_ratio']['median']:.2f} ({best['title']}{remark})"


def _losses(report: Report, api: Api) -> str:
    rows = report["stability"].get(api.component, [])
    lost = [sum(row.get(what, 0) for row in rows) for what in ("removed", "changed")]
    return f"{lost[0]}, {lost[1]} in {len(rows)} releases" if rows else "-"


def _conclusion(report: Report) -> Iterator[str]:
    """Yield what follows from the figures for this project."""
    unified = next(api for api in APIS if api.component == "unified-runtime")
    layers = _layers(report, unified)
    pairs = [row["right"] for row in report["compatibility"] if row["layer"].startswith(unified.prefix)]
    everywhere = {row["baseline"] for row in layers if row["answers"]} == {"level-zero", "opencl"}
    if everywhere and not _unanswered(layers):
        yield (
            "- Unified Runtime answers every question, on the GPU and on the CPU device, by one API: our Triton driver "
            "is built on it."
        )
    if not all(pairs):
        yield (
            f"- {len(pairs) - sum(pairs)} of {len(pairs)} pairs of its releases do not work together: our locator and "
            "smoke test refuse a kit and a runtime of different releases."
        )
    logless = [row["title"] for row in report["layers"] if text.verdict(row, "build-log") == "no"]
    if logless:
        yield f"- A kernel that the device refuses is refused without a reason by: {', '.join(logless)}."
    spilling = {
        row["title"]: row for row in report["layers"] if row["baseline"] == "level-zero" and row["answers"]
    }
    mute = [title for title, row in spilling.items() if text.verdict(row, "spill") == "no"]
    if mute:
        yield f"- A GPU kernel's spill size, after which Triton compiles again, is not told by: {', '.join(mute)}."
    rows = [row for row in report["order"]["rows"] if row["launcher"] != "sycl"]
    right = {text.waits(row) for row in rows if not row["wrong_native"] and not row["wrong_final"]}
    if right == {"both waits"}:
        yield "- A launch outside of SYCL is in order with SYCL's queue only with both waits."


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
        [row["title"], row["device"] or "none", *(_answer(row, name) for name in QUESTIONS)]
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


def _answer(row: dict[str, Any], question: str) -> str:
    verdict = text.verdict(row, question)
    # The size itself says more than that it was told.
    return str(row["answers"]["spill"]["detail"]) if (question, verdict) == ("spill", "yes") else verdict


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
    table = _table(["launch by", "waits", "launch read too early", "end is wrong"], rows)
    return f"{table}\nOn Level Zero: not shown, {report['order']['level_zero']}.\n"


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
