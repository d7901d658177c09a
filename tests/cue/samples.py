"""Hand-made snapshots, summaries, facts and deltas, and the strategies that vary them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from repocue.cue.subject import Subject
from repocue.domain.delta import Change, Delta, FileKind, RepositoryChange
from repocue.domain.facts import RankedFacts
from repocue.domain.state import SnapshotHeader, Summary, Warning

HEAD = "0123456789abcdef0123456789abcdef01234567"
OLD_HEAD = "89abcdef0123456789abcdef0123456789abcdef"


def header(**changes: Any) -> SnapshotHeader:
    values: dict[str, Any] = {
        "snapshot": "snapshot-000007",
        "epoch": "epoch-000002",
        "branch": "main",
        "head": HEAD,
        "is_dirty": True,
        "status_digest": "sha256:" + "1" * 64,
        "repository_digest": "sha256:" + "2" * 64,
        "index_digest": "sha256:" + "3" * 64,
        "observed_at": "2026-11-30T19:05:07.123Z",
        "warnings": (Warning("hidden-edits", 2), Warning("shallow-history")),
    }
    return SnapshotHeader(**{**values, **changes})


def subject(**changes: Any) -> Subject:
    values: dict[str, Any] = {
        "repository_id": "repo-" + "ab" * 12,
        "repository_name": "prøject",
        "header": header(),
        "freshness": "dirty-but-indexed",
        "drift": (),
    }
    return Subject(**{**values, **changes})


def summary(**changes: Any) -> Summary:
    values: dict[str, Any] = {
        "tracked_files": 321,
        "present_files": 320,
        "size_bytes": 1_234_567,
        "documents": (
            "AGENTS.md",
            "README.md",
            "docs/README.md",
            "CONTRIBUTING.md",
            *(f"docs/{n}.md" for n in range(9)),
        ),
        "documents_total": 240,
        "languages": (("python", 210, 900_000), ("markdown", 60, 300_000), ("json", 50, 34_567)),
        "top_level": (("README.md", 1), ("docs/", 40), ('"\\377odd"', 1), ("src/", 200), ("tests/", 78)),
        "directories": (("docs", "src", "tests"), ("docs/guide", "src/pkg", "tests/data", "tests/unit")),
        "depth_two_total": 5,
        "language_library": "identify 2.6.20",
    }
    return Summary(**{**values, **changes})


def facts(**changes: Any) -> RankedFacts:
    values: dict[str, Any] = {
        "entry_points": ("tool=pkg.cli:main", "src/pkg/__main__.py"),
        "entry_points_total": 2,
        "make_targets": ("all", "test", "lint"),
        "make_targets_total": 43,
        "recent_commits": ("Fix the \N{BUG}", 'Say "so"', "", "Tabs\tand \x1b[31m", "First"),
        "warnings": (Warning("files-not-read", 1),),
    }
    return RankedFacts(**{**values, **changes})


def delta(**changes: Any) -> Delta:
    kinds: tuple[FileKind, ...] = (
        "file.added",
        "file.content_changed",
        "file.deleted",
        "file.metadata_changed",
        "file.restored",
    )
    values: dict[str, Any] = {
        "from_snapshot": "snapshot-000003",
        "to_snapshot": "snapshot-000007",
        "repository_changes": (
            RepositoryChange("repository.branch_changed", None, "main"),
            RepositoryChange("repository.head_changed", OLD_HEAD, HEAD),
            RepositoryChange("repository.working_tree_changed", "sha256:" + "4" * 64, "sha256:" + "5" * 64),
        ),
        "changes": (
            *(Change(kind, f"a/{number}.py", None, None, None) for number, kind in enumerate(kinds)),
            Change("file.renamed", "b/new.py", "a/old.py", None, None),
            Change("file.state_changed", '"b/\\377"', None, None, None),
        ),
    }
    return Delta(**{**values, **changes})


_paths = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=24)


def _distinct(elements: st.SearchStrategy[str], most: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(elements, max_size=most, unique=True).map(tuple)


@st.composite
def summaries(draw: st.DrawFn) -> Summary:
    """Summaries of any content; the totals exceed the lists by a drawn number."""
    documents = draw(_distinct(_paths, 30))
    depth_two = draw(_distinct(_paths, 20))
    return summary(
        documents=documents,
        documents_total=len(documents) + draw(st.sampled_from([0, 1, 9, 1000])),
        languages=tuple(draw(st.lists(st.tuples(_paths, st.integers(1, 99), st.integers(0, 10**9)), max_size=9))),
        top_level=tuple((path, draw(st.integers(1, 99))) for path in draw(_distinct(_paths, 40))),
        directories=(draw(_distinct(_paths, 20)), depth_two),
        depth_two_total=len(depth_two) + draw(st.sampled_from([0, 5])),
    )


@st.composite
def ranked_facts(draw: st.DrawFn) -> RankedFacts:
    entry_points, make_targets = draw(_distinct(_paths, 12)), draw(_distinct(_paths, 20))
    return facts(
        entry_points=entry_points,
        entry_points_total=len(entry_points) + draw(st.sampled_from([0, 7])),
        make_targets=make_targets,
        make_targets_total=len(make_targets) + draw(st.sampled_from([0, 70])),
        recent_commits=tuple(draw(st.lists(st.text(max_size=60), max_size=5))),
        warnings=tuple(draw(st.lists(st.just(Warning("files-not-read", 1)), max_size=1))),
    )
