"""A report as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .layers import QUESTIONS

WAITS = {
    (0, 0): "no wait",
    (1, 0): "launch waits for the queue",
    (0, 1): "queue waits for the launch",
    (1, 1): "both waits",
}


def lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a report."""
    width = max(len(row["title"]) for row in report["layers"])
    yield f"{'':{width}}  {'  '.join(QUESTIONS.values())}"
    for row in report["layers"]:
        if row["reason"] and not row["answers"]:
            yield f"{row['title']:{width}}  not here: {row['reason'].splitlines()[0]}"
            continue
        cells = [f"{verdict(row, name):{len(head)}}" for name, head in QUESTIONS.items()]
        yield f"{row['title']:{width}}  {'  '.join(cells)}"
    yield ""
    yield (
        f"{'time, ratio to baseline':{width}}  submit                         submit+finish"
        f"                  cold, SPIR-V  cold, binary"
    )
    for row in report["layers"]:
        if "reason" in row["launches"]:
            yield f"{row['title']:{width}}  {row['launches']['reason']}"
        elif row["launches"]:
            cold = [milliseconds(row["cold"].get(form)) for form in ("spirv", "native")]
            remark = "" if row["executes"] else "  host side only: the device does not execute"
            yield (
                f"{row['title']:{width}}  {_time(row, 'submit'):29}  {_time(row, 'finish'):29}"
                f"  {cold[0]:12}  {cold[1]}{remark}"
            )
    yield ""
    for host in report["hosts"].values():
        if "seconds" in host:
            yield f"compile {host['source']:20} {host['seconds']:5.2f} s  {host['peak_bytes'] / 1e6:4.0f} MB"
    yield ""
    if report["order"]["reason"]:
        yield f"order: not here: {report['order']['reason'].splitlines()[0]}"
    for row in report["order"]["rows"]:
        yield f"order {row['launcher']:16} {waits(row):28} wrong rounds: {wrong(row)}"
    yield f"order on Level Zero: not shown: {report['order']['level_zero']}"
    for row in report["compatibility"]:
        verdict_ = "right" if row["right"] else f"WRONG: {row['detail']}"
        yield f"{row['layer']} built with {row['built_with']} on {row['runs_on']}: {verdict_}"


def verdict(row: Mapping[str, Any], question: str) -> str:
    """Return "yes", "no", "not executed", or "-" when the test was not reached."""
    answer = row["answers"].get(question)
    return "-" if answer is None else str(answer["verdict"])


def ratio(row: Mapping[str, Any], what: str) -> str:
    """Return a ratio with its quartiles."""
    found = row["launches"].get(f"{what}_ratio")
    return "-" if found is None else f"{found['median']:.2f} [{found['lower']:.2f}..{found['upper']:.2f}]"


def _time(row: Mapping[str, Any], what: str) -> str:
    return f"{row['launches'][what]['median'] * 1e6:5.2f} us {ratio(row, what)}"


def milliseconds(found: Mapping[str, float] | None) -> str:
    """Return a median in milliseconds."""
    return "-" if found is None else f"{found['median'] * 1e3:.0f} ms"


def waits(row: Mapping[str, Any]) -> str:
    """Return which waits a row of the order test had."""
    return "by SYCL itself" if row["launcher"] == "sycl" else WAITS[row["before"], row["after"]]


def wrong(row: Mapping[str, Any]) -> str:
    """Return the numbers of wrong rounds."""
    return f"native step {row['wrong_native']}, end {row['wrong_final']}, of {row['rounds']}"
