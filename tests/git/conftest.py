"""What the tests of git observation share."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from repocue.domain.state import Known, Observation
from repocue.git.scan import observe
from repocue.git.worktree import find
from tests.support.git_oracle import untouched
from tests.support.repos import RepoBuilder

Observe = Callable[..., Observation]


@pytest.fixture
def look(env: dict[str, str]) -> Observe:
    """`look(root, known=None)`: observe a repository, asserting that nothing in it is touched."""

    def observed(root: str, known: Known | None = None, also: tuple[str, ...] = ()) -> Observation:
        with untouched(root, *also):
            return observe(find(root, env), env, known=known)

    return observed


@pytest.fixture
def simple(tmp_path: Path) -> str:
    """A clean repository with two commits and three files."""
    builder = RepoBuilder(tmp_path / "simple")
    builder.commit("one", {"README.md": "hello\n", "src/a.py": "a = 1\n"})
    builder.commit("two", {"src/b.py": "b = 2\n"})
    return builder.build()


def known_of(observation: Observation) -> Known:
    """What `observation` leaves behind for the next scan."""
    return Known(
        index_token=observation.index_token,
        index_digest=observation.index_digest,
        repository_digest=observation.repository_digest,
        dirty=observation.dirty,
        contents=observation.contents,
    )


def let_the_clock_tick(*paths: str) -> None:
    """Return when a change from now on is sure to give each of `paths` a later time than it has (see `is_settled`)."""
    newest = max(os.lstat(path).st_ctime_ns for path in paths)
    while time.time_ns() <= newest + 2_100_000_000 * (newest % 1_000_000_000 == 0) + 25_000_000:
        os.sched_yield()
