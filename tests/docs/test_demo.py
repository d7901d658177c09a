"""`make demo` does the main job on any repository and leaves it alone."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repos import corpus_repository, git

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture
def wrapper(tmp_path: Path, repocue_exe: list[str]) -> str:
    script = tmp_path / "repocue"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(repocue_exe)} "$@"\n')
    script.chmod(0o755)
    return str(script)


def test_the_demo_keeps_cues_refreshes_and_measures_a_repository_and_does_not_touch_it(
    tmp_path: Path, env: dict[str, str], wrapper: str
) -> None:
    root = corpus_repository("click", tmp_path / "a b")
    (tmp_path / "tmp").mkdir()
    before = git(root, "status", "--porcelain"), sorted(os.listdir(os.path.join(root, ".git")))
    done = subprocess.run(
        ["sh", os.path.join(PROJECT, "tools", "demo.sh"), root],
        env={**env, "REPOCUE": wrapper, "PYTHON": sys.executable, "TMPDIR": str(tmp_path / "tmp")},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    steps = ("$ repocue init", "$ repocue status", "$ repocue cue", "$ repocue refresh", "$ repocue evaluate")
    places = [done.stdout.index(f"{step}\n") for step in steps]
    assert places == sorted(places)
    _, _, compared = done.stdout.partition("$ repocue evaluate-m2 ")
    rows = [line.split()[0] for line in compared.splitlines() if line.strip()]
    assert {"direct", "placebo", "basic", "ranked", "structural-oracle"} <= set(rows)
    assert "Agent evidence: not observed. This is a dry run" in compared
    assert "166 tracked" in done.stdout
    assert "Agent evidence: not observed" in done.stdout
    assert (git(root, "status", "--porcelain"), sorted(os.listdir(os.path.join(root, ".git")))) == before
    assert os.listdir(tmp_path / "tmp") == []
    assert not os.path.exists(env["XDG_CACHE_HOME"])


def test_the_demo_of_what_is_no_repository_fails_and_says_why(
    tmp_path: Path, env: dict[str, str], wrapper: str
) -> None:
    done = subprocess.run(
        ["sh", os.path.join(PROJECT, "tools", "demo.sh"), str(tmp_path)],
        env={**env, "REPOCUE": wrapper, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "not inside a git work tree" in done.stderr
