"""Sizes taken ahead are those that lstat gives, for exactly the entries that the scan found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from repocue.domain.paths import display
from repocue.domain.state import IndexEntry
from repocue.errors import GitFailed
from repocue.git.scan import observe
from repocue.git.worktree import find
from repocue.maintenance import sizing
from repocue.maintenance.sizing import SizesAhead
from tests.support.repos import RepoBuilder, Symlink, git


def lstat_sizes(root: str) -> dict[str, int]:
    paths = git(root, "ls-files", "-z").split(b"\0")[:-1]
    full = {path: os.path.join(os.fsencode(root), path) for path in paths}
    return {display(path): os.lstat(where).st_size for path, where in full.items() if os.path.lexists(where)}


@pytest.mark.parametrize("odd", [False, True])
def test_sizes_are_those_of_lstat_for_every_name(
    tmp_path: Path, env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, odd: bool
) -> None:
    monkeypatch.setattr(sizing, "_GROUP_BYTES", 64)  # several groups
    files: dict[bytes, bytes | Symlink] = {b"a/%d" % number: b"x" * number for number in range(40)}
    files |= {b"link": Symlink("a/1"), b"gone": b"gone"}
    if odd:
        files |= {b'"quoted': b"1", b"\xff/\n": b"22", "é".encode(): b"333"}
    root = RepoBuilder(tmp_path / "r").commit("first", files).build()
    os.unlink(os.path.join(root, "gone"))
    worktree = find(root, env)
    ahead = SizesAhead(worktree, env)
    assert ahead.result(observe(worktree, env).entries()) == lstat_sizes(root)


def test_an_empty_index_has_no_sizes(tmp_path: Path, env: Mapping[str, str]) -> None:
    worktree = find(RepoBuilder(tmp_path / "r").build(), env)
    assert SizesAhead(worktree, env).result(()) == {}


def test_sizes_of_other_entries_are_not_given(tmp_path: Path, env: Mapping[str, str]) -> None:
    worktree = find(RepoBuilder(tmp_path / "r").commit("first", {"a": "1"}).build(), env)
    assert SizesAhead(worktree, env).result((IndexEntry("100644", "1" * 40, 0, "b"),)) is None


def test_a_failure_is_told_to_whoever_asks(tmp_path: Path, env: Mapping[str, str]) -> None:
    root = RepoBuilder(tmp_path / "r").commit("first", {"a": "1"}).build()
    worktree = find(root, env)
    Path(root, ".git", "index").write_bytes(b"not an index")
    with pytest.raises(GitFailed):
        SizesAhead(worktree, env).result(())
