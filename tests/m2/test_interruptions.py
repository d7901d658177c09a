"""However a harness ends, no part of a set is visible, no process runs on, and what is left can be named."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from repocue.evaluation.m2 import published, workspace
from repocue.evaluation.m2.limits import DEFAULT_LIMITS
from tests.m2.conftest import build
from tests.m2.scene import Scene, alive

PATIENCE_S = 30.0
"""How long killed processes may take to be gone on a loaded machine."""

COUNTING = """
import os, signal, sys
limit, count, out = int(sys.argv[1]), 0, sys.argv[2]

def hook(event, arguments):
    global count
    if event in ("open", "os.rename", "os.mkdir") and isinstance(arguments[0], str) and arguments[0].startswith(out):
        count += 1
        if count == limit:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(hook)
from repocue.cli.app import run
code = run(sys.argv[3:])
print(count, file=sys.stderr)
sys.exit(code)
"""


def processes_of(scene: Scene) -> list[int]:
    """Processes that were started for the scene: by their environment, arguments or working directory."""
    mark = os.fsencode(str(scene.folder))
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            said = Path(f"/proc/{name}/environ").read_bytes() + Path(f"/proc/{name}/cmdline").read_bytes()
            said += os.fsencode(os.readlink(f"/proc/{name}/cwd"))
        except OSError:
            continue
        if mark in said and alive(int(name)):
            found.append(int(name))
    return found


def none_left(scene: Scene) -> bool:
    """Whether all of the scene's processes are gone, now or soon."""
    deadline = time.monotonic() + PATIENCE_S
    while processes_of(scene):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def check_what_is_left(scene: Scene) -> int:
    """Sets that are visible are whole; everything else is named as left over. Returns how many sets there are."""
    assert none_left(scene)
    named = workspace.leftovers(scene.temporary, scene.out)
    visible = 0
    for name in scene.sets():
        path = os.path.join(scene.out, name)
        if name.startswith("."):
            assert path in named
            continue
        visible += 1
        assert len(published.read(path, limits=DEFAULT_LIMITS)) == 5
    for name in os.listdir(scene.temporary):
        path = os.path.join(scene.temporary, name)
        assert name.startswith(workspace.PREFIX)
        assert path in named or not os.path.exists(os.path.join(path, "lock"))
    return visible


class Calls:
    """A named pipe into which a runner says how it was called."""

    def __init__(self, scene: Scene) -> None:
        self.path = str(scene.folder / "calls.fifo")
        os.mkfifo(self.path)
        self._descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    def next_pid(self, process: subprocess.Popen[bytes]) -> int:
        """The id of the runner that says so next; fails where the harness ends before."""
        said = b""
        while not said.endswith(b"\n"):
            ready, _, _ = select.select([self._descriptor], [], [], 1)
            assert process.poll() is None, process.communicate()
            said += os.read(self._descriptor, 65536) if ready else b""
        pid: int = json.loads(said)["pid"]
        return pid

    def close(self) -> None:
        os.close(self._descriptor)


@pytest.fixture
def calls(scene: Scene) -> Iterator[Calls]:
    found = Calls(scene)
    yield found
    found.close()


def clear(scene: Scene) -> None:
    for folder in (scene.out, scene.temporary):
        subprocess.run(["rm", "-rf", folder], check=True)
    os.mkdir(scene.temporary)


def start(scene: Scene, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        scene.command(*arguments),
        cwd=scene.root,
        env=scene.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def kill_at_random(scene: Scene, moments: int) -> set[int]:
    """SIGKILL the harness at so many random moments of a run; the numbers of sets that were visible afterwards."""
    scene.script({"background": str(scene.folder / "child")})
    begun = time.perf_counter()
    with start(scene) as process:
        process.communicate()
    took_s = time.perf_counter() - begun
    assert check_what_is_left(scene) == 1
    chance = random.Random(moments)
    found = set()
    for _ in range(moments):
        clear(scene)
        with start(scene) as process:
            try:
                process.wait(chance.uniform(0.05, 1.1) * took_s)
            except subprocess.TimeoutExpired:
                process.kill()
            said = process.communicate()[1]
        assert b"Traceback" not in said
        found.add(check_what_is_left(scene))
    return found


def test_a_harness_killed_at_a_random_moment_leaves_no_partial_set_and_no_process(scene: Scene) -> None:
    assert kill_at_random(scene, 4) <= {0, 1}


@pytest.mark.deep
def test_a_harness_killed_at_a_hundred_random_moments_leaves_no_partial_set_and_no_process(scene: Scene) -> None:
    assert kill_at_random(scene, 100) == {0, 1}


def publishing(scene: Scene, limit: int) -> subprocess.CompletedProcess[bytes]:
    """A dry run that kills itself before its `limit`-th change of the output directory; 0: never."""
    code = [sys.executable, "-c", COUNTING, str(limit), scene.out, "evaluate-m2", "--quiet", "--output-directory"]
    return subprocess.run([*code, scene.out], cwd=scene.root, env=scene.environment(), capture_output=True)


def steps_of_publishing(scene: Scene) -> int:
    done = publishing(scene, 0)
    assert done.returncode == 0, done.stderr
    return int(done.stderr)


def killed_while_publishing(scene: Scene, limit: int) -> int:
    clear(scene)
    assert publishing(scene, limit).returncode == -signal.SIGKILL
    return check_what_is_left(scene)


@pytest.fixture(scope="module")
def dry_scene(tmp_path_factory: pytest.TempPathFactory, repocue_exe: list[str]) -> Scene:
    return build(tmp_path_factory.mktemp("dry"), repocue_exe)


def test_a_harness_killed_while_it_publishes_shows_all_of_a_set_or_nothing(dry_scene: Scene) -> None:
    total = steps_of_publishing(dry_scene)
    assert total > 20
    assert [killed_while_publishing(dry_scene, limit) for limit in (total // 2, total - 1, total)] == [0, 0, 1]


@pytest.mark.deep
def test_a_harness_killed_at_every_instant_of_publishing_shows_all_of_a_set_or_nothing(dry_scene: Scene) -> None:
    total = steps_of_publishing(dry_scene)
    shown = [killed_while_publishing(dry_scene, limit) for limit in range(1, total + 1)]
    assert shown == sorted(shown)
    assert set(shown) == {0, 1}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_during_an_agents_run_ends_everything(number: signal.Signals, scene: Scene, calls: Calls) -> None:
    child = scene.folder / "child"
    scene.script({}, basic={"record": calls.path, "background": str(child), "hang": True})
    with start(scene) as process:
        agent = calls.next_pid(process)
        deadline = time.monotonic() + PATIENCE_S
        while not (child.exists() and child.read_text()):  # written by a process that nobody waits for
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        said = process.communicate()[1].splitlines()
    assert none_left(scene)
    assert not alive(agent)
    assert not alive(int(child.read_text()))
    assert scene.sets() == []
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
        (left,) = workspace.leftovers(scene.temporary, scene.out)
        assert os.path.dirname(left) == scene.temporary
    else:
        assert process.returncode == 130
        assert json.loads(said[-1])["code"] == "interrupted"
        assert os.listdir(scene.temporary) == []
    scene.script()
    scene.published()


def test_an_ignored_hangup_stays_ignored(scene: Scene, calls: Calls) -> None:
    scene.script({}, placebo={"record": calls.path})
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with start(scene) as process:
            calls.next_pid(process)
            process.send_signal(signal.SIGHUP)
            process.communicate()
    finally:
        signal.signal(signal.SIGHUP, before)
    assert process.returncode == 0
    assert len(scene.sets()) == 1
