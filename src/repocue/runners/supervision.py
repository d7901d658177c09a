"""Running one external program to its end, with everything it says and everything it starts under control.

The child runs below a guard process (see `guard`) in its own session. It is killed with all its descendants, also
those that left its process group, when it runs too long, prints too much, or when this process ends in any way,
SIGKILL included. Whatever it prints goes to evidence files as it arrives, so that they survive every failure.
"""

from __future__ import annotations

import errno
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Literal

from repocue.domain.measurement import milliseconds
from repocue.errors import EvaluationError
from repocue.runners import guard

MEBIBYTE = 1024 * 1024
Stop = Literal["timeout", "stdout-overflow", "stderr-overflow"]


class NotStarted(EvaluationError):
    """The program could not be started at all."""

    default_code = "process.not-started"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Files that receive the child's streams as they pass; each must not exist yet. None keeps nothing."""

    stdin: str | None = None
    stdout: str | None = None
    stderr: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a supervised child ended.

    Exactly one of `exit_code` and `signal` is known, or neither where the child would not die. `stopped` says why
    it was killed, None where it ended by itself. `stdout` and `stderr` hold at most the limits. `left_behind` counts
    descendants that were still alive when the child itself had ended (they were killed). `duration_ms` runs from the
    child's start to its exit with complete standard output, on the monotonic clock; `started_ms` is its start in
    milliseconds since 1970. `stdin_bytes` is how much of its input it took.
    """

    exit_code: int | None
    signal: int | None
    stopped: Stop | None
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)
    stdin_bytes: int
    duration_ms: float
    started_ms: int
    left_behind: int
    survivors: int

    @property
    def is_success(self) -> bool:
        """Whether the child ended by itself with exit code 0."""
        return self.exit_code == 0 and self.stopped is None

    def describe(self) -> str:
        """How it ended, as the predicate of a sentence: "exited with code 3"."""
        if self.stopped == "timeout":
            return f"ran longer than it may and was killed after {self.duration_ms / 1000:.1f} s"
        if self.stopped is not None:
            return f"printed more than {self.stopped.partition('-')[0]} may hold and was killed"
        if self.signal is not None:
            return f"was killed by {_signal_name(self.signal)}"
        if self.exit_code is not None:
            return f"exited with code {self.exit_code}"
        return "did not end" if self.survivors else "killed the process that watches it; what it started may live on"


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisor:
    """How far a child may go: `timeout_s` from its start, and how many bytes it may print (16 MiB each)."""

    timeout_s: float
    stdout_limit_bytes: int = 16 * MEBIBYTE
    stderr_limit_bytes: int = 16 * MEBIBYTE

    def run(
        self,
        command: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdin: bytes | None = None,
        evidence: Evidence | None = None,
    ) -> Ended:
        """Run `command` in `cwd` with exactly `env`; feed it `stdin`, then close it (None: no input at all).

        Raises NotStarted where the program or the folder cannot be used, OSError where an evidence file cannot be
        written. Any exception on the way, KeyboardInterrupt included, is raised only after everything is dead.
        """
        kept = evidence or Evidence()
        with ExitStack() as stack:
            sinks = {name: _sink(stack, getattr(kept, name)) for name in ("stdin", "stdout", "stderr")}
            child = _Child(command, cwd, env, has_stdin=stdin is not None)
            stack.callback(child.close)
            return child.follow(self, stdin or b"", sinks)


class _Child:
    """One running child behind its guard. `close` leaves nothing alive."""

    def __init__(self, command: Sequence[str], cwd: str, env: Mapping[str, str], *, has_stdin: bool) -> None:
        self.command = command
        lifeline, self._lifeline = os.pipe()
        self._status, status = os.pipe()
        self._status_text = b""
        ctype = f"={env['LC_CTYPE']}" if "LC_CTYPE" in env else ""
        try:
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", guard.__file__, str(lifeline), str(status), ctype, *command],
                stdin=subprocess.PIPE if has_stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=env,
                start_new_session=True,
                pass_fds=(lifeline, status),
                bufsize=0,
            )
        except OSError as error:
            os.close(self._lifeline)
            os.close(self._status)
            raise NotStarted(f"cannot start {command[0]!r} in {cwd!r}: {error.strerror}") from error
        finally:
            os.close(lifeline)
            os.close(status)

    def close(self) -> None:
        """Kill whatever is left and release everything; idempotent."""
        self._stop()
        for stream in (self._guard.stdin, self._guard.stdout, self._guard.stderr):
            if stream is not None:
                stream.close()
        try:
            self._guard.wait(guard.KILL_DEADLINE_S + 5)
        except subprocess.TimeoutExpired:  # pragma: no cover  (a guard that was stopped from outside)
            self._guard.kill()
            self._guard.wait()
        with suppress(OSError):
            os.close(self._status)
        self._status = -1

    def _stop(self) -> None:
        """Tell the guard to kill everything."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def follow(self, limits: Supervisor, stdin: bytes, sinks: Mapping[str, int | None]) -> Ended:
        """Move bytes until the child and its guard have ended."""
        taken: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        bounds = {"stdout": limits.stdout_limit_bytes, "stderr": limits.stderr_limit_bytes}
        stopped: Stop | None = None
        fed, ended_ns = 0, 0
        deadline = time.monotonic() + limits.timeout_s
        patience = guard.KILL_DEADLINE_S + 5
        with selectors.DefaultSelector() as selector:
            for stream, name in ((self._guard.stdout, "stdout"), (self._guard.stderr, "stderr")):
                assert stream is not None
                os.set_blocking(stream.fileno(), False)
                selector.register(stream.fileno(), selectors.EVENT_READ, name)
            selector.register(self._status, selectors.EVENT_READ, "status")
            feed = self._guard.stdin
            if feed is not None and stdin:
                os.set_blocking(feed.fileno(), False)
                selector.register(feed.fileno(), selectors.EVENT_WRITE, "stdin")
            elif feed is not None:
                feed.close()
            guard_lives = True
            while guard_lives or _open(selector, "stdout", "stderr"):
                # with the guard gone only what is already in the pipes is read; nobody may keep us waiting
                wait_s = max(0.0, (deadline + patience if stopped else deadline) - time.monotonic())
                events = selector.select(wait_s if guard_lives else 0)
                if not events and (not guard_lives or (stopped and time.monotonic() >= deadline + patience)):
                    break
                if stopped is None and guard_lives and time.monotonic() >= deadline:
                    stopped, deadline = "timeout", time.monotonic()
                    self._stop()
                for key, _ in events:
                    if key.data == "stdin":
                        fed += self._feed(selector, key.fd, memoryview(stdin)[fed:], sinks["stdin"])
                        continue
                    chunk = _read(key.fd)
                    if chunk is None:
                        continue
                    if not chunk:
                        selector.unregister(key.fd)
                        guard_lives = guard_lives and key.data != "status"
                        ended_ns = time.monotonic_ns() if key.data == "stdout" else ended_ns
                    elif key.data == "status":
                        self._status_text += chunk
                    else:
                        room = bounds[key.data] - len(taken[key.data])
                        _write(sinks[key.data], chunk[:room])
                        taken[key.data] += chunk[:room]
                        if len(chunk) > room and stopped is None:
                            stopped = "stdout-overflow" if key.data == "stdout" else "stderr-overflow"
                            deadline = time.monotonic()
                            self._stop()
        return self._ended(stopped, taken, fed, ended_ns)

    def _feed(self, selector: selectors.BaseSelector, descriptor: int, rest: memoryview, sink: int | None) -> int:
        """Write some input; close the pipe when all is written or the child no longer reads."""
        count = 0
        try:
            count = os.write(descriptor, rest[:65536])
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            rest = rest[:0]
        _write(sink, bytes(rest[:count]))
        if count == len(rest):
            selector.unregister(descriptor)
            assert self._guard.stdin is not None
            self._guard.stdin.close()
        return count

    def _ended(self, stopped: Stop | None, taken: Mapping[str, bytearray], fed: int, stdout_ended_ns: int) -> Ended:
        told: dict[str, list[int]] = {}
        for line in self._status_text.decode("ascii").splitlines():
            word, *numbers = line.split()
            told[word] = [int(number) for number in numbers]
        if "E" in told or "S" not in told:
            reason = os.strerror(told["E"][0]) if "E" in told else "its guard process did not start"
            is_missing = "E" in told and told["E"][0] in (errno.ENOENT, errno.ENOTDIR)
            raise NotStarted(
                f"cannot start {self.command[0]!r}: {reason}",
                hint="Check that the program is installed and on PATH." if is_missing else None,
            )
        started_ns = told["S"][0]
        status, exited_ns = told.get("X", [None, time.monotonic_ns()])
        left, survivors = told.get("L", [0, 0])
        code = None if status is None else os.waitstatus_to_exitcode(status)
        return Ended(
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            stopped=stopped,
            stdout=bytes(taken["stdout"]),
            stderr=bytes(taken["stderr"]),
            stdin_bytes=fed,
            duration_ms=milliseconds((max(exited_ns or 0, stdout_ended_ns) - started_ns) / 1e9),
            started_ms=(time.time_ns() - (time.monotonic_ns() - started_ns)) // 1_000_000,
            left_behind=left,
            survivors=survivors,
        )


def _open(selector: selectors.BaseSelector, *names: str) -> bool:
    return any(key.data in names for key in selector.get_map().values())


def _read(descriptor: int) -> bytes | None:
    """Some bytes, b"" at the end, None where nothing is ready."""
    try:
        return os.read(descriptor, 65536)
    except BlockingIOError:
        return None


def _sink(stack: ExitStack, path: str | None) -> int | None:
    """A new file's descriptor, flushed to disk when the stack unwinds."""
    if path is None:
        return None
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    stack.callback(os.close, descriptor)
    stack.callback(os.fsync, descriptor)
    return descriptor


def _write(descriptor: int | None, data: bytes) -> None:
    while descriptor is not None and data:
        data = data[os.write(descriptor, data) :]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
