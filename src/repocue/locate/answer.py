"""One located answer: the index or, without one, what git finds in a bounded time, with the work tree laid over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from repocue.domain.paths import raw
from repocue.domain.state import Warning
from repocue.errors import CacheDamaged, CacheError, RepositoryError
from repocue.locate import definitions, search
from repocue.locate.extract import Extractor
from repocue.locate.kinds import MAX_FILE_BYTES
from repocue.locate.words import count
from repocue.store import locate_index as store

if TYPE_CHECKING:
    from repocue.domain.state import Observation
    from repocue.git.process import Git
    from repocue.git.worktree import Worktree

MAX_OVERLAYS: Final = 300
"""Changed and untracked files that are read from the work tree; more are counted in a warning."""
MAX_OVERLAY_BYTES: Final = 16 << 20
EXPLAINED_DEFINITIONS: Final = 3

NO_INDEX: Final = "index-missing"
DAMAGED: Final = "index-damaged"
BUSY: Final = "index-busy"
BEHIND: Final = "index-behind"
UNAVAILABLE: Final = "history-unavailable"
UNKNOWN_WORDS: Final = "query-words-unknown"
NOT_READ: Final = "changes-not-read"


class Answer(NamedTuple):
    """Paths best first (an object where the work tree's content differs), their evidence, and what is to be said.

    `is_settled`: all that was read of the work tree is what the observation saw; else observe again before judging.
    """

    paths: list[Any]
    evidence: list[dict[str, Any]]
    facts: dict[str, Any]
    warnings: tuple[Warning, ...]
    is_settled: bool


class _Overlays(NamedTuple):
    """The work tree's own content of changed and untracked files, how many were too many or could not be read, and
    whether one may have changed since `begun_ns`."""

    found: list[search.Overlay]
    not_read: int
    is_settled: bool


def _overlays(worktree: Worktree, observation: Observation | None, begun_ns: int) -> _Overlays:
    from repocue.git.folder import Folder, is_settled

    if observation is None:
        return _Overlays([], 0, True)
    wanted: list[tuple[str, str]] = []
    gone: list[search.Overlay] = []
    for file in observation.dirty:
        if file.xy in (".s", ".u"):
            continue
        if file.mode in ("100644", "100755"):
            wanted.append((file.path, "modified"))
        else:
            gone.append(search.Overlay(file.path, "modified", None))
    wanted += [(path.path, "untracked") for path in observation.untracked if path.kind == "file"]
    extractor = Extractor()
    found = []
    left = MAX_OVERLAY_BYTES
    not_read = max(0, len(wanted) - MAX_OVERLAYS)
    settled = True
    with Folder(worktree.root) as folder:
        for path, state in wanted[:MAX_OVERLAYS]:
            if left <= 0:
                not_read += 1
                continue
            try:
                data = folder.read(raw(path), min(MAX_FILE_BYTES + 1, left))
                changed_ns = folder.lstat(raw(path)).st_ctime_ns
            except OSError:
                not_read += 1
                continue
            left -= len(data)
            settled = settled and is_settled(changed_ns, begun_ns)
            found.append(search.Overlay(path, state, extractor.file(data)))
    return _Overlays(gone + found, not_read, settled)


def locate(
    path: str,
    *,
    git: Git,
    worktree: Worktree,
    observation: Observation | None,
    begun_ns: int,
    state: str,
    query: str,
    explain: bool,
) -> Answer:
    """Answer from the index at `path`, which is to stand for `state`; else from git itself. Raises GitFailed.

    `begun_ns` is the wall clock before `observation` was begun.
    """
    changed, not_read, settled = _overlays(worktree, observation, begun_ns)
    warnings = [Warning(NOT_READ, not_read)] if not_read else []
    found, facts = _from_index(path, query, changed, state, warnings, explain=explain)
    if found is None:
        from repocue.locate import unindexed

        found, facts = unindexed.find(git, query, changed, worktree, explain=explain)
        if not warnings or warnings[-1].code not in (DAMAGED, BUSY):
            warnings.append(Warning(NO_INDEX))
    if not found.knows_a_word:
        warnings.append(Warning(UNKNOWN_WORDS))
    if facts.get("history") == "unavailable":  # that it is shallow, the snapshot's own warnings say
        warnings.append(Warning(UNAVAILABLE))
    paths = [{"path": name, "state": found.states[name]} if name in found.states else name for name in found.paths]
    evidence = _evidence(found, query, worktree) if explain else []
    return Answer(
        paths, evidence, facts, tuple(sorted(warnings, key=lambda warning: warning.code)), settled and not explain
    )


def _from_index(
    path: str, query: str, changed: Sequence[search.Overlay], state: str, warnings: list[Warning], *, explain: bool
) -> tuple[search.Found | None, dict[str, Any]]:
    if not store.exists(path):
        return None, {}
    try:
        with store.open_index(path, write=False) as database, database.reading():
            known = store.meta(database)
            if "state" not in known:
                return None, {}
            found = search.find(database, query, changed, explain=explain)
            skipped = (
                []
                if not explain
                else database.all(
                    "SELECT coalesce(f.skipped, c.skipped), count(*) FROM files f JOIN contents c ON c.blob = f.blob"
                    " WHERE coalesce(f.skipped, c.skipped) IS NOT NULL GROUP BY 1 ORDER BY 1"
                )
            )
    except CacheError as error:
        warnings.append(Warning(DAMAGED if isinstance(error, CacheDamaged) else BUSY))
        return None, {}
    if known["state"] != state:
        warnings.append(Warning(BEHIND))
    return found, {"source": "index", "history": known.get("history", ""), "skipped": dict(skipped)}


def _evidence(found: search.Found, query: str, worktree: Worktree) -> list[dict[str, Any]]:
    asked = set(count(query))
    evidence = []
    from repocue.git.folder import Folder

    with Folder(worktree.root) as folder:
        for path in found.paths[: search.MAX_EVIDENCE]:
            known = found.evidence.get(path)
            if known is None:
                break
            try:
                text = folder.read(raw(path), MAX_FILE_BYTES).decode("utf-8", "replace")
            except (OSError, RepositoryError):
                text = ""
            evidence.append(
                {
                    "path": path,
                    "words": list(known.words),
                    "commits": [oid[:8] for oid in known.commits],
                    "recent_commits": known.recent_commits,
                    "definitions": _definitions(text, asked),
                }
            )
    return evidence


def _definitions(text: str, asked: set[str]) -> list[dict[str, Any]]:
    """The definitions whose name and lines hold most of the question's words, in the order of their lines."""
    lines = text.split("\n")
    scored = []
    for position, found in enumerate(definitions.spans(text)):
        named = len(asked.intersection(count(found.name)))
        held = len(asked.intersection(count("\n".join(lines[found.first - 1 : found.last]))))
        if named or held > 1:
            scored.append((-(2 * named + held), position, found))
    best = sorted(sorted(scored)[:EXPLAINED_DEFINITIONS], key=lambda item: item[1])
    return [{"name": item.name, "lines": [item.first, item.last]} for _, _, item in best]
