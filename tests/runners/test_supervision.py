"""One external program, run to its end: what it says is kept, what it starts does not outlive it."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from repocue.runners.supervision import Ended, Evidence, NotStarted, Supervisor

ENV = {"PATH": os.environ["PATH"]}
WAIT_S = 30
needs_pidfd = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watching processes by descriptor is Linux's")

FAMILY = """
# starts one child of each kind; each writes its pid to the FIFO and stays for ever
fifo=$1
stay() { sh -c 'echo $$ > "$1"; exec sleep 100000' stay "$fifo"; }
stay &
setsid sh -c 'echo $$ > "$1"; exec sleep 100000' stay "$fifo" &
hidden='echo $$ > "$1"; trap "" TERM HUP INT; while :; do sleep 100000; done'
(setsid sh -c "$hidden" stay "$fifo" >/dev/null 2>&1 </dev/null &)
"""


def run(script: str, *, timeout_s: float = WAIT_S, **more: object) -> Ended:
    limits = {name: more.pop(name) for name in ("stdout_limit_bytes", "stderr_limit_bytes") if name in more}
    supervisor = Supervisor(timeout_s=timeout_s, **limits)  # type: ignore[arg-type]  # the test's own short form
    return supervisor.run(["sh", "-c", script, *more.pop("arguments", ())], cwd="/", env=ENV, **more)  # type: ignore[arg-type, misc]  # the same


def test_a_child_that_kills_its_watcher_is_no_success_and_what_that_means_is_said() -> None:
    ended = run("echo said; kill -9 $PPID; exec sleep 100000")
    assert (ended.is_success, ended.exit_code, ended.signal) == (False, None, None)
    assert ended.describe() == "killed the process that watches it; what it started may live on"


class Watched:
    """Processes that announce themselves on a FIFO, watched without polling."""

    def __init__(self, folder: Path) -> None:
        self.fifo = str(folder / "pids")
        os.mkfifo(self.fifo)
        self._reading = os.open(self.fifo, os.O_RDWR)
        self._rest = b""
        self.descriptors: list[int] = []

    def expect(self, count: int) -> None:
        """Wait until `count` processes have announced themselves."""
        while len(self.descriptors) < count:
            assert select.select([self._reading], [], [], WAIT_S)[0], "the children did not start"
            *lines, self._rest = (self._rest + os.read(self._reading, 4096)).split(b"\n")
            self.descriptors.extend(os.pidfd_open(int(line)) for line in lines)

    def alive(self) -> int:
        return sum(not select.select([one], [], [], 0)[0] for one in self.descriptors)

    def wait_until_dead(self) -> None:
        for one in self.descriptors:
            assert select.select([one], [], [], WAIT_S)[0], "a child outlived its supervisor"

    def close(self) -> None:
        for one in self.descriptors:
            with suppress(ProcessLookupError):  # what a failed test left alive must not outlive it
                signal.pidfd_send_signal(one, signal.SIGKILL)
        for one in (self._reading, *self.descriptors):
            os.close(one)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    made = Watched(tmp_path)
    yield made
    made.close()


def test_the_defaults_are_sixteen_mebibytes() -> None:
    supervisor = Supervisor(timeout_s=1)
    assert (supervisor.stdout_limit_bytes, supervisor.stderr_limit_bytes) == (16 * 1024**2, 16 * 1024**2)


def test_streams_exit_code_folder_and_environment_are_the_childs_own(tmp_path: Path) -> None:
    ended = Supervisor(timeout_s=WAIT_S).run(
        ["sh", "-c", 'cat; pwd; env | grep -v "^[_PS]" | sort; echo oops >&2; exit 3'],
        cwd=str(tmp_path),
        env=ENV | {"COLOUR": "grün"},
        stdin=b"in\n",
    )
    assert ended.stdout.decode() == f"in\n{tmp_path}\nCOLOUR=grün\n"
    assert ended.stderr == b"oops\n"
    assert (ended.exit_code, ended.signal, ended.stopped, ended.stdin_bytes) == (3, None, None, 3)
    assert not ended.is_success
    assert ended.describe() == "exited with code 3"


@pytest.mark.parametrize("given", [{}, {"LC_CTYPE": "C"}, {"LC_ALL": "C"}, {"LC_CTYPE": ""}])
def test_the_environment_is_given_as_it_is(given: dict[str, str]) -> None:
    command = ["/usr/bin/env", "-u", "PWD", "env"]
    ended = Supervisor(timeout_s=WAIT_S).run(command, cwd="/", env=ENV | given)
    assert sorted(ended.stdout.decode().splitlines()) == sorted(f"{k}={v}" for k, v in (ENV | given).items())


def test_input_is_closed_at_its_end_and_absent_input_is_no_pipe() -> None:
    assert run("wc -c", stdin=b"").stdout.split() == [b"0"]
    assert run("readlink /proc/self/fd/0 || echo /dev/null", stdin=None).stdout == b"/dev/null\n"


def test_large_input_and_output_pass_side_by_side() -> None:
    data = random.Random(7).randbytes(3_000_000)
    ended = run("cat; echo end >&2", stdin=data)
    assert ended.stdout == data
    assert ended.stdin_bytes == len(data)
    assert ended.is_success


def test_a_child_that_does_not_read_its_input_is_no_failure() -> None:
    ended = run("exec <&-; echo done", stdin=b"x" * 1_000_000)
    assert ended.stdout == b"done\n"
    assert ended.is_success
    assert ended.stdin_bytes < 1_000_000


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL, signal.SIGPIPE])
def test_a_child_killed_by_a_signal_says_which(number: signal.Signals) -> None:
    ended = run(f"kill -{int(number)} $$")
    assert (ended.exit_code, ended.signal) == (None, number)
    assert ended.describe() == f"was killed by {number.name}"


def test_signals_reach_the_child_with_their_default_action() -> None:
    # a supervisor ignores SIGPIPE; a child that inherited that would end with a write error instead
    assert run("yes | head -1; exit 0").stderr == b""


def test_evidence_files_receive_what_passed(tmp_path: Path) -> None:
    names = {name: str(tmp_path / name) for name in ("stdin", "stdout", "stderr")}
    run("cat; echo err >&2; kill -9 $$", stdin=b"question", evidence=Evidence(**names))
    assert {name: Path(path).read_bytes() for name, path in names.items()} == {
        "stdin": b"question",
        "stdout": b"question",
        "stderr": b"err\n",
    }
    assert {os.stat(path).st_mode & 0o777 for path in names.values()} == {0o600}
    with pytest.raises(FileExistsError):
        run("true", evidence=Evidence(stdout=names["stdout"]))


def test_evidence_is_on_disk_while_the_child_still_runs(tmp_path: Path) -> None:
    gate, path = tmp_path / "gate", tmp_path / "stdout"
    os.mkfifo(gate)
    thread = threading.Thread(target=lambda: run(f"echo first; cat {gate}", evidence=Evidence(stdout=str(path))))
    thread.start()
    with open(gate, "wb") as opened:  # the child has opened it for reading, so it has printed
        while path.stat().st_size < 6:
            assert thread.is_alive()
        assert path.read_bytes() == b"first\n"
        opened.write(b"second\n")
    thread.join(WAIT_S)
    assert path.read_bytes() == b"first\nsecond\n"


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_surplus_output_is_cut_at_the_limit_and_kills(name: str, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    ended = run(
        "yes" if name == "stdout" else "yes >&2",
        stdout_limit_bytes=1001,
        stderr_limit_bytes=1001,
        evidence=Evidence(**{name: str(path)}),
    )
    assert ended.stopped == f"{name}-overflow"
    assert getattr(ended, name) == (b"y\n" * 501)[:1001] == path.read_bytes()
    assert not ended.is_success
    assert name in ended.describe()


def test_output_of_exactly_the_limit_is_no_surplus() -> None:
    assert run("head -c 1001 /dev/zero", stdout_limit_bytes=1001).is_success


def test_time_is_up_even_for_a_child_that_keeps_printing() -> None:
    ended = run("while :; do echo x; done", timeout_s=0.2, stdout_limit_bytes=1 << 40)
    assert ended.stopped == "timeout"
    assert ended.stdout.startswith(b"x\n")
    assert ended.duration_ms >= 150


@pytest.mark.parametrize(
    ("command", "cwd", "word"),
    [
        ("no-such-program", "/", "No such file"),
        ("/etc/passwd", "/", "Permission denied"),
        ("true", "/nowhere", "No such"),
    ],
)
def test_what_cannot_be_started_is_one_clear_error(command: str, cwd: str, word: str) -> None:
    with pytest.raises(NotStarted, match=word):
        Supervisor(timeout_s=WAIT_S).run([command], cwd=cwd, env=ENV)


@needs_pidfd
def test_children_left_behind_are_killed_and_counted(watched: Watched) -> None:
    # the shell ends once all three have announced themselves
    script = FAMILY.replace('> "$1"', '| tee -a "$1.log" > "$1"')
    script += 'until [ "$(wc -l < "$fifo.log")" = 3 ]; do :; done'
    Path(watched.fifo + ".log").touch()
    ended = run(script, arguments=("sh", watched.fifo))
    watched_pids = Path(watched.fifo + ".log").read_text().split()
    assert ended.exit_code == 0
    assert ended.left_behind >= 3
    assert ended.survivors == 0
    assert [pid for pid in watched_pids if is_alive(int(pid))] == []


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


@needs_pidfd
def test_a_timeout_kills_every_kind_of_descendant(watched: Watched) -> None:
    ended: list[Ended] = []
    thread = threading.Thread(
        target=lambda: ended.append(run(FAMILY + "wait", arguments=("sh", watched.fifo), timeout_s=1.0))
    )
    thread.start()
    watched.expect(3)
    thread.join(WAIT_S)
    watched.wait_until_dead()
    assert ended[0].stopped == "timeout"
    assert ended[0].signal == signal.SIGKILL


HARNESS = """
import os, sys
from repocue.runners.supervision import Supervisor
depth, fifo, family = int(sys.argv[1]), sys.argv[2], sys.argv[3]
if depth:
    command = [sys.executable, __file__, str(depth - 1), fifo, family]
else:
    command = ["sh", "-c", family + "wait", "sh", fifo]
with open(fifo, "w") as announced:
    announced.write(f"{os.getpid()}\\n")
Supervisor(timeout_s=1000).run(command, cwd="/", env=dict(os.environ))
"""


@contextmanager
def chain(folder: Path, watched: Watched, depth: int) -> Iterator[subprocess.Popen[bytes]]:
    """A harness that supervises a runner that supervises an agent with three lasting children."""
    script = folder / "chain.py"
    script.write_text(textwrap.dedent(HARNESS))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with ExitStack() as stack:
        process = subprocess.Popen([sys.executable, str(script), str(depth), watched.fifo, FAMILY], env=env)
        stack.callback(process.wait)
        stack.callback(process.kill)
        yield process


@needs_pidfd
@pytest.mark.parametrize("victim", ["harness", "runner"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_killing_the_harness_or_the_runner_leaves_no_child_of_the_agent(
    tmp_path: Path, watched: Watched, victim: str, number: signal.Signals
) -> None:
    with chain(tmp_path, watched, depth=1):
        watched.expect(5)  # harness, runner, and the agent's three
        assert watched.alive() == 5  # positive control: they would stay for ever
        signal.pidfd_send_signal(watched.descriptors[0 if victim == "harness" else 1], number)
        watched.wait_until_dead()


@needs_pidfd
def test_an_interrupt_in_the_supervisor_itself_leaves_nothing(tmp_path: Path, watched: Watched) -> None:
    script = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + HARNESS
    (tmp_path / "one.py").write_text(script)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "one.py"), "0", watched.fifo, FAMILY], env=env, stderr=subprocess.PIPE
    )
    watched.expect(4)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=WAIT_S)
    assert b"KeyboardInterrupt" in errors
    watched.wait_until_dead()


def kill_at_random_moments(folder: Path, rounds: int, seed: int) -> None:
    """Kill the harness somewhere between its start and its steady state; nothing may be left, ever."""
    dice = random.Random(seed)
    for index in range(rounds):
        place = folder / str(index)
        place.mkdir()
        watched = Watched(place)
        with chain(place, watched, depth=1) as harness:
            delay_s = dice.uniform(0, 0.35)
            select.select([], [], [], delay_s)  # the moment is the test's subject, not its synchronisation
            harness.kill()
            harness.wait()
        marker = watched.fifo.encode()
        for _ in range(3000):
            left = [pid for pid in os.listdir("/proc") if pid.isdigit() and marker in command_line(pid)]
            if not left:
                break
            select.select([], [], [], 0.01)
        assert left == [], f"killed after {delay_s:.3f} s: {left}"
        watched.close()


def command_line(pid: str) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


@needs_pidfd
def test_a_harness_killed_at_random_moments_leaves_nothing(tmp_path: Path) -> None:
    kill_at_random_moments(tmp_path, rounds=6, seed=1)


@needs_pidfd
@pytest.mark.deep
def test_a_harness_killed_at_a_hundred_random_moments_leaves_nothing(tmp_path: Path) -> None:
    kill_at_random_moments(tmp_path, rounds=100, seed=2)


@needs_pidfd
def test_a_child_that_ends_together_with_its_supervisor_leaves_nothing(tmp_path: Path, watched: Watched) -> None:
    # the child's end cannot be told to a dead supervisor, and what it left behind must be killed all the same
    script = FAMILY + 'kill -STOP "$PPID"; kill -9 "$2"; kill -CONT "$PPID"; exit 0'
    code = (
        "import os, sys; from repocue.runners.supervision import Supervisor\n"
        f"Supervisor(timeout_s=100).run(['sh', '-c', {script!r}, 'sh', sys.argv[1], str(os.getpid())],"
        " cwd='/', env=dict(os.environ))"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen([sys.executable, "-c", code, watched.fifo], env=env)
    watched.expect(3)
    assert process.wait(WAIT_S) == -signal.SIGKILL
    watched.wait_until_dead()
