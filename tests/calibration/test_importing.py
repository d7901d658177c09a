"""What an import stores: the numbers of the reports and digests, once, bound to the state that was checked."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from repocue.calibration import documents, keeping
from repocue.contracts import canonical, reader
from repocue.errors import CacheBusy, CalibrationError, EvidenceError
from repocue.maintenance import lifecycle
from repocue.store.database import Database
from tests.calibration.scene import Scene, agents, digest, make, three_runs
from tests.contracts import documents as contract_documents
from tests.m2_summary.scenes import save
from tests.support import m2_sets
from tests.support.m2_sets import Agent, turn

CONTRACT = "repocue/calibration-1"
SECRET = "a sentence that only the agent wrote"


def database_bytes(scene: Scene) -> bytes:
    """Everything in the cache's database, its log included."""
    path = scene.request().state_path
    log = Path(path + "-wal")
    return Path(path).read_bytes() + (log.read_bytes() if log.exists() else b"")


def test_the_numbers_of_both_runs_are_stored_as_they_are_declared(scene: Scene) -> None:
    scene.write(
        run_index=2,
        delivery_ms=80.953,
        agents={
            "direct": Agent(turns=[turn(1000, 400, 100, 20), turn(500, 100, 50, 0)], duration_ms=61250.5),
            "basic": Agent(turns=[turn(900, None, 70, 10)], duration_ms=None),
        },
    )
    (one,) = scene.load().sets
    assert one.outcome == "imported"
    (stored,) = scene.stored()
    assert stored == one.stored
    assert (stored.epoch, stored.snapshot) == ("epoch-000001", "snapshot-000001")
    pair = stored.pair
    assert pair.run_index == 2
    # 1000 + 500 input, of which 400 + 100 cached; 100 + 50 output: 1650 in all, 1500 - 500 not cached.
    direct = {name: pair.direct.values[name] for name in ("total_tokens", "uncached_input_tokens", "output_tokens")}
    assert direct == {
        "total_tokens": (1650, "observed"),
        "uncached_input_tokens": (1000, "derived"),
        "output_tokens": (150, "observed"),
    }
    assert pair.direct.values["execution_duration_ms"] == (61250.5, "observed")
    assert pair.assisted.values["total_tokens"] == (970, "observed")
    for name in ("cached_input_tokens", "uncached_input_tokens", "execution_duration_ms"):
        assert pair.assisted.values[name] == (None, "not_observed")
    assert pair.assisted.values["discovery_commands"] == (2, "derived")  # git status and cat, not make
    assert (pair.direct.position, pair.assisted.position) == (1, 3)
    assert (pair.cue.duration_ms, pair.cue.size_bytes, pair.cue.estimated_tokens) == (80.953, 1001, 251)
    assert pair.identity.assisted == "basic"
    assert (pair.identity.cli_version, pair.identity.max_tokens) == ("0.0.1", 500)


def test_importing_again_changes_nothing_and_says_so(scene: Scene) -> None:
    three_runs(scene, (1000, 2000, 3000), (900, 1500, 3100))
    first = scene.load()
    assert [one.outcome for one in first.sets] == ["imported"] * 3
    before = database_bytes(scene)
    shutil.copytree(first.sets[0].folder, Path(scene.sets, "a-copy"))
    again = scene.load()
    assert [one.outcome for one in again.sets] == ["already-imported"] * 4
    assert sorted(one.stored.number for one in again.sets) == [1, 1, 2, 3]  # the copy is the same set
    assert len(scene.stored()) == 3
    assert database_bytes(scene) == before


def test_a_version_3_set_is_imported_unchanged_beside_a_version_4_set(dirty: Scene) -> None:
    old = dirty.write(version=3, agents={"direct": Agent(turns=[turn(1000, 0, 100, 0)])})
    files = {name: Path(old, name).read_bytes() for name in os.listdir(old)}
    dirty.write(version=4)
    result = dirty.load()
    assert {name: Path(old, name).read_bytes() for name in os.listdir(old)} == files
    by_version = {one.stored.pair.identity.report_version: one.stored.pair for one in result.sets}
    legacy = by_version[3]
    assert legacy.direct.values["cached_input_tokens"] == (0, "observed")  # as declared
    # 1000 input less 0 cached are 1000 uncached, if that 0 was observed.
    assert legacy.direct.zeros == ("uncached_input_tokens", "cached_input_tokens", "reasoning_output_tokens")
    assert (legacy.cue.duration_ms, legacy.evidence.manifest_sha256) == (None, None)
    assert by_version[4].direct.zeros == ()
    reports = {answer.report_sha256 for answer in legacy.answers}
    assert reports == {digest(data) for data in files.values()}
    document = documents.imported(dirty.request().worktree, result)
    reader.check(document, contract=CONTRACT, kind="import")
    assert any("a zero may stand for a counter" in text for text in document["limitations"])
    assert any("is not established" in text for text in document["limitations"])
    assert any("untracked files are not covered" in text for text in document["limitations"])
    assert any("was not recomputed" in text for text in document["limitations"])


def test_a_zero_of_version_3_in_one_turn_marks_what_it_is_part_of(scene: Scene) -> None:
    scene.write(
        version=3,
        agents={
            "direct": Agent(turns=[turn(1000, 400, 100, 20), turn(0, 0, 50, 10)]),
            "basic": Agent(turns=[turn(1000, 400, 100, 20), turn(900, 300, 50, 10)]),
        },
    )
    (one,) = scene.load().sets
    assert one.stored.pair.direct.zeros == (
        "total_tokens", "input_tokens", "uncached_input_tokens", "cached_input_tokens",
    )  # fmt: skip
    assert one.stored.pair.assisted.zeros == ()


def test_a_measured_decimal_is_stored_with_all_its_digits(scene: Scene) -> None:
    direct, assisted = Agent(duration_ms=1000.123456789), Agent(duration_ms=0.00012345678)
    scene.write(agents={"direct": direct, "basic": assisted})
    (one,) = scene.load().sets
    assert one.stored.pair.direct.values["execution_duration_ms"] == (1000.123456789, "observed")
    assert one.stored.pair.assisted.values["execution_duration_ms"] == (0.00012345678, "observed")


def test_answers_are_scored_against_the_state_that_was_checked_and_wrong_ones_stay(dirty: Scene) -> None:
    right = {"tracked_changes": ["src/a.py"], "untracked": ["new.txt"]}
    dirty.write(agents={"direct": Agent(git=right), "basic": Agent(git={**right, "branch": "wrong"})})
    (one,) = dirty.load().sets
    scores = {answer.condition: answer.correct for answer in one.stored.pair.answers}
    assert set(scores["direct"].values()) == {True}
    assert scores["basic"] == {**scores["direct"], "branch": False}
    assert scores["ranked"]["tracked_changes"] is False
    assert documents.imported(dirty.request().worktree, dirty.load())["sets"][0]["counts"] is True


@pytest.mark.parametrize("condition", ["direct", "basic"])
def test_a_contaminated_run_is_kept_and_does_not_count(scene: Scene, condition: str) -> None:
    helped = Agent(commands=[("repocue cue", "other", ())])
    scene.write(agents={condition: helped})
    row = documents.imported(scene.request().worktree, scene.load())["sets"][0]
    assert (row["counts"], row["reason"], row["detail"]) == (False, "contaminated", condition)


def test_a_contaminated_run_of_a_third_condition_leaves_the_pair_alone(scene: Scene) -> None:
    scene.write(agents={"ranked": Agent(commands=[("repocue cue", "other", ())])})
    assert documents.imported(scene.request().worktree, scene.load())["sets"][0]["counts"] is True


def test_another_assisted_condition_makes_another_pair_without_a_full_cue_cost(scene: Scene) -> None:
    scene.write(agents={"ranked": Agent(turns=[turn(700, 0, 100, 20)])})
    scene.load()
    (one,) = scene.load(assisted="ranked").sets
    assert one.outcome == "imported"
    assert one.stored.pair.assisted.values["total_tokens"] == (800, "observed")
    assert one.stored.pair.cue.duration_ms is None
    assert [stored.pair.identity.assisted for stored in scene.stored()] == ["basic", "ranked"]


def test_nothing_that_an_agent_wrote_or_ran_is_stored(scene: Scene) -> None:
    folder = scene.write(
        agents={
            "direct": Agent(
                commands=[(f"echo {SECRET}", "other", ())],
                findings=[{"category": "note", "severity": "info", "message": SECRET}],
            ),
            "basic": Agent(answer={**contract_documents.benchmark_answer(), "project_purpose": SECRET}),
        }
    )
    assert any(SECRET in Path(folder, name).read_text() for name in os.listdir(folder))
    scene.load()
    stored = database_bytes(scene)
    assert SECRET.encode() not in stored
    assert b"git status" not in stored
    assert b"Adds numbers" not in stored


def assessed(scene: Scene, tmp_path: Path, made: list[dict[str, Any]], name: str, **more: Any) -> str:
    return os.path.dirname(save(tmp_path / name, m2_sets.assessments(made, **more))[0])


def test_assessments_are_bound_by_digest_and_keep_assessor_and_date(scene: Scene, tmp_path: Path) -> None:
    made = scene.reports()
    m2_sets.write(scene.sets, made)
    dated = assessed(scene, tmp_path, made, "dated", assessor="Grace")
    undated = m2_sets.assessments(made[:1], assessor="Linus")
    del undated[0]["assessed_at"]
    files = [dated, *save(tmp_path / "undated", undated)]
    result = scene.load(assessment_files=files)
    assert (result.opinions_added, result.opinions_known, result.rejected) == (6, 0, ())
    stored = scene.opinions()
    assert [(one.condition, one.assessor, one.assessed_at) for one in stored if one.condition == "direct"] == [
        ("direct", "Grace", "2026-11-30T20:00:00.000Z"),
        ("direct", "Linus", None),
    ]
    assert {one.set_digest for one in stored} == {result.sets[0].stored.pair.set_digest}
    assert stored[0].scores["recent_changes"] == 2
    before = database_bytes(scene)
    again = scene.load(assessment_files=files)
    assert (again.opinions_added, again.opinions_known) == (0, 6)
    assert database_bytes(scene) == before


def test_assessments_may_follow_the_import_of_their_set(scene: Scene, tmp_path: Path) -> None:
    made = scene.reports()
    m2_sets.write(scene.sets, made)
    scene.load()
    result = scene.load(assessment_files=[assessed(scene, tmp_path, made, "later")])
    assert result.sets[0].outcome == "already-imported"
    assert result.opinions_added == 5


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"response_id": digest(b"another answer")}, "no-response-has-this-digest"),
        ({"state_fingerprint": digest(b"another state")}, "identity-differs"),
        ({"run_index": 7}, "identity-differs"),
        ({"repository_head": "4" * 40}, "identity-differs"),
    ],
)
def test_an_assessment_of_another_answer_or_state_counts_for_nothing(
    scene: Scene, tmp_path: Path, more: dict[str, Any], reason: str
) -> None:
    made = scene.reports()
    m2_sets.write(scene.sets, made)
    result = scene.load(assessment_files=[assessed(scene, tmp_path, made[:1], "other", **more)])
    assert [one.reason for one in result.rejected] == [reason]
    assert scene.opinions() == []
    document = documents.imported(scene.request().worktree, result)
    reader.check(document, contract=CONTRACT, kind="import")
    assert document["assessments"]["rejected"][0]["reason"] == reason


def test_an_assessor_who_says_otherwise_later_stops_the_call(scene: Scene, tmp_path: Path) -> None:
    made = scene.reports()
    m2_sets.write(scene.sets, made)
    scene.load(assessment_files=[assessed(scene, tmp_path, made, "first")])
    before = scene.opinions()
    scores = {**contract_documents.qualitative_assessment()["scores"], "purpose": 0}
    with pytest.raises(CalibrationError) as caught:
        scene.load(assessment_files=[assessed(scene, tmp_path, made, "second", scores=scores)])
    assert caught.value.code == "calibration.assessor-contradicts"
    assert scene.opinions() == before


def test_an_altered_folder_of_assessments_is_refused(scene: Scene, tmp_path: Path) -> None:
    made = scene.reports()
    m2_sets.write(scene.sets, made)
    folder = assessed(scene, tmp_path, made, "sealed")
    m2_sets.seal(folder)
    path = Path(folder, "00.json")
    path.write_bytes(path.read_bytes().replace(b'"purpose": 4', b'"purpose": 3'))
    with pytest.raises(EvidenceError):
        scene.load(assessment_files=[folder])
    assert scene.stored() == []


def test_pairs_of_a_superseded_epoch_do_not_count_and_can_be_bound_anew(tmp_path: Path, env: dict[str, str]) -> None:
    made = make(tmp_path, env)
    made.write()
    made.load()
    lifecycle.rebaseline(made.request())
    listed = keeping.list_all(made.request())
    reader.check(listed, contract=CONTRACT, kind="list")
    (row,) = listed["calibrations"]
    assert (row["counts"], row["reason"], row["detail"]) == (False, "epoch-superseded", "epoch-000001")
    (one,) = made.load().sets
    assert (one.outcome, one.stored.epoch) == ("imported", "epoch-000002")
    assert [row["counts"] for row in keeping.list_all(made.request())["calibrations"]] == [False, True]


def test_pairs_of_an_earlier_snapshot_stay_and_their_sets_are_refused_now(tmp_path: Path, env: dict[str, str]) -> None:
    made = make(tmp_path, env)
    made.write()
    made.load()
    Path(made.root, "README.md").write_text("# Changed\n")
    lifecycle.refresh(made.request())
    (row,) = keeping.list_all(made.request())["calibrations"]
    assert (row["counts"], row["snapshot"]) == (True, "snapshot-000001")
    with pytest.raises(CalibrationError):
        made.load()


def test_show_gives_every_number_and_remove_takes_the_pair_out(scene: Scene, tmp_path: Path) -> None:
    made = scene.reports(agents=agents((1000,), (900,), 1))
    m2_sets.write(scene.sets, made)
    scene.load(assessment_files=[assessed(scene, tmp_path, made, "opinions")])
    scene.load(assisted="ranked")
    shown = keeping.show(scene.request(), "calibration-000001")
    reader.check(shown, contract=CONTRACT, kind="show")
    assert (shown["metrics"]["total_tokens"]["direct"], shown["metrics"]["total_tokens"]["assisted"]) == (1100, 1000)
    assert len(shown["assessments"]) == 5
    removed = keeping.remove(scene.request(), "calibration-000001")
    reader.check(removed, contract=CONTRACT, kind="remove")
    assert removed["calibration"]["id"] == "calibration-000001"
    assert [stored.number for stored in scene.stored()] == [2]
    assert len(scene.opinions()) == 5  # the set's other pair still has them
    keeping.remove(scene.request(), "calibration-000002")
    assert (scene.stored(), scene.opinions()) == ([], [])
    (one,) = scene.load().sets
    assert one.stored.number == 3  # an id is never given twice


def test_an_altered_row_is_damage_and_not_a_number(scene: Scene) -> None:
    from repocue.errors import CacheDamaged

    scene.write()
    scene.load()
    with sqlite3.connect(scene.request().state_path) as connection:
        connection.execute("UPDATE calibrations SET data = CAST(replace(CAST(data AS TEXT), '1100', '1101') AS BLOB)")
    connection.close()
    with pytest.raises(CacheDamaged):
        keeping.list_all(scene.request())


def test_a_set_is_read_by_what_it_says_and_not_by_its_name(scene: Scene) -> None:
    scene.write(name="whatever")
    (one,) = scene.load(os.path.join(scene.sets, "whatever")).sets
    assert one.outcome == "imported"


def test_what_belongs_to_no_set_is_named(scene: Scene) -> None:
    scene.write()
    Path(scene.sets, "notes.txt").write_text("mine")
    assert scene.load().unknown == (os.path.join(scene.sets, "notes.txt"),)


def test_values_of_a_pair_come_back_as_they_were_stored(scene: Scene) -> None:
    scene.write()
    scene.load()
    (stored,) = scene.stored()
    assert canonical.compact(dataclasses.asdict(stored.pair)) == canonical.compact(stored.pair)


def test_a_record_that_changed_while_it_was_read_without_locks_is_not_shown(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.write()
    scene.load()
    monkeypatch.setattr(Database, "is_settled", lambda _: False)
    with pytest.raises(CacheBusy):
        keeping.list_all(scene.request())
    with pytest.raises(CacheBusy):
        keeping.show(scene.request(), "calibration-000001")
