"""Sets that evaluate-m2 itself published with a scripted runner, which is plainly no agent."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from repocue.evaluation.m2.changed_paths import MAX_CHANGED_PATHS, changed_paths
from repocue.git.scan import observe
from repocue.git.worktree import find
from repocue.scoring import report_folders
from tests.m2.conftest import build
from tests.m2.scene import Scene
from tests.m2_summary import oracle
from tests.m2_summary.scenes import CONDITIONS, of, only_group, summary
from tests.support.repos import git


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, repocue_exe: list[str]) -> Scene:
    return build(tmp_path_factory.mktemp("real"), repocue_exe)


@pytest.fixture(scope="module")
def sets(scene: Scene) -> list[str]:
    """Two rotated runs; in the second the ranked one calls RepoCue."""
    done = scene.evaluate("--runs", "1", "--order", "balanced")
    assert done.returncode == 0, done.stderr
    command = {"command": "repocue cue", "classification": "other", "files_read": []}
    scene.script(
        ranked={
            "patch": {
                "/commands/1": command,
                "/metrics/repository_files_named": 0,
                "/metrics/fallback_repository_files_named": 0,
                "/metrics/fallback_repository_commands": 1,
            }
        }
    )
    second = scene.evaluate("--run-index", "2", "--order", "balanced")
    assert second.returncode == 0, second.stderr
    return [json.loads(one.stdout)["report_set"] for one in (done, second)]


def test_published_sets_are_read_and_summarised(scene: Scene, sets: list[str]) -> None:
    document = summary(scene.out)
    assert [one["folder"] for one in document["report_sets"]] == sets
    assert document["unknown_entries"] == []
    group = only_group(document)
    assert group["identity"]["state"]["dirty"] is True
    assert group["identity"]["oracle_sha256"] is not None
    assert group["identity"]["benchmark_text_sha256"] is None
    raw = [oracle.read(folder) for folder in sets]
    for condition in CONDITIONS:
        row = of(group["conditions"], condition)
        for metric in row["metrics"]:
            expected = oracle.counted(oracle.value(one[condition], metric) for one in raw)
            assert {name: row["metrics"][metric][name] for name in expected} == expected, metric
    assert [one["order"][0] for one in document["report_sets"]] == ["direct", "placebo"]
    assert group["order"]["separability"] == "unbalanced"


def test_real_answers_are_scored_against_what_git_itself_says_is_changed(scene: Scene, sets: list[str]) -> None:
    """The script answers an empty list of tracked changes and no untracked path; git names two and one."""
    tracked = git(scene.root, "diff", "--name-only", "HEAD").decode().split()
    untracked = git(scene.root, "ls-files", "--others", "--exclude-standard").decode().split()
    assert (tracked, untracked) == (["Makefile", "run.sh"], ["notes.txt"])
    for report in oracle.read(sets[0]).values():
        assert report["changed_paths"] == {"tracked_changes": tracked, "untracked": untracked}
    found = of(only_group(summary(sets[0]))["conditions"], "basic")["deterministic"]
    assert found["tracked_changes"]["recall"] == {"part": 0, "whole": 2, "value": 0}
    assert found["untracked"]["recall"] == {"part": 0, "whole": 1, "value": 0}
    assert found["all_fields"] == {"correct": 1, "scored": 5}


def test_a_work_tree_with_too_many_changed_paths_keeps_none_of_them(scene: Scene) -> None:
    observation = observe(find(scene.root, scene.env), scene.env)
    assert MAX_CHANGED_PATHS == 10_000
    kept = changed_paths(observation, limit=3)
    assert kept == {"tracked_changes": ["Makefile", "run.sh"], "untracked": ["notes.txt"]}
    assert changed_paths(observation, limit=2) is None


def test_a_contaminated_run_of_a_real_set_is_one_finding(scene: Scene, sets: list[str]) -> None:
    group = only_group(summary(*sets))
    (finding,) = [one for one in group["findings"] if one["category"] == "contaminated"]
    assert (finding["run_index"], finding["condition"], finding["evidence"]) == (2, "ranked", "repocue cue")
    assert of(group["conditions"], "ranked")["comparable"] == 1


def test_another_task_text_and_a_dry_run_stand_apart(scene: Scene, sets: list[str], tmp_path: Path) -> None:
    (tmp_path / "task.txt").write_text("Say something else.\n")
    task = scene.evaluate("--run-index", "3", "--task-file", os.fspath(tmp_path / "task.txt"))
    assert task.returncode == 0, task.stderr
    dry = scene.published("--run-index", "4", runner=False)
    (repository,) = summary(*sets, json.loads(task.stdout)["report_set"], dry)["repositories"]
    stated: list[Any] = [
        (group["completeness"]["runs"], group["identity"]["benchmark_text_sha256"] is None, group["status"])
        for group in repository["groups"]
    ]
    assert stated == [([1, 2], True, "exploratory"), ([3], False, "exploratory"), ([4], True, "dry-run")]
    assert report_folders.load(dry).set.is_dry
