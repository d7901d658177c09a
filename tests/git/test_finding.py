"""A path leads to its work tree, or to one clear error."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest

from repocue.errors import GitFailed, RepositoryError
from repocue.git.folder import Folder
from repocue.git.scan import observe
from repocue.git.worktree import find
from tests.support.repos import RepoBuilder, git


def refused(path: object, env: dict[str, str]) -> RepositoryError:
    with pytest.raises(RepositoryError) as raised:
        find(str(path), env)
    return raised.value


def test_every_folder_of_a_work_tree_leads_to_its_root(simple: str, env: dict[str, str]) -> None:
    found = find(os.path.join(simple, "src"), env)
    assert found.root == os.fsencode(simple)
    assert found == find(simple, env)
    assert found.name == "simple"
    assert (found.object_format, found.is_shallow, found.git_options) == ("sha1", False, ())


def test_a_symbolic_link_leads_to_the_real_root(simple: str, tmp_path: Path, env: dict[str, str]) -> None:
    os.symlink(simple, tmp_path / "link")
    assert find(str(tmp_path / "link"), env) == find(simple, env)


def test_the_id_is_made_of_the_root_alone(simple: str, env: dict[str, str]) -> None:
    assert find(simple, env).id == "repo-" + sha256(os.fsencode(simple)).hexdigest()[:24]


def test_a_root_whose_name_contains_a_line_break(tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path / "two\nlines\n").commit("one", {"a": "a"}).build()
    found = find(root, env)
    assert found.root == os.fsencode(root)
    assert found.git_dir == os.fsencode(os.path.join(root, ".git"))
    assert found.index_path == os.path.join(found.git_dir, b"index")


def test_a_root_whose_name_is_not_utf8(tmp_path: Path, env: dict[str, str]) -> None:
    root = os.fsencode(tmp_path) + b"/r\xff"
    os.mkdir(root)
    git(root, "init", "-q")
    found = find(os.fsdecode(root), env)
    assert found.root == root
    assert found.name == '"r\\377"'


def test_a_missing_folder(tmp_path: Path, env: dict[str, str]) -> None:
    error = refused(tmp_path / "missing", env)
    assert error.code == "repository.not-found"
    assert str(tmp_path / "missing") in error.message
    assert error.hint is not None


@pytest.mark.parametrize("path", ["README.md", "README.md/below", "nul\0nul", ""])
def test_what_is_no_folder(simple: str, env: dict[str, str], path: str) -> None:
    assert refused(os.path.join(simple, path) if path else path, env).code == "repository.not-found"


def test_a_folder_outside_any_repository(tmp_path: Path, env: dict[str, str]) -> None:
    error = refused(tmp_path, {**env, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    assert error.code == "repository.none"
    assert str(tmp_path) in error.message


def test_an_error_names_the_folder_and_not_a_dot(
    tmp_path: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    env = {**env, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    assert str(tmp_path) in refused(".", env).message
    assert str(tmp_path / "missing") in refused("missing", env).message
    git(tmp_path, "init", "-q", "--bare", "bare")
    monkeypatch.chdir(tmp_path / "bare")
    assert str(tmp_path / "bare") in refused(".", env).message


def test_a_bare_repository(tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path / "bare").commit("one", {"a": "a"}).build(bare=True)
    assert refused(root, env).code == "repository.bare"
    assert refused(os.path.join(root, "refs"), env).code == "repository.bare"


def test_gits_own_folder_is_no_work_tree(simple: str, env: dict[str, str]) -> None:
    error = refused(os.path.join(simple, ".git", "refs"), env)
    assert error.code == "repository.none"
    assert "git's own folder" in error.message


def test_a_damaged_git_file(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    error = refused(tmp_path, env)
    assert error.code in ("repository.unreadable", "repository.none")
    assert str(tmp_path) in error.message


def test_a_configuration_that_git_cannot_parse(simple: str, env: dict[str, str]) -> None:
    Path(simple, ".git/config").write_text("[core\n")
    error = refused(simple, env)
    assert error.code == "repository.unreadable"
    assert "config" in error.message


def test_a_repository_format_from_the_future(simple: str, env: dict[str, str]) -> None:
    git(simple, "config", "core.repositoryFormatVersion", "99")
    error = refused(simple, env)
    assert error.code == "repository.unreadable"
    assert "99" in error.message


def test_git_missing_from_path(simple: str, tmp_path: Path, env: dict[str, str]) -> None:
    error = refused(simple, {**env, "PATH": str(tmp_path)})
    assert isinstance(error, GitFailed)
    assert error.code == "git.missing"
    assert error.hint is not None


@pytest.mark.parametrize(
    "answer",
    [
        'printf "false\\nfalse\\nfalse\\nsha1\\n--path-format=absolute\\n.git\\n--repocue-next\\n.git\\n"; exit 0',
        'printf "false\\nfalse\\n--is-shallow-repository\\n--show-object-format\\n.git\\n"; exit 0',
        "exit 129",
        'echo "fatal: unknown" >&2; exit 128',
    ],
)
def test_a_git_that_is_too_old_is_named_as_such(simple: str, tmp_path: Path, env: dict[str, str], answer: str) -> None:
    """An older `rev-parse` repeats the options that it does not know."""
    script = tmp_path / "git"
    script.write_text(
        '#!/bin/sh\nfor word; do case "$word" in version) echo "git version 2.30.9"; exit 0;; '
        f"rev-parse) {answer};; esac; done\n"
    )
    script.chmod(0o755)
    error = refused(simple, {**env, "PATH": f"{tmp_path}:/bin:/usr/bin"})
    assert error.code == "git.too-old"
    assert "2.30.9" in error.message
    assert "2.31" in error.message


def test_an_answer_that_is_not_understood_is_an_error(simple: str, tmp_path: Path, env: dict[str, str]) -> None:
    script = tmp_path / "git"
    script.write_text('#!/bin/sh\ncase "$*" in *version) echo "git version 9.1";; *) echo hello;; esac\n')
    script.chmod(0o755)
    assert refused(simple, {**env, "PATH": f"{tmp_path}:/bin:/usr/bin"}).code == "git.failed"


def test_a_reported_fault_location_variables_of_a_hook_do_not_lead_elsewhere(
    simple: str, tmp_path: Path, env: dict[str, str]
) -> None:
    """Kind: GIT_DIR and friends, which git sets for hooks, override where a tool looks."""
    other = RepoBuilder(tmp_path / "other").commit("one", {"o": "o"}).build()
    hooked = {
        **env,
        "GIT_DIR": os.path.join(other, ".git"),
        "GIT_WORK_TREE": other,
        "GIT_INDEX_FILE": os.path.join(other, ".git/index"),
        "GIT_COMMON_DIR": os.path.join(other, ".git"),
        "GIT_OBJECT_DIRECTORY": os.path.join(other, ".git/objects"),
        "GIT_PREFIX": "src/",
        "GIT_NAMESPACE": "n",
        "GIT_CONFIG_PARAMETERS": "'core.bare=true'",
        "GIT_CONFIG": "/dev/null",
    }
    assert find(simple, hooked) == find(simple, env)


def test_a_git_folder_that_vanishes_is_not_replaced_by_an_outer_one(simple: str, env: dict[str, str]) -> None:
    inner = os.path.join(simple, "inner")
    RepoBuilder(inner).commit("one", {"a": "a"}).build()
    found = find(inner, env)
    os.rename(os.path.join(inner, ".git"), os.path.join(inner, "git"))
    with pytest.raises(GitFailed):
        observe(found, env)


def test_a_root_that_vanishes_is_one_clear_error(tmp_path: Path, simple: str, env: dict[str, str]) -> None:
    found = find(simple, env)
    os.rename(simple, tmp_path / "moved")
    with pytest.raises(RepositoryError) as raised:
        observe(found, env)
    assert raised.value.code == "repository.not-found"
    with pytest.raises(RepositoryError) as raised:
        Folder(found.root)
    assert raised.value.code == "repository.unreadable"
