"""Repositories that were made to break the oracle: names, contents, links, programs of their own."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from tests.oracle.oracle import FOLDER, TOOL, only, run
from tests.support.environment import isolated_environment
from tests.support.repos import Entry, File, RepoBuilder, Submodule, Symlink, git

ONE = "def f(): pass\n"


def test_names_that_are_no_trouble_in_a_line_are_read_whatever_they_look_like(tmp_path: Path) -> None:
    spoken = [
        b"-rf.py",
        b"-.py",
        b" leading space.py",
        b"trailing space .py",
        b"$(touch owned).py",
        b"`touch owned`.py",
        b"a;b&c|d>e.py",
        b"glob*?[x].py",
        b"quote\"single'.py",
        b"back\\slash.py",
        b"back\\nslash.py",
        b"caf\xc3\xa9.py",
        b"latin\xe9.py",
        b"dir with space/x=1.py",
        b"/dev/stdin.py"[1:],
        b"!\x20bang.py",
        b"%s%n.py",
        b"0=x.py",
    ]
    files: dict[bytes, Entry] = dict.fromkeys(spoken, ONE)
    root = RepoBuilder(tmp_path / "r").commit("one", files).build()
    found = run(root)
    assert sorted(c.module.encode("utf-8", "surrogateescape") for c in found.candidates) == sorted(spoken)
    assert found.limitations == {}
    assert not os.path.lexists(os.path.join(root, "owned"))


def test_names_that_would_break_a_line_of_fields_are_left_out_and_counted(tmp_path: Path) -> None:
    names = [b"tab\there.py", b"new\nline.py", b"bell\x07.py", b"esc\x1b[31m.py", b"del\x7f.py", b"dir\n/x.py"]
    names.append(b"x\npython\tevil.py\tclass\tEvil\t.py")
    files: dict[bytes, Entry] = {**dict.fromkeys(names, ONE), b"good.py": ONE}
    found = run(RepoBuilder(tmp_path / "r").commit("one", files).build())
    assert [candidate.module for candidate in found.candidates] == ["good.py"]
    assert found.limitations == {"name-not-representable": 7}


def test_links_submodules_and_what_is_no_regular_file_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("def secret(): pass\n")
    (outside / "pipe_target.py").write_text("def secret(): pass\n")
    files: dict[str, Entry] = {
        "link.py": Symlink(str(outside / "secret.py")),
        "sub": Submodule("1" * 40),
        "became_link.py": ONE,
        "became_folder.py": ONE,
        "became_pipe.py": ONE,
        "became_socket.py": ONE,
        "deleted.py": ONE,
        "folder/secret.py": ONE,
        "deep/a/b/secret.py": ONE,
        "good.py": ONE,
    }
    root = RepoBuilder(tmp_path / "r").commit("one", files).build()
    for name in ("became_link.py", "became_folder.py", "became_pipe.py", "became_socket.py", "deleted.py"):
        os.unlink(os.path.join(root, name))
    os.symlink(outside / "secret.py", os.path.join(root, "became_link.py"))
    os.mkdir(os.path.join(root, "became_folder.py"))
    os.mkfifo(os.path.join(root, "became_pipe.py"))
    monkeypatch.chdir(root)  # a socket's name has to be short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("became_socket.py")
    shutil.rmtree(os.path.join(root, "folder"))
    os.symlink(outside, os.path.join(root, "folder"))
    shutil.rmtree(os.path.join(root, "deep", "a"))
    os.symlink(outside, os.path.join(root, "deep", "a"))
    os.mkdir(outside / "b")
    (outside / "b" / "secret.py").write_text("def secret(): pass\n")

    found = run(root)
    assert [(c.module, c.name) for c in found.candidates] == [("good.py", "f")]
    assert found.limitations == {
        "path-missing": 1,
        "path-not-regular": 6,
        "submodule-skipped": 1,
        "symlink-skipped": 1,
    }


def test_an_unmerged_path_is_left_out(tmp_path: Path) -> None:
    builder = RepoBuilder(tmp_path / "r").commit("base", {"a.py": "x = 1\n", "b.py": ONE})
    builder.commit("theirs", {"a.py": "x = 2\n"}, branch="side").commit("ours", {"a.py": "x = 3\n"})
    root = builder.build()
    git(root, "merge", "side", ok=(1,))
    found = run(root)
    assert [candidate.module for candidate in found.candidates] == ["b.py"]
    assert found.limitations == {"path-unmerged": 1}


def test_the_work_tree_is_read_not_the_index(tmp_path: Path) -> None:
    root = RepoBuilder(tmp_path / "r").commit("one", {"a.py": ONE}).build()
    Path(root, "a.py").write_text("def changed(): pass\n")
    Path(root, "untracked.py").write_text(ONE)
    assert [candidate.name for candidate in run(root).candidates] == ["changed"]


def test_programs_of_the_repository_are_never_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    evil = File(f"#!/bin/sh\necho ran >>{marker}\n".encode(), "100755")
    files: dict[str, Entry] = {
        **dict.fromkeys(("git", "awk", "sort", "grep", "bash", "bin/git", "bin/awk", "a.py", "run"), evil),
        "awk.sh": 'BEGIN { system("touch ran") }\n',
        ".bashrc": f"touch {marker}\n",
    }
    root = RepoBuilder(tmp_path / "r").commit("one", files).build()
    git(root, "config", "core.fsmonitor", "./run")
    git(root, "config", "core.pager", "./run")
    git(root, "config", "alias.ls-files", "!./run")
    path = os.environ["PATH"]
    for search in (f".:{path}", f":{path}", f"{root}:{root}/bin:{path}", f"bin:{path}:", f"{root}/.:{path}"):
        found = run(root, env=isolated_environment(root, PATH=search, AWKPATH=root))
        assert found.exit_code == 0
    assert not marker.exists()


@pytest.mark.parametrize(
    ("name", "data", "limitation"),
    [
        ("nul.py", b"def f(): pass\nx = '\0'\n", "file-not-text"),
        ("mac.py", b"def f(): pass\rdef g(): pass\r", "file-not-text"),
        ("latin.py", b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "encoding-unsupported"),
        ("sjis.py", b"#!/usr/bin/python\n# vim: set fileencoding=shift_jis :\nx = '\x95\\'\n", "encoding-unsupported"),
        ("utf16.py", "def f(): pass\n".encode("utf-16"), "file-not-text"),
        ("large.py", ONE.encode() + b"# filler\n" * 120_000, "file-too-large"),
        ("wide.py", ONE.encode() + b"x = '" + b"y" * 1_100_000 + b"'\n", "file-too-large"),
        ("quotes.py", ONE.encode() + b"'" * 1_000_001, "file-not-understood"),
        ("braces.sh", b"f() { :; }\n" + b"{ " * 300_000, "file-not-understood"),
        ("escapes.sh", b"f() { :; }\n: " + b"\\a" * 400_000 + b"'\n", "file-not-understood"),
        ("commands.sh", b"f() { :; }\n" + b"a;" * 400_000 + b"'\n", "file-not-understood"),
        ("functions.sh", b"f() {" * 150_000, "file-not-understood"),
        ("names.py", b"f'" + b"\\N{" * 300_000, "file-not-understood"),
        ("fields.py", b"f'" + b"{f'" * 300_000, "file-not-understood"),
    ],
)
def test_contents_that_are_no_source_or_too_much_of_it_give_nothing(
    name: str, data: bytes, limitation: str, tmp_path: Path
) -> None:
    files: dict[str, Entry] = {name: data, "good.py": ONE}
    found = run(RepoBuilder(tmp_path / "r").commit("one", files).build())
    assert [candidate.module for candidate in found.candidates] == ["good.py"]
    assert found.limitations == {limitation: 1}


def bounded(folder: Path, **bounds: int) -> str:
    """A copy of the oracle with other bounds."""
    shutil.copytree(FOLDER, folder)
    tool = folder / "structural-oracle.bash"
    text = tool.read_text()
    for name, value in bounds.items():
        text, replaced = re.subn(rf"\b{name}=\d+", f"{name}={value}", text)
        assert replaced == 1, name
    tool.write_text(text)
    return str(tool)


def test_a_file_that_kills_its_reader_takes_no_other_file_with_it(tmp_path: Path) -> None:
    files: dict[str, Entry] = {f"m{n}.py": f"def f{n}(): pass\n" for n in range(5)}
    root = RepoBuilder(tmp_path / "r").commit("one", {**files, "huge.py": "x\n", "vast.py": "x\n"}).build()
    for name in ("huge.py", "vast.py"):
        with open(os.path.join(root, name), "wb") as file:
            file.truncate(3 << 30)  # a sparse file: gigabytes without a newline, and the index knows nothing of it
    tool = bounded(tmp_path / "oracle", AWK_MEMORY_KIB=65536, AWK_CPU_S=1, RETRY_CPU_S=1)
    found = run(root, tool=tool)
    assert sorted(candidate.name for candidate in found.candidates) == [f"f{n}" for n in range(5)]
    assert found.limitations in ({"reader-failed": 2}, {"file-too-large": 2})


def test_a_repository_of_files_that_kill_readers_is_given_up(tmp_path: Path) -> None:
    files: dict[str, Entry] = {f"m{n}.py": f"def f{n}(): pass\n" for n in range(9)}
    root = RepoBuilder(tmp_path / "r").commit("one", files).build()
    tool = bounded(tmp_path / "oracle", MAX_DEATHS=3)
    failing = tmp_path / "awk"
    failing.write_text('#!/bin/sh\ncase "$*" in *records.awk*) exit 3 ;; esac\nexec "$AWK" "$@"\n')
    failing.chmod(0o755)
    environment = only(
        tmp_path / "path",
    ) | {"AWK": str(shutil.which("awk"))}
    os.unlink(tmp_path / "path" / "awk")
    os.symlink(failing, tmp_path / "path" / "awk")
    os.symlink("/bin/sh", tmp_path / "path" / "sh")
    found = run(root, tool=tool, env=environment)
    assert (found.exit_code, found.candidates, found.limitations) == (0, [], {"reader-failed": 9})


def test_bounds_on_files_and_records_are_kept_and_counted(tmp_path: Path) -> None:
    tool = bounded(tmp_path / "oracle", MAX_FILES=3, MAX_RECORDS=4, BATCH=2)
    files: dict[str, Entry] = {f"src/m{n}.py": f"def f{n}(): pass\ndef g{n}(): pass\n" for n in range(5)}
    root = RepoBuilder(tmp_path / "r").commit("one", {**files, "tests/t.py": ONE}).build()
    found = run(root, tool=tool)
    assert [candidate.name for candidate in found.candidates] == ["f0", "g0", "f1", "g1"]
    assert found.limitations == {"candidate-beyond-bound": 2, "file-beyond-bound": 3}


def test_the_bounds_are_the_documented_ones() -> None:
    text = Path(TOOL).read_text()
    found = {name: int(value) for name, value in re.findall(r"\b([A-Z_]+)=(\d+)", text)}
    assert found == {
        "MAX_FILES": 20_000,
        "MAX_FILE_BYTES": 1 << 20,
        "MAX_TOTAL_BYTES": 128 << 20,
        "MAX_RECORDS": 20_000,
        "BATCH": 200,
        "AWK_MEMORY_KIB": 1 << 20,
        "AWK_CPU_S": 10,
        "RETRY_CPU_S": 3,
        "MAX_DEATHS": 5,
    }


def test_wrong_uses_are_refused_in_a_sentence(tmp_path: Path) -> None:
    root = RepoBuilder(tmp_path / "r").commit("one", {"d/a.py": ONE}).build()
    with_argument = run(root, "src")
    assert (with_argument.exit_code, with_argument.stdout) == (2, b"")
    assert with_argument.stderr == b"structural-oracle: it takes no arguments; run it in the root of a git work tree\n"
    below = run(os.path.join(root, "d"))
    assert (below.exit_code, below.stdout) == (1, b"")
    assert below.stderr == b"structural-oracle: the current folder is not the root of a git work tree\n"
    Path(root, ".git", "index").write_bytes(b"damaged")
    damaged = run(root)
    assert (damaged.exit_code, damaged.stdout) == (1, b"")
    assert damaged.stderr.endswith(b"structural-oracle: git could not list the tracked files\n")


def test_a_reader_that_goes_away_ends_the_oracle(tmp_path: Path) -> None:
    files: dict[str, Entry] = {f"m{n}.py": "".join(f"def f{n}_{i}(): pass\n" for i in range(200)) for n in range(60)}
    root = RepoBuilder(tmp_path / "r").commit("one", files).build()
    command = 'bash "$1" 2>/dev/null | { read -r line; printf "%s\\n" "$line"; }'
    done = subprocess.run(["bash", "-c", command, "bash", TOOL], cwd=root, capture_output=True, timeout=60)
    assert done.stdout == b"python\tm0.py\tfunction\tf0_0\t()\n"
