"""The process between a supervisor and the child it started: whatever dies, nothing of the child stays alive.

Run as a script, by `supervision` alone::

    python -I -S guard.py LIFELINE STATUS LC_CTYPE COMMAND...

LIFELINE is the reading end of a pipe that only the supervisor holds open: when it closes, by intent or because the
supervisor was killed with SIGKILL, the guard kills the child and everything the child ever started. On Linux the
guard is a "child subreaper", so that also descendants which left the process group or the session, and whose parents
are gone, belong to it. The child in turn dies with the guard (parent-death signal).

LC_CTYPE is `=` and that variable's value, or empty where the child has none: Python sets it for itself in a plain C
locale, and the child gets its environment as it was given.

Written to STATUS, a line each: `S <ns>` the child was started at this monotonic time; `E <errno>` it could not be;
`X <wait status> <ns>` it ended; `L <count> <count>` how many other descendants were alive then, and how many of all
would not die. The module uses few others because it is started once per supervised child.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # the real constant costs the import of `typing`, a third of the start-up
    from typing import Any

KILL_DEADLINE_S = 10.0
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
IS_LINUX = sys.platform == "linux"


def main(arguments: list[str]) -> int:
    lifeline, status, ctype, command = int(arguments[0]), int(arguments[1]), arguments[2], arguments[3:]
    os.environ.pop("LC_CTYPE", None)
    if ctype:
        os.environ["LC_CTYPE"] = ctype[1:]
    os.set_inheritable(lifeline, False)
    os.set_inheritable(status, False)
    control = _prctl()
    if control:
        control(PR_SET_CHILD_SUBREAPER, 1)
    woken = _wake_on_signals()
    me = os.getpid()
    _tell(status, b"S %d\n" % time.monotonic_ns())
    child = os.fork()
    if child == 0:
        _become(command, status, control, me)
    _let_go_of_standard_streams()
    ended = None
    while ended is None:
        ready, _, _ = select.select([lifeline, woken], [], [])
        ended = _reap().get(child)
        if lifeline in ready or _drain(woken) & {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}:
            break
    if ended is not None:
        _tell_end(status, ended)
    left = [pid for pid in _living() if pid != child]
    reaped, surviving = _kill_all(child)
    if ended is None and child in reaped:
        _tell_end(status, reaped[child])
    _tell(status, b"L %d %d\n" % (len(left), surviving))
    return 0


def _prctl() -> Any:
    """The C library's function, or None where there is none."""
    if not IS_LINUX:
        return None
    import ctypes

    return ctypes.CDLL(None, use_errno=True).prctl


def _wake_on_signals() -> int:
    """A descriptor that becomes readable, with the signal's number as a byte, on each signal that matters."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    return reading


def _become(command: list[str], status: int, control: Any, guard: int) -> None:
    """In the child: its own session, default signals, death with the guard, then the command. Never returns."""
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        if control:
            control(PR_SET_PDEATHSIG, int(signal.SIGKILL))
            if os.getppid() != guard:  # it died before the line above
                os._exit(127)
        os.execvp(command[0], command)  # noqa: S606  (an argument list as it was given, no shell)
    except OSError as error:
        _tell(status, b"E %d\n" % (error.errno or 0))
    finally:
        os._exit(127)


def _let_go_of_standard_streams() -> None:
    """So that the streams end when the child's side of them does."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


def _drain(woken: int) -> set[int]:
    try:
        return set(os.read(woken, 4096))
    except BlockingIOError:
        return set()


def _reap() -> dict[int, int]:
    """The wait statuses of every child that has ended, own or inherited."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = status


def _tell_end(status: int, wait_status: int) -> None:
    _tell(status, b"X %d %d\n" % (wait_status, time.monotonic_ns()))


def _tell(status: int, line: bytes) -> None:
    """Write to the supervisor, which may be dead: then there is nobody to tell, and still everything to kill."""
    try:
        os.write(status, line)
    except OSError:
        return


def _kill_all(child: int) -> tuple[dict[int, int], int]:
    """Kill until nothing is left or the deadline passes; all wait statuses, and how many would not die."""
    deadline = time.monotonic() + KILL_DEADLINE_S
    reaped = _reap()
    while True:
        living = _living() if IS_LINUX else _group(child)
        if not living or time.monotonic() > deadline:
            return reaped | _reap(), len(living)
        for pid in living:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        time.sleep(0.001)
        reaped |= _reap()


def _living() -> list[int]:
    """Every living descendant of this process. Empty where the platform does not tell."""
    children: dict[int, list[int]] = {}
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for name in names:
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:
                state, parent = stat.read().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state not in (b"Z", b"X"):
            children.setdefault(int(parent), []).append(int(name))
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        ours = children.get(waiting.pop(), [])
        found.extend(ours)
        waiting.extend(ours)
    return found


def _group(child: int) -> list[int]:
    """Without /proc: the child's process group, as one negative id that `kill` understands."""
    try:
        os.killpg(child, 0)
    except (ProcessLookupError, PermissionError):
        return []
    return [-child]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
