"""What an evaluation writes lies outside the evaluated checkout, whatever the path looks like."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from repocue.errors import EvaluationError
from repocue.evaluation.shared.isolation import outside
from tests.support.repos import RepoBuilder, git


@dataclass(frozen=True)
class Folders:
    root: bytes
    git_dir: bytes
    common_dir: bytes


def checkout_of(root: str) -> Folders:
    """The three folders as git itself names them."""
    lines = git(root, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    return Folders(*(os.path.realpath(line) for line in lines.splitlines()))


@pytest.fixture
def repository(tmp_path: Path) -> str:
    return RepoBuilder(tmp_path / "checkout").commit("one", {"src/a.py": "x = 1\n"}).build()


@pytest.fixture
def linked(tmp_path: Path, repository: str) -> str:
    """A linked worktree of `repository`, elsewhere."""
    git(repository, "worktree", "add", "-q", str(tmp_path / "linked"))
    return os.path.realpath(tmp_path / "linked")


def refused(checkout: Folders, path: str | Path) -> str:
    with pytest.raises(EvaluationError) as caught:
        outside(checkout, str(path))
    assert caught.value.code == "evaluation.inside-checkout"
    return caught.value.message


def test_the_checkout_and_everything_in_it_is_inside_also_what_does_not_exist_yet(repository: str) -> None:
    checkout = checkout_of(repository)
    for path in (".", "src", "src/a.py", "new", "new/deeper/still", ".git", ".git/new/deep"):
        assert repository in refused(checkout, os.path.join(repository, path))


def test_neighbours_and_parents_of_the_checkout_are_outside(repository: str, tmp_path: Path) -> None:
    checkout = checkout_of(repository)
    for path in (tmp_path, tmp_path / "checkout-evidence", tmp_path / "new" / "deep", "/"):
        assert outside(checkout, str(path)) == os.path.realpath(path)


def test_dots_are_resolved_before_the_comparison(repository: str, tmp_path: Path) -> None:
    checkout = checkout_of(repository)
    refused(checkout, f"{tmp_path}/elsewhere/../checkout/out")
    assert outside(checkout, f"{repository}/../out") == os.path.realpath(tmp_path / "out")


def test_links_lead_where_they_lead_also_dangling_ones_and_those_above_missing_parents(
    repository: str, tmp_path: Path
) -> None:
    checkout = checkout_of(repository)
    (tmp_path / "into").symlink_to(os.path.join(repository, "src"))
    (tmp_path / "dangling").symlink_to(os.path.join(repository, "not", "there"))
    (tmp_path / "second").symlink_to("into")
    for path in ("into", "into/new/deep", "dangling", "dangling/new", "second/x"):
        refused(checkout, tmp_path / path)
    os.symlink(tmp_path / "away", os.path.join(repository, "out-link"))
    assert outside(checkout, os.path.join(repository, "out-link", "x")) == os.path.realpath(tmp_path / "away" / "x")


def test_a_linked_worktree_protects_its_own_tree_its_git_folder_and_the_common_folder(
    repository: str, linked: str, tmp_path: Path
) -> None:
    checkout = checkout_of(linked)
    assert checkout.git_dir != checkout.common_dir
    refused(checkout, os.path.join(linked, "out"))
    refused(checkout, os.fsdecode(checkout.git_dir) + "/out")
    refused(checkout, os.fsdecode(checkout.common_dir) + "/objects/out")
    assert outside(checkout, os.path.join(repository, "out")) == os.path.join(repository, "out")


def test_the_relative_path_of_a_process_inside_the_checkout_is_inside(
    repository: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(os.path.join(repository, "src"))
    refused(checkout_of(repository), "out")


def test_the_same_folder_under_another_name_is_inside(repository: str, tmp_path: Path) -> None:
    """A bind mount has the inode of what it shows and no link to follow."""
    other = tmp_path / "mounted"
    other.mkdir()
    if subprocess.run(["mount", "--bind", repository, other], capture_output=True).returncode:
        pytest.skip("this user cannot mount")
    try:
        refused(checkout_of(repository), other / "src" / "new")
    finally:
        subprocess.run(["umount", other], check=True)


@pytest.mark.parametrize("name", ["loop", "loop/new", "nul\0byte"])
def test_a_path_that_leads_nowhere_is_one_clear_error(repository: str, tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to("pool")
    (tmp_path / "pool").symlink_to("loop")
    with pytest.raises(EvaluationError) as caught:
        outside(checkout_of(repository), os.path.join(tmp_path, name))
    assert caught.value.code == "evaluation.path"


def test_a_name_that_is_no_utf8_is_handled_and_shown(repository: str, tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff\xfe")
    checkout = checkout_of(repository)
    assert outside(checkout, os.path.join(tmp_path, name)) == os.path.join(os.path.realpath(tmp_path), name)
    assert "\\xff\\xfe" in refused(checkout, os.path.join(repository, name)).encode("utf-8").decode()
