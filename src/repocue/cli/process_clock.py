"""How long this command has been running, the interpreter's own start included (ARCHITECTURE §6).

On Linux the kernel says when the process was created, but only to the clock tick (10 ms). Until this module is
imported a Python process has mostly computed or waited for a processor, so "now minus what the scheduler
says it ran and waited" is the start to a fraction of a millisecond; time spent blocked on a disk would make it
too late, so it is held to the tick in which the kernel says the process began.
"""

from __future__ import annotations

import os
import time

_NS_PER_MS = 1_000_000


def _start_from_linux() -> tuple[str, int] | None:
    """(method, CLOCK_BOOTTIME in ns at which this process was created), or None where the kernel does not say."""
    try:
        with open("/proc/self/stat", "rb") as stat:
            # The command name may hold spaces and parentheses; the fields after its last ")" are numbers.
            ticks = int(stat.read().rpartition(b")")[2].split()[19])
        per_tick = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None
    earliest = ticks * per_tick
    try:
        with open("/proc/self/schedstat", "rb") as schedstat:
            ran, waited = schedstat.read().split()[:2]
            now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            start = now - int(ran) - int(waited)
    except (OSError, ValueError):
        # Half a tick late on average would be half a tick early as well: the middle has the smallest error.
        return "linux-start-tick", earliest + per_tick // 2
    return "linux-schedstat", min(max(start, earliest), earliest + per_tick)


def _begin() -> tuple[str, int]:
    linux = _start_from_linux() if hasattr(time, "CLOCK_BOOTTIME") else None
    if linux is not None:
        return linux
    # Elsewhere: what the process has computed so far, a lower bound of its age.
    return "monotonic-after-cpu-time", time.monotonic_ns() - time.process_time_ns()


METHOD, _start_ns = _begin()


def elapsed_ms() -> float | None:
    """Milliseconds since this process was created, measured by `METHOD`; None if the clock cannot be read."""
    try:
        if METHOD.startswith("linux"):
            now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        else:
            now = time.monotonic_ns()
    except OSError:
        return None
    return round((now - _start_ns) / _NS_PER_MS, 3)
