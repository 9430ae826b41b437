"""`dev.py bench`: one table of all benchmarks, the same rows as JSON, and a verdict that can fail."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import benchmarking
import pytest
from tasks import bench

from tests.support.wheels import ROOT

ROWS = [
    benchmarking.row("group", "ours", [3.0, 1.0, 2.0], "ms").at_most(2),
    benchmarking.row("group", "a peer", [4.0, 4.0, 4.0], "ms"),
]


def test_a_row_is_the_median_and_the_quartiles() -> None:
    ours = ROWS[0]
    assert (ours.low, ours.value, ours.high) == (1.5, 2.0, 2.5)
    assert (ours.target, ours.met) == ("at most 2 ms", True)


def test_cases_take_turns_and_the_first_round_does_not_count() -> None:
    seen: list[str] = []

    def case(name: str) -> float:
        seen.append(name)
        return float(len(seen))

    samples = benchmarking.interleaved({"a": lambda: case("a"), "b": lambda: case("b")}, 2)
    assert seen == ["a", "b"] * 3
    assert samples == {"a": [3.0, 5.0], "b": [4.0, 6.0]}


def test_the_table_has_ratios_to_the_first_and_verdicts() -> None:
    _, group, ours, peer = benchmarking.table(ROWS)
    assert group == "group"
    assert ours.split()[-5:] == ["at", "most", "2", "ms:", "met"]
    assert "2.00x" in peer


def test_json_is_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.json"
    benchmarking.report(ROWS, file)
    assert benchmarking.read(file) == ROWS
    machine = json.loads(file.read_text())["machine"]
    assert {"date", "system", "python", "cores", "load"} == set(machine)
    assert "group" in capsys.readouterr().out


@pytest.mark.parametrize(("limit", "code"), [(2, 0), (1, 1)])
def test_a_missed_target_is_exit_code_1(limit: float, code: int) -> None:
    rows = [ROWS[1], ROWS[0].at_most(limit)]
    assert benchmarking.main(lambda quick: rows, "", []) == code


def test_what_misses_and_what_fails_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    misses = (
        "import sys\nfrom benchmarking import main, row\n"
        "sys.exit(main(lambda quick: [row('time', 'ours', [2.0], 's').at_most(1)], '', sys.argv[1:]))\n"
    )
    (tmp_path / "misses.py").write_text(misses)
    (tmp_path / "fails.py").write_text("raise SystemExit('error: cannot')\n")
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    monkeypatch.setattr(bench, "NAMES", ["fails", "misses"])
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "scripts"))
    assert bench.main([]) == 1
    told = capsys.readouterr()
    assert "ours" in told.out
    assert "MISSED" in told.out
    assert "error: failed: fails" in told.err
    assert "error: missed its target: time: ours" in told.err


def test_an_unknown_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["nothing"]) == 1
    assert "no benchmark 'nothing'; there are: build, " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["check", "import_library"])
def test_benchmark_runs(name: str, tmp_path: Path) -> None:
    """The quickest run of those that need nothing but what the other tests have made; their targets are not judged."""
    file = tmp_path / "rows.json"
    command = [sys.executable, str(ROOT / "scripts" / "bench" / f"{name}.py"), "--quick", "--json", str(file)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode in (0, 1), result.stderr
    rows = benchmarking.read(file)
    assert all(one.value > 0 for one in rows)
    assert [one for one in rows if one.target]


@pytest.mark.nightly
def test_every_benchmark_runs(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    assert bench.main(["--quick", "--json", str(file)]) in (0, 1)
    groups = {one.group for one in benchmarking.read(file)}
    assert len(groups) > len(bench.NAMES)
