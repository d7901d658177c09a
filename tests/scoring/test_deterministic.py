"""The deterministic scorer; expectations come from git itself or are worked out in the test."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.domain.paths import display
from repocue.git.scan import observe
from repocue.git.worktree import find
from repocue.scoring.basis import Basis
from repocue.scoring.deterministic import PathScore, normalized, score
from tests.scoring.answers import HEAD, answer
from tests.support.repos import RepoBuilder, git


def basis(**more: object) -> Basis:
    members = {
        "branch": "main",
        "head": HEAD,
        "is_dirty": False,
        "tracked_changes": frozenset(),
        "untracked": frozenset(),
    }
    return Basis(**{**members, **more})  # type: ignore[arg-type]  # members are given by name


def test_a_right_answer_scores_in_every_field() -> None:
    found = score(answer(), basis())
    assert found.correct() == dict.fromkeys(("branch", "head", "dirty", "tracked_changes", "untracked"), True)
    assert (found.to_json()["fields_scored"], found.to_json()["fields_correct"]) == (5, 5)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"branch": "refs/heads/main"}, "branch"),
        ({"branch": None}, "branch"),
        ({"branch": "Main"}, "branch"),
        ({"branch": ""}, "branch"),
        ({"head": HEAD[:12]}, "head"),
        ({"head": HEAD.upper()}, "head"),
        ({"head": None}, "head"),
        ({"dirty": True}, "dirty"),
        ({"tracked_changes": ["a"]}, "tracked_changes"),
        ({"untracked": ["a"]}, "untracked"),
    ],
)
def test_a_wrong_field_is_wrong_by_itself_and_the_answer_stays_scored(said: dict[str, Any], wrong: str) -> None:
    found = score(answer(**said), basis())
    assert [name for name, verdict in found.correct().items() if not verdict] == [wrong]
    assert (found.to_json()["fields_scored"], found.to_json()["fields_correct"]) == (5, 4)


def test_null_is_right_where_there_is_no_branch_and_no_head_and_an_empty_text_is_not() -> None:
    unborn = basis(branch=None, head=None)
    assert score(answer(branch=None, head=None), unborn).correct() == score(answer(), basis()).correct()
    found = score(answer(branch="", head=""), unborn)
    assert (found.branch, found.head) == (False, False)


def test_precision_and_recall_are_exact_and_divide_out_from_their_numbers() -> None:
    dirty = basis(is_dirty=True, tracked_changes=frozenset({"a", "b", "c"}), untracked=frozenset({"x"}))
    said = answer(dirty=True, tracked_changes=["b", "a", "./b", "z", "y"], untracked=["x"])
    found = score(said, dirty).tracked_changes
    assert found is not None
    assert (found.matched, found.missing, found.unexpected, found.repeated) == (("a", "b"), ("c",), ("y", "z"), 1)
    # Four different paths named, two of them right; three expected, two of them named.
    assert found.to_json() == {
        "correct": False,
        "expected": 3,
        "answered": 4,
        "matched": 2,
        "repeated": 1,
        "precision": {"part": 2, "whole": 4, "value": 0.5, "reason": None},
        "recall": {"part": 2, "whole": 3, "value": 2 / 3, "reason": None},
    }


def test_a_ratio_without_a_denominator_is_null_with_its_reason() -> None:
    nothing = score(answer(), basis()).tracked_changes
    assert nothing is not None
    assert nothing.is_correct
    assert nothing.precision.to_json() == {"part": 0, "whole": 0, "value": None, "reason": "nothing-answered"}
    assert nothing.recall.to_json() == {"part": 0, "whole": 0, "value": None, "reason": "nothing-expected"}
    silent = score(answer(), basis(tracked_changes=frozenset({"a"}))).tracked_changes
    assert silent is not None
    assert (silent.precision.value, silent.recall.value) == (None, 0.0)
    talkative = score(answer(untracked=["a"]), basis()).untracked
    assert talkative is not None
    assert (talkative.precision.value, talkative.recall.value) == (0.0, None)


def test_lists_that_the_evidence_does_not_hold_are_not_scored() -> None:
    dirty = Basis.of_report({"branch": "main", "head": HEAD, "dirty": True})
    found = score(answer(dirty=True, tracked_changes=["a"]), dirty)
    assert found.correct() == {"branch": True, "head": True, "dirty": True, "tracked_changes": None, "untracked": None}
    assert found.to_json()["tracked_changes"] == {"correct": None, "reason": "basis-does-not-list-them"}
    assert (found.to_json()["fields_scored"], found.to_json()["fields_correct"]) == (3, 3)
    clean = Basis.of_report({"branch": "main", "head": HEAD, "dirty": False})
    assert score(answer(), clean).to_json()["fields_scored"] == 5
    listed = Basis.of_report({"branch": "main", "head": HEAD, "dirty": True}, tracked_changes=["a"], untracked=[])
    assert score(answer(dirty=True, tracked_changes=["a"]), listed).to_json()["fields_correct"] == 5


def test_the_basis_of_a_real_repository_is_what_git_lists(tmp_path: Path, env: dict[str, str]) -> None:
    files: dict[str, str] = {
        name: f"{name}\n" for name in ("staged", "unstaged", "both", "gone", "old", "clean", "conflict")
    }
    builder = RepoBuilder(tmp_path / "r").commit("one", files)
    builder.commit("theirs", {"conflict": "theirs\n"}, branch="side").commit("ours", {"conflict": "ours\n"})
    root = builder.build()
    git(root, "merge", "-q", "side", ok=(1,))
    for name in ("staged", "unstaged", "both"):
        Path(root, name).write_text("changed\n")
    git(root, "add", "staged", "both")
    Path(root, "both").write_text("changed again\n")
    os.unlink(os.path.join(root, "gone"))
    git(root, "mv", "old", "new")
    os.mkdir(os.path.join(root, "folder"))
    Path(root, "folder", "é").write_text("x")
    Path(os.fsdecode(os.fsencode(root) + b"/folder/\xff")).write_text("x")
    Path(root, ".gitignore").write_text("ignored\n")
    Path(root, "ignored").write_text("x")

    found = Basis.of_observation(observe(find(root, env), env))
    changed = git(root, "diff", "--name-only", "--no-renames", "-z") + git(
        root, "diff", "--cached", "--name-only", "--no-renames", "-z"
    )
    untracked = git(root, "ls-files", "--others", "--exclude-standard", "-z")
    assert found.tracked_changes == frozenset({display(path) for path in changed.split(b"\0") if path})
    assert found.untracked == frozenset({display(path) for path in untracked.split(b"\0") if path})
    assert (found.branch, found.is_dirty) == ("main", True)
    assert found.head == git(root, "rev-parse", "HEAD").decode().strip()

    # An answer that copies the plain and quoted names git prints for people is right.
    shown = git(root, "ls-files", "--others", "--exclude-standard").decode().splitlines()
    assert score(answer(untracked=shown), found).correct()["untracked"] is True


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [
        ("./a", "a"),
        ("././a//b///c", "a/b/c"),
        ('"caf\\303\\251.txt"', "café.txt"),
        ('"a\\"b\\\\c\\td"', 'a"b\\c\td'),
        ('"\\377"', '"\\377"'),
        ("a/", "a/"),
        ("/a", "/a"),
        ("a -> b", "a -> b"),
        ("a/../b", "a/../b"),
        (" a", " a"),
        ('"', '"'),
        ('"unfinished\\"', '"unfinished\\"'),
        ("", ""),
        ("\ud800", "\ud800"),
    ],
)
def test_only_spellings_that_cannot_mean_another_file_are_made_equal(spelled: str, meant: str) -> None:
    assert normalized(spelled) == meant


PATHS = st.lists(st.sampled_from(["a", "b", "c", "d/e", "./a", "x"]), max_size=8)


@given(
    st.binary(min_size=1, max_size=12).filter(
        lambda path: b"\0" not in path and not path.startswith((b"/", b"./")) and b"//" not in path
    )
)
def test_every_path_that_git_can_hold_is_its_own_normal_form(path: bytes) -> None:
    assert normalized(display(path)) == display(path)


@given(PATHS, PATHS)
def test_the_counts_are_those_of_plain_set_arithmetic(said: list[str], true: list[str]) -> None:
    expected = frozenset(path.removeprefix("./") for path in true)
    found = score(answer(tracked_changes=said), basis(tracked_changes=expected)).tracked_changes
    assert isinstance(found, PathScore)
    named = [path.removeprefix("./") for path in said]
    right = sum(path in expected for path in set(named))
    assert found.is_correct == (set(named) == set(expected))
    assert found.repeated == len(named) - len(set(named))
    for ratio, whole in ((found.precision, len(set(named))), (found.recall, len(expected))):
        assert (ratio.part, ratio.whole) == (right, whole)
        assert ratio.value == (float(Fraction(right, whole)) if whole else None)


def test_the_score_as_json_holds_no_text_of_the_answer() -> None:
    found = score(answer(branch="secret-b", head="secret-h", tracked_changes=["secret-p"]), basis())
    assert "secret" not in repr(found.to_json())
