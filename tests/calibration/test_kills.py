"""An import that is killed, at any moment, leaves all of its sets or none; the next one completes it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.calibration.scene import Scene, three_runs
from tests.m2_summary.scenes import save
from tests.support import m2_sets

COUNTING = """
import os, signal, sqlite3, sys
limit, count = int(sys.argv[1]), 0

def step(*_):
    global count
    count += 1
    if count == limit:
        os.kill(os.getpid(), signal.SIGKILL)

def connect(*arguments, **options):
    connection = real(*arguments, **options)
    connection.set_trace_callback(step)
    return connection

real, sqlite3.connect = sqlite3.connect, connect
from repocue.cli.app import run
code = run(sys.argv[2:])
print(count, file=sys.stderr)
sys.exit(code)
"""


def run(scene: Scene, limit: int, assessments: str) -> subprocess.CompletedProcess[bytes]:
    """Import all sets with their assessments; killed before the statement of that number, 0 for never."""
    command = ["-C", scene.root, "--cache-dir", scene.cache, "calibration", "import"]
    command += ["--report-set", scene.sets, "--assessment", assessments]
    return subprocess.run([sys.executable, "-c", COUNTING, str(limit), *command], env=scene.env, capture_output=True)


def check(scene: Scene) -> int:
    """Assert that all is there or nothing; returns how many pairs are."""
    connection = sqlite3.connect(scene.request().state_path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    pairs, opinions = len(scene.stored()), len(scene.opinions())
    assert (pairs, opinions) in ((0, 0), (3, 5))
    return pairs


def kill_at(original: Scene, folder: Path, count: int | None) -> list[int]:
    found = []
    made = original.fresh(folder / "whole")
    for run_index in (1, 2):
        made.write(run_index=run_index)
    reports = made.reports(run_index=3)
    m2_sets.write(made.sets, reports)
    assessments = os.path.dirname(save(folder / "assessments", m2_sets.assessments(reports))[0])
    done = run(made, 0, assessments)
    assert done.returncode == 0, done.stderr
    assert check(made) == 3
    total = int(done.stderr)
    steps = range(1, total + 1) if count is None else sorted({1 + n * (total - 1) // (count - 1) for n in range(count)})
    for step in steps:
        killed = original.fresh(folder / f"killed-{step}")
        for name in os.listdir(made.sets):
            os.symlink(os.path.join(made.sets, name), os.path.join(killed.sets, name))
        assert run(killed, step, assessments).returncode == -signal.SIGKILL
        found.append(check(killed))
        assert run(killed, 0, assessments).returncode == 0
        assert check(killed) == 3
    return found


def test_killed_before_some_of_its_statements(clean_original: Scene, tmp_path: Path) -> None:
    assert kill_at(clean_original, tmp_path, 4)[0] == 0


@pytest.mark.deep
def test_killed_before_each_of_its_statements(clean_original: Scene, tmp_path: Path) -> None:
    found = kill_at(clean_original, tmp_path, None)
    assert found == sorted(found)  # once the pairs were there they stayed


def test_two_imports_at_once_store_every_pair_once(clean_original: Scene, tmp_path: Path) -> None:
    made = clean_original.fresh(tmp_path)
    three_runs(made, (1000, 2000, 3000), (900, 1500, 3100))
    command = [sys.executable, "-m", "repocue", "-C", made.root, "--cache-dir", made.cache]
    command += ["calibration", "import", "--report-set", made.sets]
    both = [subprocess.Popen(command, env=made.env, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert [stored.number for stored in made.stored()] == [1, 2, 3]
