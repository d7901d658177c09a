"""Every number of the page against the report's JSON."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from repocue.report.html.page import render
from tests.browser.documents import document, page
from tests.browser.tables import Cell, Table, tables
from tests.support.repos import RepoBuilder

LABELS = {
    "Total tokens": "total_tokens",
    "Agent run time": "execution_duration_ms",
    "Input tokens": "input_tokens",
    "Uncached input tokens": "uncached_input_tokens",
    "Cached input tokens": "cached_input_tokens",
    "Cache-write input tokens": "cache_write_input_tokens",
    "Output tokens": "output_tokens",
    "Reasoning tokens": "reasoning_output_tokens",
    "Tool calls": "tool_calls",
    "Commands run": "command_executions",
    "Git commands": "git_calls",
    "Search commands": "filesystem_search_calls",
    "Files named": "repository_files_named",
    "Size of named files (proxy)": "named_file_size_proxy_bytes",
    "Discovery commands": "discovery_commands",
    "Files named in discovery": "discovery_files_named",
    "Size of files named in discovery (proxy)": "discovery_size_proxy_bytes",
}


def found(name: str, figure: str = "", caption: str = "") -> list[Table]:
    """The tables of a document's page whose figure and caption begin so."""
    return [
        table for table in tables(page(name)) if table.figure.startswith(figure) and table.caption.startswith(caption)
    ]


def numbers(cell: Cell) -> list[float]:
    """The exact numbers of a cell, which its text shows with every digit."""
    shown = re.findall(r"[\u2212+]?[0-9][0-9,]*(?:\.[0-9]+)?", cell.text)
    digits = [Fraction(each.replace(",", "").replace("\u2212", "-").replace("+", "")) for each in shown]
    values = [Fraction(each) for each in cell.numbers]
    if "%" not in cell.text:
        assert digits[: len(values)] == values, cell
    return [float(each) for each in cell.numbers]


def spread(cells: list[Cell], expected: dict[str, float] | None) -> None:
    """Two cells show a median and a range, or say that there is none."""
    if expected is None:
        assert cells[0].classes == {"not_observed"}
        assert not cells[0].numbers
        assert not cells[1].numbers
        return
    assert numbers(cells[0]) == [expected["median"]]
    assert numbers(cells[1]) == sorted({expected["min"], expected["max"]})


@pytest.mark.parametrize("name", ["rich", "exploratory", "unknown-maintenance"])
def test_the_statistics_are_the_json_s(name: str) -> None:
    groups = document(name)["agent_evidence"]["groups"]
    shown = found(name, caption="Direct and assisted agents")
    assert len(shown) == len(groups) > 0
    for table, group in zip(shown, groups, strict=True):
        by_name = {LABELS[re.sub(r" \((ms|bytes)\)$", "", row[0].text.rstrip("\u202f†"))]: row for row in table.rows}
        assert set(by_name) == set(group["metrics"])
        for metric, expected in group["metrics"].items():
            row = by_name[metric]
            assert row[1].text == f"{expected['coverage']['complete']} of {expected['coverage']['of']}"
            for part, at in (("direct", 2), ("assisted", 4), ("difference", 6)):
                spread(row[at : at + 2], expected[part])
            share = expected["percent_median"]
            assert row[8].numbers == ([] if share is None else [str(share)])


@pytest.mark.parametrize("name", ["rich", "exploratory"])
def test_every_pair_stands_in_its_table_with_its_source(name: str) -> None:
    for number, group in enumerate(document(name)["agent_evidence"]["groups"], start=1):
        shown = {
            LABELS[table.caption.removesuffix(": every pair")]: table
            for table in found(name, figure=f"g{number}-pairs-")
        }
        observed = {
            metric
            for pair in group["pairs"]
            for metric, cost in pair["metrics"].items()
            if (cost["direct"], cost["assisted"]) != (None, None)
        }
        assert set(shown) == observed
        for metric, table in shown.items():
            for pair, row in zip(group["pairs"], table.rows, strict=False):
                cost = pair["metrics"][metric]
                for side, cell in (("direct", row[3]), ("assisted", row[4])):
                    assert numbers(cell) == ([] if cost[side] is None else [cost[side]])
                    assert cell.classes == {cost[f"{side}_source"]}
                    assert ("†" in cell.text) == (side in cost["ambiguous_zeros"])
                    assert ("≈" in cell.text) == (cost[f"{side}_source"] == "estimated")
                is_counted = cost["source"] in ("observed", "derived")
                assert numbers(row[5]) == ([cost["direct"] - cost["assisted"]] if is_counted else [])
                assert row[6].text == cost["source"].replace("_", " ")


@pytest.mark.parametrize("name", ["rich", "unknown-maintenance", "windowed"])
def test_totals_and_break_evens_are_the_json_s_and_marked_as_estimates(name: str) -> None:
    groups = document(name)["agent_evidence"]["groups"]
    for number, group in enumerate(groups, start=1):
        drawn = [
            *found(name, f"g{number}-totals-", "Total tokens: estimated totals"),
            *found(name, f"g{number}-totals-", "Agent run time: estimated totals"),
        ]
        for table in drawn:
            metric = LABELS[table.caption.partition(":")[0]]
            for scenario, row in zip(group["scenarios"], table.rows, strict=True):
                assert numbers(row[0]) == [scenario["consumers"]]
                expected = [
                    None if (total := scenario["totals"][metric][way]) is None else total[key]
                    for way in ("direct", "assisted")
                    for key in ("median", "min", "max")
                ]
                assert [next(iter(numbers(cell)), None) for cell in row[1:]] == expected
                for cell, value in zip(row[1:], expected, strict=True):
                    assert cell.classes == {"not_observed" if value is None else "estimated"}
                    assert cell.text.startswith("≈") == (value is not None)
        others = [
            (LABELS[row[0].text.rstrip("\u202f†")], row)
            for row in found(name, caption="Estimated totals, ")[number - 1].rows
        ]
        assert len(others) == 6 * len(group["scenarios"])
        by_count = {scenario["consumers"]: scenario["totals"] for scenario in group["scenarios"]}
        for metric, row in others:
            total = by_count[int(row[1].numbers[0])][metric]
            for part, at in (("direct", 2), ("assisted", 5), ("saving", 8)):
                spread(row[at : at + 2], total[part])
                assert row[at + 2].text == f"{total['coverage'][part]} of {total['coverage']['of']}"
        for row in found(name, caption="Break-even")[number - 1].rows:
            even = group["break_even"][LABELS[row[0].text]]
            assert [numbers(row[3]), numbers(row[4])] == [[even["finite"]], [even["of"]]]
            if even["finite"]:
                spread(row[1:3], even)
            else:
                assert row[1].text == ("none" if even["of"] else "not available")


@pytest.mark.parametrize("name", ["rich", "bare", "unknown-maintenance", "windowed"])
def test_recorded_maintenance_is_the_json_s(name: str) -> None:
    maintenance = document(name)["maintenance"]
    runs = found(name, "runs")[0]
    assert [next(iter(numbers(row[5])), None) for row in runs.rows] == [
        run["duration_ms"] for run in maintenance["runs"]
    ]
    assert [row[0].text.replace(" ", "T") for row in runs.rows] == [
        run["started_at"][:19] for run in maintenance["runs"]
    ]
    served: dict[str, int] = {}
    for run in maintenance["cue_runs"]:
        served[run["view"]] = served.get(run["view"], 0) + 1
    assert {row[0].text: int(row[1].numbers[0]) for row in found(name, "cues")[0].rows} == served
    for row, epoch in zip(found(name, caption="Epochs")[0].rows, maintenance["epochs"], strict=True):
        sums = ("duration_ms", "scan_duration_ms", "git_processes", "files_scanned", "bytes_read")
        assert [numbers(cell) for cell in row[5:]] == [
            *([epoch[part]] for part in ("baseline_runs", "refresh_runs", "failed_runs")),
            *([] if epoch[part]["total"] is None else [epoch[part]["total"]] for part in sums),
        ]


def test_coverage_scores_and_what_is_left_out_are_the_json_s() -> None:
    report = document("rich")
    for number, group in enumerate(report["agent_evidence"]["groups"], start=1):
        for row in found("rich", f"g{number}-coverage")[0].rows:
            coverage = group["metrics"][LABELS[row[0].text]]["coverage"]
            assert [numbers(cell) for cell in row[1:]] == [
                [coverage[part]] for part in ("complete", "estimated", "not_observed", "of")
            ]
        scores = {row[0].text: row for row in found("rich", f"deterministic-{number}")[0].rows}
        assert list(scores) == list(report["quality"]["deterministic"])
        for condition, row in scores.items():
            each = report["quality"]["deterministic"][condition][number - 1]
            fields = [each[part] for part in ("all_fields", "branch", "head", "dirty", "tracked_changes", "untracked")]
            assert [cell.text for cell in row[1:3]] == [str(each["of"]), str(each["answers"])]
            assert [cell.text for cell in row[3:]] == [
                f"{part['correct']} of {part['scored']}" if part["scored"] else "not scored" for part in fields
            ]
    judged = found("rich", "qualitative")[0]
    for row, each in zip(judged.rows, report["quality"]["qualitative"], strict=True):
        assert row[0].text == each["assessor"]
        assert row[1].text == (
            "date not known" if each["assessed_at"] is None else each["assessed_at"][:19].replace("T", " ")
        )
        assert [numbers(cell) for cell in row[6:]] == [[score] for score in each["scores"].values()]
    left_out = found("rich", caption="Imported pairs that are not used")[0]
    assert [(row[0].text, row[4].text) for row in left_out.rows] == [
        (each["calibration"], each["reason"].replace("-", " ")) for each in report["agent_evidence"]["pairs_excluded"]
    ]


def test_a_histogram_counts_every_pair_once_between_its_edges() -> None:
    pairs = document("thousand-pairs")["agent_evidence"]["groups"][0]["pairs"]
    costs = [pair["metrics"]["total_tokens"] for pair in pairs]
    differences = [Fraction(cost["direct"] - cost["assisted"]) for cost in costs]
    rows = [[Fraction(cell.numbers[0]) for cell in row] for row in found("thousand-pairs", "g1-pairs-0")[0].rows]
    assert len(rows) <= 26
    assert any(low == 0 for low, _, _ in rows)
    edge = Fraction(1, 10**5)  # edges are printed with six decimals
    for low, high, count in rows:
        least = sum(low + edge <= each < high - edge for each in differences)
        most = sum(low - edge <= each <= high + edge for each in differences)
        assert least <= count <= most
    assert sum(count for *_, count in rows) == 1000


def test_equal_differences_of_many_pairs_are_one_bar_that_can_be_seen() -> None:
    rows = found("equal-differences", "g1-pairs-0")[0].rows
    assert [[cell.numbers for cell in row] for row in rows] == [[["900"], ["900"], ["1000"]]]
    figure = page("equal-differences").decode().partition('id="g1-pairs-0"')[2].partition("</figure>")[0]
    bar = re.search(r'd="M([0-9.]+),[0-9.]+h([0-9.]+)[^"]*"[^>]*fill="var\(--assisted\)"', figure)
    assert bar is not None
    assert float(bar[2]) > 2


def test_of_many_groups_the_largest_are_drawn_in_full_and_every_one_keeps_its_numbers() -> None:
    report = document("many-groups")
    text = page("many-groups").decode()
    drawn = {int(number) for number in re.findall(r'id="g([0-9]+)-totals-', text)}
    assert drawn == {3, 8, 9, 10}
    assert len(re.findall(r'<figure id="g[0-9]+-pairs-0"', text)) == 10
    groups = report["agent_evidence"]["groups"]
    statistics = found("many-groups", caption="Direct and assisted agents")
    assert [len(table.rows) for table in statistics] == [len(group["metrics"]) for group in groups]
    totals = found("many-groups", caption="Estimated totals, ")
    counts = len(groups[0]["scenarios"])
    assert [len(table.rows) for table in totals] == [(6 if number in drawn else 8) * counts for number in range(1, 11)]


def test_many_runs_are_gathered_and_none_is_lost() -> None:
    report = document("bare")
    first = report["maintenance"]["runs"][0]
    runs = []
    for number in range(2000):
        at = f"2026-12-{1 + number // 100:02d}T{number % 100 // 5:02d}:{number % 5:02d}:00.000Z"
        runs.append(
            {**first, "kind": "refresh", "started_at": at, "duration_ms": None if number % 7 == 0 else number + 1}
        )
    report["maintenance"]["runs"] = runs
    rendered = render(report)
    table = next(each for each in tables(rendered) if each.figure == "runs")
    assert len(table.rows) <= 60
    assert sum(int(row[3].numbers[0]) for row in table.rows) == 2000
    assert sum(int(row[4].numbers[0]) for row in table.rows) == sum(run["duration_ms"] is None for run in runs) == 286
    assert min(float(row[6].numbers[0]) for row in table.rows) == 2
    assert max(float(row[7].numbers[0]) for row in table.rows) == 2000
    assert rendered.count(b"<path") < 1500


def test_the_same_document_gives_the_same_bytes_in_any_process() -> None:
    code = "import sys; from tests.browser.documents import page; sys.stdout.buffer.write(page('exploratory'))"
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LC_ALL": "C"}
    again = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, check=True)
    assert again.stdout == page("exploratory")


def test_the_command_writes_the_page_of_a_real_repository(
    tmp_path: Path, repocue: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    builder = RepoBuilder(tmp_path / "kept")
    builder.commit("first", {"README.md": b"hello\n"})
    root = builder.build()
    for arguments in (["init"], ["refresh"], ["cue"]):
        assert repocue(*arguments, cwd=root).returncode == 0
    done = repocue("report", "--format", "html", "--output", tmp_path / "report.html", cwd=root)
    assert (done.returncode, done.stdout) == (0, b"")
    written = (tmp_path / "report.html").read_bytes()
    shown = {table.figure: table for table in tables(written)}
    assert [row[1].text for row in shown["runs"].rows] == ["init", "refresh"]
    assert [row[0].text for row in shown["cues"].rows] == ["overview"]
    assert b"<title>kept \xc2\xb7 RepoCue report</title>" in written
    assert b"Agent evidence is unavailable" in written


def test_it_names_no_address_and_holds_no_script() -> None:
    for name in ("rich", "bare", "hostile"):
        text = page(name).decode()
        assert not re.search(r"<script|<iframe|<object|<embed|@import|\bsrc=\"|url\((?!#)", text)
        assert re.findall(r"<(?:link|a)\b[^>]*href=\"([^#\"][^\"]*)\"", text) == ["data:,"]
        assert "https:" not in text
        assert "http:" not in text
