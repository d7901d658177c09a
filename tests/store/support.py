"""A small state made by hand, without git, and a way to run code as somebody without privileges."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence

from repocue.domain.rows import build_rows, clean_files
from repocue.domain.state import DirtyFile, FileRow, IndexEntry, Observation, ScanCost, UntrackedPath, Warning
from repocue.store import publishing
from repocue.store.creation import create_state
from repocue.store.database import Database

NOBODY = 65534


def observation(
    entries: Sequence[IndexEntry] = (), dirty: Sequence[DirtyFile] = (), *, head: str | None = "a" * 40
) -> Observation:
    """An observation as a scan would make it; its digests are only told apart by HEAD and number of entries."""
    return Observation(
        object_format="sha1",
        branch="main",
        head=head,
        staged=(),
        unstaged=tuple(file.path for file in dirty),
        untracked=(UntrackedPath("new", "file"),),
        unmerged=(),
        dirty=tuple(dirty),
        index_token=f"token-{len(entries)}",
        index_digest=f"sha256:{len(entries):064x}",
        repository_digest=f"sha256:{len(entries):064x}",
        status_digest=f"sha256:{len(entries):064x}",
        observed_at="2026-11-30T19:05:07.123Z",
        warnings=(Warning("shallow-history"), Warning("hidden-edits", 2)),
        cost=ScanCost(duration_ms=1.5, git_processes=2, files_scanned=len(entries), bytes_read=0),
        contents={},
        entries=lambda: tuple(entries),
    )


def entry(path: str, oid: str = "1" * 40) -> IndexEntry:
    """A clean file's index entry."""
    return IndexEntry("100644", oid, 0, path)


def create(path: str, entries: Sequence[IndexEntry] = (), dirty: Sequence[DirtyFile] = ()) -> list[FileRow]:
    """Create a state whose first snapshot has these entries; returns its rows."""
    now = observation(entries, dirty)
    rows = build_rows(entries, dirty, {entry.path: 5 for entry in entries})

    def fill(database: Database) -> None:
        publishing.open_epoch(database, number=1, label=None, reason=None, opened_at_ms=1, baseline=1)
        publishing.add_snapshot(database, number=1, epoch=1, observation=now, language_library="none")
        others: list[IndexEntry] = []
        for files in clean_files(entries, dirty, [5] * len(entries), others):
            publishing.add_clean_files(database, files, 1)
        publishing.add_rows(database, build_rows(others, dirty, {}), 1)
        publishing.set_current(database, 1, now)

    create_state(path, fill)
    return rows


def as_nobody(code: str, *arguments: str, modules: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python code as an unprivileged user, so that permissions mean something; skips nothing, also as root.

    Every module the code needs must be named or already be among these: they are loaded before the privileges are
    dropped, because the interpreter may lie where nobody may look.
    """
    loaded = "import os, sys, resource, repocue.errors, repocue.store.database, repocue.store.snapshots"
    loaded += f", {modules}" if modules else ""
    dropped = f"os.getuid() == 0 and (os.setgroups([]), os.setgid({NOBODY}), os.setuid({NOBODY}))"
    program = f"{loaded}\n{dropped}\n{textwrap.dedent(code)}"
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=60)


def give_to_nobody(folder: str) -> None:
    """Make the unprivileged user the owner of a folder and all in it (where we may)."""
    if os.getuid() == 0:
        for parent, folders, files in os.walk(folder):
            for name in ["", *folders, *files]:
                os.chown(os.path.join(parent, name), NOBODY, NOBODY)
