"""A run that called RepoCue, or read its cache, had more than its condition supplied."""

from __future__ import annotations

from pathlib import Path

import pytest

from repocue.runners.contamination import contaminations, is_contaminated, report_contaminations

CACHE = "/home/me/.cache/repocue"
HOME = "/home/me"

CONTAMINATED = [
    "repocue cue",
    "/bin/bash -lc 'repocue cue --view ranked'",
    "cd src && /usr/local/bin/repocue status",
    "python -m repocue cue",
    "python3 -m repocue.cli.main cue",
    "uvx repocue cue",
    "pipx run repocue cue",
    "git log | xargs repocue",
    "echo $(repocue cue)",
    "timeout 5 repocue cue",
    "REPOCUE_X=1 repocue cue",
    f"cat {CACHE}/repo-1/state.db",
    "cat ~/.cache/repocue/repo-1/state.db",
    "sqlite3 $HOME/.cache/repocue/repo-1/state.db .dump",
    "cd ~/.cache && ls repocue",
    "cd ~/.cache/repocue && ls",
    "d=~/.cache; cat $d/repocue/x",
    "strings < ~/.cache/repocue/repo-1/state.db",
    "find ~/.cache/repocue -type f",
    'ls "$REPOCUE_CACHE_DIR"',
    "ls ${REPOCUE_CACHE_DIR}",
    "cat ../../home/me/.cache/repocue/x",
    f"python -c \"open('{CACHE}/x').read()\"",
    f'Read {{"file_path":"{CACHE}/repo-1/state.db"}}',
    f"cat 'unfinished {CACHE}/x",
    "$(which repocue) cue",
    "`command -v repocue` cue",
    "x=$(which repocue); $x cue",
    "alias r=repocue; r cue",
    "ln -s $(which repocue) /tmp/r; /tmp/r cue",
    "cp /usr/bin/repocue /tmp/r; /tmp/r cue",
    "strace -f repocue cue",
    "script -qc 'repocue cue'",
    "repocue.exe cue",
    "python -c 'import repocue'",
    "python3 -Ic 'from repocue.cli import main; main()'",
    "python3 - <<E\nimport repocue\nE",
    "python -Im repocue cue",
    "python -mrepocue cue",
    "python /usr/lib/python3/site-packages/repocue/__main__.py cue",
    "python /usr/bin/repocue cue",
]

CLEAN = [
    "git status",
    "rg repocue",
    "grep -rn 'repocue cue' docs",
    "which repocue",
    "command -v repocue",
    "cat src/repocue/cli/main.py",
    "python -m pytest tests/repocue",
    "pip show repocue",
    "ls ~/.cache",
    f"ls {CACHE}-other",
    f"cat {CACHE}.txt",
    "cat 'unfinished",
    "cd /",
    "echo $(which repocue)",
    "python tool.py -c 'import repocue'",
    "grep -rn 'import repocue' src; python tool.py",
    "cp -r src/repocue /tmp",
    "python -m pytest -c 'from repocue'",
    "strace -f git status",
]


@pytest.mark.parametrize("text", CONTAMINATED)
def test_calls_of_repocue_and_reads_of_its_cache_contaminate(text: str) -> None:
    assert contaminations(["ls", text], [CACHE], root="/srv/project", home=HOME) == (text,)
    assert is_contaminated([text], [CACHE], root="/srv/project", home=HOME)


@pytest.mark.parametrize("text", CLEAN)
def test_speaking_of_repocue_is_not_calling_it(text: str) -> None:
    assert contaminations([text], [CACHE], root="/srv/project", home=HOME) == ()


def test_a_cache_reached_through_a_symlink_is_still_the_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (tmp_path / "alias").symlink_to(cache)
    assert is_contaminated([f"cat {tmp_path}/alias/state.db"], [str(cache)])
    assert is_contaminated([f"cat {cache}/state.db"], [str(tmp_path / "alias")])


def test_without_a_cache_folder_only_calls_are_looked_for() -> None:
    assert not is_contaminated([f"cat {CACHE}/x"], [])
    assert is_contaminated(["repocue status"], [])


def test_a_published_run_may_read_what_it_was_handed_and_nothing_else_of_a_harness() -> None:
    space = "/tmp/repocue-evaluate-m2-project-1-abc"
    for path, is_foreign in (
        (f"{space}/3/cue.json", False),
        (f"{space}/3/task.txt", False),
        (f"{space}/3/cue.json.was", True),
        (f"{space}/cache/x", True),
        ("/tmp/repocue-evaluate-m2-project-1-def/3/cue.json", True),
    ):
        command = {"command": f"cat {path}"}
        assert bool(report_contaminations([command], [f"{space}/cache"], "/srv/project")) is is_foreign, path
