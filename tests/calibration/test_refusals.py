"""Each rule of an import, broken alone: one clear message that names it, and nothing imported."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repocue.calibration import keeping
from repocue.errors import CacheNotInitialized, CalibrationError, ContractError, RepoCueError, UsageError
from repocue.maintenance import lifecycle
from tests.calibration.scene import Scene, digest, make
from tests.support import m2_sets
from tests.support.repos import git

Document = dict[str, Any]
OTHER = digest(b"other")


def refused(scene: Scene, *folders: str, **more: Any) -> RepoCueError:
    """The error of an import that must import nothing."""
    with pytest.raises(RepoCueError) as caught:
        scene.load(*folders, **more)
    assert scene.stored() == []
    return caught.value


def in_condition(condition: str, change: Callable[[Document], None]) -> Callable[[Document], None]:
    return lambda report: change(report) if report["condition"] == condition else None


def put(*path: str, value: Any) -> Callable[[Document], None]:
    """A change that replaces one member; None in `value`'s place is null, `...` removes it."""

    def change(report: Document) -> None:
        for name in path[:-1]:
            report = report[name]
        if value is ...:
            del report[path[-1]]
        else:
            report[path[-1]] = value

    return change


LATE = put("cue_delivery", "finished_at", value="2026-11-30T19:04:01.001Z")
"""A millisecond after the pre-run capture."""

READING = {
    "an unknown version": (4, "direct", put("schema_version", value="repocue/evaluation-5"), "newer than this version"),
    "a forgotten version": (3, "direct", put("schema_version", value="repocue/evaluation-2"), "does not read"),
    "a runner contract of another version": (
        4, "basic", put("runner", "schema_version", value="repocue/evaluation-runner-3"), "/runner/schema_version"),
    "a version-3 token that is not there": (3, "basic", put("runner", "metrics", "cached_input_tokens", value=...),
        "cached_input_tokens"),
    "a version-3 token without a status": (
        3, "basic", put("runner", "metrics", "statuses", "total_tokens", value=...), "total_tokens"),
    "a version-3 turn without a counter": (3, "basic", lambda report: report["runner"]["usage_events"][0].pop(
        "reasoning_output_tokens"), "reasoning_output_tokens"),
    "a version-3 token that was not observed": (
        3, "basic", put("runner", "metrics", "statuses", "input_tokens", value="not_observed"), "input_tokens"),
    "another adapter": (4, "basic", put("runner", "metadata", "adapter", value="another"), "/metadata/adapter"),
    "another adapter version": (
        4, "basic", put("runner", "metadata", "adapter_version", value="4"), "/metadata/adapter_version"),
    "another model": (4, "basic", put("runner", "metadata", "model", value="larger"), "/metadata/model"),
    "another budget": (4, "basic", put("cue", "max_tokens", value=501), "budgets are equal"),
    "another cue contract": (4, "basic", put("cue", "schema_version", value="repocue/cue-2"), "/cue/schema_version"),
    "other cue bytes": (4, "basic", put("cue_delivery", "stdout_bytes", value=1000), "size of the supplied context"),
    "another repository in one report": (
        4, "basic", put("repository", "tracked_files", value=77), "one repository state"),
    "a cue that finished after the capture": (4, "basic", LATE, "matching bytes do not prove"),
    "no cue evidence": (4, "basic", put("cue_delivery", value=None), "/cue_delivery"),
    "another snapshot": (4, "basic", put("repocue_snapshot", value="snapshot-000009"), "snapshot"),
}  # fmt: skip


@pytest.mark.parametrize("name", READING)
def test_a_set_that_breaks_its_contract_is_refused(scene: Scene, name: str) -> None:
    version, condition, change, message = READING[name]
    made = scene.reports(version=version, change=in_condition(condition, change))
    error = refused(scene, m2_sets.write(scene.sets, made))
    assert isinstance(error, ContractError)
    assert message in error.message


def test_versions_mixed_in_one_set_are_refused(scene: Scene) -> None:
    made = scene.reports(version=4)
    made[1] = scene.reports(version=3)[1]
    error = refused(scene, m2_sets.write(scene.sets, made))
    assert "versions are not mixed in one set" in error.message


def test_a_set_without_one_of_its_reports_is_refused(scene: Scene) -> None:
    error = refused(scene, m2_sets.write(scene.sets, scene.reports()[:-1]))
    assert "the report of this condition is missing" in error.message
    assert "structural-oracle" in error.message


def test_a_dry_run_holds_no_pair(scene: Scene) -> None:
    error = refused(scene, scene.write(runner=False))
    assert error.code == "calibration.incomplete-pair"
    assert "no agent ran" in error.message


def test_a_flipped_byte_in_a_set_is_refused(scene: Scene) -> None:
    folder = scene.write()
    (name,) = [name for name in os.listdir(folder) if name.endswith(".trace2.jsonl")]
    path = Path(folder, name)
    path.write_bytes(path.read_bytes().replace(b"start", b"stars", 1))
    assert "altered" in refused(scene).message


STATE_4 = {
    "branch": ("elsewhere", "the branch"),
    "dirty": (False, "whether there are changes"),
    "status_digest": (OTHER, "the status"),
    "repository_digest": (OTHER, "the content of tracked files"),
    "untracked_content_digest": (OTHER, "the content of untracked files"),
    "state_fingerprint": (OTHER, "the fingerprint of the whole state"),
    "tracked_files": (77, "the number of tracked files"),
    "tracked_bytes": (77, "the size of the tracked files"),
    "head": ("4" * 40, "HEAD"),
}
STATE_3 = {
    "branch": ("elsewhere", "the branch"),
    "dirty": (False, "whether there are changes"),
    "repocue_status_digest": (OTHER, "the status"),
    "working_tree_digest": (OTHER, "the list of changed and untracked paths"),
    "porcelain_status_digest": (OTHER, "git's own status"),
    "binary_diff_digest": (OTHER, "the content of the changes"),
    "tracked_files": (77, "the number of tracked files"),
    "tracked_bytes": (77, "the size of the tracked files"),
    "head": ("4" * 40, "HEAD"),
}


@pytest.mark.parametrize(
    ("version", "member", "value", "meaning"),
    [(4, name, *claim) for name, claim in STATE_4.items()] + [(3, name, *claim) for name, claim in STATE_3.items()],
)
def test_evidence_that_does_not_hold_on_this_checkout_is_refused(
    dirty: Scene, version: int, member: str, value: Any, meaning: str
) -> None:
    error = refused(dirty, dirty.write(version=version, repository={member: value}))
    assert error.code == "calibration.evidence-differs"
    assert f"{meaning} differs ({member} is" in error.message


def test_another_repository_is_refused_by_its_root(scene: Scene) -> None:
    error = refused(scene, scene.write(repository={"resolved_root": "/home/ada/other"}))
    assert error.code == "calibration.other-repository"
    assert "/home/ada/other" in error.message
    assert scene.root in error.message


@pytest.mark.parametrize("version", [3, 4])
def test_contents_count_and_not_only_names(
    dirty_original: Scene, tmp_path: Path, env: dict[str, str], version: int
) -> None:
    """The same paths are changed and untracked, with other contents: version 3 sees the tracked one, 4 both."""
    made = make(tmp_path, env, dirty=True)
    folder = made.write(version=version)
    Path(made.root, "new.txt" if version == 4 else "src/a.py").write_text("def add(b, a):\n    return a + b\n")
    lifecycle.refresh(made.request())
    error = refused(made, folder)
    expected = "untracked_content_digest" if version == 4 else "binary_diff_digest"
    assert expected in error.message


def test_a_stale_cache_is_refused_with_the_hint_to_refresh(tmp_path: Path, env: dict[str, str]) -> None:
    made = make(tmp_path, env)
    Path(made.root, "README.md").write_text("# Changed\n")
    error = refused(made, made.write())
    assert error.code == "calibration.stale-cache"
    assert "repocue refresh" in (error.hint or "")
    lifecycle.refresh(made.request())
    assert [one.outcome for one in made.load().sets] == ["imported"]


def test_a_repository_without_a_maintained_cache_is_refused(scene: Scene) -> None:
    scene.write()
    shutil.rmtree(scene.cache)
    with pytest.raises(CacheNotInitialized):
        scene.load()


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (put("maintenance_id", value="maintenance-0"), "calibration.legacy-provenance", "/maintenance_id"),
        (put("repository", "state_fingerprint", value=OTHER), "calibration.legacy-provenance", "state_fingerprint"),
        (in_condition("basic", put("cue", "schema_version", value=...)), "calibration.legacy-cue", "absent"),
        (in_condition("basic", put("cue", "schema_version", value="repocue/cue-1")), "calibration.legacy-cue", "cue-1"),
        (in_condition("basic", put("cue", "estimated_tokens", value=1)), "calibration.legacy-cue", "ceil(1001 bytes"),
        (in_condition("direct", put("cue", "bytes", value=4)), "calibration.legacy-cue", "supplies no context"),
        (in_condition("basic", put("cue", "bytes", value=0)), "calibration.legacy-cue", "supplies a context"),
        (put("cue", "max_tokens", value=10), "calibration.legacy-cue", "exceeds the budget of 10"),
    ],
)
def test_unsupported_legacy_provenance_is_refused(
    scene: Scene, change: Callable[[Document], None], code: str, message: str
) -> None:
    error = refused(scene, m2_sets.write(scene.sets, scene.reports(version=3, change=change)))
    assert isinstance(error, CalibrationError)
    assert error.code == code
    assert "unsupported legacy provenance" in error.message
    assert message in error.message


def test_one_bad_set_stops_all_of_a_call(scene: Scene) -> None:
    scene.write(run_index=1)
    scene.write(run_index=2, repository={"branch": "elsewhere"})
    scene.write(run_index=3)
    assert "run-02" in refused(scene).message


@pytest.mark.parametrize("together", [True, False])
def test_the_same_runs_in_other_bytes_do_not_count_twice(scene: Scene, together: bool) -> None:
    original = scene.write(version=3)
    if not together:
        scene.load()
    copy = Path(original + "-again")
    copy.mkdir()
    for name in os.listdir(original):
        (copy / name).write_text(json.dumps(json.loads(Path(original, name).read_bytes())))
    before = scene.stored()
    with pytest.raises(CalibrationError) as caught:
        scene.load()
    assert caught.value.code == "calibration.same-runs"
    assert "holds the same runs as calibration-000001, in reports of other bytes" in caught.value.message
    assert scene.stored() == before
    assert len(scene.load(original).sets) == 1


def test_a_folder_without_sets_is_refused(scene: Scene) -> None:
    assert refused(scene, scene.sets).code == "evaluation.no-report-set"


def test_a_set_without_a_name_is_named_as_that(scene: Scene) -> None:
    assert refused(scene, "").message == "'' (an empty name) does not exist."


def test_an_unknown_condition_is_refused(scene: Scene) -> None:
    scene.write()
    assert refused(scene, assisted="direct").code == "calibration.condition"


@pytest.mark.parametrize("identifier", ["calibration-000009", "calibration-9", "nothing", "snapshot-000001"])
def test_an_unknown_calibration_is_a_usage_error(scene: Scene, identifier: str) -> None:
    for act in (keeping.show, keeping.remove):
        with pytest.raises(UsageError) as caught:
            act(scene.request(), identifier)
        assert caught.value.code == "calibration.unknown"


def test_an_assessment_that_breaks_its_contract_stops_the_call(scene: Scene, tmp_path: Path) -> None:
    scene.write()
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({"schema_version": "repocue/qualitative-assessment-2"}))
    assert isinstance(refused(scene, assessment_files=[str(bad)]), ContractError)
    assert refused(scene, assessment_files=[str(tmp_path / "none.json")]).code == "calibration.assessment-file"
    os.makedirs(tmp_path / "empty")
    assert refused(scene, assessment_files=[str(tmp_path / "empty")]).code == "calibration.no-assessment"


def test_the_repository_that_was_evaluated_is_the_one_that_is_asked(
    scene: Scene, tmp_path: Path, env: dict[str, str]
) -> None:
    """A clone has the same contents and another root."""
    scene.write()
    git(tmp_path, "clone", "-q", scene.root, "clone", env=env)
    clone = dataclasses.replace(scene, root=str(tmp_path / "clone"))
    lifecycle.init(clone.request())
    assert refused(clone).code == "calibration.other-repository"
