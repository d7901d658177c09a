"""Sizes taken during a scan are those that lstat gives, for exactly the entries that the scan found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from repocue.domain.paths import display
from repocue.domain.state import IndexEntry
from repocue.git.scan import observe
from repocue.git.worktree import Worktree, find
from repocue.maintenance import lifecycle
from repocue.maintenance.sizing import SizingGit
from tests.maintenance.support import request, rows
from tests.support.repos import RepoBuilder, Submodule, Symlink, git


def lstat_sizes(root: str) -> dict[str, int]:
    paths = git(root, "ls-files", "-z").split(b"\0")[:-1]
    full = {path: os.path.join(os.fsencode(root), path) for path in paths}
    return {display(path): os.lstat(where).st_size for path, where in full.items() if os.path.lexists(where)}


def sizing(worktree: Worktree, env: Mapping[str, str]) -> SizingGit:
    git = SizingGit.of(worktree, env)
    assert isinstance(git, SizingGit)
    return git


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("dirty", [False, True])
def test_sizes_are_those_of_lstat_for_every_name(
    tmp_path: Path, env: Mapping[str, str], odd: bool, dirty: bool
) -> None:
    files: dict[bytes, bytes | Symlink | Submodule] = {b"a/%d" % number: b"x" * number for number in range(40)}
    files |= {b"link": Symlink("a/1"), b"gone": b"gone", b"sub": Submodule("1" * 40)}
    if odd:
        files |= {b'"quoted': b"1", b"\xff/\n": b"22", "é".encode(): b"333", b"tab\t0\t": b"4444"}
    root = RepoBuilder(tmp_path / "r").commit("first", files).build()
    os.unlink(os.path.join(root, "gone"))
    if dirty:
        Path(root, "a/3").write_text("dirty, so that the scan lists a second index as well")
    worktree = find(root, env)
    git = sizing(worktree, env)
    entries = observe(worktree, env, git=git).entries()
    found = git.sizes(entries)
    assert found is not None
    expected = {**lstat_sizes(root), "sub": 0}
    assert list(found) == [expected.get(entry.path) for entry in entries]


def test_a_repository_without_a_file_has_no_sizes(tmp_path: Path, env: Mapping[str, str]) -> None:
    worktree = find(RepoBuilder(tmp_path / "r").build(), env)
    git = sizing(worktree, env)
    assert list(git.sizes(observe(worktree, env, git=git).entries()) or ()) == []


def test_a_sparse_index_has_the_sizes_of_what_is_checked_out(tmp_path: Path, env: Mapping[str, str]) -> None:
    root = RepoBuilder(tmp_path / "r").commit("first", {"in/a": "1", "out/b": "22", "c": "333"}).build()
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    assert [(row.path, row.size_bytes) for row in rows(of)] == [("c", 3), ("in/a", 1), ("out/b", None)]


def test_sizes_of_other_entries_are_not_given(tmp_path: Path, env: Mapping[str, str]) -> None:
    worktree = find(RepoBuilder(tmp_path / "r").commit("first", {"a": "1"}).build(), env)
    git = sizing(worktree, env)
    assert git.sizes((IndexEntry("100644", "1" * 40, 0, "a"),)) is None  # nothing was listed yet
    observe(worktree, env, git=git)
    assert list(git.sizes((IndexEntry("100644", "1" * 40, 0, "a"),)) or ()) == [1]
    assert git.sizes((IndexEntry("100644", "1" * 40, 0, "b"),)) is None
