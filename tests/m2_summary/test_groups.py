"""What stands together and what does not, what is missing, and what may be said."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from repocue.errors import ContractError, EvaluationError, EvidenceError
from repocue.evaluation.m2.blind import blind, unblind
from tests.m2_summary.scenes import CONDITIONS, agents, of, only_group, save, summary, three_runs
from tests.support.m2_sets import COMMANDS, Agent, assessments, digest, reports, turn, write, write_set

Document = dict[str, Any]

OTHER: dict[str, dict[str, Any]] = {
    "adapter": {"metadata": {"adapter": "other"}},
    "adapter version": {"metadata": {"adapter_version": "4"}},
    "CLI version": {"metadata": {"cli_version": "0.0.2"}},
    "no CLI version": {"metadata": {"cli_version": None}},
    "model": {"metadata": {"model": "other"}},
    "effort": {"metadata": {"reasoning_effort": "high"}},
    "tier": {"metadata": {"service_tier": "fast"}},
    "sandbox": {"metadata": {"sandbox": "none"}},
    "arguments": {"metadata": {"arguments": ["--json"]}},
    "cue budget": {"max_tokens": 501},
    "report version": {"version": 3},
    "repository": {"repository": {"name": "other", "resolved_root": "/elsewhere"}},
    "state": {"repository": {"state_fingerprint": digest(b"another state")}},
    "build of RepoCue": {
        "delivery": {
            "executable": {"path": "/r", "sha256": digest(b"1"), "version": "0.1.0", "package_sha256": digest(b"2")}
        }
    },
    "no agent": {"runner": False},
}


@pytest.mark.parametrize("name", OTHER)
def test_nothing_is_pooled_with_sets_of_another(name: str, tmp_path: Path) -> None:
    """Each other thing makes a group of its own; coverage counts the runs of that group alone."""
    write_set(tmp_path, run_index=1)
    write_set(tmp_path, run_index=2)
    write_set(tmp_path, run_index=3, **OTHER[name])
    document = summary(tmp_path)
    groups = [group for repository in document["repositories"] for group in repository["groups"]]
    assert sorted(group["completeness"]["runs"] for group in groups) == [[1, 2], [3]]
    for group in groups:
        assert of(group["conditions"], "basic")["metrics"]["total_tokens"]["of"] == len(group["completeness"]["runs"])
        assert not group["completeness"]["complete"]


@pytest.mark.parametrize(
    ("condition", "limitation"),
    [
        ("direct", "The benchmark's text was supplied and is not the packaged one: {}."),
        ("structural-oracle", "The structural oracle infers no calls, data flow or references: {}."),
    ],
)
def test_another_benchmark_text_or_oracle_makes_another_group(condition: str, limitation: str, tmp_path: Path) -> None:
    def state(report: Document) -> None:
        if report["condition"] == condition:
            report["limitations"].append(limitation.format(digest(b"another")))

    write_set(tmp_path, run_index=1)
    write_set(tmp_path, run_index=2, change=state)
    (repository,) = summary(tmp_path)["repositories"]
    stated = [
        (group["identity"]["benchmark_text_sha256"], group["identity"]["oracle_sha256"])
        for group in repository["groups"]
    ]
    expected = (digest(b"another"), None) if condition == "direct" else (None, digest(b"another"))
    assert stated == [(None, None), expected]


def test_versions_of_different_repositories_stand_in_no_aggregate(tmp_path: Path) -> None:
    three_runs(tmp_path, repository={"name": "alpha", "resolved_root": "/a"})
    three_runs(tmp_path, repository={"name": "beta", "resolved_root": "/b"}, version=3)
    three_runs(tmp_path, repository={"name": "gamma", "resolved_root": "/c"}, max_tokens=1000)
    aggregate = summary(tmp_path)["aggregate"]
    assert aggregate["pools"] == []
    assert [one["group"] for one in aggregate["left_out"]] == ["group-1", "group-2", "group-3"]


def test_one_run_twice_is_refused_and_both_folders_are_named(tmp_path: Path) -> None:
    first = write_set(tmp_path / "one", run_index=1)
    second = write_set(tmp_path / "two", run_index=1, agents={"basic": Agent(duration_ms=1)})
    with pytest.raises(EvaluationError, match="are both run 1 of the same comparison") as caught:
        summary(first, second)
    assert first in caught.value.message
    assert second in caught.value.message
    assert summary(first, tmp_path / "one")["report_sets"][0]["folder"] == first


def test_a_dry_run_is_no_agent_evidence_and_says_so(tmp_path: Path) -> None:
    write_set(tmp_path, runner=False)
    group = only_group(summary(tmp_path))
    assert group["status"] == "dry-run"
    assert group["completeness"]["reports"] == 0
    assert group["completeness"]["missing"] == [{"what": "agent-runs", "run_index": None, "condition": None}]
    assert group["order"] is None
    basic = of(group["conditions"], "basic")
    assert basic["cue"]["command_ms"]["median"] == 80.953
    assert basic["metrics"]["total_tokens"]["median"] is None
    assert basic["deterministic"]["answers"] == 0
    assert {verdict["status"] for verdict in group["verdicts"]} == {"not-established"}
    assert group["verdicts"][0]["reasons"] == ["No agent ran: a dry run is not agent evidence."]


def test_what_is_missing_is_named_run_by_run_and_condition_by_condition(tmp_path: Path) -> None:
    made = reports(run_index=1)
    write(tmp_path, made)
    write_set(tmp_path, run_index=4)
    judged = save(tmp_path.parent / f"{tmp_path.name}-judged", assessments(made[:3]))
    group = only_group(summary(tmp_path, assessment_files=judged))
    complete = group["completeness"]
    assert (complete["reports"], complete["required_reports"], complete["assessed"]) == (10, 15, 3)
    assert group["status"] == "exploratory"
    missing = [(one["what"], one["run_index"], one["condition"]) for one in complete["missing"]]
    assert missing == [
        ("runs", None, None),
        *(("blinded-assessment", 1, condition) for condition in ("direct", "placebo", "basic")),
        *(("assessment", 1, condition) for condition in ("ranked", "structural-oracle")),
        *(("assessment", 4, condition) for condition in CONDITIONS),
    ]


CALLS = (
    "repocue cue",
    "bash -lc 'repocue status'",
    "cat ~/.cache/repocue/repo-1/state.db",
    "sqlite3 /home/ada/.cache/repocue/repo-0123/state.db .dump",
    "cat /tmp/repocue-evaluate-m2-repo-1-ab/cache/x",
    'ls "$REPOCUE_CACHE_DIR"',
    "cat /var/tmp/the-cache/state.db",
)


@pytest.mark.parametrize("command", CALLS)
def test_a_run_that_calls_repocue_or_reads_its_cache_is_a_finding_and_not_comparable(
    command: str, tmp_path: Path
) -> None:
    """Its own figures stay visible; they enter neither the condition's statistics nor any pair."""
    told = {"argv": ["/usr/bin/repocue", "cue", "--cache-dir", "/var/tmp/the-cache"]}
    for run in (1, 2):
        commands = (*COMMANDS, (command, "other", ())) if run == 2 else COMMANDS
        write_set(
            tmp_path,
            run_index=run,
            delivery=told,
            agents={"basic": Agent(turns=[turn(100 * run)], commands=commands), "ranked": Agent()},
        )
    group = only_group(summary(tmp_path))
    (finding,) = [one for one in group["findings"] if one["category"] == "contaminated"]
    assert (finding["run_index"], finding["condition"], finding["evidence"]) == (2, "basic", command)
    basic = of(group["conditions"], "basic")
    assert (basic["reports"], basic["comparable"]) == (2, 1)
    figures = basic["metrics"]["input_tokens"]
    assert (figures["n"], figures["of"], figures["median"], figures["left_out"]["contaminated"]) == (1, 2, 100, 1)
    assert basic["deterministic"]["answers"] == 1
    pairs = of(group["comparisons"], "basic")
    assert (pairs["pairs"], pairs["comparable"], pairs["metrics"]["input_tokens"]["n"]) == (2, 1, 1)
    assert of(group["comparisons"], "ranked")["comparable"] == 2
    (kept,) = [one for one in group["reports"] if one["contaminations"]]
    assert (kept["comparable"], kept["metrics"]["input_tokens"]["value"]) == (False, 200)
    assert ("comparable-run", 2, "basic") in [
        (one["what"], one["run_index"], one["condition"]) for one in group["completeness"]["missing"]
    ]


def test_looking_for_the_program_or_at_its_sources_is_no_contamination(tmp_path: Path) -> None:
    innocent = ("which repocue", "grep -rn repocue src", "cat src/repocue/cache.py", "echo repocue")
    write_set(tmp_path, agents={"basic": Agent(commands=[(text, "other", ()) for text in innocent])})
    group = only_group(summary(tmp_path))
    assert group["findings"] == []
    assert of(group["conditions"], "basic")["comparable"] == 1


def test_the_harness_s_own_finding_counts_where_the_command_alone_would_not_show_it(tmp_path: Path) -> None:
    finding = {"category": "contaminated", "severity": "warning", "message": "It read it.", "evidence": "cat ../x/y"}
    write_set(tmp_path, agents={"direct": Agent(findings=[finding])})
    group = only_group(summary(tmp_path))
    assert [one["evidence"] for one in group["findings"]] == ["cat ../x/y"]
    assert of(group["conditions"], "direct")["comparable"] == 0
    assert of(group["comparisons"], "basic")["comparable"] == 0


def rotated(run: int) -> tuple[str, ...]:
    start = (run - 1) % 5
    return CONDITIONS[start:] + CONDITIONS[:start]


def test_in_the_fixed_order_order_and_condition_cannot_be_told_apart_and_that_is_said(tmp_path: Path) -> None:
    three_runs(tmp_path)
    group = only_group(summary(tmp_path))
    order = group["order"]
    assert (order["policies"], order["separability"]) == (["fixed"], "inseparable")
    assert "cannot be told apart" in order["statement"]
    assert all(order["statement"] in verdict["reasons"] for verdict in group["verdicts"])
    assert [row["conditions"] for row in order["positions"]] == [
        [{"condition": condition, "runs": 3}] for condition in CONDITIONS
    ]
    assert of(group["comparisons"], "ranked")["direct_first"] == 3


@pytest.mark.parametrize(
    ("runs", "expected"), [((1,), "inseparable"), ((1, 2, 3), "unbalanced"), ((1, 2, 3, 4, 5), "balanced")]
)
def test_a_rotation_is_balanced_over_five_runs_alone(runs: tuple[int, ...], expected: str, tmp_path: Path) -> None:
    """First place costs 50 tokens of input more: in five rotated runs every condition pays it once."""
    for run in runs:
        order = rotated(run)
        costs = {condition: Agent(turns=[turn(150 if order[0] == condition else 100)]) for condition in CONDITIONS}
        write_set(tmp_path, run_index=run, order=order, agents=costs)
    group = only_group(summary(tmp_path))
    assert group["order"]["separability"] == expected
    first = group["order"]["positions"][0]["metrics"]["input_tokens"]
    assert (first["n"], first["median"], first["min"]) == (len(runs), 150, 150)
    assert [one["order"] for one in summary(tmp_path)["report_sets"]] == [list(rotated(run)) for run in runs]
    if expected == "balanced":
        assert of(group["comparisons"], "placebo")["metrics"]["input_tokens"]["difference"]["median"] == 0
        assert of(group["comparisons"], "placebo")["direct_first"] == 4
        assert all(not verdict["reasons"] or "complete" in verdict["reasons"][0] for verdict in group["verdicts"])


def judged(tmp_path: Path, folders: list[str], scores: dict[str, int] | None = None) -> Document:
    """The arguments of a summary whose every answer was assessed blind; `scores` by condition, else 3."""
    made = blind(folders, os.fspath(tmp_path / "blinded"))
    key = json.loads(Path(made["key"]).read_bytes())
    form = json.loads(Path(made["scores_form"]).read_bytes())
    condition_of = {entry["response_id"]: entry["condition"] for entry in key["entries"]}
    for entry in form["entries"]:
        value = (scores or {}).get(condition_of[entry["response_id"]], 3)
        entry |= {"scores": dict.fromkeys(entry["scores"], value), "evidence": ["README.md"]}
    form["assessor"] = "Grace"
    (path,) = save(tmp_path / "scored", [form])
    written = unblind(made["key"], [path], os.fspath(tmp_path / "assessed"))
    return {"assessment_files": [written["assessments_directory"]], "key_files": [made["key"]]}


def test_only_fifteen_reports_with_a_blinded_assessment_of_each_allow_a_verdict(tmp_path: Path) -> None:
    folders = three_runs(tmp_path / "sets")
    given = judged(tmp_path, folders)
    group = only_group(summary(tmp_path / "sets", **given))
    assert group["completeness"]["complete"]
    assert group["completeness"]["assessed_blinded"] == 15
    found = {verdict["condition"]: verdict["status"] for verdict in group["verdicts"]}
    assert found == {
        "placebo": "not-fewer-tokens",
        "basic": "fewer-tokens",
        "ranked": "fewer-tokens",
        "structural-oracle": "fewer-tokens",
    }
    basic = of(group["verdicts"], "basic")
    assert (basic["median_difference"], basic["n"]) == (100, 3)

    without_key = only_group(summary(tmp_path / "sets", assessment_files=given["assessment_files"]))
    assert without_key["completeness"]["assessed"] == 15
    assert without_key["completeness"]["assessed_blinded"] == 0
    two_runs = only_group(summary(*folders[:2], **given))
    for incomplete in (without_key, two_runs, only_group(summary(tmp_path / "sets"))):
        assert {verdict["status"] for verdict in incomplete["verdicts"]} == {"not-established"}


def test_cheaper_and_worse_is_no_saving(tmp_path: Path) -> None:
    """Ranked answers score lower with the assessor, one basic answer has a wrong branch."""
    wrong = Agent(turns=[turn(10)], git={"branch": "elsewhere"})
    folders = [
        write_set(tmp_path / "sets", run_index=run, agents={**agents(run), **({"basic": wrong} if run == 2 else {})})
        for run in (1, 2, 3)
    ]
    group = only_group(summary(tmp_path / "sets", **judged(tmp_path, folders, {"ranked": 2})))
    assert group["completeness"]["complete"]
    basic, ranked = of(group["verdicts"], "basic"), of(group["verdicts"], "ranked")
    assert basic["status"] == ranked["status"] == "not-established"
    assert basic["reasons"][0] == "Its answers are right in 14 of 15 fields, direct ones in 15 of 15."
    assert ranked["reasons"][0] == "Blinded assessors gave it 2 for purpose, direct 3."
    assert of(group["verdicts"], "structural-oracle")["status"] == "fewer-tokens"


def test_scores_are_counted_field_by_field_and_a_wrong_answer_stays_a_sample(tmp_path: Path) -> None:
    """Clean repository, so both lists are known to be empty: one invented path has precision 0/1 and no recall."""
    write_set(tmp_path, run_index=1, agents={"basic": Agent(git={"tracked_changes": ["ghost.py"], "head": None})})
    write_set(tmp_path, run_index=2)
    group = only_group(summary(tmp_path))
    basic = of(group["conditions"], "basic")
    found = basic["deterministic"]
    assert (found["answers"], found["all_fields"]) == (2, {"correct": 8, "scored": 10})
    assert (found["head"], found["branch"]) == ({"correct": 1, "scored": 2}, {"correct": 2, "scored": 2})
    assert found["tracked_changes"]["precision"] == {"part": 0, "whole": 1, "value": 0}
    assert found["tracked_changes"]["recall"] == {"part": 0, "whole": 0, "value": None}
    assert basic["metrics"]["total_tokens"]["n"] == 2


def test_changed_paths_of_a_dirty_repository_are_not_scored_and_not_called_wrong(tmp_path: Path) -> None:
    write_set(tmp_path, repository={"dirty": True}, agents={"basic": Agent(git={"tracked_changes": ["a"]})})
    found = of(only_group(summary(tmp_path))["conditions"], "basic")["deterministic"]
    assert found["all_fields"] == {"correct": 3, "scored": 3}
    assert found["tracked_changes"]["scored"] == 0
    assert found["tracked_changes"]["reason"] == "basis-does-not-list-them"


def test_changed_paths_that_reports_keep_are_scored(tmp_path: Path) -> None:
    """Two tracked changes, one of them named beside one that is none: precision 1/2, recall 1/2; untracked right."""
    said = Agent(git={"tracked_changes": ["a.py", "ghost.py"], "untracked": ["./notes.txt"]})
    kept = {"tracked_changes": ["a.py", "b.py"], "untracked": ["notes.txt"]}
    write_set(tmp_path, repository={"dirty": True}, changed_paths=kept, agents={"basic": said})
    found = of(only_group(summary(tmp_path))["conditions"], "basic")["deterministic"]
    assert found["all_fields"] == {"correct": 4, "scored": 5}
    assert found["tracked_changes"]["precision"] == {"part": 1, "whole": 2, "value": 0.5}
    assert found["tracked_changes"]["recall"] == {"part": 1, "whole": 2, "value": 0.5}
    assert found["untracked"] == {
        "correct": 1,
        "scored": 1,
        "precision": {"part": 1, "whole": 1, "value": 1},
        "recall": {"part": 1, "whole": 1, "value": 1},
        "reason": None,
    }


def test_reports_of_one_set_keep_the_same_changed_paths(tmp_path: Path) -> None:
    def other(report: Document) -> None:
        if report["condition"] == "ranked":
            report["changed_paths"]["untracked"] = []

    folder = write_set(
        tmp_path, repository={"dirty": True}, changed_paths={"tracked_changes": [], "untracked": ["x"]}, change=other
    )
    with pytest.raises(ContractError, match="/ranked/changed_paths: differs"):
        summary(folder)


def test_assessments_that_bind_to_nothing_count_for_nothing_and_are_named(tmp_path: Path) -> None:
    made = reports()
    folder = write(tmp_path / "sets", made)
    good, other_run, other_text = assessments(made[:3])
    other_run["run_index"] = 7
    other_text["response_id"] = digest(b"another answer")
    paths = save(tmp_path / "judged", [good, other_run, other_text, {**good, "assessor": "Ada", "assessed_at": None}])
    with pytest.raises(ContractError, match="assessed_at"):
        summary(folder, assessment_files=paths)
    paths = save(tmp_path / "judged", [good, other_run, other_text, good])
    document = summary(folder, assessment_files=paths)
    assert [(os.path.basename(one["source"]), one["reason"]) for one in document["rejected_assessments"]] == [
        ("01.json", "identity-differs"),
        ("02.json", "no-response-has-this-digest"),
        ("03.json", "repeated"),
    ]
    group = only_group(document)
    assert [(one["condition"], one["assessor"], one["blinded"]) for one in group["assessments"]] == [
        ("direct", "Grace", False)
    ]
    assert of(group["conditions"], "direct")["qualitative"]["scores"]["purpose"]["median"] == 4


def test_dates_of_assessments_are_kept_where_known_and_never_made_up(tmp_path: Path) -> None:
    made = reports()
    folder = write(tmp_path / "sets", made)
    dated, undated = assessments(made[:2])
    del undated["assessed_at"]
    group = only_group(summary(folder, assessment_files=save(tmp_path / "judged", [dated, undated])))
    assert [one["assessed_at"] for one in group["assessments"]] == ["2026-11-30T20:00:00.000Z", None]


def test_a_damaged_set_an_unreadable_assessment_and_an_altered_key_stop_the_summary(tmp_path: Path) -> None:
    folders = three_runs(tmp_path / "sets")
    given = judged(tmp_path, folders)
    with pytest.raises(EvaluationError, match="cannot be read"):
        summary(folders[0], assessment_files=[os.fspath(tmp_path / "gone.json")])
    with pytest.raises(EvaluationError, match="holds no assessment"):
        summary(folders[0], assessment_files=[os.fspath(tmp_path)])
    key = Path(given["key_files"][0])
    key.write_bytes(key.read_bytes().replace(b'"basic"', b'"ranked"', 1))
    with pytest.raises(EvidenceError, match=r"key\.json \(altered\)"):
        summary(folders[0], **given)
    (report,) = Path(folders[1]).glob("*_direct_*.json")
    report.write_bytes(report.read_bytes() + b" ")
    with pytest.raises(EvidenceError, match="altered"):
        summary(tmp_path / "sets")
