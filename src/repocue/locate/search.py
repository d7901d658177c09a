"""Answering a question: the words' postings, the work tree's own changes laid over them, and the ranking."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from repocue.locate import kinds, ranking
from repocue.locate.ranking import Posting, Touch
from repocue.locate.words import Hashes, of_path, of_query, stem
from repocue.store import locate_index as store

if TYPE_CHECKING:
    from repocue.locate.extract import Extract
    from repocue.locate.words import Field
    from repocue.store.database import Database

MAX_PATHS: Final = 200
"""Candidates that are put in order: more than any reader follows."""
MAX_QUERY_WORDS: Final = 60
POSTING_BUDGET: Final = 30_000
"""Entries that one field's words may bring, the rarest words first; what is then left out is in too many files to
tell them apart. It bounds a query's time in a huge repository."""
MAX_EVIDENCE: Final = 40
"""How many of the first paths can be explained."""
_BEST_COMMITS: Final = 200
_LEADERS: Final = 4 * MAX_PATHS
_PRECISION: Final = 1e-9


class Overlay(NamedTuple):
    """A path whose work-tree content stands in place of the index's: `extract` None where it is gone."""

    path: str
    state: str
    """modified or untracked"""
    extract: Extract | None


class Evidence(NamedTuple):
    """Why a path is named: words of the question in it, the best matching commits that touched it, recent commits."""

    words: tuple[str, ...]
    commits: tuple[str, ...]
    recent_commits: int


class Found(NamedTuple):
    """The answer: paths best first, the state of those that differ from the index, and whether a word was known."""

    paths: list[str]
    states: dict[str, str]
    evidence: dict[str, Evidence]
    knows_a_word: bool


class Units:
    """The units of the index as a query sees them: with the overlay, and without what it replaces."""

    def __init__(self, database: Database, overlays: Sequence[Overlay]) -> None:
        self.database = database
        self.files = store.Columns.load(database, "files")
        self.commits = store.Columns.load(database, "commits")
        known = store.meta(database)
        self.flushed: dict[store.Space, int] = {
            "files": int(known.get("files-flushed", "0")),
            "commits": int(known.get("commits-flushed", "0")),
        }
        self.states: dict[str, str] = {}
        self.names: dict[int, str] = {}
        self.extra: list[tuple[int, Mapping[int, int]]] = []
        paths = Hashes("path")
        for overlay in overlays:
            row = database.one("SELECT id FROM files WHERE path = ?", (overlay.path,))
            if row is not None:
                self.files.kill(row[0])
            if overlay.extract is None:
                continue
            extract = overlay.extract
            skipped = kinds.skipped_by_path(overlay.path) or extract.skipped
            read = skipped is None
            path_words = of_path(overlay.path)
            unit = self.files.add(
                kinds.kind_where_skipped(overlay.path, skipped),
                extract.length if read else 0,
                extract.definitions if read else 0,
                sum(path_words.values()),
            )
            self.names[unit] = overlay.path
            self.states[overlay.path] = overlay.state
            self.extra.append((unit, {**(extract.words if read else {}), **paths.counts(path_words)}))

    def loose(self, space: store.Space) -> list[tuple[int, Mapping[int, int] | tuple[array[int], bytes]]]:
        """The words of units outside the segments."""
        found: list[tuple[int, Mapping[int, int] | tuple[array[int], bytes]]] = []
        paths = Hashes("path")
        for unit, path, skipped, data in store.forward(self.database, space, self.flushed[space]):
            if space == "files":
                found.append((unit, paths.counts(of_path(path))))
            if skipped is None:
                found.append((unit, store.unpack(data)))
        if space == "files":
            found.extend(self.extra)
        return found

    def name_of(self, units: Sequence[int]) -> dict[int, str]:
        """Paths by id."""
        names = {unit: self.names[unit] for unit in units if unit in self.names}
        asked = [unit for unit in units if unit not in names]
        for start in range(0, len(asked), 500):
            part = asked[start : start + 500]
            marks = ",".join("?" * len(part))
            names.update(self.database.all(f"SELECT id, path FROM files WHERE id IN ({marks})", part))  # noqa: S608
        return names


def fields(
    units: Units, space: store.Space, columns: store.Columns, asked: Mapping[Field, Mapping[str, int]]
) -> dict[Field, dict[str, Posting]]:
    """For each field the live postings of the question's words, the rarest first within the budget."""
    by_hash: dict[int, tuple[Field, str]] = {}
    for field, texts in asked.items():
        hashes = Hashes(field)
        by_hash.update((hashes.of(text), (field, text)) for text in texts)
    wanted = sorted(by_hash)
    found = store.postings(units.database, space, wanted)
    for unit, words in units.loose(space):
        if isinstance(words, tuple):
            hashes_of, times_of = words
            for word in wanted:
                at = bisect_left(hashes_of, word)
                if at < len(hashes_of) and hashes_of[at] == word:
                    ids, times = found.setdefault(word, (array("I"), bytearray()))
                    ids.append(unit)
                    times.append(times_of[at])
        else:
            for word in wanted:
                if word in words:
                    ids, times = found.setdefault(word, (array("I"), bytearray()))
                    ids.append(unit)
                    times.append(min(words[word], 255))
    dead = columns.dead()
    if dead:
        for ids, times in found.values():
            _remove(ids, times, dead, columns.state)
    chosen: dict[Field, dict[str, Posting]] = {field: {} for field in asked}
    spent = dict.fromkeys(asked, 0)
    for word, (ids, times) in sorted(found.items(), key=lambda item: (len(item[1][0]), item[0])):
        field, text = by_hash[word]
        if len(ids) and (not spent[field] or spent[field] + len(ids) <= POSTING_BUDGET):
            spent[field] += len(ids)
            chosen[field][text] = Posting(ranking.query_weight(asked[field][text]), ids, times)
    return chosen


def _remove(ids: array[int], times: bytearray, dead: Sequence[int], state: bytearray) -> None:
    """Take dead units out of a posting; its ids ascend."""
    if len(dead) * 16 < len(ids):
        for unit in dead:
            at = bisect_left(ids, unit)
            if at < len(ids) and ids[at] == unit:
                del ids[at], times[at]
        return
    kept = [(unit, uses) for unit, uses in zip(ids, times, strict=True) if state[unit] != store.DEAD]
    ids[:] = array("I", [unit for unit, _ in kept])
    times[:] = bytes(uses for _, uses in kept)


def find(database: Database, query: str, overlays: Sequence[Overlay], *, explain: bool = False) -> Found:
    """The files that a question needs; with `explain` also why. Raises CacheDamaged where the index contradicts itself.

    Ages are counted from the newest commit's own time, which is HEAD's or, where clocks disagree, a moment later.
    """
    asked = dict(list(of_query(query).items())[:MAX_QUERY_WORDS])
    units = Units(database, overlays)
    files, commits = units.files, units.commits
    recent = store.newest_commits(database, ranking.RECENT_COMMITS)
    now = recent[0].time_s if recent else 0
    in_files = fields(units, "files", files, {"content": asked, "definition": asked, "path": asked}) if asked else {}
    in_commits = fields(units, "commits", commits, {"message": asked})["message"] if asked else {}

    def scores(field: Field, lengths: Sequence[int], b: float = ranking.B) -> dict[int, float]:
        postings = in_files.get(field, {}).values()
        return ranking.bm25(postings, lengths, units=files.live, words=sum(lengths), b=b)

    content = scores("content", files.lengths)
    definition = scores("definition", files.definitions)
    path = scores("path", files.paths, ranking.B_PATH)

    message = ranking.bm25(in_commits.values(), commits.lengths, units=commits.live, words=sum(commits.lengths))
    best = _best(message, _BEST_COMMITS)
    rows = store.commit_rows(database, best)
    matched = sorted(
        ((round(message[unit], 9), rows[unit]) for unit in best if unit in rows),
        key=lambda item: (-item[0], -item[1].time_s, item[1].oid),
    )
    known = _ids_by_hash(units, [commit for _, commit in matched] + recent)
    touches = {commit.oid: _touch(commit, now, known) for commit in [c for _, c in matched] + recent}
    lately = [touches[commit.oid] for commit in recent]
    history = ranking.history((score, touches[commit.oid]) for score, commit in matched)
    signals = [
        (ranking.W_CONTENT, content),
        (ranking.W_DEFINITION, definition),
        (ranking.W_PATH, path),
        (ranking.W_HISTORY, history),
        (ranking.W_RECENCY, ranking.recency(lately)),
    ]
    fused = ranking.fuse(signals)
    kind = bytearray(files.state)
    if "test" in asked:
        kind = kind.replace(bytes([ranking.TEST]), bytes([ranking.SOURCE]))
    if any(word in asked for word in _PROSE):
        kind = kind.replace(bytes([ranking.OTHER]), bytes([ranking.SOURCE]))
    fused = {unit: score for unit, score in fused.items() if kind[unit] != store.DEAD}
    leaders = _leaders(fused, kind)
    names = units.name_of(leaders)
    seeds = ranking.best({u: fused[u] for u in leaders if kind[u] == 0}, ranking.CO_CHANGE_SEEDS, kind, names)
    together = ranking.co_change({unit: fused[unit] for unit in seeds}, lately)
    top = max(fused.values(), default=0.0)
    nearest = max(together.values(), default=0.0)
    if asked and nearest > 0 and top > 0:
        for unit in leaders:
            if unit in together:
                fused[unit] += ranking.W_CO_CHANGE * together[unit] / nearest
    order = ranking.best({unit: fused[unit] for unit in leaders if unit in names}, MAX_PATHS, kind, names)
    evidence = {}
    for unit in order[:MAX_EVIDENCE] if explain else ():
        words = {w for postings in in_files.values() for w, posting in postings.items() if unit in posting.ids}
        linked = [commit.oid for _, commit in matched[: ranking.BEST_COMMITS] if unit in touches[commit.oid].files]
        evidence[names[unit]] = Evidence(
            tuple(word for word in asked if word in words),
            tuple(linked[:3]),
            sum(unit in touch.files for touch in lately if touch.age_days <= ranking.RECENCY_HALF_DAYS),
        )
    knows = bool(in_commits) or any(in_files.values())
    return Found([names[unit] for unit in order], units.states, evidence, knows)


_PROSE = tuple(stem(word) for word in ("documentation", "readme", "changelog"))  # not "docs", which commits begin with


def _leaders(scores: Mapping[int, float], kind: Sequence[int]) -> list[int]:
    """Those that the final order can begin with: the best by kind and score, with all that equal the last of them."""
    groups: dict[int, list[int]] = {}
    for unit in scores:
        groups.setdefault(kind[unit], []).append(unit)
    leaders: list[int] = []
    for group in sorted(groups):
        units = groups[group]
        missing = _LEADERS - len(leaders)
        if missing <= 0:
            break
        if len(units) > missing:
            least = sorted(map(scores.__getitem__, units), reverse=True)[missing - 1] - _PRECISION
            units = [unit for unit in units if scores[unit] >= least]
        leaders += units
    return leaders


def _best(scores: Mapping[int, float], count: int) -> list[int]:
    """The ids of the best scores, and of all that equal the last of them."""
    if len(scores) <= count:
        return sorted(scores)
    least = sorted((round(score, 9) for score in scores.values()), reverse=True)[count - 1]
    return sorted(unit for unit, score in scores.items() if round(score, 9) >= least)


def _ids_by_hash(units: Units, commits: Sequence[store.Commit]) -> dict[int, int]:
    """The ids of the live files that these commits touched, by the hash of their paths."""
    wanted = {file for commit in commits for file in commit.files}
    state = units.files.state
    found = store.ids_by_hash(units.database, sorted(wanted))
    known = {hashed: unit for hashed, unit in found.items() if state[unit] != store.DEAD}
    known.update((store.path_hash(path), unit) for unit, path in units.names.items())
    return known


def _touch(commit: store.Commit, now_s: int, known: Mapping[int, int]) -> Touch:
    age = max(0, now_s - commit.time_s) / ranking.SECONDS_PER_DAY
    return Touch(age, [known[file] for file in commit.files if file in known], commit.touched)
