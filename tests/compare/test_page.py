"""docs/runtime-choice.md and .svg say what their JSON says, and the JSON is a run of the size that they promise."""

from __future__ import annotations

import copy
import json
import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
import runtime_page
from intel_xpu_runtime_dev.compare.layers import LAYERS
from intel_xpu_runtime_dev.compare.measuring import FULL
from intel_xpu_runtime_dev.compare.stability import stability

Report = dict[str, Any]


@pytest.fixture(name="report", scope="module")
def _report() -> Report:
    report: Report = json.loads(runtime_page.REPORT.read_text(encoding="utf-8"))
    return report


def test_page_and_plot_are_what_the_report_makes(report: Report) -> None:
    assert runtime_page.PAGE.read_bytes().decode() == runtime_page.page(report)
    assert runtime_page.PLOT.read_bytes().decode() == runtime_page.plot(report)


def test_every_measured_figure_of_the_report_reaches_the_page(report: Report) -> None:
    """Change one figure after the other: the page must change with each."""
    page = runtime_page.page(report)
    for index, row in enumerate(report["layers"]):
        for what in ("submit", "finish", "submit_ratio", "finish_ratio"):
            changed = copy.deepcopy(report)
            changed["layers"][index]["launches"][what]["median"] *= 1.5
            assert runtime_page.page(changed) != page, (row["name"], what)
    for index in range(len(report["order"]["rows"])):
        changed = copy.deepcopy(report)
        changed["order"]["rows"][index]["wrong_final"] += 1
        assert runtime_page.page(changed) != page


def test_plot_is_svg_with_a_bar_for_each_ratio(report: Report) -> None:
    drawn = ElementTree.fromstring(runtime_page.plot(report))  # noqa: S314 # our own
    texts = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    for row in report["layers"]:
        assert row["title"] in texts
        assert f"{row['launches']['submit_ratio']['median']:.2f}" in texts


def test_the_report_is_a_full_run(report: Report) -> None:
    assert report["plan"] == FULL._asdict()
    assert FULL.repeats >= 15
    assert FULL.launches >= 2000
    assert FULL.rounds >= 1000
    assert [row["name"] for row in report["layers"]] == [layer.name for layer in LAYERS]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", report["date"])
    assert report["machine"]["processor"]
    assert report["machine"]["load_before"] < 1.0
    assert report["load_after"] < 1.5


def test_figures_of_a_device_that_does_not_execute_are_marked(report: Report) -> None:
    page = runtime_page.page(report)
    virtual = [row for row in report["layers"] if not row["executes"]]
    assert virtual
    assert page.count("| **host-side only** |") == len(virtual)
    assert runtime_page.plot(report).count("virtual GPU: host side only") == len(virtual)
    for row in virtual:
        assert row["answers"]["launch"]["verdict"] == "not executed"
        assert row["cold"] == {}


def test_stability_is_that_of_the_tables_of_api(report: Report) -> None:
    assert report["stability"] == {name: stability(name) for name in ("level-zero", "unified-runtime")}


def test_stability_counts_what_came_and_went() -> None:
    rows = {row["release"]: row for row in stability("unified-runtime")}
    releases = list(rows)
    for before, after in zip(releases, releases[1:]):
        row = rows[after]
        assert row["functions"] == rows[before]["functions"] + row["added"] - row["removed"]
    # Launches with and without separate arguments, see `xpu-dev api urKernelSetArgPointer`.
    assert rows["2026.2.0"]["removed"] >= 3


def test_nothing_of_the_machine_is_in_the_report(report: Report) -> None:
    assert not re.search(r"(?<![\w.])/(tmp|root|home|work)\b", json.dumps(report))


def test_the_summary_follows_from_the_figures(report: Report) -> None:
    """Turn an answer or a result around: the conclusion that rests on it goes."""
    page = runtime_page.page(report)
    assert "Unified Runtime answers every question" in page
    assert "only with both waits" in page
    for name, question in (("ur-v1", "spill"), ("ur-v2", "spill")):
        (row,) = (row for row in report["layers"] if row["name"] == name)
        assert row["answers"][question]["verdict"] == "yes"
    changed = copy.deepcopy(report)
    for row in changed["layers"]:
        if row["name"].startswith("ur-"):
            row["answers"]["spill"]["verdict"] = "no"
    assert "Unified Runtime answers every question" not in runtime_page.page(changed)
    changed = copy.deepcopy(report)
    for row in changed["order"]["rows"]:
        row["wrong_native"] = row["wrong_final"] = 0
    assert "only with both waits" not in runtime_page.page(changed)


def test_the_spill_size_is_that_of_a_kernel_that_spills(report: Report) -> None:
    told = {
        row["answers"]["spill"]["detail"]
        for row in report["layers"]
        if row["baseline"] == "level-zero" and row["answers"]["spill"]["verdict"] == "yes"
    }
    (bytes_,) = told  # each way tells the same
    assert int(bytes_.split()[0]) > 1000
