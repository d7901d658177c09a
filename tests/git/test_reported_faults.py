"""Faults that users reported of tools like this one, as far as they are about observing a repository.

Each test is named after a kind of fault and shows that it cannot happen here. (Names that break tools are in
`test_names.py`, dubious ownership in `test_unreadable.py`, a hook's variables in `test_finding.py`.)
"""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from repocue.git.process import Git
from repocue.git.scan import observe
from repocue.git.worktree import find
from tests.git.conftest import Observe, known_of
from tests.support.git_oracle import check
from tests.support.repos import RepoBuilder, Submodule, git


def test_a_commit_without_content_change_still_moves_the_basis(look: Observe, simple: str, env: dict[str, str]) -> None:
    """Kind: a refresh that changes nothing keeps the old commit, so that fresh rows look stale."""
    first = look(simple)
    git(simple, "commit", "-q", "--allow-empty", "-m", "empty", env=env)
    second = look(simple, known_of(first))
    assert second.head == git(simple, "rev-parse", "HEAD").decode().strip() != first.head
    assert second.repository_digest == first.repository_digest
    assert second.status_digest != first.status_digest


def test_a_branch_switch_is_never_missed(look: Observe, simple: str, env: dict[str, str]) -> None:
    """Kind: after a switch the old branch is still served, here even where both branches hold the same commit."""
    first = look(simple)
    git(simple, "switch", "-q", "-c", "side", env=env)
    second = look(simple, known_of(first))
    assert (first.branch, second.branch) == ("main", "side")
    assert second.status_digest != first.status_digest


def test_untouched_files_keep_their_identity_over_commits(look: Observe, simple: str, env: dict[str, str]) -> None:
    """Kind: one new commit marks every file stale."""
    before = {entry.path: entry for entry in look(simple).entries()}
    Path(simple, "src/b.py").write_text("b = 3\n")
    git(simple, "commit", "-q", "-a", "-m", "three", env=env)
    after = {entry.path: entry for entry in look(simple).entries()}
    assert [path for path in after if after[path] != before[path]] == ["src/b.py"]


def test_a_second_scan_costs_what_changed_and_not_what_is_there(look: Observe, tmp_path: Path) -> None:
    """Kind: a warm run reads a huge repository again."""
    files = {f"f{number}": b"%d\n" % number for number in range(500)}
    root = RepoBuilder(tmp_path).commit("one", files).build()
    first = look(root)
    second = look(root, known_of(first))
    assert (second.cost.bytes_read, second.cost.git_processes) == (0, 2)
    Path(root, "f7").write_text("changed\n")
    third = look(root, known_of(second))
    assert third.cost.bytes_read == len("changed\n")


def test_ignored_and_tracked_build_folders_are_not_walked(
    look: Observe, tmp_path: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kinds: a walk over a virtual environment hangs the start; thousands of tracked build files pin the processor."""
    files = {f"node_modules/p{number}/index.js": b"" for number in range(500)}
    root = RepoBuilder(tmp_path).commit("one", {**files, ".gitignore": "/venv/\n"}).build()
    os.makedirs(os.path.join(root, "venv/lib"))
    Path(root, "venv/lib/module.py").write_text("x")

    def walked(*_: object, **__: object) -> None:
        raise AssertionError("a folder was walked")

    monkeypatch.setattr(os, "walk", walked)
    seen = observe(find(root, env), env)
    assert (seen.untracked, seen.is_dirty, seen.cost.git_processes) == ((), False, 2)
    assert len(seen.entries()) == seen.cost.files_scanned == 501


def test_a_huge_generated_file_is_hashed_in_little_memory(tmp_path: Path, env: dict[str, str]) -> None:
    """Kind: one large generated file makes an indexer take all memory. Here git streams it, and we never hold it."""
    root = RepoBuilder(tmp_path / "r").commit("one", {"generated.json": "{}\n"}).build()
    git(root, "config", "core.bigFileThreshold", "16m")
    size = 160 << 20
    with open(os.path.join(root, "generated.json"), "wb") as file:
        file.truncate(size)
    script = tmp_path / "git"
    script.write_text(f'#!/bin/sh\nulimit -v {size // 2048}\nPATH="{env["PATH"]}" exec git "$@"\n')
    script.chmod(0o755)
    limited = {**env, "PATH": f"{tmp_path}:{env['PATH']}"}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seen = observe(find(root, limited), limited)
    assert seen.cost.bytes_read == size
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "cp932"])
def test_a_file_in_any_encoding_is_bytes(look: Observe, tmp_path: Path, env: dict[str, str], encoding: str) -> None:
    """Kind: a file that is not UTF-8 ends the run."""
    root = RepoBuilder(tmp_path).commit("one", {"text": "text\n"}).build()
    Path(root, "text").write_bytes("textü\n".encode(encoding, "replace"))
    check(look(root), root, env)


def test_gitlinks_without_a_submodule_are_listed_with_their_commit(
    look: Observe, tmp_path: Path, env: dict[str, str]
) -> None:
    """Kind: mode 160000 ends the run, or makes the listing empty."""
    root = RepoBuilder(tmp_path).commit("one", {"lib": Submodule("1" * 40), "a": "a\n"}).build()
    seen = look(root)
    check(seen, root, env)
    assert ("160000", "1" * 40, 0, "lib") in seen.entries()


def test_a_checkout_with_crlf_line_endings_is_clean(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    """Kind: every hash differs where line endings are converted on checkout."""
    root = RepoBuilder(tmp_path).commit("one", {"a": "one\ntwo\n", "b": "three\n"}).build(checkout=False)
    plain = RepoBuilder(tmp_path / "plain").commit("one", {"a": "one\ntwo\n", "b": "three\n"}).build()
    git(root, "config", "core.autocrlf", "true")
    Path(root, ".git/info/exclude").write_text("/plain\n")
    git(root, "reset", "-q", "--hard", env=env)
    assert Path(root, "a").read_bytes() == b"one\r\ntwo\r\n"
    seen = look(root)
    assert seen.dirty == ()
    assert seen.repository_digest == look(plain).repository_digest


def test_another_commands_lock_neither_stops_us_nor_is_left_by_us(
    look: Observe, simple: str, env: dict[str, str]
) -> None:
    """Kind: a background git leaves `.git/index.lock` behind, and the user's own command fails."""
    os.utime(os.path.join(simple, "README.md"), (1, 1))  # git would like to refresh the index
    look(simple)
    assert not os.path.exists(os.path.join(simple, ".git/index.lock"))
    Path(simple, ".git/index.lock").write_text("")
    seen = look(simple)
    assert seen.dirty == ()


def test_a_repository_without_commits_has_no_head_to_compare_with(
    look: Observe, tmp_path: Path, env: dict[str, str]
) -> None:
    """Kind: `git diff HEAD` fails where there is no commit."""
    root = RepoBuilder(tmp_path).build()
    Path(root, "a").write_text("a")
    git(root, "add", "a", env=env)
    seen = look(root)
    check(seen, root, env)
    assert (seen.head, seen.staged) == (None, ("a",))


def test_names_with_pattern_characters_are_names(tmp_path: Path, env: dict[str, str]) -> None:
    """Kind: ( ) [ ] { } * ? in paths are taken as patterns."""
    root = RepoBuilder(tmp_path).commit("one", {"a[bc]*?": "x\n", "ab": "y\n", "ab123": "z\n"}).build()
    assert Git(root, env).run("ls-files", "-z", "--", "a[bc]*?") == b"a[bc]*?\0"
    assert Git(root, env).run("ls-files", "-z", "--", ":(glob)a*") == b""
