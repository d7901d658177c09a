"""SIGKILL at any moment leaves exactly the old or the new state, and the next command works.

Moments are chosen in three ways: at random, before every SQL statement and every change of a file name, and at every
system call that writes, syncs or renames. The short suite takes a sample of each, the deep one all.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.maintenance.crash import COMMANDS, Scene, make_scene
from tests.support.environment import isolated_environment

WITH_STRACE = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")

COUNTING = """
import os, signal, sqlite3, sys
limit, count, cache = int(sys.argv[1]), 0, sys.argv[5]

def step(*_):
    global count
    count += 1
    if count == limit:
        os.kill(os.getpid(), signal.SIGKILL)

def hook(event, arguments):
    if event in ("os.rename", "os.remove", "os.mkdir") and str(arguments[0]).startswith(cache):
        step()

def connect(*arguments, **options):
    connection = real(*arguments, **options)
    connection.set_trace_callback(step)
    return connection

real, sqlite3.connect = sqlite3.connect, connect
sys.addaudithook(hook)
from repocue.cli.app import run
code = run(sys.argv[2:])
print(count, file=sys.stderr)
sys.exit(code)
"""

CALLS = ("pwrite64", "write", "fsync", "fdatasync", "ftruncate", "rename", "unlink", "mkdir")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("kills")
    # No compiled modules are written, so that every run of a command makes the same calls.
    return make_scene(folder, isolated_environment(str(folder), PYTHONDONTWRITEBYTECODE="1"))


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "cache"
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)


def arguments(scene: Scene, command: str, cache: Path) -> list[str]:
    return ["-C", scene.root, "--cache-dir", str(cache), command]


def sample(total: int, count: int) -> list[int]:
    """`count` numbers from 1 to `total`, spread evenly with both ends."""
    if total <= count:
        return list(range(1, total + 1))
    return sorted({1 + round(step * (total - 1) / (count - 1)) for step in range(count)})


def kill_at_random(scene: Scene, command: str, cache: Path, repocue_exe: list[str], moments: int) -> set[str]:
    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*repocue_exe, *arguments(scene, command, cache)],
            env=scene.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    scene.prepare(command, cache)
    began = time.perf_counter()
    process = start()
    assert process.communicate()[1] == b""
    took_s = time.perf_counter() - began
    chance = random.Random(f"{command} {moments}")
    found = set()
    for _ in range(moments):
        of = scene.prepare(command, cache)
        process = start()
        try:
            process.wait(chance.uniform(0.3, 1.05) * took_s)
        except subprocess.TimeoutExpired:
            process.kill()
        assert b"Traceback" not in process.communicate()[1]
        found.add(scene.check(command, of))
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_killed_at_a_random_moment(scene: Scene, cache: Path, repocue_exe: list[str], command: str) -> None:
    kill_at_random(scene, command, cache, repocue_exe, 4)


@pytest.mark.deep
@pytest.mark.parametrize("command", COMMANDS)
def test_killed_at_two_hundred_random_moments(scene: Scene, cache: Path, repocue_exe: list[str], command: str) -> None:
    found = kill_at_random(scene, command, cache, repocue_exe, 200)
    assert len(found) == 2  # moments before and after the transition were met


def kill_at_steps(scene: Scene, command: str, cache: Path, count: int | None) -> list[str]:
    def run(limit: int) -> subprocess.CompletedProcess[bytes]:
        program = [sys.executable, "-c", COUNTING, str(limit), *arguments(scene, command, cache)]
        return subprocess.run(program, env=scene.env, capture_output=True)

    scene.prepare(command, cache)
    done = run(0)
    assert done.returncode == 0, done.stderr
    total = int(done.stderr)
    found = []
    for limit in range(1, total + 1) if count is None else sample(total, count):
        of = scene.prepare(command, cache)
        assert run(limit).returncode == -signal.SIGKILL
        found.append(scene.check(command, of))
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_killed_before_some_of_its_statements(scene: Scene, cache: Path, command: str) -> None:
    found = kill_at_steps(scene, command, cache, 5)
    assert found[0] == ("none" if command == "init" else "old")


@pytest.mark.deep
@pytest.mark.parametrize("command", COMMANDS)
def test_killed_before_each_of_its_statements(scene: Scene, cache: Path, command: str) -> None:
    found = kill_at_steps(scene, command, cache, None)
    # Once the new state was there, it stayed: no step undoes it.
    assert found == sorted(found, key=["none", "old", "new"].index)


def kill_at_calls(scene: Scene, command: str, cache: Path, repocue_exe: list[str], count: int | None) -> set[str]:
    def run(*options: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["strace", "-o", str(cache.parent / "trace"), *options, *repocue_exe, *arguments(scene, command, cache)],
            env=scene.env,
            capture_output=True,
        )

    scene.prepare(command, cache)
    run("-e", f"trace={','.join(CALLS)}")
    trace = (cache.parent / "trace").read_text()
    moments = [
        (call, number) for call in CALLS for number in range(1, len(re.findall(rf"^{call}\(", trace, re.MULTILINE)) + 1)
    ]
    assert ("fsync" if command == "init" else "fdatasync", 1) in moments
    if count is not None:
        moments = [moments[number - 1] for number in sample(len(moments), count)]
    found = set()
    for call, number in moments:
        of = scene.prepare(command, cache)
        done = run("-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={number}")
        assert done.returncode == -signal.SIGKILL
        found.add(scene.check(command, of))
    return found


@WITH_STRACE
@pytest.mark.parametrize("command", COMMANDS)
def test_killed_at_some_of_its_writes_and_syncs(
    scene: Scene, cache: Path, repocue_exe: list[str], command: str
) -> None:
    kill_at_calls(scene, command, cache, repocue_exe, 4)


@WITH_STRACE
@pytest.mark.deep
@pytest.mark.parametrize("command", COMMANDS)
def test_killed_at_each_of_its_writes_and_syncs(
    scene: Scene, cache: Path, repocue_exe: list[str], command: str
) -> None:
    found = kill_at_calls(scene, command, cache, repocue_exe, None)
    assert len(found) == 2


def traced(scene: Scene, cache: Path, repocue_exe: list[str], command: str) -> list[tuple[str, str]]:
    """(call, file name in the cache) in order, of what the command did to its files; `(answer)` is its stdout."""
    scene.prepare(command, cache)
    trace = cache.parent / "trace"
    calls = "pwrite64,write,fsync,fdatasync,rename,unlink,mkdir"
    subprocess.run(
        ["strace", "-y", "-o", str(trace), "-e", f"trace={calls}", *repocue_exe, *arguments(scene, command, cache)],
        env=scene.env,
        check=True,
        capture_output=True,
    )
    found = []
    for line in trace.read_text().splitlines():
        match = re.match(r"(\w+)\((?:\d+<([^>]*)>|\"([^\"]*)\")(?:, \"([^\"]*)\")?", line)
        if match is None:
            continue
        call, opened, named, second = match.groups()
        path = opened or named
        if path.startswith(str(cache)):
            target = second if call == "rename" else path
            found.append((call, os.path.relpath(target, cache)))
        elif call == "write" and line.startswith("write(1<"):
            found.append((call, "(answer)"))
    return found


@WITH_STRACE
def test_init_syncs_the_file_before_its_name_and_the_name_before_it_answers(
    scene: Scene, cache: Path, repocue_exe: list[str]
) -> None:
    steps = traced(scene, cache, repocue_exe, "init")
    folder = next(name for call, name in steps if call == "mkdir" and name.startswith("repo-"))
    aside, state = f"{folder}/state.db.new", f"{folder}/state.db"
    last_write = max(index for index, step in enumerate(steps) if step == ("pwrite64", aside))
    synced = steps.index(("fsync", aside))
    renamed = steps.index(("rename", state))
    folder_synced = max(index for index, step in enumerate(steps) if step == ("fsync", folder))
    assert last_write < synced < renamed < folder_synced < steps.index(("write", "(answer)"))
    assert ("pwrite64", state) not in steps
    # The folders that were made are durable before anything in them is.
    assert steps.index(("mkdir", folder)) < steps.index(("fsync", ".")) < steps.index(("pwrite64", aside))


@WITH_STRACE
@pytest.mark.parametrize("command", ["refresh", "rebaseline"])
def test_a_published_snapshot_is_synced_before_it_is_answered_and_copied(
    scene: Scene, cache: Path, repocue_exe: list[str], command: str
) -> None:
    steps = traced(scene, cache, repocue_exe, command)
    folder = next(name.partition("/")[0] for _, name in steps if name.startswith("repo-"))
    log, state = f"{folder}/state.db-wal", f"{folder}/state.db"
    logged = max(index for index, step in enumerate(steps) if step == ("pwrite64", log))
    synced = min(index for index, step in enumerate(steps) if step == ("fdatasync", log) and index > logged)
    copied = steps.index(("pwrite64", state))
    answered = steps.index(("write", "(answer)"))
    assert logged < synced < copied
    assert synced < answered
    # The log is removed only after the pages that were copied from it are durable.
    pages_synced = max(index for index, step in enumerate(steps) if step == ("fdatasync", state))
    assert max(index for index, step in enumerate(steps) if step == ("pwrite64", state)) < pages_synced
    assert pages_synced < steps.index(("unlink", log))
