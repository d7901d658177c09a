"""Law of refresh: after any sequence of repository edits a refreshed state equals a fresh one.

And no earlier snapshot changes, and the delta from the one before leads to the new one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from repocue.domain.delta import apply
from repocue.domain.state import FileRow, SnapshotHeader
from repocue.maintenance import lifecycle
from repocue.maintenance.status import status
from tests.maintenance.support import reading, request, write
from tests.support.environment import isolated_environment
from tests.support.repos import RepoBuilder

PATHS = ["a.py", "b.md", "README.md", "src/a.py", "src/deep/c.txt", "é ü.txt", '"q', "B.md", "link"]
CONTENTS = ["", "one\n", "two\n", "three\nlines\nlong\n"]

paths = st.sampled_from(PATHS)
contents = st.sampled_from(CONTENTS)
branches = st.sampled_from(["main", "side", "other"])


class Repository(RuleBasedStateMachine):
    """A real repository, edited by real git; one cache is refreshed, another made anew each time they are compared."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="repocue-law-")
        self.env = isolated_environment(self.folder)
        self.kept: dict[str, tuple[SnapshotHeader, list[FileRow]]] = {}

    def teardown(self) -> None:
        try:
            if self.kept:
                self.refresh()
                self.read_earlier_snapshots_back()
        finally:
            shutil.rmtree(self.folder)

    @initialize(files=st.dictionaries(paths.filter(lambda path: path != "link"), contents, max_size=4))
    def begin(self, files: dict[str, str]) -> None:
        builder = RepoBuilder(os.path.join(self.folder, "r"))
        if files:
            builder.commit("first", files)
        self.root = builder.build(env=self.env)
        self.maintained = request(self.root, os.path.join(self.folder, "cache"), self.env)
        lifecycle.init(self.maintained)
        self.remember()

    def git(self, *arguments: str) -> bool:
        """Run git; whether it agreed. Refusals (nothing to commit, a conflict) are part of the game."""
        done = subprocess.run(["git", *arguments], cwd=self.root, env=self.env, capture_output=True)
        return done.returncode == 0

    def exists(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.root, path))

    @rule(path=paths, data=contents, executable=st.booleans())
    def write_file(self, path: str, data: str, executable: bool) -> None:
        full = os.path.join(self.root, path)
        if os.path.islink(full) or os.path.isdir(full):
            return
        write(self.root, path, data, mode=0o755 if executable else 0o644)

    @rule(path=paths)
    def remove_file(self, path: str) -> None:
        full = os.path.join(self.root, path)
        if self.exists(path) and not os.path.isdir(full):
            os.unlink(full)

    @rule(path=paths, text=st.sampled_from(["a.py", "nowhere"]))
    def replace_by_a_link(self, path: str, text: str) -> None:
        self.remove_file(path)
        os.makedirs(os.path.dirname(os.path.join(self.root, path)), exist_ok=True)
        os.symlink(text, os.path.join(self.root, path))

    @rule(old=paths, new=paths)
    def move(self, old: str, new: str) -> None:
        os.makedirs(os.path.dirname(os.path.join(self.root, new)), exist_ok=True)
        self.git("mv", "-f", "--", old, new)

    @rule(path=paths, how=st.sampled_from([["add"], ["add", "-N"], ["rm", "-q", "--cached"], ["checkout", "-q"]]))
    def change_the_index_at(self, path: str, how: list[str]) -> None:
        self.git(*how, "--", path)

    @rule(path=paths, flag=st.sampled_from(["assume-unchanged", "skip-worktree"]), on=st.booleans())
    def flag(self, path: str, flag: str, on: bool) -> None:
        self.git("update-index", f"--{'' if on else 'no-'}{flag}", "--", path)

    @rule(path=paths, sign=st.sampled_from("+-"))
    def change_the_mode_in_the_index(self, path: str, sign: str) -> None:
        self.git("update-index", f"--chmod={sign}x", "--", path)

    @rule(everything=st.booleans())
    def commit(self, everything: bool) -> None:
        self.git("commit", "-q", "--allow-empty", "-m", "step", *(["-a"] if everything else []))

    @rule(name=branches)
    def switch(self, name: str) -> None:
        if not self.git("switch", "-q", name):
            self.git("switch", "-q", "-c", name)

    @rule(name=branches)
    def merge(self, name: str) -> None:
        self.git("merge", "-q", "--no-edit", name)

    @rule(
        how=st.sampled_from([["reset", "-q", "--hard"], ["reset", "-q", "HEAD~1"], ["stash", "-q"], ["stash", "pop"]])
    )
    def go_back(self, how: list[str]) -> None:
        self.git(*how)

    @rule()
    def detach(self) -> None:
        self.git("checkout", "-q", "--detach")

    @rule()
    def edit_the_same_size_and_time(self) -> None:
        """The edit that a tool trusting size and modification time alone would miss."""
        full = os.path.join(self.root, "a.py")
        if os.path.isfile(full) and not os.path.islink(full):
            before = os.stat(full)
            with open(full, "r+b") as file:
                file.write(b"O" if before.st_size else b"")
            os.utime(full, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(twice=st.booleans())
    def refresh_often(self, twice: bool) -> None:
        self.refresh()
        if twice:
            self.refresh()

    @rule()
    def refresh(self) -> None:
        """Refresh, and compare with a state that is made anew."""
        before = self.kept[max(self.kept)]
        verdict = status(self.maintained).freshness
        result = lifecycle.refresh(self.maintained)
        assert result.is_published == (verdict == "refresh-needed")
        fresh = request(self.root, tempfile.mkdtemp(dir=self.folder), self.env)
        assert lifecycle.init(fresh).freshness == result.freshness
        with reading(self.maintained) as one, reading(fresh) as other:
            names = ("branch", "head", "is_dirty", "status_digest", "repository_digest", "index_digest", "warnings")
            for name in names:
                assert getattr(one.header, name) == getattr(other.header, name), name
            assert one.rows() == other.rows()
            assert one.summary == other.summary
            assert one.known.dirty == other.known.dirty
            delta = one.delta(before[0].snapshot)
            assert apply(before[1], delta.changes) == one.rows()
        self.remember()

    @precondition(lambda self: len(self.kept) > 1)
    @rule()
    def read_earlier_snapshots_back(self) -> None:
        with reading(self.maintained) as opened:
            for snapshot, (header, rows) in self.kept.items():
                assert opened.snapshot(snapshot) == (header, rows)

    @rule()
    def rebaseline(self) -> None:
        lifecycle.rebaseline(self.maintained)
        self.remember()

    def remember(self) -> None:
        with reading(self.maintained) as opened:
            self.kept[opened.header.snapshot] = (opened.header, opened.rows())


class ShortRepository(Repository):
    pass


class LongRepository(Repository):
    pass


TestShort = ShortRepository.TestCase
TestShort.settings = settings(max_examples=12, stateful_step_count=18)
TestLong = pytest.mark.deep(LongRepository.TestCase)
TestLong.settings = settings(max_examples=400, stateful_step_count=40)
