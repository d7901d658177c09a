"""`repocue cue` as it is run: views, freshness, determinism, records, and one clear error for everything else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repocue.contracts import reader
from tests.support.repos import Entry, RepoBuilder, Submodule, Symlink, git

Run = Callable[..., subprocess.CompletedProcess[bytes]]

VIEWS = {
    "overview": [],
    "ranked": ["--view", "ranked"],
    "placebo": ["--view", "placebo"],
    "provenance": ["--view", "provenance"],
    "delta": ["--view", "delta", "--since", "snapshot-000001"],
    "delta-frozen": ["--since", "snapshot-000001"],
}

FILES = {
    "README.md": "# R\n",
    "src/pkg/__init__.py": "",
    "src/pkg/__main__.py": "print()\n",
    "tests/test_it.py": "",
    "Makefile": "all: x\n\tx\ntest:\n",
    "pyproject.toml": "[project.scripts]\nit = 'pkg.__main__:main'\n",
}


@pytest.fixture
def root(tmp_path: Path, repocue: Run) -> str:
    path = RepoBuilder(tmp_path / "r").commit("first", {"README.md": "#\n"}).commit("second", FILES).build()
    assert repocue("init", cwd=path).returncode == 0
    return path


def cue(repocue: Run, root: str, *arguments: str) -> dict[str, Any]:
    """The cue, read strictly by its contract from the command's exact output."""
    done = repocue("cue", *arguments, cwd=root)
    assert (done.returncode, done.stderr) == (0, b"")
    return reader.read_canonical(done.stdout, contract=("repocue/1", "repocue/cue-2"))


def codes(document: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in document["warnings"]]


def test_every_view_is_a_valid_document_of_the_same_snapshot(root: str, repocue: Run) -> None:
    for view, arguments in VIEWS.items():
        document = cue(repocue, root, *arguments)
        assert document["kind"] == view.removesuffix("-frozen")
        frozen = view in ("overview", "delta-frozen")
        assert document["schema_version"] == ("repocue/1" if frozen else "repocue/cue-2")
        assert (document["snapshot"], document["freshness"]) == ("snapshot-000001", "current")
        assert document["repository"]["head"] == git(root, "rev-parse", "HEAD").decode().strip()
        assert document["repository"]["branch"] == "main"
        assert document["warnings"] == []


def test_the_ranked_cue_shows_what_is_there(root: str, repocue: Run) -> None:
    sizes = [int(line.split()[3]) for line in git(root, "ls-tree", "-rl", "HEAD").decode().splitlines()]
    assert cue(repocue, root, "--view", "ranked")["content"] == {
        "tracked_files": 6,
        "present_files": 6,
        "bytes": sum(sizes),
        "documents": ["README.md"],
        "entry_points": ["it=pkg.__main__:main", "src/pkg/__main__.py"],
        "make_targets": ["all", "test"],
        "recent_commits": ["second", "first"],
        "directories": ["src", "tests", "src/pkg"],
    }


def test_an_edit_makes_a_cue_stale_and_a_refresh_makes_it_true_again(root: str, repocue: Run) -> None:
    (Path(root) / "README.md").write_text("# other\n")
    (Path(root) / "notes.txt").write_text("untracked")
    stale = cue(repocue, root)
    assert (stale["freshness"], codes(stale), stale["repository"]["dirty"]) == (
        "refresh-needed",
        ["working-tree-changed"],
        False,
    )
    fresh = cue(repocue, root, "--refresh")
    assert (fresh["freshness"], codes(fresh), fresh["repository"]["dirty"]) == ("dirty-but-indexed", [], True)
    assert fresh["snapshot"] == "snapshot-000002"
    for arguments in (VIEWS["delta"], VIEWS["delta-frozen"]):
        content = cue(repocue, root, *arguments)["content"]
        assert content["changes"] == [
            {"kind": "repository.working_tree_changed"},
            {"kind": "file.content_changed", "path": "README.md"},
        ]


def test_a_cue_after_a_commit_says_that_head_moved(root: str, repocue: Run) -> None:
    """The kind of jcodemunch-mcp#330: also where no content changed."""
    git(root, "commit", "-q", "--allow-empty", "-m", "third")
    stale = cue(repocue, root)
    assert (stale["freshness"], codes(stale)) == ("refresh-needed", ["head-moved"])
    fresh = cue(repocue, root, "--refresh")
    assert fresh["repository"]["head"] == git(root, "rev-parse", "HEAD").decode().strip()
    assert fresh["freshness"] == "current"


def test_a_cue_after_a_branch_switch_warns_instead_of_showing_the_old_branch_silently(root: str, repocue: Run) -> None:
    """The kind of codedb#116."""
    git(root, "switch", "-q", "-c", "topic")
    stale = cue(repocue, root)
    assert (stale["freshness"], codes(stale)) == ("refresh-needed", ["branch-changed"])
    assert cue(repocue, root, "--refresh")["repository"]["branch"] == "topic"


def test_a_ranked_cue_of_another_state_is_refused_with_advice(root: str, repocue: Run) -> None:
    (Path(root) / "Makefile").write_text("new:\n")
    done = repocue("cue", "--view", "ranked", cwd=root)
    assert (done.returncode, done.stdout) == (1, b"")
    error = json.loads(done.stderr)
    assert error["code"] == "repository.moved"
    assert "--refresh" in error["hint"]
    assert cue(repocue, root, "--view", "ranked", "--refresh")["content"]["make_targets"] == ["new"]


# The kinds of aider#1874 and graphify#1667: what did not change gives the same bytes.


def test_the_same_state_gives_the_same_bytes_under_any_hash_seed_locale_and_time_zone(
    root: str, repocue: Run, env: dict[str, str]
) -> None:
    (Path(root) / "src/pkg/__init__.py").write_text("edited = 1\n")
    assert repocue("refresh", cwd=root).returncode == 0
    surroundings = [
        {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"},
        {"PYTHONHASHSEED": "1", "LC_ALL": "POSIX", "TZ": "Asia/Kathmandu", "PYTHONUTF8": "0"},
        {"PYTHONHASHSEED": "4294967295", "LC_ALL": "tr_TR.UTF-8", "LANG": "de_DE", "TZ": "America/St_Johns"},
    ]
    for arguments in VIEWS.values():
        outputs = {repocue("cue", *arguments, cwd=root, env={**env, **more}).stdout for more in surroundings}
        assert len(outputs) == 1
        assert outputs != {b""}


def test_time_passing_and_cues_before_it_do_not_change_a_cue(root: str, repocue: Run) -> None:
    first = repocue("cue", cwd=root).stdout
    os.utime(os.path.join(root, "README.md"))  # a stat of its own, the same content
    for _ in range(3):
        assert repocue("cue", cwd=os.path.join(root, "src")).stdout == first
    assert repocue("cue", "--refresh", cwd=root).stdout == first  # nothing changed, so nothing is new


def test_two_caches_of_one_checkout_differ_in_nothing_but_the_time(root: str, repocue: Run, tmp_path: Path) -> None:
    assert repocue("--cache-dir", tmp_path / "other", "init", cwd=root).returncode == 0
    one = json.loads(repocue("cue", cwd=root).stdout)
    two = json.loads(repocue("--cache-dir", tmp_path / "other", "cue", cwd=root).stdout)
    one["basis"].pop("observed_at")
    two["basis"].pop("observed_at")
    assert one == two


def common_prefix_bytes(one: bytes, two: bytes) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))


def test_consecutive_cues_share_everything_before_the_first_member_that_changed(root: str, repocue: Run) -> None:
    """The kind of claude-code#47107. The frozen order puts the snapshot's number early; until there all is equal."""
    (Path(root) / "README.md").write_text("one\n")
    assert repocue("refresh", cwd=root).returncode == 0
    before = {view: repocue("cue", *arguments, cwd=root).stdout for view, arguments in VIEWS.items()}
    (Path(root) / "README.md").write_text("two\n")
    assert repocue("refresh", cwd=root).returncode == 0
    for view, arguments in VIEWS.items():
        after = repocue("cue", *arguments, cwd=root).stdout
        assert common_prefix_bytes(before[view], after) == before[view].index(b'"snapshot-000002"') + 15
    # Nothing happened in between: all bytes are shared.
    assert common_prefix_bytes(after, repocue("cue", *arguments, cwd=root).stdout) == len(after)


# Budgets: the kinds of aider#752 and repomix#1616, a budget is a hard cap and too small a one is an error.


@pytest.mark.parametrize("view", VIEWS)
def test_a_budget_is_a_hard_cap_and_the_smallest_is_named(view: str, root: str, repocue: Run) -> None:
    done = repocue("cue", *VIEWS[view], "--max-tokens", "1", cwd=root)
    assert (done.returncode, done.stdout) == (1, b"")
    error = json.loads(done.stderr)
    assert error["code"] == "budget.too-small"
    needed = int(error["hint"].split()[3])
    done = repocue("cue", *VIEWS[view], "--max-tokens", str(needed), cwd=root)
    assert done.returncode == 0
    assert -(-len(done.stdout) // 4) <= needed
    assert json.loads(done.stdout)["budget"] == {"max_tokens": needed, "estimated_tokens": -(-len(done.stdout) // 4)}
    assert repocue("cue", *VIEWS[view], "--max-tokens", str(needed - 1), cwd=root).returncode == 1


# What was typed.


@pytest.mark.parametrize(
    "arguments",
    [
        ["--view", "delta"],
        ["--view", "overview", "--since", "snapshot-000001"],
        ["--view", "ranked", "--since", "snapshot-000001"],
        ["--path", "src"],
        ["--view", "ranked", "--path", "src"],
        ["--since", "snapshot-000001", "--path", "../x"],
        ["--since", "snapshot-000001", "--path", ""],
        ["--since", "snapshot-000009"],
        ["--since", "yesterday"],
        ["--since", ""],
        ["--since", "snapshot-1"],
        ["--view", "structure"],
        ["--view", "ranked", "extra"],
        ["--max-tokens", "0"],
        ["--max-tokens", "-5"],
        ["--max-tokens", "2097153"],
        ["--max-tokens", "1e3"],
        ["--max-tokens", ""],
        ["--max-tokens", "9" * 400],
        ["--format", "text"],
        ["--unknown"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_one_usage_error(arguments: list[str], root: str, repocue: Run) -> None:
    done = repocue("cue", *arguments, cwd=root)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert json.loads(done.stderr)["message"]


def test_a_cue_without_a_state_asks_for_init(tmp_path: Path, repocue: Run) -> None:
    path = RepoBuilder(tmp_path / "r").commit("c", {"a": "1"}).build()
    for arguments in ([], ["--refresh"], ["--view", "ranked"]):
        done = repocue("cue", *arguments, cwd=path)
        assert (done.returncode, done.stdout) == (1, b"")
        error = json.loads(done.stderr)
        assert error["code"] == "cache.not-initialized"
        assert "repocue init" in error["hint"]


def test_a_cache_inside_the_work_tree_is_warned_of(tmp_path: Path, repocue: Run) -> None:
    path = RepoBuilder(tmp_path / "r").commit("c", {"a": "1"}).build()
    (Path(path) / ".git/info/exclude").write_text(".cache\n")
    assert repocue("--cache-dir", ".cache", "init", cwd=path).returncode == 0
    for view in ("placebo", "ranked"):
        document = json.loads(repocue("--cache-dir", ".cache", "cue", "--view", view, cwd=path).stdout)
        assert codes(document) == ["cache-inside-work-tree"]


def test_a_path_filters_a_delta_literally(root: str, repocue: Run) -> None:
    for name in ("src/a*.py", "src/ab.py", "tests/[x].py"):
        (Path(root) / name).write_text("x")
    git(root, "add", "-A")
    repocue("refresh", cwd=root)
    document = cue(repocue, root, *VIEWS["delta"], "--path", "src/a*.py")
    assert [change.get("path") for change in document["content"]["changes"]] == [None, "src/a*.py"]
    assert document["content"]["change_count"] == 2
    assert document["warnings"] == [{"code": "changes-outside-path", "count": 2}]


# Odd names: the kinds of aider#82 and of non-UTF-8 names.


def test_hostile_names_are_shown_in_valid_json_as_git_shows_them(tmp_path: Path, repocue: Run) -> None:
    names = [
        b'"quoted"/README.md',
        b"-rf/README.md",
        b"line\nbreak/a",
        b"tab\there/a",
        b"back\\slash/a",
        b"bad\xff\xfe/README.md",
        "smile\N{GRINNING FACE}/a".encode(),
        b" space /a",
        b"$(touch pwned)/a",
        b"<script>&'/a",
        b".../x",
    ]
    builder = RepoBuilder(tmp_path / "r").commit("odd", dict.fromkeys(names, b"x"))
    links: dict[str, Entry] = {"sub": Submodule("1" * 40), "dangling": Symlink("/nowhere")}
    path = builder.commit("links", links).build()
    assert repocue("init", cwd=path).returncode == 0
    document = cue(repocue, path, "--view", "ranked", "--max-tokens", "2000")
    shown = set(document["content"]["directories"])
    # git's own form: what it quotes even with core.quotePath off and -z not given begins with a quote.
    assert {'"\\"quoted\\""', "-rf", "line\nbreak", "tab\there", "back\\slash", '"bad\\377\\376"'} <= shown
    assert {"smile\N{GRINNING FACE}", " space ", "$(touch pwned)", "<script>&'", "..."} <= shown
    assert '"bad\\377\\376/README.md"' in document["content"]["documents"]
    assert "unindexed-submodules" in codes(document)
    for arguments in VIEWS.values():
        cue(repocue, path, *arguments, "--max-tokens", "2000")


@pytest.mark.parametrize("state", ["unborn", "detached", "conflict", "sha256", "empty"])
def test_repositories_in_odd_states_are_cued(state: str, tmp_path: Path, repocue: Run) -> None:
    builder = RepoBuilder(tmp_path / "r", object_format="sha256" if state == "sha256" else "sha1")
    if state != "unborn":
        builder.commit("base", {} if state == "empty" else {"a": "1\n"})
    if state == "conflict":
        builder.commit("theirs", {"a": "2\n"}, branch="other").commit("ours", {"a": "3\n"})
    path = builder.build()
    if state == "detached":
        git(path, "checkout", "-q", "--detach")
    if state == "conflict":
        git(path, "merge", "-q", "other", ok=(1,))
    assert repocue("init", cwd=path).returncode == 0
    for arguments in VIEWS.values():
        document = cue(repocue, path, *arguments)
        assert document["freshness"] == ("dirty-but-indexed" if state == "conflict" else "current")
        assert (document["repository"]["head"] is None) == (state == "unborn")
        assert (document["repository"]["branch"] is None) == (state == "detached")


# Records.


def test_each_cue_is_recorded_and_a_refresh_before_it_is_a_run_of_its_own(root: str, repocue: Run) -> None:
    size = len(repocue("cue", cwd=root).stdout)
    repocue("cue", "--view", "ranked", "--refresh", "--max-tokens", "300", cwd=root)
    metrics = json.loads(repocue("metrics", cwd=root).stdout)
    first, second = sorted(metrics["cue_runs"], key=lambda run: run["started_at"])
    assert (first["view"], first["bytes"], first["max_tokens"]) == ("overview", size, 500)
    assert first["estimated_tokens"] == -(-size // 4)
    assert (second["view"], second["max_tokens"], second["freshness"]) == ("ranked", 300, "current")
    assert {(run["kind"], run["trigger"]) for run in metrics["runs"]} == {("init", "command"), ("refresh", "cue")}
    assert second["duration_ms"] > 0


# PR_CAPBSET_DROP of CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: permissions then stop root as they stop anybody.
BOUND_BY_PERMISSIONS = """
import ctypes, os, sys
if os.geteuid() == 0:
    for capability in (1, 2):
        assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
def test_a_cue_from_a_cache_that_cannot_be_written_is_given_and_said_not_to_be_recorded(
    root: str, repocue: Run, repocue_exe: list[str], env: dict[str, str]
) -> None:
    def bound(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-c", BOUND_BY_PERMISSIONS, *repocue_exe, "cue", *arguments]
        return subprocess.run(command, cwd=root, env=env, capture_output=True)

    written = bound()
    assert (written.returncode, written.stderr) == (0, b"")
    folders = [where for where, _, _ in os.walk(os.path.join(env["XDG_CACHE_HOME"], "repocue"))]
    try:
        for where in reversed(folders):
            for name in os.listdir(where):
                os.chmod(os.path.join(where, name), 0o500 if os.path.join(where, name) in folders else 0o400)
            os.chmod(where, 0o500)
        done, quiet = bound(), bound("--quiet")
    finally:
        for where in folders:
            os.chmod(where, 0o700)
    assert (done.returncode, done.stdout) == (0, written.stdout)
    assert b"cue-run-not-recorded" in done.stderr
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, written.stdout, b"")
