"""The oracle as a program: what it needs, what it writes, and that it always says the same."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.oracle.oracle import AWKS, FOLDER, TOOL, only, run
from tests.support.environment import isolated_environment
from tests.support.repos import Entry, RepoBuilder, git

TRAPS = Path(__file__).parent.parent / "data" / "oracle" / "traps.py.txt"

SCRIPT = '#!/bin/bash\nset -e\n. lib/x.sh\nmain() {\n  cat <<EOF\nfake() { :; }\nEOF\n}\nmain "$@"\n'

FILES: dict[str, Entry] = {
    "src/traps.py": TRAPS.read_bytes(),
    "bin/main.sh": SCRIPT,
    "café.py": "class É: pass\n",
    "tests/test_x.py": "import x\ndef test_x(): pass\n",
    "bad.py": "def f(: pass\n",
}


@pytest.fixture
def root(tmp_path: Path) -> str:
    return RepoBuilder(tmp_path / "r").commit("one", FILES).build()


def test_it_needs_no_program_but_bash_git_grep_awk_and_sort(root: str, tmp_path: Path) -> None:
    alone = run(root, env=only(tmp_path / "path"))
    assert alone.exit_code == 0
    assert len(alone.candidates) > 20
    assert alone.stdout == run(root).stdout


@pytest.mark.parametrize("awk", AWKS)
def test_every_awk_gives_the_same_bytes(awk: str, root: str, tmp_path: Path) -> None:
    if shutil.which(awk) is None:
        pytest.skip(f"{awk} is not installed")
    found = run(root, env=only(tmp_path / "path", awk=awk))
    assert (found.exit_code, found.stdout, found.stderr) == (0, run(root).stdout, run(root).stderr)


def test_locale_time_zone_and_shell_settings_change_nothing(root: str) -> None:
    plain = run(root)
    for more in (
        {"LC_ALL": "C.UTF-8", "LANG": "de_DE.UTF-8"},
        {"LC_ALL": "", "LC_COLLATE": "en_US.UTF-8", "TZ": "Asia/Tokyo"},
        {"IFS": "a", "SHELLOPTS": "noglob", "POSIXLY_CORRECT": "1", "GREP_OPTIONS": "-v"},
        {"BASH_FUNC_git%%": "() { echo owned; }", "BASH_FUNC_awk%%": "() { echo owned; }"},
        {"GIT_DIR": "/nonexistent", "GIT_INDEX_FILE": "/nonexistent", "GIT_LITERAL_PATHSPECS": "1"},
        {"CDPATH": "/", "GLOBIGNORE": "*", "FS": ",", "MAX_RECORDS": "1"},
    ):
        again = run(root, env=isolated_environment("/nonexistent", **more))
        assert (again.stdout, again.stderr) == (plain.stdout, plain.stderr), more


def test_it_writes_nothing(root: str) -> None:
    def state() -> list[tuple[str, int, int, int]]:
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
        found = [(path, os.lstat(path)) for path in sorted(paths)]
        return [(path, stat.st_mtime_ns, stat.st_size, stat.st_ino) for path, stat in found]

    before = state()
    run(root)
    assert state() == before


def test_repositories_of_every_shape_are_read(root: str, tmp_path: Path) -> None:
    expected = run(root).stdout
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")
    assert run(tmp_path / "linked").stdout == expected
    git(root, "rm", "-rq", ".")
    git(root, "commit", "-qm", "nothing left")
    empty = run(root)
    assert (empty.exit_code, empty.stdout, empty.limitations) == (0, b"", {})
    unborn = RepoBuilder(tmp_path / "unborn").build()
    assert (run(unborn).exit_code, run(unborn).stdout) == (0, b"")
    Path(unborn, "a.py").write_text("class A: pass\n")
    git(unborn, "add", "-N", "a.py")
    assert [candidate.name for candidate in run(unborn).candidates] == ["A"]


def test_a_sparse_checkout_says_how_many_files_are_missing(root: str) -> None:
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "src")
    found = run(root)
    assert {candidate.module for candidate in found.candidates} == {"src/traps.py", "café.py"}
    assert found.limitations["path-missing"] == 2


def test_shellcheck_finds_nothing() -> None:
    shellcheck = shutil.which("shellcheck")
    if shellcheck is None:
        pytest.skip("shellcheck is not installed")
    done = subprocess.run([shellcheck, "--severity=style", TOOL], capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"")


def test_every_limitation_is_explained_to_readers() -> None:
    with open(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "docs", "cue-rules.md")) as file:
        page = file.read()
    text = "".join(Path(FOLDER, name).read_text() for name in sorted(os.listdir(FOLDER)))
    codes = set(re.findall(r'(?:limit\("|bad = "|codes\[\+\+n\] = ")([a-z-]+)"', text))
    codes |= set(re.findall(r"\[([a-z]+(?:-[a-z]+)+)\]=", text))
    assert {"file-not-understood", "path-missing", "reader-failed", "candidate-beyond-bound", "path-unmerged"} <= codes
    assert len(codes) == 19
    for code in codes:
        assert f"`{code}`" in page, code


def test_the_package_holds_the_tool_and_the_programs_it_reads() -> None:
    parts = {name for name in os.listdir(FOLDER) if name.endswith(".awk")}
    text = Path(TOOL).read_text()
    assert {name for name in parts if f"$here/{name}" in text} == parts != set()
