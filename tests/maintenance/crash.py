"""What must hold after a command was killed: exactly the old or the new state, whole, and the next command works."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from repocue.domain.state import FileRow
from repocue.maintenance import lifecycle
from repocue.maintenance.request import Request
from tests.maintenance.support import reading, request, rows, write
from tests.support.repos import RepoBuilder, git

COMMANDS = ("init", "refresh", "rebaseline")

State = tuple[str, str, list[FileRow]]
"""Snapshot, epoch and rows."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A repository that was edited after its state was taken, and the states before and after each command."""

    root: str
    env: Mapping[str, str]
    template: Path
    old: State
    new_rows: list[FileRow]

    def prepare(self, command: str, cache: Path) -> Request:
        """A cache as it is before `command`: none for `init`, else the old state."""
        shutil.rmtree(cache, ignore_errors=True)
        if command != "init":
            shutil.copytree(self.template, cache)
        return request(self.root, cache, self.env)

    def allowed(self, command: str) -> list[State]:
        """The states in which a killed `command` may leave the cache."""
        if command == "init":
            return [("snapshot-000001", "epoch-000001", self.new_rows)]
        epoch = "epoch-000001" if command == "refresh" else "epoch-000002"
        return [self.old, ("snapshot-000002", epoch, self.new_rows)]

    def check(self, command: str, of: Request) -> str:
        """Assert everything that must hold; returns `none`, `old` or `new`, the state that was found."""
        found = "none"
        if os.path.exists(of.state_path):
            connection = sqlite3.connect(of.state_path)
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            connection.close()
            state = current(of)
            assert state in self.allowed(command)
            found = "old" if state == self.old else "new"
        else:
            assert command == "init"
            folder = of.cache.folder(of.worktree.id)
            left = set(os.listdir(folder)) if os.path.isdir(folder) else set()
            assert left <= {"state.lock", "state.db.new", "state.db.new-journal", "state.db.new-wal"}
        (lifecycle.init if found == "none" else lifecycle.refresh)(of)
        assert rows(of) == self.new_rows
        assert [name for name in os.listdir(of.cache.folder(of.worktree.id)) if ".new" in name] == []
        return found


def current(of: Request) -> State:
    """The state that a cache holds."""
    with reading(of) as opened:
        return opened.header.snapshot, opened.header.epoch, opened.rows()


def make_scene(folder: Path, env: Mapping[str, str]) -> Scene:
    """A repository of two hundred files, its state, and then edits of every sort."""
    files = {f"src/module-{number:03d}/file.py": f"number = {number}\n" for number in range(200)}
    root = RepoBuilder(folder / "r").commit("first", {**files, "README.md": "read\n"}).build()
    template = folder / "template"
    of = request(root, template, env)
    lifecycle.init(of)
    old = current(of)
    write(root, "README.md", "read more\n")
    write(root, "new.py", "new\n")
    git(root, "add", "new.py")
    git(root, "mv", "src/module-000/file.py", "moved.py")
    git(root, "rm", "-q", "src/module-001/file.py")
    for number in range(100, 160):
        write(root, f"src/module-{number:03d}/file.py", "edited\n")
    fresh = request(root, folder / "fresh", env)
    lifecycle.init(fresh)
    return Scene(root=root, env=env, template=template, old=old, new_rows=rows(fresh))
