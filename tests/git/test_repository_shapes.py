"""Repositories of every kind are observed as git itself describes them, and nothing in them is touched."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from repocue.errors import GitFailed, RepositoryError
from repocue.git.scan import observe
from repocue.git.worktree import find
from tests.git.conftest import Observe, known_of
from tests.support.git_oracle import check, untouched
from tests.support.repos import File, RepoBuilder, Submodule, Symlink, git


def test_a_clean_repository(look: Observe, simple: str, env: dict[str, str]) -> None:
    seen = look(simple)
    check(seen, simple, env)
    assert not seen.is_dirty
    assert seen.dirty == ()
    assert seen.warnings == ()
    assert (seen.cost.git_processes, seen.cost.files_scanned, seen.cost.bytes_read) == (2, 3, 0)


def test_an_empty_folder_that_is_an_unborn_repository(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    git(tmp_path, "init", "-q", "-b", "trunk")
    seen = look(str(tmp_path))
    check(seen, str(tmp_path), env)
    assert (seen.branch, seen.head, seen.entries(), seen.is_dirty) == ("trunk", None, (), False)


def test_an_unborn_repository_with_staged_and_untracked_files(
    look: Observe, tmp_path: Path, env: dict[str, str]
) -> None:
    root = RepoBuilder(tmp_path).build()
    for name in ("staged", "edited", "gone", "untracked"):
        Path(root, name).write_text(name)
    git(root, "add", "staged", "edited", "gone", env=env)
    Path(root, "edited").write_text("edited again")
    Path(root, "gone").unlink()
    seen = look(root)
    check(seen, root, env)
    assert [(file.path, file.xy) for file in seen.dirty] == [("edited", "AM"), ("gone", "AD"), ("staged", "A.")]


def test_a_repository_whose_only_commit_is_empty(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path).commit("nothing", {}).build()
    seen = look(root)
    check(seen, root, env)
    assert seen.head is not None
    assert seen.entries() == ()


def test_a_detached_head(look: Observe, simple: str, env: dict[str, str]) -> None:
    git(simple, "checkout", "-q", "--detach", "HEAD~1", env=env)
    seen = look(simple)
    check(seen, simple, env)
    assert seen.branch is None
    assert seen.head == git(simple, "rev-parse", "main~1").decode().strip()


def test_a_branch_whose_name_is_gits_word_for_a_detached_head(look: Observe, simple: str, env: dict[str, str]) -> None:
    git(simple, "switch", "-q", "-c", "(detached)", env=env)
    assert look(simple).branch == "(detached)"
    git(simple, "switch", "-q", "--detach", env=env)
    assert look(simple).branch is None


def test_a_damaged_branch_is_an_error_and_no_unborn_branch(simple: str, env: dict[str, str], look: Observe) -> None:
    """git status shows such a repository as one without commits, with every file staged."""
    Path(simple, ".git/refs/heads/main").write_text("damaged\n")
    assert b"# branch.oid (initial)\n# branch.head (unknown)\n" in git(simple, "status", "--porcelain=v2", "--branch")
    with pytest.raises(GitFailed) as raised:
        look(simple)
    assert raised.value.code == "git.damaged-head"
    assert simple in raised.value.message


def test_an_unborn_branch_may_be_called_unknown(tmp_path: Path, env: dict[str, str], look: Observe) -> None:
    git(tmp_path, "init", "-q", "-b", "(unknown)", env=env)
    seen = look(str(tmp_path))
    assert (seen.branch, seen.head) == ("(unknown)", None)


def test_a_branch_name_that_is_not_utf8(look: Observe, simple: str, env: dict[str, str]) -> None:
    git(simple, "switch", "-q", "-c", b"b\xff", env=env)
    assert look(simple).branch == '"b\\377"'


def test_a_linked_worktree(look: Observe, simple: str, tmp_path: Path, env: dict[str, str]) -> None:
    linked = str(tmp_path / "linked")
    git(simple, "worktree", "add", "-q", "-b", "side", linked, env=env)
    Path(linked, "README.md").write_text("changed there\n")
    seen = look(linked, also=(simple,))
    check(seen, linked, env)
    assert (seen.branch, seen.unstaged) == ("side", ("README.md",))
    assert look(simple).unstaged == ()
    found = find(linked, env)
    assert found.root == os.fsencode(linked)
    assert found.common_dir == os.fsencode(os.path.join(simple, ".git"))
    assert found.git_dir == os.path.join(found.common_dir, b"worktrees", b"linked")
    assert found.id != find(simple, env).id


def test_a_linked_worktree_of_a_bare_repository(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    bare = RepoBuilder(tmp_path / "bare").commit("one", {"a": "a\n"}).build(bare=True)
    linked = str(tmp_path / "linked")
    git(bare, "worktree", "add", "-q", linked, "main", env=env)
    seen = look(linked, also=(bare,))
    check(seen, linked, env)
    assert [entry.path for entry in seen.entries()] == ["a"]


def test_a_git_folder_whose_work_tree_is_elsewhere(
    look: Observe, simple: str, tmp_path: Path, env: dict[str, str]
) -> None:
    """`core.worktree`: git, started in that work tree, would not find the git folder by itself."""
    apart = tmp_path / "apart"
    shutil.copytree(simple, apart, ignore=shutil.ignore_patterns(".git"))
    git(simple, "config", "core.worktree", str(apart))
    Path(apart, "README.md").write_text("another text\n")
    found = find(os.path.join(simple, ".git"), env)
    assert found.root == os.fsencode(apart)
    with untouched(simple, str(apart)):
        seen = observe(found, env)
    assert "README.md" in seen.unstaged
    assert seen.head == git(simple, "rev-parse", "HEAD").decode().strip()


def test_a_separate_git_folder(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    root = tmp_path / "tree"
    git(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "kept"), str(root))
    (root / "a").write_text("a")
    seen = look(str(root))
    check(seen, str(root), env)
    assert find(str(root), env).git_dir == os.fsencode(tmp_path / "kept")


def test_the_sha256_object_format(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    root = (
        RepoBuilder(tmp_path, object_format="sha256").commit("one", {"a": "a\n", "b": "b\n", "l": Symlink("a")}).build()
    )
    Path(root, "a").write_text("edited\n")
    Path(root, "b").unlink()
    seen = look(root)
    check(seen, root, env)
    assert seen.object_format == "sha256"
    assert [len(file.content_id or "") for file in seen.dirty] == [64, 0]


def test_a_shallow_clone_says_that_its_history_is_cut(
    look: Observe, simple: str, tmp_path: Path, env: dict[str, str]
) -> None:
    clone = str(tmp_path / "clone")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{simple}", clone, env=env)
    seen = look(clone)
    check(seen, clone, env)
    assert [tuple(warning) for warning in seen.warnings] == [("shallow-history", None)]


def test_a_partial_clone_is_observed_without_its_remote(
    look: Observe, simple: str, tmp_path: Path, env: dict[str, str]
) -> None:
    git(simple, "config", "uploadpack.allowFilter", "true")
    clone = str(tmp_path / "clone")
    git(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{simple}", clone, env=env)
    git(clone, "sparse-checkout", "set", "--no-cone", "/README.md", env=env)
    git(clone, "checkout", "-q", "main", env=env)
    os.rename(simple, simple + "-unreachable")
    Path(clone, "README.md").write_text("edited\r\n")
    Path(clone, ".gitattributes").write_text("* text=auto\n")
    seen = look(clone)
    check(seen, clone, env)
    assert [tuple(warning) for warning in seen.warnings] == [("sparse-checkout", 2), ("partial-clone", None)]
    assert git(clone, "rev-list", "--objects", "--missing=print", "HEAD").count(b"?") == 2  # nothing was fetched


def test_a_partial_clone_that_lacks_an_object_git_needs_says_how_to_get_it(
    simple: str, tmp_path: Path, env: dict[str, str]
) -> None:
    git(simple, "config", "uploadpack.allowFilter", "true")
    clone = str(tmp_path / "clone")
    git(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{simple}", clone, env=env)
    git(clone, "sparse-checkout", "set", "--no-cone", "/README.md", env=env)
    git(clone, "checkout", "-q", "main", env=env)
    Path(clone, ".gitattributes").write_text("* text=auto\n")
    os.mkdir(os.path.join(clone, "src"))
    Path(clone, "src/a.py").write_text("written by hand\r\n")
    with pytest.raises(RepositoryError) as raised:
        observe(find(clone, env), env)
    assert raised.value.code == "git.missing-object"
    assert "git status" in (raised.value.hint or "")
    git(clone, "status", env=env)
    check(observe(find(clone, env), env), clone, env)


def test_a_submodule_that_is_clean_dirty_or_not_initialised(
    look: Observe, simple: str, tmp_path: Path, env: dict[str, str]
) -> None:
    root = RepoBuilder(tmp_path / "outer").commit("one", {"a": "a\n"}).build()
    local = {**env, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"}
    for name in ("clean", "edited", "moved", "untracked", "uninitialised"):
        git(root, "submodule", "--quiet", "add", simple, name, env=local)
    git(root, "commit", "-q", "-m", "submodules", env=env)
    git(root, "submodule", "--quiet", "deinit", "-f", "uninitialised", env=env)
    Path(root, "edited", "README.md").write_text("edited\n")
    Path(root, "untracked", "new").write_text("new\n")
    git(os.path.join(root, "moved"), "checkout", "-q", "HEAD~1", env=env)
    seen = look(root)
    check(seen, root, env)
    recorded = git(simple, "rev-parse", "main").decode().strip()
    older = git(simple, "rev-parse", "main~1").decode().strip()
    assert [tuple(file) for file in seen.dirty] == [
        ("edited", ".M", "160000", recorded, 0),
        ("moved", ".M", "160000", older, 0),
        ("untracked", ".M", "160000", recorded, 0),
    ]
    assert [tuple(warning) for warning in seen.warnings] == [("unindexed-submodules", 5)]
    inside = look(os.path.join(root, "edited"))
    check(inside, os.path.join(root, "edited"), env)


def test_a_submodule_entry_whose_folder_is_missing_is_a_deleted_one(
    look: Observe, tmp_path: Path, env: dict[str, str]
) -> None:
    root = RepoBuilder(tmp_path).commit("one", {"sub": Submodule("1" * 40), "kept": Submodule("2" * 40)}).build()
    os.rmdir(os.path.join(root, "sub"))
    seen = look(root)
    check(seen, root, env)
    assert [(file.path, file.xy) for file in seen.dirty] == [("sub", ".D")]


def test_nested_repositories_are_one_untracked_path_each(look: Observe, simple: str, env: dict[str, str]) -> None:
    for name in ("unborn", "deep/with-commit"):
        os.makedirs(os.path.join(simple, name))
        git(os.path.join(simple, name), "init", "-q")
    inner = os.path.join(simple, "deep/with-commit")
    Path(inner, "file").write_text("x")
    git(inner, "commit", "-q", "--allow-empty", "-m", "one", env=env)
    seen = look(simple)
    check(seen, simple, env)
    assert [tuple(path) for path in seen.untracked] == [("deep/with-commit/", "repository"), ("unborn/", "repository")]
    assert [tuple(warning) for warning in seen.warnings] == [("nested-repositories", 2)]


def test_a_sparse_checkout_lists_what_it_leaves_out_and_is_not_dirty(
    look: Observe, tmp_path: Path, env: dict[str, str]
) -> None:
    root = (
        RepoBuilder(tmp_path).commit("one", {"in/a": "a\n", "out/b": "b\n", "out/deep/c": "c\n", "top": "t\n"}).build()
    )
    git(root, "sparse-checkout", "set", "--cone", "in", env=env)
    seen = look(root)
    check(seen, root, env, hidden=True)
    assert not seen.is_dirty
    assert [tuple(file) for file in seen.dirty] == [
        ("out/b", ".s", None, None, None),
        ("out/deep/c", ".s", None, None, None),
    ]
    assert [tuple(warning) for warning in seen.warnings] == [("sparse-checkout", 2)]


def test_a_sparse_index_shows_the_same_entries_as_a_full_one(
    look: Observe, tmp_path: Path, env: dict[str, str]
) -> None:
    root = RepoBuilder(tmp_path).commit("one", {"in/a": "a\n", "out/b": "b\n", "out/deep/c": "c\n"}).build()
    git(root, "sparse-checkout", "set", "--cone", "in", env=env)
    full = look(root)
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "in", env=env)
    assert b"040000" in git(root, "ls-files", "-s", "--sparse", env=env)
    Path(root, "in/a").write_text("edited\n")
    seen = look(root)
    check(seen, root, env, hidden=True)
    assert seen.index_digest == full.index_digest
    assert [file.path for file in seen.dirty] == ["in/a", "out/b", "out/deep/c"]


def test_a_split_index(look: Observe, simple: str, env: dict[str, str]) -> None:
    git(simple, "update-index", "--split-index", env=env)
    git(simple, "config", "core.splitIndex", "true")
    Path(simple, "README.md").write_text("edited\n")
    Path(simple, "staged").write_text("staged\n")
    git(simple, "add", "staged", env=env)
    assert [name for name in os.listdir(os.path.join(simple, ".git")) if name.startswith("sharedindex")]
    git_folder = os.listdir(os.path.join(simple, ".git"))
    seen = observe(find(simple, env), env)  # git may freshen the shared index's time: that is not its content
    assert sorted(os.listdir(os.path.join(simple, ".git"))) == sorted(git_folder)
    check(seen, simple, env)
    assert [(file.path, file.xy) for file in seen.dirty] == [("README.md", ".M"), ("staged", "A.")]


def test_an_untracked_cache_changes_nothing(look: Observe, simple: str, env: dict[str, str]) -> None:
    Path(simple, "src/new").write_text("new\n")
    before = look(simple)
    git(simple, "config", "core.untrackedCache", "true")
    git(simple, "update-index", "--force-untracked-cache", env=env)
    git(simple, "status", env=env)
    seen = look(simple)
    check(seen, simple, env)
    assert (seen.index_digest, seen.status_digest, seen.repository_digest) == (
        before.index_digest,
        before.status_digest,
        before.repository_digest,
    )


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_index_version(look: Observe, simple: str, env: dict[str, str], version: str) -> None:
    before = look(simple)
    git(simple, "update-index", "--index-version", version, env=env)
    seen = look(simple)
    check(seen, simple, env)
    assert seen.index_digest == before.index_digest


def test_ignored_folders_are_not_part_of_the_state(look: Observe, simple: str, env: dict[str, str]) -> None:
    Path(simple, ".gitignore").write_text("/venv/\n*.log\n")
    git(simple, "add", ".gitignore", env=env)
    before = look(simple)
    os.makedirs(os.path.join(simple, "venv/lib"))
    Path(simple, "venv/lib/module.py").write_text("x")
    Path(simple, "a.log").write_text("x")
    seen = look(simple)
    check(seen, simple, env)
    assert (seen.status_digest, seen.untracked) == (before.status_digest, ())


def test_two_clones_with_another_history_of_observation_agree_on_every_digest(
    look: Observe, simple: str, tmp_path: Path, env: dict[str, str]
) -> None:
    """No stat data, no time, no configuration of the user's is part of a digest."""
    other = str(tmp_path / "elsewhere")
    git(tmp_path, "clone", "-q", simple, other, env=env)
    for root in (simple, other):
        Path(root, "README.md").write_text("edited\n")
        Path(root, "new").write_text("new\n")
    first = look(simple)
    again = look(simple, known_of(first))
    personal = {**env, "GIT_CONFIG_GLOBAL": str(tmp_path / "gitconfig")}
    (tmp_path / "gitconfig").write_text(
        "[status]\nshowUntrackedFiles=no\nbranch=false\nrenames=copies\nrelativePaths=true\nshowStash=true\n"
        "[core]\nquotePath=false\n[diff]\nignoreSubmodules=all\nnoprefix=true\n[color]\nui=always\n"
        "[submodule]\nrecurse=true\n[index]\nversion=4\n"
    )
    elsewhere = observe(find(os.path.join(other, "src"), personal), personal)
    for seen in (again, elsewhere):
        assert (seen.index_digest, seen.status_digest, seen.repository_digest) == (
            first.index_digest,
            first.status_digest,
            first.repository_digest,
        )


def test_a_damaged_index_is_one_clear_error(simple: str, env: dict[str, str]) -> None:
    found = find(simple, env)
    Path(simple, ".git/index").write_bytes(b"DIRC not an index")
    with pytest.raises(RepositoryError) as raised:
        observe(found, env)
    assert raised.value.code == "git.failed"
    assert "index" in raised.value.message


def test_executable_files_keep_their_mode(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path).commit("one", {"run": File(b"#!/bin/sh\n", "100755")}).build()
    seen = look(root)
    check(seen, root, env)
    assert seen.entries()[0].mode == "100755"
