"""A cache that may not be written: what only reads works, what writes says so. Run as an unprivileged user."""

from __future__ import annotations

import json
import os
import pkgutil
import shutil
import tempfile
from collections.abc import Iterator, Mapping

import pytest

import repocue.git
import repocue.maintenance
import repocue.store
from repocue.maintenance import lifecycle
from tests.maintenance.support import request, write
from tests.store.support import as_nobody, give_to_nobody
from tests.support.repos import RepoBuilder

MODULES = "hashlib, json, subprocess, tempfile, threading, " + ", ".join(
    module.name
    for room in (repocue.git, repocue.maintenance, repocue.store)
    for module in pkgutil.iter_modules(room.__path__, room.__name__ + ".")
)
PROGRAM = """
    from repocue.errors import RepoCueError
    from repocue.maintenance.request import Request
    root, cache, operation = sys.argv[1:4]
    environ = json.loads(sys.argv[4])
    request = Request(
        worktree=repocue.git.worktree.find(root, environ),
        cache=repocue.store.location.CacheLocation(cache),
        environ=environ,
        elapsed_ms=lambda: 1.0,
        clock_method="test-clock",
        now_ms=lambda: 1_800_000_000_000,
    )
    lifecycle, recording = repocue.maintenance.lifecycle, repocue.maintenance.recording
    try:
        if operation == "cue":
            print(recording.record_cue_run(
                request, view="overview", snapshot="snapshot-000001", freshness="current", size_bytes=4,
                estimated_tokens=1, max_tokens=500, duration_ms=1.0, started_at_ms=1
            ))
        else:
            rooms = {"status": repocue.maintenance.status, "metrics": repocue.maintenance.metrics}
            print(json.dumps(getattr(rooms.get(operation, lifecycle), operation)(request).document()))
    except RepoCueError as error:
        print(json.dumps({"code": error.code}))
"""


@pytest.fixture
def folder() -> Iterator[str]:
    where = tempfile.mkdtemp(prefix="repocue-test-", dir="/tmp")
    os.chmod(where, 0o755)
    yield where
    for parent, _, _ in os.walk(where):
        os.chmod(parent, 0o700)
    shutil.rmtree(where)


def test_a_read_only_cache_answers_status_and_metrics_and_refuses_to_be_changed(
    folder: str, env: Mapping[str, str]
) -> None:
    env = {**env, "HOME": "/nonexistent", "GIT_CONFIG_COUNT": "1"}
    env |= {"GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    root = RepoBuilder(os.path.join(folder, "r")).commit("first", {"a": "1\n"}).build()
    cache = os.path.join(folder, "cache")
    of = request(root, cache, env)
    lifecycle.init(of)
    state_folder = of.cache.folder(of.worktree.id)
    give_to_nobody(folder)
    os.chmod(of.state_path, 0o400)
    os.chmod(state_folder, 0o500)
    os.chmod(cache, 0o500)

    def run(operation: str, where: str = root) -> dict[str, object]:
        done = as_nobody(PROGRAM, where, cache, operation, json.dumps(env), modules=MODULES)
        assert done.stderr == ""
        found: dict[str, object] = json.loads(done.stdout)
        return found

    assert run("status")["freshness"] == "current"
    assert len(run("metrics")["runs"]) == 1  # type: ignore[arg-type]  # a list
    assert run("init")["outcome"] == "already-initialized"
    write(root, "a", "2\n")
    assert run("status")["freshness"] == "refresh-needed"
    for operation in ("refresh", "rebaseline"):
        assert run(operation)["code"] == "cache.read-only"
    assert sorted(os.listdir(state_folder)) == ["state.db", "state.lock"]
    other = RepoBuilder(os.path.join(folder, "other")).commit("first", {"a": "1\n"}).build()
    give_to_nobody(other)
    assert run("init", other)["code"] == "cache.read-only"
    # A cue is handed out all the same; that it was not recorded is a warning.
    done = as_nobody(PROGRAM, root, cache, "cue", json.dumps(env), modules=MODULES)
    assert done.stdout == "Warning(code='cue-run-not-recorded', count=None)\n"
