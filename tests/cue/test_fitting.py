"""Laws of the fitting engine, held against an oracle that removes one item, writes everything out and looks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from repocue.cue.fitting import BUDGET, MORE, WARNINGS, Cut, Slot, fit
from repocue.domain.state import Warning
from repocue.errors import BudgetTooSmall


def tokens_of(data: bytes) -> int:
    return -(-len(data) // 4)


@dataclass(frozen=True)
class Case:
    """Lists of items, the order in which they leave as (list, count, code, beyond), and what else is written."""

    lists: tuple[tuple[Any, ...], ...]
    order: tuple[tuple[int, int, str, int], ...] = ()
    given: tuple[Warning, ...] = ()
    with_more: bool = False

    def fit(self, max_tokens: int) -> bytes:
        slots = [Slot(items=items) for items in self.lists]
        content: dict[str, Any] = {"total": 7}
        for number, slot in enumerate(slots):
            content[f"list{number}"] = slot
        template = {"kind": "probe", "budget": BUDGET, "content": content, "warnings": WARNINGS, "more": MORE}
        return fit(
            template,
            cuts=[Cut(slot=slots[at], count=count, code=code, beyond=beyond) for at, count, code, beyond in self.order],
            max_tokens=max_tokens,
            warnings=self.given,
            more=(lambda tokens: {"view": "probe", "max_tokens": tokens}) if self.with_more else None,
        ).document

    def smallest_budget(self) -> int:
        with pytest.raises(BudgetTooSmall) as caught:
            self.fit(1)
        return caught.value.needed_tokens


# The oracle, written apart from the engine and with the standard library's JSON.


def naive_states(case: Case, max_tokens: int, more_tokens: int | None) -> list[bytes]:
    """Every state's document, in the order of removal."""
    kept = [list(items) for items in case.lists]
    counts = dict.fromkeys([code for _, _, code, _ in case.order], 0)
    for _, _, code, beyond in case.order:
        counts[code] += beyond
    states = [naive_document(case, kept, counts, max_tokens, None)]
    for at, count, code, _ in case.order:
        for _ in range(min(count, len(kept[at]))):
            kept[at].pop()
            counts[code] += 1
            states.append(naive_document(case, kept, counts, max_tokens, more_tokens))
    return states


def naive_document(
    case: Case, kept: list[list[Any]], counts: dict[str, int], max_tokens: int, more_tokens: int | None
) -> bytes:
    content: dict[str, Any] = {"total": 7}
    for number, items in enumerate(kept):
        if items or not case.lists[number]:
            content[f"list{number}"] = items
    warnings = [(w.code, w.count) for w in case.given] + [(code, count) for code, count in counts.items() if count]
    document = {
        "kind": "probe",
        "budget": {"max_tokens": max_tokens, "estimated_tokens": 1},
        "content": content,
        "warnings": [{"code": c} if n is None else {"code": c, "count": n} for c, n in sorted(warnings)],
        "more": [{"view": "probe", "max_tokens": more_tokens}] if more_tokens is not None else [],
    }
    while True:  # the least estimate that describes the document it stands in
        data = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        estimate = document["budget"]["estimated_tokens"]  # type: ignore[index] # the literal above
        if tokens_of(data) == estimate:
            return data
        document["budget"] = {"max_tokens": max_tokens, "estimated_tokens": max(estimate + 1, tokens_of(data) - 1)}


def naive_whole(case: Case) -> int:
    """The smallest budget at which nothing has to be removed."""
    return next(budget for budget in range(1, 10**6) if tokens_of(naive_states(case, budget, None)[0]) <= budget)


def naive_fit(case: Case, max_tokens: int) -> bytes | None:
    more_tokens = naive_whole(case) if case.with_more else None
    states = naive_states(case, max_tokens, more_tokens)
    return next((data for data in states if tokens_of(data) <= max_tokens), None)


short = st.text(max_size=6)
item = st.one_of(short, st.text(max_size=40), st.integers(0, 10**6), st.builds(lambda p: {"path": p}, short))
items = st.lists(item, max_size=14).map(tuple)
codes = st.sampled_from(["a", "b-omitted", "a-long-warning-about-omitted-items", "ü"])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    lists = tuple(draw(st.lists(items, min_size=1, max_size=4)))
    places = st.integers(0, len(lists) - 1)
    order = draw(st.lists(st.tuples(places, st.integers(0, 15), codes, st.sampled_from([0, 0, 8, 98])), max_size=6))
    if draw(st.booleans()):  # mostly everything can leave
        order += [(number, 99, f"list{number}-omitted", 0) for number in range(len(lists))]
    given_warnings = draw(st.lists(st.sampled_from([Warning("given"), Warning("counted", 3)]), max_size=2, unique=True))
    return Case(lists, tuple(order), tuple(given_warnings), draw(st.booleans()))


@given(cases(), st.integers(1, 260))
@example(Case((("", "", "0"), (), ("", "")), ((0, 0, "a", 0), (0, 1, "a", 8))), 45)  # a run that removes nothing
def test_the_result_is_the_first_state_that_fits_and_no_other(case: Case, max_tokens: int) -> None:
    expected = naive_fit(case, max_tokens)
    if expected is None:
        with pytest.raises(BudgetTooSmall):
            case.fit(max_tokens)
    else:
        assert case.fit(max_tokens) == expected


@given(cases(), st.integers(1, 260))
def test_a_document_never_exceeds_its_budget_and_tells_its_own_size(case: Case, max_tokens: int) -> None:
    try:
        data = case.fit(max_tokens)
    except BudgetTooSmall:
        return
    assert tokens_of(data) <= max_tokens
    assert json.loads(data)["budget"] == {"max_tokens": max_tokens, "estimated_tokens": tokens_of(data)}


@given(cases(), st.integers(1, 300), st.integers(0, 60))
def test_a_bigger_budget_never_shows_less(case: Case, max_tokens: int, extra: int) -> None:
    try:
        small = json.loads(case.fit(max_tokens))["content"]
    except BudgetTooSmall:
        return
    large = json.loads(case.fit(max_tokens + extra))["content"]
    for name, shown in small.items():
        if isinstance(shown, list):
            assert large[name][: len(shown)] == shown


@given(cases())
def test_the_smallest_budget_that_is_named_would_do_and_one_less_would_not(case: Case) -> None:
    needed = case.smallest_budget()
    assert tokens_of(case.fit(needed)) <= needed
    with pytest.raises(BudgetTooSmall) as caught:
        case.fit(needed - 1)
    assert caught.value.needed_tokens == needed
    assert str(needed) in caught.value.message


@given(cases())
def test_the_budget_that_more_names_shows_everything_and_one_less_does_not(case: Case) -> None:
    case = Case(case.lists, case.order, case.given, True)
    document = json.loads(case.fit(case.smallest_budget()))
    if document["more"]:
        whole = document["more"][0]["max_tokens"]
        complete, partial = json.loads(case.fit(whole)), json.loads(case.fit(whole - 1))
        assert complete["more"] == []
        assert all(complete["content"][f"list{n}"] == list(shown) for n, shown in enumerate(case.lists))
        assert partial["more"] == document["more"]


@pytest.mark.deep
@settings(max_examples=6000)
@given(cases(), st.integers(1, 1100))
def test_the_result_is_the_first_state_that_fits_in_a_long_run(case: Case, max_tokens: int) -> None:
    expected = naive_fit(case, max_tokens)
    if expected is not None:
        assert case.fit(max_tokens) == expected


@pytest.mark.parametrize("padding", range(60))
def test_every_length_around_a_change_of_digits_has_an_exact_estimate(padding: int) -> None:
    # Without any list the document is {"kind":"probe",…,"pad":"xxx"} and LF; its size sweeps over 99/100 tokens.
    case = Case(lists=((), ("x" * (270 + padding),)))
    data = case.fit(5000)
    assert json.loads(data)["budget"]["estimated_tokens"] == tokens_of(data)
    assert data == naive_fit(case, 5000)


def test_a_removal_that_lengthens_the_document_is_not_taken_for_progress() -> None:
    """Removing one short item adds a long warning; the state before it, and the far end after it, are both seen."""
    case = Case(lists=(tuple("abcdefghij"),), order=((0, 10, "single-letters-omitted-from-the-probe", 0),))
    whole = naive_whole(case)
    assert json.loads(case.fit(whole))["content"]["list0"] == list("abcdefghij")
    # One token less: only dropping nearly everything pays for the warning, or nothing does.
    expected = naive_fit(case, whole - 1)
    if expected is None:
        with pytest.raises(BudgetTooSmall) as caught:
            case.fit(whole - 1)
        assert caught.value.needed_tokens == whole
    else:
        assert case.fit(whole - 1) == expected


def test_omissions_under_one_code_add_up_over_cuts_and_bounds() -> None:
    case = Case(
        lists=(("x" * 40,) * 12, ("y" * 40,) * 12),
        order=((0, 12, "omitted", 1000), (1, 12, "omitted", 200)),
    )
    document = json.loads(case.fit(100))
    shown = sum(len(document["content"].get(f"list{n}", ())) for n in (0, 1))
    assert document["warnings"] == [{"code": "omitted", "count": 1200 + 24 - shown}]


def test_an_empty_list_is_shown_and_an_emptied_one_is_absent() -> None:
    case = Case(lists=((), ("x" * 100, "y" * 100)), order=((1, 9, "gone", 0),))
    document = json.loads(case.fit(case.smallest_budget()))
    assert document["content"] == {"total": 7, "list0": []}
    assert document["warnings"] == [{"code": "gone", "count": 2}]


def test_a_document_without_cuts_fits_whole_or_not_at_all() -> None:
    case = Case(lists=(("x" * 500,),))
    needed = case.smallest_budget()
    assert needed == naive_whole(case)
    assert json.loads(case.fit(needed))["content"]["list0"] == ["x" * 500]


def test_items_that_no_state_can_show_are_never_encoded() -> None:
    """A hundred thousand items cost what the budget can show, not what the repository holds."""
    projected = []

    def project(number: int) -> str:
        projected.append(number)
        return f"path-{number:06d}"

    slot = Slot(items=range(100_000), project=project)
    template = {"kind": "probe", "budget": BUDGET, "content": {"total": 0, "paths": slot}, "warnings": WARNINGS}
    data = fit(template, cuts=[Cut(slot=slot, count=100_000, code="omitted")], max_tokens=500).document
    shown = json.loads(data)["content"]["paths"]
    assert shown == [f"path-{n:06d}" for n in range(len(shown))]
    # 500 tokens are 2000 bytes; an item with its comma takes 14, and items are looked at 256 at a time.
    assert 100 < len(shown) < 2000 // 14
    assert len(set(projected)) <= 256


def test_a_template_that_could_not_leave_a_list_out_is_refused() -> None:
    slot = Slot(items=["x"])
    with pytest.raises(ValueError, match="a member before it"):
        fit({"kind": "k", "content": {"first": slot}}, max_tokens=9)
    with pytest.raises(ValueError, match="not in the template"):
        fit({"kind": "k"}, cuts=[Cut(slot=slot, count=1, code="c")], max_tokens=9)
