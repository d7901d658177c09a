"""What every maintenance operation is given: where, with what, and how to tell the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from repocue.git.worktree import Worktree
    from repocue.store.location import CacheLocation

Progress = Callable[[str, int, "int | None"], None]
"""Called with (what is being done, how many are done, of how many or None)."""


class Request(NamedTuple):
    """One operation's inputs.

    `elapsed_ms` gives the milliseconds since the process was started, by `clock_method`, or None where that is unknown;
    `now_ms` is the wall clock since 1970-01-01 UTC. `lock_wait_s` bounds the wait for another writer.
    `finding_processes` is how many git processes finding the work tree took, which a run counts as its own.
    """

    worktree: Worktree
    cache: CacheLocation
    environ: Mapping[str, str]
    elapsed_ms: Callable[[], float | None]
    clock_method: str
    now_ms: Callable[[], int]
    progress: Progress | None = None
    lock_wait_s: float = 10.0
    finding_processes: int = 1

    @property
    def state_path(self) -> str:
        """The state database of this work tree; it need not exist."""
        return self.cache.state_path(self.worktree.id)

    @property
    def lock_path(self) -> str:
        """The file whose lock a writer of that state holds."""
        return self.cache.lock_path(self.worktree.id)

    def started_at_ms(self) -> int:
        """The wall-clock time at which the process was started; now, where that is unknown."""
        elapsed = self.elapsed_ms()
        return self.now_ms() - round(elapsed or 0)
