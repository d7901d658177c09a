"""The five commands as they are installed: answers, texts, exit codes and errors."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repocue.contracts import reader
from tests.maintenance.support import write
from tests.support.repos import RepoBuilder, git

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def root(tmp_path: Path) -> str:
    return RepoBuilder(tmp_path / "project").commit("first", {"README.md": "r\n", "src/a.py": "a = 1\n"}).build()


def answer(done: subprocess.CompletedProcess[bytes], contract: str) -> dict[str, Any]:
    assert done.stderr == b""
    assert done.stdout.endswith(b"}\n")
    assert done.stdout.count(b"\n") == 1
    return reader.read(done.stdout, contract=contract)


def error(done: subprocess.CompletedProcess[bytes]) -> tuple[int, str]:
    assert done.stdout == b""
    document = reader.read(done.stderr, contract="repocue/error-1")
    return done.returncode, document["code"]


def test_the_life_of_a_state_from_the_command_line(repocue: Run, root: str, tmp_path: Path) -> None:
    first = answer(repocue("init", root), "repocue/operation-1")
    assert (first["outcome"], first["snapshot"]) == ("initialized", "snapshot-000001")
    assert first["run"]["duration_ms"] > first["run"]["scan_duration_ms"] > 0
    again = answer(repocue("init", cwd=root), "repocue/operation-1")
    assert again["outcome"] == "already-initialized"
    write(root, "src/a.py", "a = 2\n")
    below = os.path.join(root, "src")
    stale = repocue("status", "--exit-code", cwd=below)
    assert (stale.returncode, answer(stale, "repocue/status-1")["freshness"]) == (3, "refresh-needed")
    assert repocue("status", cwd=below).returncode == 0
    assert answer(repocue("refresh", "--trigger", "hook", cwd=below), "repocue/operation-1")["outcome"] == "published"
    fresh = repocue("status", "--exit-code", "-C", root)
    assert (fresh.returncode, answer(fresh, "repocue/status-1")["freshness"]) == (0, "dirty-but-indexed")
    opened = answer(repocue("-C", root, "rebaseline", "--label", "v2"), "repocue/operation-1")
    assert (opened["epoch"], opened["changes"]["files"]["content_changed"]) == ("epoch-000002", 0)
    figures = answer(repocue("metrics", cwd=root), "repocue/metrics-1")
    assert [(run["kind"], run["trigger"], run["outcome"]) for run in figures["runs"]] == [
        ("init", "command", "published"),
        ("refresh", "hook", "published"),
        ("rebaseline", "command", "published"),
    ]
    assert figures["database"]["bytes"] == os.path.getsize(figures["database"]["path"])
    assert git(root, "status", "--porcelain") == b" M src/a.py\n"


def test_the_text_form_says_the_same_to_people(repocue: Run, root: str) -> None:
    def text(*arguments: str) -> str:
        done = repocue(*arguments, "--format", "text", cwd=root)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    assert "Took the first snapshot of project: 2 tracked files." in text("init")
    assert "project is initialized already; nothing was changed." in text("init")
    assert "current: the snapshot is what the repository is now" in text("status")
    assert "Nothing changed in project since snapshot-000001." in text("refresh")
    write(root, "src/a.py", "a = 2\n")
    assert "changed    1 content changed, working tree changed" in text("status")
    assert "out of date: run 'repocue refresh'" in text("status")
    shown = text("refresh")
    assert "Published snapshot-000002 of project." in shown
    assert "changed    1 content changed, working tree changed" in shown
    assert "Opened epoch-000002 of project with snapshot-000003 as its baseline." in text("rebaseline")
    shown = text("metrics")
    assert "snapshot-000003 of 3, epoch-000002" in shown
    assert "rebaseline" in shown


def test_every_bad_input_is_one_clear_error(repocue: Run, root: str, tmp_path: Path) -> None:
    bare = RepoBuilder(tmp_path / "bare").build(bare=True)
    (tmp_path / "plain").mkdir()
    (tmp_path / "file").write_text("x")
    file = str(tmp_path / "file")
    cases = [
        (["status"], root, 1, "cache.not-initialized"),
        (["refresh"], root, 1, "cache.not-initialized"),
        (["rebaseline"], root, 1, "cache.not-initialized"),
        (["metrics"], root, 1, "cache.not-initialized"),
        (["init", str(tmp_path / "nowhere")], root, 1, "repository.not-found"),
        (["init"], str(tmp_path / "plain"), 1, "repository.none"),
        (["init"], bare, 1, "repository.bare"),
        (["init", "--cache-dir", file], root, 1, "cache.not-a-folder"),
        (["init", "--cache-dir", file + "/below"], root, 1, "cache.not-a-folder"),
        (["init", "one", "two"], root, 2, "usage"),
        (["refresh", "src"], root, 2, "usage"),
        (["refresh", "--trigger", "cue"], root, 2, "usage"),
        (["rebaseline", "--label", "x" * 501], root, 2, "usage"),
        (["status", "--format", "yaml"], root, 2, "usage"),
        (["metrics", "--exit-code"], root, 2, "usage"),
    ]
    for arguments, where, code, name in cases:
        assert error(repocue(*arguments, cwd=where)) == (code, name), arguments
    assert (tmp_path / "file").read_text() == "x"
    assert error(repocue("status", cwd=root)) == (1, "cache.not-initialized")


def test_a_cache_inside_the_work_tree_is_warned_of(repocue: Run, root: str) -> None:
    inside = ["--cache-dir", os.path.join(root, "cache")]
    warnings = [{"code": "cache-inside-work-tree"}]
    assert answer(repocue("init", *inside, cwd=root), "repocue/operation-1")["warnings"] == warnings
    shown = answer(repocue("status", *inside, cwd=root), "repocue/status-1")
    assert shown["warnings"] == warnings
    assert shown["freshness"] == "refresh-needed"


def test_a_damaged_database_stops_every_command_and_is_left_as_it_is(
    repocue: Run, root: str, env: dict[str, str]
) -> None:
    repocue("init", cwd=root)
    path = answer(repocue("metrics", cwd=root), "repocue/metrics-1")["database"]["path"]
    Path(path).write_bytes(b"damaged")
    for command in ("init", "status", "refresh", "rebaseline", "metrics"):
        assert error(repocue(command, cwd=root)) == (1, "cache.damaged")
    assert Path(path).read_bytes() == b"damaged"
    os.rename(path, path + ".kept")
    assert answer(repocue("init", cwd=root), "repocue/operation-1")["outcome"] == "initialized"


def test_the_library_prints_nothing_of_json_that_is_not_ascii_safe_to_read(repocue: Run, tmp_path: Path) -> None:
    root = RepoBuilder(tmp_path / "pröject").commit("first", {"é\n\"'.py": "x\n"}).build()
    done = repocue("init", cwd=root)
    assert json.loads(done.stdout)["repository"]["name"] == "pröject"


def test_every_git_process_of_a_run_is_counted(repocue: Run, root: str, env: dict[str, str], tmp_path: Path) -> None:
    write(root, "src/a.py", "a = 2\n")
    for number, command in enumerate(("init", "refresh", "refresh", "rebaseline")):
        trace = tmp_path / f"trace-{number}"
        traced = {**env, "GIT_TRACE2_EVENT": str(trace)}
        shown = answer(repocue(command, cwd=root, env=traced), "repocue/operation-1")
        started = [line for line in trace.read_text().splitlines() if '"event":"start"' in line]
        # git's own children (a filter, a submodule's status) say so in their session's id; there are none here.
        assert shown["run"]["git_processes"] == len(started)
