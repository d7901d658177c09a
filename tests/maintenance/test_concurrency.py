"""Many commands at once on one repository that keeps changing: no traceback, no lost run, no torn answer."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from repocue.maintenance import lifecycle
from repocue.maintenance.metrics import metrics
from tests.maintenance.support import reading, request, rows, write
from tests.support.repos import RepoBuilder, git

COMMANDS = (
    ["refresh"],
    ["refresh", "--trigger", "hook"],
    ["status"],
    ["metrics"],
    ["init"],
    ["rebaseline", "--label", "again"],
    ["cue"],
    ["cue", "--refresh"],
)
WORKERS = 8


def work(command: list[str], root: str, env: Mapping[str, str], seed: int, times: int, answers: list[Any]) -> None:
    """One worker: `times` commands one after the other, each answer or error kept."""
    chance = random.Random(seed)
    for _ in range(times):
        arguments = chance.choice(COMMANDS)
        done = subprocess.run([*command, *arguments], cwd=root, env=env, capture_output=True)
        answers.append((arguments, done.returncode, done.stdout, done.stderr))


def edit(root: str, ended: threading.Event) -> None:
    """The ninth: edits, adds, commits and switches until the others are done."""
    for number in range(100_000):
        write(root, f"src/file-{number % 7}.py", f"number = {number}\n")
        if number % 3 == 0:
            git(root, "add", "-A")
        if number % 5 == 0:
            git(root, "commit", "-q", "--allow-empty", "-a", "-m", f"step {number}")
        if number % 11 == 0:
            git(root, "switch", "-q", "-C", f"branch-{number % 2}")
        if ended.wait(0.02):
            return


def run_everything(tmp_path: Path, env: dict[str, str], command: list[str], times: int) -> None:
    files = {f"src/file-{number}.py": "x\n" for number in range(7)}
    root = RepoBuilder(tmp_path / "r").commit("first", {**files, "README.md": "read\n"}).build()
    of = request(root, Path(env["XDG_CACHE_HOME"]) / "repocue", env)
    lifecycle.init(of)
    answers: list[tuple[list[str], int, bytes, bytes]] = []
    ended = threading.Event()
    editor = threading.Thread(target=edit, args=(root, ended))
    workers = [
        threading.Thread(target=work, args=(command, root, env, seed, times, answers)) for seed in range(WORKERS)
    ]
    editor.start()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    ended.set()
    editor.join()

    assert len(answers) == WORKERS * times
    documents = []
    for arguments, code, stdout, stderr in answers:
        assert b"Traceback" not in stderr
        if code:
            # The one thing that may go wrong: the repository moved during every attempt to observe it.
            assert (code, json.loads(stderr)["code"]) == (1, "repository.moved"), (arguments, stdout, stderr)
        else:
            documents.append((arguments, json.loads(stdout)))

    assert_runs_form_one_chain(of, answers)
    assert_answers_match_their_snapshots(of.state_path, documents)
    connection = sqlite3.connect(of.state_path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    last = lifecycle.refresh(of)
    fresh = request(root, tmp_path / "fresh", env)
    assert lifecycle.init(fresh).header.repository_digest == last.header.repository_digest
    assert rows(fresh) == rows(of)


def assert_runs_form_one_chain(of: Any, answers: list[tuple[list[str], int, bytes, bytes]]) -> None:
    """Every command that had to be recorded is, once; and each publication started from the one before."""
    found = metrics(of)
    asked = [arguments for arguments, _, _, _ in answers]
    refreshes = sum(1 for arguments in asked if arguments[0] == "refresh" or arguments == ["cue", "--refresh"])
    assert sum(run.kind == "refresh" for run in found.runs) == refreshes
    assert sum(run.kind == "rebaseline" for run in found.runs) == sum(
        1 for arguments in asked if arguments[0] == "rebaseline"
    )
    cued = sum(1 for arguments, code, _, _ in answers if arguments[0] == "cue" and code == 0)
    assert len(found.cue_runs) == cued
    published = [run for run in found.runs if run.outcome == "published"]
    assert [run.snapshot_after for run in published] == [
        f"snapshot-{number:06d}" for number in range(1, len(published) + 1)
    ]
    assert [run.snapshot_before for run in published[1:]] == [run.snapshot_after for run in published[:-1]]
    assert found.snapshots_kept == len(published)


def assert_answers_match_their_snapshots(state_path: str, documents: list[tuple[list[str], Any]]) -> None:
    """Every answer's digests are those of the snapshot it names: none is mixed of two."""
    connection = sqlite3.connect(state_path)
    stored = {
        f"snapshot-{number:06d}": (f"epoch-{epoch:06d}", status, repository, observed, branch, head)
        for number, epoch, status, repository, observed, branch, head in connection.execute(
            "SELECT number, epoch, status_digest, repository_digest, observed_at, branch, head FROM snapshots"
        )
    }
    connection.close()
    for arguments, document in documents:
        if arguments[0] == "metrics":
            assert document["snapshot"] in stored
            continue
        basis, repository = document["basis"], document["repository"]
        assert stored[document["snapshot"]] == (
            document["epoch"],
            basis["status_digest"],
            basis["repository_digest"],
            basis["observed_at"],
            repository["branch"],
            repository["head"],
        ), arguments


def test_eight_commands_at_once_while_a_ninth_edits(
    tmp_path: Path, env: dict[str, str], repocue_exe: list[str]
) -> None:
    run_everything(tmp_path, env, repocue_exe, 5)


@pytest.mark.deep
def test_eight_times_thirty_commands_at_once_while_a_ninth_edits(
    tmp_path: Path, env: dict[str, str], repocue_exe: list[str]
) -> None:
    run_everything(tmp_path, env, repocue_exe, 30)


def test_a_command_that_waits_too_long_says_so_and_is_recorded(
    tmp_path: Path, env: Mapping[str, str], repocue_exe: list[str]
) -> None:
    from repocue.errors import CacheBusy
    from repocue.store.lock import writer_lock

    root = RepoBuilder(tmp_path / "r").commit("first", {"a": "1\n"}).build()
    of = request(root, tmp_path / "cache", env, lock_wait_s=0.1)
    lifecycle.init(of)
    with writer_lock(of.lock_path), pytest.raises(CacheBusy) as error:
        lifecycle.refresh(of)
    assert error.value.hint == "Wait for it to end and run the command again."
    with reading(of) as opened:
        assert opened.header.snapshot == "snapshot-000001"
    assert [(run.outcome, run.error_code) for run in metrics(of).runs] == [
        ("published", None),
        ("failed", "cache.busy"),
    ]
    assert os.path.exists(of.lock_path)
