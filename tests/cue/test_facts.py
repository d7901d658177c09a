"""Live facts: what is read of a real repository, and the proof that it is the snapshot's state."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from repocue.domain.facts import RankedFacts
from repocue.domain.state import SnapshotHeader
from repocue.errors import RepositoryMoved
from repocue.git.facts import MAX_MAKEFILE_BYTES, MAX_SUBJECT_BYTES, read_facts
from repocue.git.scan import observe
from repocue.git.worktree import Worktree, find
from tests.support.environment import isolated_environment
from tests.support.repos import Entry, File, RepoBuilder, Submodule, Symlink, git


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return isolated_environment(str(tmp_path / "home"))


def header_of(worktree: Worktree, environ: dict[str, str]) -> SnapshotHeader:
    """The header of a snapshot of the state as it is now."""
    now = observe(worktree, environ)
    return SnapshotHeader(
        snapshot="snapshot-000001",
        epoch="epoch-000001",
        branch=now.branch,
        head=now.head,
        is_dirty=now.is_dirty,
        status_digest=now.status_digest,
        repository_digest=now.repository_digest,
        index_digest=now.index_digest,
        observed_at=now.observed_at,
        warnings=now.warnings,
    )


def facts_of(root: str, environ: dict[str, str]) -> RankedFacts:
    worktree = find(root, environ)
    facts, after = read_facts(worktree, environ, header=header_of(worktree, environ))
    assert after.status_digest == header_of(worktree, environ).status_digest
    return facts


def warnings_of(facts: RankedFacts) -> dict[str, int | None]:
    return {warning.code: warning.count for warning in facts.warnings}


def test_declared_and_conventional_entry_points_targets_and_subjects_are_read(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    builder = RepoBuilder(tmp_path / "r")
    for number in range(7):
        builder.commit(f"Subject {number}\n\nBody {number}", {"a.txt": str(number)})
    files: dict[str, Entry] = {
        "pyproject.toml": '[project.scripts]\ntool = "pkg.cli:main"\n',
        "package.json": '{"bin": {"js": "./bin/js"}}',
        "pkg/__main__.py": "",
        "bin/js": File(b"", mode="100755"),
        "bin/py": Symlink("../pkg/__main__.py"),
        "bin/mod": Submodule("1" * 40),
        "Makefile": "all: x\n",
        "GNUmakefile": "first: x\nsecond: y\n",
    }
    builder.commit("The\nsecond line belongs to the subject", files)
    root = builder.build()
    facts = facts_of(root, environ)
    assert facts.entry_points == ("tool=pkg.cli:main", "js=bin/js", "bin/py", "pkg/__main__.py")
    assert facts.make_targets == ("first", "second")  # GNU make prefers GNUmakefile
    # What git itself prints for the same five commits.
    assert list(facts.recent_commits) == git(root, "log", "-5", "--format=%s").decode().splitlines()
    assert warnings_of(facts) == {}


def test_a_repository_without_commits_has_no_subjects_and_its_staged_files_count(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    root = RepoBuilder(tmp_path / "r").build()
    (Path(root) / "main.py").write_text("")
    git(root, "add", "main.py")
    facts = facts_of(root, environ)
    assert facts.entry_points == ("main.py",)
    assert facts.recent_commits == ()


def test_the_work_tree_is_read_and_not_the_last_commit(tmp_path: Path, environ: dict[str, str]) -> None:
    files = {"Makefile": "old:\n", "main.py": "", "app.py": ""}
    root = RepoBuilder(tmp_path / "r").commit("c", files).build()
    (Path(root) / "Makefile").write_text("new:\n")
    (Path(root) / "app.py").unlink()
    (Path(root) / "manage.py").write_text("untracked")
    facts = facts_of(root, environ)
    assert facts.make_targets == ("new",)
    assert facts.entry_points == ("main.py",)


@pytest.mark.parametrize("moment", ["ls-files", "rev-list"])
@pytest.mark.parametrize("change", ["edit", "untracked", "commit"])
def test_a_change_while_facts_are_read_fails_instead_of_mixing_two_states(
    moment: str, change: str, tmp_path: Path, environ: dict[str, str]
) -> None:
    """A git in front of git makes the change when the facts are asked for, between the two observations."""
    root = RepoBuilder(tmp_path / "r").commit("c", {"Makefile": "a:\n"}).build()
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    act = {
        "edit": "echo b: >> Makefile",
        "untracked": "touch new",
        "commit": f"{real} -c user.name=A -c user.email=a@example.org commit -q --allow-empty -m moved",
    }[change]
    front = tmp_path / "front"
    front.mkdir()
    # `ls-files` is also part of a scan, but only the facts give it pathspecs.
    script = f'#!/bin/sh\ncase " $* " in *" {moment} "*" -- "*) ({act});; esac\nexec {real} "$@"\n'
    (front / "git").write_text(script)
    (front / "git").chmod(0o755)
    worktree = find(root, environ)
    header = header_of(worktree, environ)
    slow = {**environ, "PATH": f"{front}:{environ['PATH']}"}
    with pytest.raises(RepositoryMoved, match="did not stay in the state of snapshot-000001") as caught:
        read_facts(worktree, slow, header=header)
    assert "refresh" in (caught.value.hint or "")


def test_a_repository_that_moved_before_is_refused_at_once(tmp_path: Path, environ: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path / "r").commit("c", {"Makefile": "a:\n"}).build()
    worktree = find(root, environ)
    header = header_of(worktree, environ)
    (Path(root) / "Makefile").write_text("b:\n")
    with pytest.raises(RepositoryMoved, match="is no longer in the state of snapshot-000001"):
        read_facts(worktree, environ, header=header)


def test_a_link_is_never_followed_out_of_the_repository(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "secret").write_text("stolen:\n")
    (tmp_path / "secret.json").write_text('{"main": "stolen.js"}')
    files: dict[str, Entry] = {
        "Makefile": Symlink("../secret"),
        "package.json": Symlink("../secret.json"),
        "main.py": "",
    }
    root = RepoBuilder(tmp_path / "r").commit("c", files).build()
    facts = facts_of(root, environ)
    assert facts.make_targets == ()
    assert facts.entry_points == ("main.py",)
    assert warnings_of(facts) == {"files-not-read": 2}


def test_a_makefile_that_became_a_pipe_or_a_folder_is_not_waited_for(tmp_path: Path, environ: dict[str, str]) -> None:
    files = {"Makefile": "a:\n", "pyproject.toml": "", "package.json": "{}"}
    root = RepoBuilder(tmp_path / "r").commit("c", files).build()
    for name in ("Makefile", "package.json"):
        os.unlink(os.path.join(root, name))
        os.mkfifo(os.path.join(root, name))
    facts = facts_of(root, environ)
    assert facts.make_targets == ()
    assert facts.entry_points == ()


def test_hostile_contents_are_bounded_and_named(tmp_path: Path, environ: dict[str, str]) -> None:
    files = {
        "Makefile": b"a:\n" + b"#" * MAX_MAKEFILE_BYTES,
        "pyproject.toml": b"scripts = " + b"[" * 100_000,
        "package.json": b"\xff\xfe",
        "Cargo.toml": b"[[bin]]\nname = '" + b"n" * 300 + b"'\n[[bin]]\nname = 'a\\u001b'\n[[bin]]\nname = 'ok'\n",
    }
    root = RepoBuilder(tmp_path / "r").commit("c", files).build()
    facts = facts_of(root, environ)
    assert facts.make_targets == ()
    assert facts.entry_points == ("a\\u001b=src/bin/a\\u001b.rs", "ok=src/bin/ok.rs")
    assert facts.entry_points_total == 3
    assert warnings_of(facts) == {"files-not-read": 3}


def test_more_than_the_bounds_admit_is_counted(tmp_path: Path, environ: dict[str, str]) -> None:
    files = {f"bin/tool-{number:02d}": "" for number in range(30)}
    files["Makefile"] = "".join(f"t{number}:\n" for number in range(100))
    root = RepoBuilder(tmp_path / "r").commit("c", files).build()
    facts = facts_of(root, environ)
    assert facts.entry_points == tuple(f"bin/tool-{number:02d}" for number in range(12))
    assert facts.entry_points_total == 30
    assert facts.make_targets == tuple(f"t{number}" for number in range(40))
    assert facts.make_targets_total == 100


def test_odd_subjects_are_one_line_of_valid_text_each(tmp_path: Path, environ: dict[str, str]) -> None:
    builder = RepoBuilder(tmp_path / "r")
    for message in (
        b"",
        b"\xff\xfe latin",
        "ü".encode() * MAX_SUBJECT_BYTES,
        b"\x01\x1b[31mred\x00"[:9],
        b"x" * 300_000,
    ):
        builder.commit(message, {"a": message})
    facts = facts_of(builder.build(), environ)
    assert facts.recent_commits[0] == "x" * (MAX_SUBJECT_BYTES - 3) + "…"
    assert facts.recent_commits[1] == "\x01\x1b[31mred"
    assert facts.recent_commits[2] == "ü" * ((MAX_SUBJECT_BYTES - 3) // 2) + "…"
    assert facts.recent_commits[3] == "\ufffd\ufffd latin"
    assert facts.recent_commits[4] == ""
    assert warnings_of(facts) == {"recent-commits-shortened": 2}


def test_a_subject_of_many_megabytes_is_given_up_and_said(tmp_path: Path, environ: dict[str, str]) -> None:
    builder = RepoBuilder(tmp_path / "r").commit("small", {"a": "1"})
    root = builder.commit(b"x" * ((16 << 20) + 9), {"a": "2"}).build()
    facts = facts_of(root, environ)
    assert facts.recent_commits == ("x" * (MAX_SUBJECT_BYTES - 3) + "…",)
    assert warnings_of(facts) == {"recent-commits-not-read": None, "recent-commits-shortened": 1}


def test_a_shallow_clone_has_the_subjects_it_has(tmp_path: Path, environ: dict[str, str]) -> None:
    builder = RepoBuilder(tmp_path / "r")
    for number in range(4):
        builder.commit(f"s{number}", {"a": str(number)})
    root = builder.build()
    git(tmp_path, "clone", "-q", "--depth=2", f"file://{root}", "shallow")
    facts = facts_of(str(tmp_path / "shallow"), environ)
    assert facts.recent_commits == ("s3", "s2")


def test_settings_that_start_programs_are_not_obeyed(tmp_path: Path, environ: dict[str, str]) -> None:
    """`log.showSignature` would run the configured gpg on every commit."""
    root = RepoBuilder(tmp_path / "r").commit("c", {"a": "1"}).build()
    mark = tmp_path / "ran"
    program = tmp_path / "gpg"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    git(root, "config", "log.showSignature", "true")
    git(root, "config", "gpg.program", str(program))
    assert facts_of(root, environ).recent_commits == ("c",)
    assert not mark.exists()
