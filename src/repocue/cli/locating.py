"""What `init`, `refresh` and `cue` share of the locate view: the question, keeping the index, and the answer."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from repocue.errors import CacheError, RepoCueError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from repocue.cli.task_options import TaskOptions
    from repocue.cue.subject import Subject
    from repocue.domain.state import Freshness, Observation, SnapshotHeader, Warning
    from repocue.locate.answer import Answer
    from repocue.locate.index import Target
    from repocue.locate.projection import Located
    from repocue.maintenance.reading import Reading
    from repocue.maintenance.request import Request

MAX_QUERY_BYTES: Final = 64 * 1024
_REGULAR: Final = ("100644", "100755")


def query_of(query: str | None, task: TaskOptions) -> str:
    """The question that was asked, by text, on stdin or in a task file. Raises UsageError, ContractError."""
    if task.task_file is not None:
        if query is not None:
            raise UsageError("--query and --task-file both say what is asked.", hint="Leave one of them out.")
        return task.resolve().question
    if task.is_given:
        raise UsageError("--view locate takes --query or --task-file; it selects no items.")
    if query is None:
        raise UsageError("--view locate needs --query TEXT.", hint="--query - reads it from stdin.")
    if query == "-":
        data = sys.stdin.buffer.read(MAX_QUERY_BYTES + 1)
        try:
            query = data.decode()
        except UnicodeDecodeError:
            raise UsageError("the query on stdin is not UTF-8 text") from None
    try:
        size = len(query.encode())
    except UnicodeEncodeError:
        raise UsageError("the query is not UTF-8 text") from None
    if size > MAX_QUERY_BYTES:
        raise UsageError(f"the query is longer than {MAX_QUERY_BYTES} bytes")
    if not query.strip():
        raise UsageError("the query is empty")
    return query


def extend(request: Request, header: SnapshotHeader, *, build: bool = False, quiet: bool = False) -> None:
    """Bring the index up to the snapshot, where there is one or, with `build`, in any case.

    Without `build` a failure is only said: the index is derived, and the snapshot is good without it.
    """
    from repocue.store.locate_index import exists, index_path

    path = index_path(request.state_path)
    if not (build or exists(path)):
        return
    from repocue.locate import index

    try:
        known = index.known_of(path) if exists(path) else {}
        if known.get("state") == header.index_digest and known.get("head") == (header.head or ""):
            return
        _update(request, path, known)
    except RepoCueError as error:
        if build:
            raise
        if not quiet:
            click.echo(f"repocue: warning: locate-index-not-extended: {error}", err=True)


def _update(request: Request, path: str, known: Mapping[str, str]) -> None:
    from repocue.git.process import Git
    from repocue.locate import index
    from repocue.maintenance.reading import load_current

    git = Git.of(request.worktree, request.environ)
    with load_current(request) as reading:
        index.update(path, git, _target(request, reading, known), request.progress)


def _target(request: Request, reading: Reading, known: Mapping[str, str]) -> Target:
    from repocue.domain.ids import snapshot_number
    from repocue.locate.index import Target
    from repocue.store import snapshots

    header = reading.header
    changes: dict[str, str | None] | None = None
    number = snapshot_number(known.get("snapshot", ""))
    earlier = None if number is None else snapshots.snapshot(reading.database, number)
    if earlier is not None and earlier.header.index_digest == known.get("state"):
        changes = {}
        for change in reading.delta(earlier.header.snapshot).changes:
            if change.before is not None:
                changes.setdefault(change.before.path, None)
            if change.after is not None:
                is_file = change.after.index_mode in _REGULAR
                changes[change.after.path] = change.after.index_id if is_file else None
    return Target(
        state=header.index_digest,
        snapshot=header.snapshot,
        head=header.head,
        is_shallow=request.worktree.is_shallow,
        files=lambda: {
            row.path: row.index_id for row in reading.rows() if row.index_id is not None and row.index_mode in _REGULAR
        },
        since=known.get("state"),
        changes=changes,
    )


def answer(
    request: Request, reading: Reading, query: str, *, explain: bool
) -> tuple[Answer, Freshness, Observation | None, tuple[Warning, ...]]:
    """The files, and the verdict on the state they were found in, which is never older than what was read."""
    from repocue.git.process import Git
    from repocue.locate import index
    from repocue.locate.answer import locate
    from repocue.maintenance.status import observe_or_warn
    from repocue.maintenance.verdict import judge
    from repocue.store.locate_index import exists, index_path

    path = index_path(request.state_path)
    begun_ns = time.time_ns()
    now, warnings = observe_or_warn(request, reading.current)
    found = locate(
        path,
        git=Git.of(request.worktree, request.environ),
        worktree=request.worktree,
        observation=now,
        begun_ns=begun_ns,
        state=reading.header.index_digest,
        query=query,
        explain=explain,
    )
    if not found.is_settled:
        now, warnings = observe_or_warn(request, reading.current)
    if not exists(path):
        with suppress(CacheError):  # a read-only cache: the answer did without, and so will the next
            index.request(path)  # it was wanted: the next refresh builds it
    return found, judge(reading.current, now), now, warnings


def build(subject: Subject, found: Answer, query: str, *, max_tokens: int, explain: bool) -> Located:
    """The document; raises BudgetTooSmall."""
    from repocue.locate import projection

    header = subject.header
    frame = projection.Frame(
        repository=subject.repository_name,
        snapshot=header.snapshot,
        head=header.head,
        is_dirty=header.is_dirty,
        freshness=subject.freshness,
        warnings=(*subject.warnings, *found.warnings),
    )
    return projection.build(
        frame,
        query,
        found.paths,
        max_tokens=max_tokens,
        evidence=found.evidence,
        index=found.facts if explain else None,
    )
