"""From counts to an order: pure functions.

A *posting* is what is known of one word: its weight in the question, the ids of the units (files or commits) that hold
it and how often each does. All scores are sums in a fixed order, compared at nine digits after the point, and ties are
broken by path, so that the same state and question give the same order on every machine.

The constants were chosen on 80 commits of two repositories (one Python, one Rust), each ranked at its parent from its
own message; wherever two choices were within noise of each other the rounder one stands, and each repository's best
choice was within .02 of the other's. Adding scores, each divided by its signal's best, found more than adding
reciprocal ranks did (.94 against .92 of the files within 100 tokens, .88 against .83 among the first five), because a
clear winner of one signal stays one. The word's place in definitions counts half again: alone it misses too much.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

K1: Final = 1.2
"""How soon further uses of a word stop counting (BM25's usual value)."""
B: Final = 0.4
"""How much a long unit is held against it; a long source file is not a rambling text, so less than the usual .75."""
B_PATH: Final = 0.3

W_CONTENT: Final = 1.0
W_PATH: Final = 1.0
W_HISTORY: Final = 1.0
W_DEFINITION: Final = 0.5
W_RECENCY: Final = 0.3
"""Only a tie-break beside the others, and all there is where no word is known."""
W_CO_CHANGE: Final = 0.05
"""Little: the commits that match the question link most such files already."""

BEST_COMMITS: Final = 60
MAX_COMMIT_FILES: Final = 60
"""A commit that touched more files says little about each; it is left out."""
AGE_FLOOR: Final = 0.3
AGE_HALF_YEARS: Final = 2.0
RECENCY_HALF_DAYS: Final = 30.0
RECENT_COMMITS: Final = 1000
CO_CHANGE_SEEDS: Final = 10
_CO_CHANGE_PRIOR: Final = 3.0

SECONDS_PER_DAY: Final = 86_400
DAYS_PER_YEAR: Final = 365.25

SOURCE: Final = 0
TEST: Final = 1
OTHER: Final = 2


class Posting(NamedTuple):
    """One word of the question: its weight, and `times[i]` uses in the unit `ids[i]`."""

    weight: float
    ids: Sequence[int]
    times: Sequence[int]


class Touch(NamedTuple):
    """One commit: its age against HEAD's own time (never negative), the known files it touched, and of how many."""

    age_days: float
    files: Sequence[int]
    touched: int


def query_weight(times: int) -> float:
    """The weight of a word that the question uses so often."""
    return 1.0 + math.log(times)


def bm25(
    postings: Iterable[Posting], lengths: Sequence[int], *, units: int, words: int, b: float = B
) -> dict[int, float]:
    """The BM25 score of every unit that holds a word of the question.

    `lengths` gives a unit's words by id; `units` and `words` count all units and all their words.
    A posting holds live units only, each once.
    """
    scores: dict[int, float] = {}
    average = words / units if units else 1.0
    flat = K1 * (1 - b)
    slope = K1 * b / (average or 1.0)
    for weight, ids, times in postings:
        held = len(ids)
        gain = weight * math.log(1 + (units - held + 0.5) / (held + 0.5)) * (K1 + 1)
        for unit, uses in zip(ids, times, strict=True):
            scores[unit] = scores.get(unit, 0.0) + gain * uses / (uses + flat + slope * lengths[unit])
    return scores


def history(matches: Iterable[tuple[float, Touch]]) -> dict[int, float]:
    """The score of every file that the commits best matching the question touched.

    `matches` are (BM25 score, commit) in a fixed order. A commit weighs score × age factor, squared, and gives each of
    its files that over the root of their number.
    """
    weighed = []
    for position, (score, touch) in enumerate(matches):
        fresh = 0.5 ** (touch.age_days / DAYS_PER_YEAR / AGE_HALF_YEARS)
        weighed.append((-score * (AGE_FLOOR + (1 - AGE_FLOOR) * fresh), position, touch))
    weighed.sort(key=lambda item: (round(item[0], 9), item[1]))
    scores: dict[int, float] = {}
    for negative, _, touch in weighed[:BEST_COMMITS]:
        share = negative * negative / math.sqrt(touch.touched)
        for file in touch.files:
            scores[file] = scores.get(file, 0.0) + share
    return scores


def recency(commits: Iterable[Touch]) -> dict[int, float]:
    """How much a file was worked on of late: each commit counts half as much every 30 days."""
    scores: dict[int, float] = {}
    for touch in commits:
        share = 0.5 ** (touch.age_days / RECENCY_HALF_DAYS) / math.sqrt(touch.touched)
        for file in touch.files:
            scores[file] = scores.get(file, 0.0) + share
    return scores


def co_change(seeds: Mapping[int, float], commits: Iterable[Touch]) -> dict[int, float]:
    """The score of files that changed together with the best ones so far, in proportion to how often each changed."""
    together: dict[int, float] = {}
    changes: dict[int, int] = {}
    for touch in commits:
        near = sum(seeds.get(file, 0.0) for file in touch.files)
        for file in touch.files:
            changes[file] = changes.get(file, 0) + 1
            if near and touch.touched > 1:
                together[file] = together.get(file, 0.0) + (near - seeds.get(file, 0.0)) / touch.touched
    return {file: score / (changes[file] + _CO_CHANGE_PRIOR) for file, score in together.items() if score > 0}


def fuse(signals: Iterable[tuple[float, Mapping[int, float]]]) -> dict[int, float]:
    """Each signal divided by its own best score, times its weight, added up."""
    total: dict[int, float] = {}
    for weight, scores in signals:
        best = max(scores.values(), default=0.0)
        if best <= 0:
            continue
        for unit, score in scores.items():
            total[unit] = total.get(unit, 0.0) + weight * score / best
    return total


def best(
    scores: Mapping[int, float], count: int, kind: Mapping[int, int] | Sequence[int], names: Mapping[int, str]
) -> list[int]:
    """The first `count` units: by kind, then score at nine digits, then the bytes of their name."""
    order = sorted(
        scores, key=lambda unit: (kind[unit], -round(scores[unit], 9), names[unit].encode("utf-8", "surrogatepass"))
    )
    return order[:count]
