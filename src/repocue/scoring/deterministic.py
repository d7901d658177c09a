"""The deterministic scorer: an answer's git facts against the basis, field by field (seed, "Benchmark and Scoring").

A wrong answer is a valid, scored observation. Nothing here is an opinion, and no field outweighs another.

How fields are compared:

* `branch` and `head` must be the same text, null included. An abbreviated id, an id in capitals, `refs/heads/…` and
  an empty text for null are wrong: the benchmark asks for the branch's name and the full id.
* Lists of paths are compared as sets: order does not matter, and a path that is named twice counts once (`repeated`
  says how often that happened).
* A path is taken as spelled, except for what cannot mean another file: leading `./`, doubled slashes, and the quotes
  with which git prints unusual names. So `dir/`, an absolute path, `a -> b` and another letter case are other paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from repocue.domain.paths import display

if TYPE_CHECKING:
    from repocue.scoring.basis import Basis

FIELDS: Final = ("branch", "head", "dirty", "tracked_changes", "untracked")

NOT_LISTED: Final = "basis-does-not-list-them"
NOTHING_ANSWERED: Final = "nothing-answered"
NOTHING_EXPECTED: Final = "nothing-expected"

_ESCAPE = re.compile(rb'\\([0-3][0-7]{2}|[abtnvfr"\\])')
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_QUOTED = re.compile(rb'"(?:[^"\\]|\\(?:[0-3][0-7]{2}|[abtnvfr"\\]))*"', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """An exact fraction `part / whole`; undefined where `whole` is zero, for `reason`."""

    part: int
    whole: int
    reason: str | None = None

    @property
    def value(self) -> float | None:
        """The quotient, or None where it is undefined."""
        return None if self.whole == 0 else self.part / self.whole

    def to_json(self) -> dict[str, Any]:
        """`{part, whole, value, reason}`: the value divides out from the two numbers beside it."""
        return {"part": self.part, "whole": self.whole, "value": self.value, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class PathScore:
    """A list of paths against the expected set. The three groups are sorted and disjoint."""

    matched: tuple[str, ...]
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    repeated: int
    """How many entries of the answer name a path that an earlier entry names."""

    @property
    def is_correct(self) -> bool:
        """Whether exactly the expected paths were named."""
        return not self.missing and not self.unexpected

    @property
    def precision(self) -> Ratio:
        """Of the paths named, how many are right."""
        whole = len(self.matched) + len(self.unexpected)
        return Ratio(part=len(self.matched), whole=whole, reason=None if whole else NOTHING_ANSWERED)

    @property
    def recall(self) -> Ratio:
        """Of the expected paths, how many were named."""
        whole = len(self.matched) + len(self.missing)
        return Ratio(part=len(self.matched), whole=whole, reason=None if whole else NOTHING_EXPECTED)

    def to_json(self) -> dict[str, Any]:
        """Numbers alone: no path leaves the answer this way."""
        return {
            "correct": self.is_correct,
            "expected": self.recall.whole,
            "answered": self.precision.whole,
            "matched": len(self.matched),
            "repeated": self.repeated,
            "precision": self.precision.to_json(),
            "recall": self.recall.to_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One answer's deterministic score. A list of paths that could not be scored is None."""

    branch: bool
    head: bool
    dirty: bool
    tracked_changes: PathScore | None
    untracked: PathScore | None

    def correct(self) -> dict[str, bool | None]:
        """Field by field whether the answer is right; None where it could not be scored."""
        lists = {"tracked_changes": self.tracked_changes, "untracked": self.untracked}
        verdicts = {name: None if score is None else score.is_correct for name, score in lists.items()}
        return {"branch": self.branch, "head": self.head, "dirty": self.dirty, **verdicts}

    def to_json(self) -> dict[str, Any]:
        """`{fields_scored, fields_correct, branch, head, dirty, tracked_changes, untracked}`, numbers alone."""
        verdicts = [verdict for verdict in self.correct().values() if verdict is not None]
        return {
            "fields_scored": len(verdicts),
            "fields_correct": sum(verdicts),
            "branch": {"correct": self.branch},
            "head": {"correct": self.head},
            "dirty": {"correct": self.dirty},
            "tracked_changes": _listed(self.tracked_changes),
            "untracked": _listed(self.untracked),
        }


def score(answer: Mapping[str, Any], basis: Basis) -> Score:
    """Score a `repocue/benchmark-answer-2` document, which must satisfy its schema, against `basis`."""
    said = answer["git"]
    return Score(
        branch=said["branch"] == basis.branch,
        head=said["head"] == basis.head,
        dirty=said["dirty"] == basis.is_dirty,
        tracked_changes=_paths(said["tracked_changes"], basis.tracked_changes),
        untracked=_paths(said["untracked"], basis.untracked),
    )


def normalized(path: str) -> str:
    """A path as an answer spells it, in the spelling in which the basis has it (see the module)."""
    text = path.encode("utf-8", "surrogatepass")
    if _QUOTED.fullmatch(text):
        return display(_ESCAPE.sub(_unescaped, text[1:-1]))
    plain = re.sub(r"/{2,}", "/", path)
    while plain.startswith("./"):
        plain = plain[2:]
    return plain


def _unescaped(match: re.Match[bytes]) -> bytes:
    escape = match[1]
    return bytes([int(escape, 8)]) if len(escape) == 3 else _ESCAPED.get(escape, escape)


def _paths(answered: Iterable[str], expected: frozenset[str] | None) -> PathScore | None:
    if expected is None:
        return None
    entries = [normalized(path) for path in answered]
    named = set(entries)
    return PathScore(
        matched=tuple(sorted(named & expected)),
        missing=tuple(sorted(expected - named)),
        unexpected=tuple(sorted(named - expected)),
        repeated=len(entries) - len(named),
    )


def _listed(found: PathScore | None) -> dict[str, Any]:
    return {"correct": None, "reason": NOT_LISTED} if found is None else found.to_json()
