"""The text form: every ratio divides out from the figures beside it, at 80 columns, and no terminal obeys it."""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from rich.console import Console

from repocue.cli.evaluate_m2_summary_tables import figure
from repocue.cli.evaluate_m2_summary_text import summary as text
from tests.m2_summary.scenes import CONDITIONS, agents, save, summary, three_runs
from tests.m2_summary.test_figures import groups
from tests.support.m2_sets import Agent, assessments, reports, turn, write, write_set

GOLDEN = Path(__file__).parent.parent / "golden" / "m2_summary"
REMAKE = os.environ.get("REPOCUE_REMAKE_GOLDEN") == "m2_summary"

# A row of a comparison: name, n/of, direct, assisted, ratio, and the differences' median, least and largest.
_FIGURE = r"-?[0-9][0-9,]*(?:\.[0-9]+)?"
_COMPARED = re.compile(
    rf"^(?P<name>\S.*?) +(?P<n>\d+)/(?P<of>\d+) +(?P<direct>{_FIGURE}) +(?P<assisted>{_FIGURE})"
    rf" +(?P<ratio>-|\d+\.\d{{3}}) +{_FIGURE} +{_FIGURE} +{_FIGURE}$"
)
_DIVIDED = re.compile(r"(\d+)/(\d+) = (\d+\.\d{3})")


def rendered(document: dict[str, Any], width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, color_system=None).print(text(document))
    return out.getvalue()


def exact(shown: str) -> Decimal:
    return Decimal(shown.replace(",", ""))


def compared(shown: str) -> list[re.Match[str]]:
    """The rows of every table whose header names a ratio; the page's other tables have none."""
    rows = []
    inside = False
    for line in shown.splitlines():
        if line.split()[:4] == ["n", "direct", "assisted", "ratio"]:
            inside = True
        elif not line.strip() or line.startswith("No difference"):
            inside = False
        elif inside and not line.startswith("─"):
            row = _COMPARED.match(line.rstrip())
            assert row is not None, line
            rows.append(row)
    return rows


def check(shown: str) -> int:
    """Every printed ratio is the quotient of the printed numbers, to its last place; returns how many there were."""
    found = 0
    for part, whole, quotient in _DIVIDED.findall(shown):
        assert abs(Decimal(part) / Decimal(whole) - Decimal(quotient)) <= Decimal("0.0005")
        found += 1
    for row in compared(shown):
        if row["ratio"] == "-":
            assert exact(row["direct"]) == 0, row[0]
            continue
        quotient = exact(row["assisted"]) / exact(row["direct"])
        assert abs(quotient - Decimal(row["ratio"])) <= Decimal("0.0005"), row[0]
        found += 1
    return found


@given(made=groups)
@settings(max_examples=12, phases=(Phase.generate,))  # shrinking writes sets for minutes
def test_every_printed_ratio_divides_out_from_printed_columns(made: list[dict[str, Agent]]) -> None:
    """The law: nobody needs anything but the page to recompute a ratio on it."""
    with tempfile.TemporaryDirectory() as parent:
        for run, scripted in enumerate(made, start=1):
            write_set(parent, run_index=run, agents=scripted)
        document = summary(parent)
    shown = rendered(document)
    check(shown)
    assert max(map(len, shown.splitlines())) <= 80
    rows = compared(shown)
    different = [
        figures
        for comparison in document["repositories"][0]["groups"][0]["comparisons"]
        for figures in comparison["metrics"].values()
        if figures["n"] and (figures["difference"]["min"] or figures["difference"]["max"])
    ]
    assert len(rows) == len(different)


@given(st.one_of(st.integers(0, 2**53 - 1), st.decimals(0, 10**9, places=6).map(float)))
@settings(max_examples=60)
def test_a_shown_figure_is_near_what_it_shows(value: float) -> None:
    shown = exact(figure(value))
    assert abs(shown - Decimal(repr(value))) <= (Decimal("0.05") if abs(value) >= 100 else Decimal("0.0005"))


def golden_scene(parent: Path) -> dict[str, Any]:
    """Two complete repositories, one of them rotated and contaminated once; a dry run; one run of version 3."""
    three_runs(parent, repository={"name": "alpha", "resolved_root": "/home/ada/alpha"})
    for run in (1, 2, 3):
        order = CONDITIONS[run - 1 :] + CONDITIONS[: run - 1]
        scripted = agents(run)
        if run == 2:
            scripted["ranked"] = Agent(commands=[("repocue cue", "other", ())])
        more = {"git": {"tracked_changes": ["ghost.py"]}}
        scripted["placebo"] = Agent(turns=[turn(990 * run, 100, 90, None)], duration_ms=None, **more)
        write_set(
            parent, run_index=run, order=order, agents=scripted, repository={"name": "beta", "resolved_root": "/b"}
        )
    write_set(parent, runner=False, repository={"name": "gamma", "resolved_root": "/c"})
    zero = {"basic": Agent(turns=[turn(500, 0, 50, 0)], statuses={"execution_duration_ms": "estimated"})}
    write_set(parent, version=3, agents=zero, repository={"name": "old", "resolved_root": "/d", "branch": None})
    (parent / "notes.txt").write_text("mine")
    return summary(parent)


def golden(name: str, made: str) -> str:
    """The kept text, after writing it if that was asked for by name (REPOCUE_REMAKE_GOLDEN=m2_summary)."""
    path = GOLDEN / name
    if REMAKE:
        GOLDEN.mkdir(parents=True, exist_ok=True)
        path.write_text(made, encoding="utf-8")
    return path.read_text(encoding="utf-8")


def test_a_summary_reads_as_it_always_did(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "sets").mkdir()
    monkeypatch.chdir(tmp_path)
    document = golden_scene(Path("sets"))
    shown = rendered(document)
    assert check(shown) > 40
    assert golden("summary.txt", shown) == shown
    one_run = summary(document["report_sets"][-1]["folder"])
    made = json.dumps(one_run, ensure_ascii=False, indent=1) + "\n"
    assert golden("summary.json", made) == made


def test_opinions_are_shown_with_whose_they_are_and_when(tmp_path: Path) -> None:
    """Two assessors of the direct answer, purpose 4 and 1; nobody judged the others."""
    made = reports()
    folder = write(tmp_path / "sets", made)
    (one,) = assessments(made[:1])
    (other,) = assessments(made[:1], assessor="Ada", scores={**one["scores"], "purpose": 1})
    del other["assessed_at"]
    shown = rendered(summary(folder, assessment_files=save(tmp_path / "judged", [one, other])))
    assert re.search(r"^direct +2 +0 +2\.5 1–4 ", shown, re.MULTILINE)
    assert "By Ada (date unknown), Grace (2026-11-30T20:00:00.000Z)." in shown
    assert "placebo, basic, ranked, structural-oracle: not established" in shown


def test_what_a_repository_or_an_agent_says_is_no_markup_and_no_control_sequence(tmp_path: Path) -> None:
    hostile = "[red]x[/red]\x1b[2J\x07\n\u202e[link=file:///]"
    finding = {"category": hostile, "severity": "warning", "message": hostile, "evidence": hostile}
    write_set(
        tmp_path,
        repository={"name": hostile, "resolved_root": "/" + hostile},
        metadata={"model": hostile, "adapter": hostile},
        agents={"basic": Agent(findings=[finding])},
        name="set",
    )
    shown = rendered(summary(tmp_path), width=200)
    assert "[red]x[/red]" in shown
    assert not [c for c in shown if not c.isprintable() and c != "\n"]


def test_a_narrow_terminal_and_huge_figures_lose_no_digit(tmp_path: Path) -> None:
    huge = {condition: Agent(turns=[turn(4_503_599_627_370_000 + place)]) for place, condition in enumerate(CONDITIONS)}
    write_set(tmp_path, agents=huge)
    shown = rendered(summary(tmp_path), width=80)
    assert max(map(len, shown.splitlines())) <= 80
    wide = rendered(summary(tmp_path), width=200)
    assert "4,503,599,627,370,000" in wide
    assert wide.count("4,503,599,627,370,004") >= 3
    digits = re.sub(r"[^0-9]", "", shown)
    assert digits.count("4") >= re.sub(r"[^0-9]", "", wide).count("4")
