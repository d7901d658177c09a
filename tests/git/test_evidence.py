"""Captures see every change that matters to an evaluation, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from repocue.errors import EvidenceError, RepositoryMoved
from repocue.git import evidence, trace2
from repocue.git.evidence import Capture, capture
from repocue.git.worktree import find
from tests.git.conftest import let_the_clock_tick
from tests.support.git_oracle import added, digest, entries, text, untouched
from tests.support.repos import RepoBuilder, git

Change = Callable[[str, dict[str, str]], object]


@pytest.fixture
def root(tmp_path: Path, env: dict[str, str]) -> str:
    """A repository with edited, untracked and ignored files, an untracked link, a nested repository and a stash."""
    builder = RepoBuilder(tmp_path / "r")
    builder.commit("one", {"a": "a\n", "b": "b\n", ".gitignore": "ignored\n"}).commit("two", {"c": "c\n"})
    path = builder.build()
    Path(path, "a").write_text("stashed\n")
    git(path, "stash", "-q", env=env)
    Path(path, "b").write_text("edited\n")
    Path(path, "untracked").write_text("untracked\n")
    Path(path, "ignored").write_text("ignored\n")
    os.symlink("b", os.path.join(path, "link"))
    nested = os.path.join(path, "nested")
    os.mkdir(nested)
    git(nested, "init", "-q")
    git(nested, "commit", "-q", "--allow-empty", "-m", "one", env=env)
    return path


def taken(root: str, env: dict[str, str], earlier: Capture | None = None) -> Capture:
    with untouched(root):
        return capture(find(root, env), env, earlier=earlier)


def test_a_fingerprint_is_the_digest_of_what_git_and_the_files_say(root: str, env: dict[str, str]) -> None:
    found = taken(root, env)
    untracked = [
        ["link", "symlink", "sha256:" + sha256(b"b").hexdigest()],
        ["nested/", "repository", git(os.path.join(root, "nested"), "rev-parse", "HEAD").decode().strip()],
        ["untracked", "file", "sha256:" + sha256(b"untracked\n").hexdigest()],
    ]
    mode, oid = added(root, env=env)[b"b"]
    assert found.untracked_content_digest == digest({"untracked": untracked})
    assert found.state_fingerprint == digest(
        {
            "object_format": "sha1",
            "head": git(root, "rev-parse", "HEAD").decode().strip(),
            "branch": "main",
            "entries": [[mode, oid, stage, text(path)] for mode, oid, stage, path in entries(root)],
            "dirty_entries": [["b", mode, oid]],
            "untracked": untracked,
        }
    )
    assert found.at == found.observation.observed_at


SEEN: dict[str, Change] = {
    "an edit": lambda root, env: Path(root, "a").write_text("edited\n"),
    "another edit of an edited file": lambda root, env: Path(root, "b").write_text("EDITED\n"),
    "an undone edit": lambda root, env: Path(root, "b").write_text("b\n"),
    "a staged edit": lambda root, env: git(root, "add", "b", env=env),
    "a new file": lambda root, env: Path(root, "new").write_text(""),
    "an edit of an untracked file": lambda root, env: Path(root, "untracked").write_text("UNTRACKED\n"),
    "a removed untracked file": lambda root, env: os.remove(os.path.join(root, "untracked")),
    "a link that leads elsewhere": lambda root, env: (
        os.remove(os.path.join(root, "link")),
        os.symlink("a", os.path.join(root, "link")),
    ),
    "a file in place of a link": lambda root, env: (
        os.remove(os.path.join(root, "link")),
        Path(root, "link").write_text("b"),
    ),
    "a commit in a nested repository": lambda root, env: git(
        os.path.join(root, "nested"), "commit", "-q", "--allow-empty", "-m", "two", env=env
    ),
    "a mode": lambda root, env: os.chmod(os.path.join(root, "a"), 0o755),
    "another branch at the same commit": lambda root, env: git(root, "switch", "-q", "-c", "side", env=env),
    "a detached HEAD": lambda root, env: git(root, "checkout", "-q", "--detach", env=env),
    "a commit": lambda root, env: git(root, "commit", "-q", "--allow-empty", "-m", "x", env=env),
    "a deletion": lambda root, env: os.remove(os.path.join(root, "c")),
    "an edit that assume-unchanged hides": lambda root, env: (
        git(root, "update-index", "--assume-unchanged", "a", env=env),
        Path(root, "a").write_text("hidden\n"),
    ),
}

GUARDED: dict[str, Change] = {
    "a tag": lambda root, env: git(root, "tag", "new", env=env),
    "a branch elsewhere": lambda root, env: git(root, "branch", "new", "HEAD~1", env=env),
    "a moved branch": lambda root, env: (
        git(root, "branch", "other", env=env),
        git(root, "branch", "-f", "other", "HEAD~1", env=env),
    ),
    "a dropped stash": lambda root, env: git(root, "stash", "drop", "-q", env=env),
    "a configuration": lambda root, env: git(root, "config", "user.name", "Mallory"),
    "what git ignores": lambda root, env: Path(root, ".git/info/exclude").write_text("hidden\n"),
    "attributes beside the work tree's": lambda root, env: Path(root, ".git/info/attributes").write_text("*.x text\n"),
    "a commit made and undone": lambda root, env: (
        git(root, "commit", "-q", "--allow-empty", "-m", "x", env=env),
        git(root, "reset", "-q", "--soft", "HEAD~1", env=env),
    ),
}

UNSEEN: dict[str, Change] = {
    "nothing": lambda root, env: None,
    "an edit of an ignored file": lambda root, env: Path(root, "ignored").write_text("changed\n"),
    "new times in the index alone": lambda root, env: git(root, "update-index", "-q", "--refresh", env=env, ok=(0, 1)),
    "a touched file": lambda root, env: os.utime(os.path.join(root, "a"), (1, 1)),
    "packed refs": lambda root, env: git(root, "pack-refs", "--all", env=env),
    "packed objects": lambda root, env: git(root, "repack", "-q", "-a", "-d", env=env),
}


@pytest.mark.parametrize("name", SEEN)
def test_a_fingerprint_sees(root: str, env: dict[str, str], name: str) -> None:
    before = taken(root, env)
    SEEN[name](root, env)
    after = taken(root, env, before)
    assert after.state_fingerprint != before.state_fingerprint
    assert after.state_fingerprint == taken(root, env).state_fingerprint


@pytest.mark.parametrize("name", GUARDED)
def test_the_guard_sees(root: str, env: dict[str, str], name: str) -> None:
    before = taken(root, env)
    GUARDED[name](root, env)
    after = taken(root, env, before)
    assert after.guard_digest != before.guard_digest
    assert after.state_fingerprint == before.state_fingerprint


@pytest.mark.parametrize("name", UNSEEN)
def test_neither_changes_with(root: str, env: dict[str, str], name: str) -> None:
    before = taken(root, env)
    UNSEEN[name](root, env)
    after = taken(root, env)
    assert (after.state_fingerprint, after.guard_digest) == (before.state_fingerprint, before.guard_digest)


def test_a_second_capture_reads_only_what_changed(root: str, env: dict[str, str]) -> None:
    Path(root, "more").write_text("more\n")
    let_the_clock_tick(os.path.join(root, "untracked"), os.path.join(root, "more"), os.path.join(root, "b"))
    first = taken(root, env)
    assert first.bytes_read == len("untracked\n" + "more\n")
    second = taken(root, env, first)
    assert (second.bytes_read, second.observation.cost.bytes_read) == (0, 0)
    Path(root, "more").write_text("MORE\n")
    third = taken(root, env, second)
    assert third.bytes_read == len("MORE\n")
    assert third.untracked_content_digest == taken(root, env).untracked_content_digest


def test_the_guard_sees_edits_inside_a_submodule_that_was_dirty_before(
    root: str, tmp_path: Path, env: dict[str, str]
) -> None:
    local = {**env, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"}
    outer = RepoBuilder(tmp_path / "outer").commit("one", {"x": "x\n"}).build()
    git(outer, "submodule", "--quiet", "add", root, "sub", env=local)
    Path(outer, "sub/a").write_text("edited\n")
    before = taken(outer, env)
    Path(outer, "sub/a").write_text("edited again\n")
    after = taken(outer, env)
    assert after.state_fingerprint == before.state_fingerprint
    assert after.guard_digest != before.guard_digest
    git(outer, "submodule", "--quiet", "deinit", "-f", "sub", env=env)
    assert taken(outer, env).guard_digest != after.guard_digest


def test_the_nested_repositories_head_is_its_own(root: str, env: dict[str, str]) -> None:
    """Where a nested git folder is broken, git would look further up and give the outer HEAD."""
    os.remove(os.path.join(root, "nested/.git/HEAD"))
    Path(root, "nested/file").write_text("x")
    found = {entry.path: entry.digest for entry in taken(root, env).untracked}
    assert git(root, "rev-parse", "HEAD").decode().strip() not in found.values()


def test_an_untracked_file_that_never_stops_growing_is_an_error(
    root: str, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = evidence.Folder.each_part

    def growing(self: evidence.Folder, path: bytes, sink: Callable[[bytes], object], limit: int | None = None) -> int:
        size = original(self, path, sink, limit)
        with open(os.path.join(os.fsencode(root), path), "ab") as file:
            file.write(b"x")
        return size

    monkeypatch.setattr(evidence.Folder, "each_part", growing)
    with pytest.raises(RepositoryMoved, match="kept changing"):
        capture(find(root, env), env)


def test_a_trace_is_read_back_as_its_digest_and_the_processes_in_it(
    root: str, tmp_path: Path, env: dict[str, str]
) -> None:
    log = tmp_path / "trace"
    traced = {**env, "GIT_TRACE2_EVENT": str(log)}
    git(root, "status", env=traced)
    git(root, "-c", "alias.twice=!git rev-parse HEAD; git rev-parse HEAD", "twice", env=traced)
    found, processes = trace2.read(str(log))
    assert found == "sha256:" + sha256(log.read_bytes()).hexdigest()
    assert processes == 4
    log.write_bytes(b"")
    assert trace2.read(os.fsencode(log)) == ("sha256:" + sha256(b"").hexdigest(), 0)


@pytest.mark.parametrize("line", [b"not json", b"[]", b'{"event":1,"sid":"a"}', b'{"event":"start"}', b'{"event":"st'])
def test_a_trace_with_a_broken_line_is_refused_by_number(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "trace").write_bytes(b'{"event":"start","sid":"a","more":1}\n' + line)
    with pytest.raises(EvidenceError, match="line 2"):
        trace2.read(str(tmp_path / "trace"))


def test_a_missing_trace_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="missing"):
        trace2.read(str(tmp_path / "missing"))
