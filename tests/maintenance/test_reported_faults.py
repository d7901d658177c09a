"""Kinds of fault that users reported of tools like this one; each is named, and must be impossible here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from repocue.maintenance import lifecycle, summary
from repocue.maintenance.status import status
from repocue.maintenance.verdict import judge
from tests.maintenance.support import reading, request, rows, runs, write
from tests.store.support import observation
from tests.support.repos import RepoBuilder, git


@pytest.fixture
def root(tmp_path: Path) -> str:
    return RepoBuilder(tmp_path / "r").commit("first", {"README.md": "r\n", "src/a.py": "a = 1\n"}).build()


def head(root: str) -> str:
    return git(root, "rev-parse", "HEAD").decode().strip()


def test_a_refresh_without_a_change_of_content_advances_the_basis(
    root: str, tmp_path: Path, env: Mapping[str, str]
) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    git(root, "commit", "-q", "--allow-empty", "-m", "nothing changed")
    assert status(of).freshness == "refresh-needed"
    result = lifecycle.refresh(of)
    assert result.changes == ()
    assert [change.kind for change in result.repository_changes or ()] == ["repository.head_changed"]
    assert (result.header.head, result.header.snapshot) == (head(root), "snapshot-000002")
    assert status(of).freshness == "current"


def test_committing_what_was_indexed_as_dirty_advances_the_basis(
    root: str, tmp_path: Path, env: Mapping[str, str]
) -> None:
    write(root, "src/a.py", "a = 2\n")
    of = request(root, tmp_path / "cache", env)
    assert lifecycle.init(of).freshness == "dirty-but-indexed"
    git(root, "commit", "-q", "-a", "-m", "second")
    result = lifecycle.refresh(of)
    assert [change.kind for change in result.changes or ()] == ["file.state_changed"]
    assert (result.freshness, result.header.head) == ("current", head(root))


def test_a_refresh_is_of_the_whole_repository_from_whatever_folder(
    root: str, tmp_path: Path, env: Mapping[str, str]
) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    write(root, "README.md", "r2\n")
    write(root, "src/a.py", "a = 2\n")
    below = request(os.path.join(root, "src"), tmp_path / "cache", env)
    assert below.state_path == of.state_path
    assert [change.path for change in lifecycle.refresh(below).changes or ()] == ["README.md", "src/a.py"]


def test_one_verdict_is_made_after_the_answer_was_read(root: str, tmp_path: Path, env: Mapping[str, str]) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    with reading(of) as opened:
        write(root, "src/a.py", "a = 2\n")  # between reading and verdict
        assert status(of).freshness == "refresh-needed"
        assert judge(opened.current, None) == "unknown"
        assert judge(opened.current, observation()) == "refresh-needed"


def test_untouched_files_are_not_changed_by_another_commit(root: str, tmp_path: Path, env: Mapping[str, str]) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    write(root, "src/a.py", "a = 2\n")
    git(root, "commit", "-q", "-a", "-m", "second")
    assert [change.path for change in lifecycle.refresh(of).changes or ()] == ["src/a.py"]


def test_a_switched_branch_is_noticed_and_followed(root: str, tmp_path: Path, env: Mapping[str, str]) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    git(root, "switch", "-q", "-c", "side")
    found = status(of)
    assert found.freshness == "refresh-needed"
    assert [(change.kind, change.before, change.after) for change in found.repository_changes or ()] == [
        ("repository.branch_changed", "main", "side")
    ]
    assert lifecycle.refresh(of).header.branch == "side"


def test_after_a_rename_the_old_path_is_gone(root: str, tmp_path: Path, env: Mapping[str, str]) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    git(root, "mv", "src/a.py", "src/b.py")
    lifecycle.refresh(of)
    assert [row.path for row in rows(of)] == ["README.md", "src/b.py"]
    with reading(of) as opened:
        assert opened.summary.languages[0] == ("python", 1, 6)


def test_another_version_of_the_language_library_is_not_mixed_in(
    root: str, tmp_path: Path, env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    with reading(of) as opened:
        frozen = opened.summary
    monkeypatch.setattr("repocue.maintenance.languages.library", lambda: "identify 99")
    monkeypatch.setattr("repocue.maintenance.languages.Languages.name", lambda self, name: "renamed")
    lifecycle.refresh(of)
    with reading(of) as opened:
        assert opened.summary == frozen  # the same snapshot says the same
    write(root, "new.py", "x\n")
    git(root, "add", "new.py")
    lifecycle.refresh(of)
    with reading(of) as opened:
        assert opened.summary == summary.summarize(rows(of))
        assert opened.summary.languages == (("renamed", 3, 10),)
        assert opened.summary.language_library == "identify 99"


def test_rows_and_summary_do_not_depend_on_the_hash_seed(
    root: str, tmp_path: Path, env: dict[str, str], repocue_exe: list[str]
) -> None:
    for number in range(30):
        write(root, f"d{number}/f.{['py', 'js', 'md', 'rs'][number % 4]}", "x" * number)
    git(root, "add", "-A")
    kept = set()
    for seed in ("0", "1", "12345"):
        cache = tmp_path / f"cache-{seed}"
        subprocess.run(
            [sys.executable, "-m", "repocue", "-C", root, "--cache-dir", str(cache), "init"],
            env={**env, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
        of = request(root, cache, env)
        with reading(of) as opened:
            kept.add((tuple(opened.rows()), opened.summary))
    assert len(kept) == 1


def test_a_file_whose_case_alone_changed_is_one_file(root: str, tmp_path: Path, env: Mapping[str, str]) -> None:
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    git(root, "mv", "README.md", "readme.md")
    result = lifecycle.refresh(of)
    assert [(change.kind, change.from_path, change.path) for change in result.changes or ()] == [
        ("file.renamed", "README.md", "readme.md")
    ]
    assert [row.path for row in rows(of)] == ["readme.md", "src/a.py"]


def test_a_repository_without_a_commit_has_a_state(tmp_path: Path, env: Mapping[str, str]) -> None:
    root = RepoBuilder(tmp_path / "r").build()
    of = request(root, tmp_path / "cache", env)
    result = lifecycle.init(of)
    assert (result.header.head, result.header.branch, rows(of)) == (None, "main", [])
    write(root, "a", "1\n")
    git(root, "add", "a")
    assert [change.kind for change in lifecycle.refresh(of).changes or ()] == ["file.added"]


def test_variables_of_a_git_hook_do_not_lead_to_another_repository(
    root: str, tmp_path: Path, env: dict[str, str], repocue_exe: list[str]
) -> None:
    other = RepoBuilder(tmp_path / "other").commit("other", {"other": "o\n"}).build()
    hook = {**env, "GIT_DIR": f"{other}/.git", "GIT_INDEX_FILE": f"{other}/.git/index", "GIT_WORK_TREE": other}
    cache = str(tmp_path / "cache")
    subprocess.run([*repocue_exe, "-C", root, "--cache-dir", cache, "init"], env=hook, check=True, capture_output=True)
    assert [row.path for row in rows(request(root, cache, env))] == ["README.md", "src/a.py"]


def test_a_locked_index_neither_stops_a_refresh_nor_is_left_behind(
    root: str, tmp_path: Path, env: Mapping[str, str]
) -> None:
    lock = Path(root, ".git", "index.lock")
    lock.write_bytes(b"")
    of = request(root, tmp_path / "cache", env)
    lifecycle.init(of)
    lock.unlink()
    write(root, "src/a.py", "a = 2\n")
    lifecycle.refresh(of)
    assert not lock.exists()
    assert [run.outcome for run in runs(of)] == ["published", "published"]
