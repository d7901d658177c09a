"""Every view over hand-made snapshots: golden bytes, contract, order of removal, and what is said of omissions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.contracts import reader
from repocue.cue import delta, overview, placebo, provenance, ranked
from repocue.cue.fitting import Fitted
from repocue.cue.subject import Subject, drift
from repocue.domain.delta import Change
from repocue.domain.facts import RankedFacts
from repocue.domain.state import Freshness, Summary, Warning
from repocue.errors import BudgetTooSmall, UsageError
from tests.cue import golden, samples

Build = Callable[[int], Fitted]

VIEWS: dict[str, Build] = {
    "overview": lambda tokens: overview.build(samples.subject(), samples.summary(), max_tokens=tokens),
    "delta-frozen": lambda tokens: delta.build_frozen(samples.subject(), samples.delta(), max_tokens=tokens),
    "delta": lambda tokens: delta.build(samples.subject(), samples.delta(), max_tokens=tokens),
    "placebo": lambda tokens: placebo.build(samples.subject(), max_tokens=tokens),
    "ranked": lambda tokens: ranked.build(samples.subject(), samples.summary(), samples.facts(), max_tokens=tokens),
    "provenance": lambda tokens: provenance.build(samples.subject(), samples.summary(), max_tokens=tokens),
}


@pytest.fixture(autouse=True)
def _same_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release changes what provenance says of the producer, and nothing else."""
    monkeypatch.setattr(provenance, "__version__", "0.0.0")


def smallest(build: Build) -> int:
    with pytest.raises(BudgetTooSmall) as caught:
        build(1)
    return caught.value.needed_tokens


def content(fitted: Fitted) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(fitted.document)["content"]
    return found


def omitted(fitted: Fitted) -> dict[str, int]:
    return {w["code"]: w["count"] for w in json.loads(fitted.document)["warnings"] if w["code"].endswith("-omitted")}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_its_golden_document(view: str) -> None:
    golden.check(view, VIEWS[view](500).document)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_at_its_smallest_budget_is_its_golden_document(view: str) -> None:
    golden.check(f"{view}-smallest", VIEWS[view](smallest(VIEWS[view])).document)


def test_a_view_of_an_unborn_and_empty_repository_is_its_golden_document() -> None:
    nothing = samples.header(branch="main", head=None, is_dirty=False, warnings=())
    empty = samples.summary(
        tracked_files=0,
        present_files=0,
        size_bytes=0,
        documents=(),
        documents_total=0,
        languages=(),
        top_level=(),
        directories=((), ()),
        depth_two_total=0,
    )
    none = samples.facts(
        entry_points=(), entry_points_total=0, make_targets=(), make_targets_total=0, recent_commits=(), warnings=()
    )
    subject = samples.subject(header=nothing, freshness="current")
    golden.check("overview-empty", overview.build(subject, empty, max_tokens=500).document)
    golden.check("ranked-empty", ranked.build(subject, empty, none, max_tokens=500).document)


@pytest.mark.parametrize("view", VIEWS)
def test_every_budget_from_the_smallest_gives_a_valid_document_that_keeps_to_it(view: str) -> None:
    """Valid by its published schema; the sizes are counted on the bytes."""
    for tokens in range(smallest(VIEWS[view]), 560, 7):
        data = VIEWS[view](tokens).document
        assert -(-len(data) // 4) <= tokens
        assert data.endswith(b"\n")
        assert data.count(b"\n") == 1
        reader.read(data, contract=("repocue/1", "repocue/cue-2"))


MEMBERS = {
    "overview": [
        *("schema_version", "kind", "repository", "epoch", "snapshot", "basis"),
        *("freshness", "budget", "content", "warnings", "more"),
    ],
    "ranked": [
        *("schema_version", "kind", "repository", "snapshot", "freshness", "observed_at"),
        *("budget", "content", "warnings"),
    ],
}
MEMBERS["delta-frozen"] = MEMBERS["overview"]
MEMBERS["placebo"] = MEMBERS["ranked"]
MEMBERS["delta"] = MEMBERS["provenance"] = [*MEMBERS["ranked"][:3], "epoch", *MEMBERS["ranked"][3:]]


@pytest.mark.parametrize("view", VIEWS)
def test_members_stand_in_the_contracts_order(view: str) -> None:
    assert list(json.loads(VIEWS[view](500).document)) == MEMBERS[view]


def test_a_placebo_has_the_state_and_no_content() -> None:
    document = json.loads(VIEWS["placebo"](500).document)
    assert document["content"] == {}
    assert document["repository"] == {"branch": "main", "head": samples.HEAD, "dirty": True}


# The ranked policy (seed, "Experimental Ranked Selection").


def test_at_most_twelve_documents_are_admitted_and_the_others_are_counted() -> None:
    fitted = VIEWS["ranked"](2000)
    assert content(fitted)["documents"] == list(samples.summary().documents[:12])
    assert omitted(fitted) == {
        "documents-omitted": 240 - 12,
        "depth-two-directories-omitted": 1,
        "make-targets-omitted": 40,
    }


@given(samples.summaries(), samples.ranked_facts(), st.integers(100, 900))
def test_ranked_content_leaves_strictly_in_the_seeds_order(
    summary: Summary, facts: RankedFacts, max_tokens: int
) -> None:
    try:
        fitted = ranked.build(samples.subject(), summary, facts, max_tokens=max_tokens)
    except BudgetTooSmall:
        return
    shown = content(fitted)
    one, two = summary.directories
    whole: dict[str, tuple[str, ...]] = {
        "documents": summary.documents[:12],
        "entry_points": facts.entry_points,
        "make_targets": facts.make_targets,
        "recent_commits": facts.recent_commits,
        "directories": one + two,
    }
    for name, items in whole.items():
        assert tuple(shown.get(name, ())) == items[: len(shown.get(name, ()))]
        assert (name in shown) == (not items or bool(shown.get(name)))
    directories = len(shown.get("directories", ()))
    # (shown, of how many), in the order of removal: all before the first incomplete kind are gone.
    kinds = [
        (max(directories - len(one), 0), len(two)),
        *((len(shown.get(name, ())), len(whole[name])) for name in ("documents", "make_targets", "recent_commits")),
        (min(directories, len(one)), len(one)),
        (len(shown.get("entry_points", ())), len(facts.entry_points)),
    ]
    touched = [number for number, (left, of) in enumerate(kinds) if left < of]
    assert all(kinds[number][0] == 0 for number in range(max(touched, default=0)))
    counts = omitted(fitted)
    assert counts.get("documents-omitted", 0) == summary.documents_total - kinds[1][0]
    assert counts.get("depth-two-directories-omitted", 0) == summary.depth_two_total - kinds[0][0]
    assert counts.get("depth-one-directories-omitted", 0) == len(one) - kinds[4][0]
    assert counts.get("make-targets-omitted", 0) == facts.make_targets_total - kinds[2][0]
    assert counts.get("recent-commits-omitted", 0) == len(facts.recent_commits) - kinds[3][0]
    assert counts.get("entry-points-omitted", 0) == facts.entry_points_total - kinds[5][0]


# The overview.


@given(samples.summaries(), st.integers(200, 900))
def test_an_overview_loses_tails_before_heads_and_counts_what_it_lost(summary: Summary, max_tokens: int) -> None:
    try:
        fitted = overview.build(samples.subject(), summary, max_tokens=max_tokens)
    except BudgetTooSmall:
        return
    shown = {name: len(content(fitted).get(name, ())) for name in ("documents", "languages", "top_level")}
    whole = {
        "documents": len(summary.documents),
        "languages": len(summary.languages),
        "top_level": len(summary.top_level),
    }
    heads = {"documents": 12, "languages": 5, "top_level": 24}
    steps = [(max(shown[n] - heads[n], 0), max(whole[n] - heads[n], 0)) for n in heads]
    steps += [(min(shown[n], heads[n]), min(whole[n], heads[n])) for n in heads]
    touched = [number for number, (left, of) in enumerate(steps) if left < of]
    assert all(steps[number][0] == 0 for number in range(max(touched, default=0)))
    counts = omitted(fitted)
    assert counts.get("documents-omitted", 0) == summary.documents_total - shown["documents"]
    assert counts.get("languages-omitted", 0) == whole["languages"] - shown["languages"]
    assert counts.get("top-level-omitted", 0) == whole["top_level"] - shown["top_level"]


def test_root_entries_come_with_most_files_first() -> None:
    assert [entry["path"] for entry in content(VIEWS["overview"](900))["top_level"]] == [
        "src/",
        "tests/",
        "docs/",
        "README.md",
        '"\\377odd"',
    ]


# Deltas.


def test_changes_begin_with_the_repository_and_digests_are_not_spelled_out() -> None:
    changes = content(VIEWS["delta"](900))["changes"]
    assert changes[:3] == [
        {"kind": "repository.branch_changed", "before": None, "after": "main"},
        {"kind": "repository.head_changed", "before": samples.OLD_HEAD, "after": samples.HEAD},
        {"kind": "repository.working_tree_changed"},
    ]
    assert {"kind": "file.renamed", "path": "b/new.py", "from_path": "a/old.py"} in changes


@pytest.mark.parametrize("view", ["delta", "delta-frozen"])
def test_change_count_is_what_is_shown_and_what_is_omitted(view: str) -> None:
    for tokens in range(smallest(VIEWS[view]), 500, 11):
        fitted = VIEWS[view](tokens)
        shown = content(fitted)
        assert shown["change_count"] == 10
        assert len(shown.get("changes", ())) + omitted(fitted).get("changes-omitted", 0) == 10


@pytest.mark.parametrize(
    ("prefix", "paths"),
    [
        ("a", ["a/0.py", "a/1.py", "a/2.py", "a/3.py", "a/4.py", "b/new.py"]),  # the rename came from there
        ("a/3.py", ["a/3.py"]),
        ("a/3", []),
        ("b", ["b/new.py", '"b/\\377"']),
        ('"b/\\377"', ['"b/\\377"']),
        ("", ["a/0.py", "a/1.py", "a/2.py", "a/3.py", "a/4.py", "b/new.py", '"b/\\377"']),
    ],
)
def test_a_path_keeps_files_at_or_below_it_and_counts_the_others(prefix: str, paths: list[str]) -> None:
    fitted = delta.build(samples.subject(), samples.delta(), max_tokens=900, prefix=prefix)
    shown = content(fitted)
    assert [change["path"] for change in shown["changes"] if "path" in change] == paths
    assert shown["change_count"] == len(shown["changes"])
    warnings = {w["code"]: w.get("count") for w in json.loads(fitted.document)["warnings"]}
    assert warnings.get("changes-outside-path", 0) == 7 - len(paths)


def test_a_path_is_literal_text_and_no_pattern() -> None:
    """The kind of repomix#337: ( ) [ ] { } and * in a path are themselves."""
    odd = ("(x)/[a]*{b}?.py", "x/a.py")
    changes = tuple(Change("file.added", path, None, None, None) for path in odd)
    made = samples.delta(repository_changes=(), changes=changes)
    for path in odd:
        fitted = delta.build(samples.subject(), made, max_tokens=900, prefix=delta.path_prefix(path))
        assert [change["path"] for change in content(fitted)["changes"]] == [path]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("src/", "src"), ("./src//x", "src/x"), (".", ""), ('"\\377"', '"\\377"'), ('"a', '"\\"a"'), ("a b", "a b")],
)
def test_a_typed_path_is_taken_relative_to_the_root(typed: str, meant: str) -> None:
    assert delta.path_prefix(typed) == meant


@pytest.mark.parametrize("typed", ["", "/", "/src", "..", "a/../b", "../x", '"/a'[1:]])
def test_a_path_outside_the_repository_is_a_usage_error(typed: str) -> None:
    with pytest.raises(UsageError):
        delta.path_prefix(typed)


# The verdict's warnings.


class _Seen:
    """The two members of an observation that `drift` looks at."""

    def __init__(self, branch: str | None, head: str | None) -> None:
        self.branch, self.head = branch, head


@pytest.mark.parametrize(
    ("freshness", "branch", "head", "codes"),
    [
        ("current", "main", samples.HEAD, []),
        ("dirty-but-indexed", "main", samples.HEAD, []),
        ("unknown", "main", samples.HEAD, []),
        ("refresh-needed", "main", samples.HEAD, ["working-tree-changed"]),
        ("refresh-needed", "main", samples.OLD_HEAD, ["head-moved"]),
        ("refresh-needed", "other", samples.HEAD, ["branch-changed"]),
        ("refresh-needed", None, None, ["branch-changed", "head-moved"]),
    ],
)
def test_a_stale_verdict_says_what_moved(freshness: Freshness, branch: str, head: str, codes: list[str]) -> None:
    seen: Any = _Seen(branch, head)
    assert [w.code for w in drift(samples.header(), freshness, seen, ())] == codes


def test_an_observations_new_warnings_are_added_and_known_ones_not_repeated() -> None:
    seen: Any = _Seen("main", samples.HEAD)
    observed = (Warning("hidden-edits", 5), Warning("unreadable-folders", 1))
    assert drift(samples.header(), "current", seen, observed) == (Warning("unreadable-folders", 1),)


def test_a_repository_that_could_not_be_observed_says_so() -> None:
    warnings = drift(samples.header(), "unknown", None, (Warning("repository-moved"),))
    subject: Subject = samples.subject(freshness="unknown", drift=warnings)
    document = json.loads(placebo.build(subject, max_tokens=500).document)
    assert {"code": "repository-moved"} in document["warnings"]
    assert document["freshness"] == "unknown"


def test_provenance_names_every_figure_of_the_other_views_and_fits_the_default_budget() -> None:
    fitted = VIEWS["provenance"](500)
    named = {figure["name"] for figure in content(fitted)["figures"]}
    shown = {*content(VIEWS["overview"](900)), *content(VIEWS["ranked"](900)), "changes", "branch", "head", "dirty"}
    assert named == shown | {"freshness", "estimated_tokens"}
    assert omitted(fitted) == {}
