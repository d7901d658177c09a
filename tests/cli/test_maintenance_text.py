"""What init, status, refresh and metrics say on a terminal: what a hint promises is there, and nothing is obeyed."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.repos import RepoBuilder, git

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def root(tmp_path: Path) -> str:
    return RepoBuilder(tmp_path / "project").commit("first", {"README.md": "# A\n", "src/a.py": "a = 1\n"}).build()


def text(done: subprocess.CompletedProcess[bytes]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_metrics_shows_the_snapshots_that_a_hint_promises_to_be_there(repocue: Run, root: str) -> None:
    repocue("init", cwd=root)
    Path(root, "README.md").write_text("# B\n")
    repocue("refresh", cwd=root)
    refused = json.loads(repocue("cue", "--since", "snapshot-000009", cwd=root).stderr)
    assert "repocue metrics" in refused["hint"]
    shown = text(repocue("metrics", "--format", "text", cwd=root))
    assert re.search(r"  init +command +published +snapshot-000001 ", shown)
    assert re.search(r"  refresh +command +published +snapshot-000002 ", shown)


def test_metrics_shows_the_last_ten_runs_and_cues_and_how_many_there_are(repocue: Run, root: str) -> None:
    repocue("init", cwd=root)
    assert "Cues" not in text(repocue("metrics", "--format", "text", cwd=root))
    for _ in range(11):
        repocue("cue", "--view", "placebo", "--max-tokens", "400", cwd=root)
    shown = text(repocue("metrics", "--format", "text", cwd=root))
    assert "\nCues, the last 10 of 11:\n" in shown
    cues = re.findall(r"Z  placebo +snapshot-000001  current +\d+ ms +(\d+) +400$", shown, re.MULTILINE)
    size = len(repocue("cue", "--view", "placebo", "--max-tokens", "400", cwd=root).stdout)
    assert cues == [str(-(-size // 4))] * 10
    assert "\nMaintenance runs:\n" in shown


def test_metrics_makes_no_zero_of_what_is_not_recorded(repocue: Run, root: str) -> None:
    """A cue that fails leaves no record; nor has a command that never ran taken 0 ms."""
    repocue("init", cwd=root)
    assert repocue("cue", "--max-tokens", "1", cwd=root).returncode == 1
    assert json.loads(repocue("metrics", cwd=root).stdout)["cues"] == {
        "runs": 0,
        "failed": None,
        "durations_known": 0,
        "duration_ms": 0,
    }
    shown = text(repocue("metrics", "--format", "text", cwd=root))
    assert re.search(r"^cue +0 +not recorded +-$", shown, re.MULTILINE)
    assert re.search(r"^refresh +0 +0 +-$", shown, re.MULTILINE)


def test_a_name_in_the_answer_is_not_obeyed_by_the_terminal(repocue: Run, tmp_path: Path) -> None:
    root = tmp_path / "red\x1b[31m\u009b2J"
    git(tmp_path, "init", "-q", str(root))
    for command in ("init", "status", "refresh", "rebaseline", "metrics"):
        shown = text(repocue(command, "--format", "text", cwd=root))
        assert shown.isascii() or "\u009b" not in shown, command
        assert "\x1b" not in shown, command
        assert r"red\x1b[31m\x9b2J" in shown, command
    refused = repocue("--format", "text", "-C", "red\x1b[31m\u009b2J/none", "status", cwd=tmp_path)
    assert refused.returncode == 1
    assert b"\x1b" not in refused.stderr
    assert "\u009b".encode() not in refused.stderr


def test_a_warning_is_a_sentence(repocue: Run, root: str, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{root}", str(tmp_path / "shallow"))
    git(tmp_path / "shallow", "init", "-q", "inner")
    RepoBuilder(tmp_path / "shallow" / "inner").commit("one", {"a": "a"}).build()
    shown = text(repocue("init", "--format", "text", cwd=tmp_path / "shallow"))
    assert "  warning    a shallow clone: history ends early\n" in shown
    assert "  warning    repositories inside this one, whose contents are not indexed (1)\n" in shown
