"""The harness killed at random moments: evidence is complete or visibly incomplete, never altered, and summary says
which."""

from __future__ import annotations

import os
import random
import select
import subprocess
import time
from pathlib import Path

import pytest

from tests.evaluate_task.scene import Scene, steps, summary
from tests.support import agents
from tests.support.repos import git

SHORT_KILLS = 8
DEEP_KILLS = 100


def command(scene: Scene, output: Path) -> list[str]:
    prepared = scene.prepared()
    return [
        *scene.exe,
        "evaluate-task",
        "-C",
        scene.root,
        "--task-file",
        f"{prepared}/benchmark.json",
        "--policy-file",
        f"{prepared}/paid-policy.json",
        "--output-directory",
        str(output),
        "--runner",
        scene.runner,
    ]


def check_kills(scene: Scene, folder: Path, kills: int) -> set[str]:
    """Kill so many runs, spread over the time that a whole one takes; returns what was left, one word each."""
    script = scene.file("kills.json", {"*": steps()})
    env = scene.env | {"SCRIPTED_TASK_RUNNER": script}
    begun = time.monotonic()
    subprocess.run(command(scene, folder / "whole"), env=env, check=True, capture_output=True, timeout=120)
    whole_s = time.monotonic() - begun
    random_ = random.Random(kills)
    left = set()
    for number in range(kills):
        output = folder / str(number)
        harness = subprocess.Popen(
            command(scene, output), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        moment_s = whole_s * (number + random_.random()) / kills  # every part of a run gets its kills
        select.select([], [], [], moment_s)
        harness.kill()
        harness.wait()
        left.add(word_for(output))
        assert_nothing_lives(output)
    assert git(scene.root, "status", "--porcelain") == b""
    return left


def assert_nothing_lives(output: Path) -> None:
    """No process that was started for `output` is alive, at the latest in a while."""
    agents.wait_for(lambda: not agents.processes(bytes(output)))
    assert agents.processes(bytes(output)) == []


def word_for(output: Path) -> str:
    """What a killed run left, held to what summary says of it."""
    names = [name for name in os.listdir(output) if not name.startswith(".")] if output.exists() else []
    if not names:
        return "nothing"
    (name,) = names
    (pair,) = summary(str(output / name))["pairs"]
    statuses = [one["status"] for one in pair["attempts"]]
    for one, status in zip(pair["attempts"], statuses, strict=True):
        place = output / name / "attempts" / one["attempt"].rpartition("/")[2]
        assert (status == "not-attempted") == (not place.exists())
        assert (status == "complete") == (place / "attempt.json").exists()
        assert status in ("not-attempted", "incomplete", "complete")
        assert not any(reason.startswith("evidence-") for reason in one["reasons"])
    assert statuses in (
        ["not-attempted", "not-attempted"],
        ["incomplete", "not-attempted"],
        ["complete", "not-attempted"],
        ["complete", "incomplete"],
        ["complete", "complete"],
    )
    return "+".join(statuses)


def test_a_killed_harness_leaves_evidence_that_says_how_far_it_came(shared: Scene, tmp_path: Path) -> None:
    left = check_kills(shared, tmp_path, SHORT_KILLS)
    assert left & {"nothing", "not-attempted+not-attempted"}


@pytest.mark.deep
def test_a_hundred_killed_harnesses_leave_evidence_that_says_how_far_they_came(shared: Scene, tmp_path: Path) -> None:
    left = check_kills(shared, tmp_path, DEEP_KILLS)
    assert "nothing" in left
    assert {"incomplete+not-attempted", "complete+incomplete"} & left
