"""The ranking, each rule against an example worked out by hand."""

from __future__ import annotations

import math

import pytest

from repocue.locate import ranking
from repocue.locate.ranking import OTHER, SOURCE, TEST, Posting, Touch


def test_bm25_of_two_words_in_three_units() -> None:
    """Units of 10, 20 and 30 words, so 20 on average; k1 = 1.2 and b = .4.

    `tide` (weight 1) is in units 0 (twice) and 1 (once): idf = ln(1 + (3 - 2 + .5) / (2 + .5)) = ln 1.6.
    `moon` (weight 2) is in unit 1 (three times): idf = ln(1 + 2.5 / 1.5) = ln 2.666….
    Unit 0: length factor 1.2 * (.6 + .4 * 10 / 20) = .96, so ln 1.6 * 2 * 2.2 / 2.96.
    Unit 1: length factor 1.2 * (.6 + .4) = 1.2, so ln 1.6 * 2.2 / 2.2 + 2 * ln 2.666… * 3 * 2.2 / 4.2.
    """
    scores = ranking.bm25(
        [Posting(1.0, [0, 1], [2, 1]), Posting(2.0, [1], [3])], [10, 20, 30], units=3, words=60, b=0.4
    )
    assert scores == {
        0: pytest.approx(math.log(1.6) * 4.4 / 2.96),
        1: pytest.approx(math.log(1.6) + 2 * math.log(8 / 3) * 6.6 / 4.2),
    }


def test_bm25_without_units_or_words_is_empty() -> None:
    assert ranking.bm25([], [], units=0, words=0) == {}
    assert ranking.bm25([Posting(1.0, [], [])], [3], units=1, words=3) == {}


def test_history_squares_what_a_commit_matches_and_shares_it_among_its_files() -> None:
    """Two years are one half-life: factor .3 + .7 / 2 = .65. A commit of four files gives each half of its square.

    File 7: 2² / √1 + (4 · .65)² / √4 = 4 + 3.38; file 8: 3.38 alone.
    """
    scores = ranking.history([(2.0, Touch(0.0, [7], 1)), (4.0, Touch(2 * 365.25, [7, 8], 4))])
    assert scores == {7: pytest.approx(7.38), 8: pytest.approx(3.38)}


def test_history_counts_the_best_sixty_commits_alone() -> None:
    best = [(2.0, Touch(0.0, [1], 1))] * ranking.BEST_COMMITS
    assert ranking.history([(1.0, Touch(0.0, [2], 1)), *best]) == {1: pytest.approx(240.0)}


def test_recency_halves_every_thirty_days() -> None:
    """File 1: 1 + .5 / √4; file 2: .5 / √4."""
    scores = ranking.recency([Touch(0.0, [1], 1), Touch(30.0, [1, 2], 4)])
    assert scores == {1: pytest.approx(1.25), 2: pytest.approx(0.25)}


def test_co_change_follows_the_seeds_into_their_commits() -> None:
    """Seed 1 weighs 2. File 2 shares a commit of two files with it: 2 / 2 / (1 change + 3). File 3 never does.

    File 1 has no other seed beside it, so nothing comes back to it.
    """
    scores = ranking.co_change({1: 2.0}, [Touch(0.0, [1, 2], 2), Touch(0.0, [3], 1)])
    assert scores == {2: pytest.approx(0.25)}


def test_fusion_divides_each_signal_by_its_own_best() -> None:
    """Unit 1: 1 · 4/4 + .5 · 1/2; unit 2: 1 · 2/4 + .5 · 2/2. A signal without a score adds nothing."""
    fused = ranking.fuse([(1.0, {1: 4.0, 2: 2.0}), (0.5, {1: 1.0, 2: 2.0}), (9.0, {}), (9.0, {3: 0.0})])
    assert fused == {1: pytest.approx(1.25), 2: pytest.approx(1.0)}


def test_order_goes_by_kind_then_score_at_nine_digits_then_path() -> None:
    names = {0: "z.py", 1: "a.py", 2: "t.py", 3: "R.md", 4: "b.py"}
    kinds = {0: SOURCE, 1: SOURCE, 2: TEST, 3: OTHER, 4: SOURCE}
    scores = {0: 1.0, 1: 1.0 + 1e-12, 2: 9.0, 3: 99.0, 4: 2.0}
    assert ranking.best(scores, 9, kinds, names) == [4, 1, 0, 2, 3]
    assert ranking.best(scores, 2, kinds, names) == [4, 1]


def test_a_word_that_a_question_repeats_weighs_a_little_more() -> None:
    assert ranking.query_weight(1) == 1.0
    assert ranking.query_weight(3) == pytest.approx(1 + math.log(3))
