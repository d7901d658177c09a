"""Maintenance requests in this process, on real repositories and caches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from repocue.domain.state import FileRow
from repocue.git.worktree import find
from repocue.maintenance.metrics import metrics
from repocue.maintenance.reading import Reading, load_current
from repocue.maintenance.request import Request
from repocue.store.history import Run
from repocue.store.location import CacheLocation

NOW_MS = 1_796_000_000_123
"""The wall clock of a request, unless a test sets another: 2026-11-30T00:53:20.123Z."""


def request(
    root: str,
    cache: str | os.PathLike[str],
    env: Mapping[str, str],
    *,
    elapsed_ms: float | None = 12.5,
    now_ms: int = NOW_MS,
    lock_wait_s: float = 10.0,
) -> Request:
    """A request as the command line makes one, with a clock that stands still."""
    return Request(
        worktree=find(root, env),
        cache=CacheLocation(os.fspath(cache)),
        environ=env,
        elapsed_ms=lambda: elapsed_ms,
        clock_method="test-clock",
        now_ms=lambda: now_ms,
        lock_wait_s=lock_wait_s,
    )


@contextmanager
def reading(of: Request) -> Iterator[Reading]:
    """The current state, opened for reading."""
    with load_current(of) as opened:
        yield opened


def rows(of: Request, snapshot: str | None = None) -> list[FileRow]:
    """The rows of a snapshot."""
    with load_current(of) as opened:
        return opened.rows(snapshot)


def runs(of: Request) -> list[Run]:
    """Every run on record."""
    return list(metrics(of).runs)


def write(root: str, path: str, data: str | bytes, *, mode: int | None = None) -> None:
    """Write a work-tree file, making its folders."""
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
    if mode is not None:
        os.chmod(full, mode)
