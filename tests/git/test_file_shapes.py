"""Files in every state are identified exactly as `git add` would record them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.git.conftest import Observe, known_of, let_the_clock_tick
from tests.support.git_oracle import added, check
from tests.support.repos import File, RepoBuilder, Symlink, git

ZERO = "0" * 40


def states(seen: object) -> list[tuple[str, str]]:
    """(path, xy) of the dirty files."""
    return [(file.path, file.xy) for file in seen.dirty]  # type: ignore[attr-defined]  # an Observation


def test_edited_deleted_staged_and_untracked_files(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    names = ("both", "deleted", "edited", "same", "staged", "staged-deletion", "removed-but-kept")
    root = RepoBuilder(tmp_path).commit("one", {name: f"{name}\n" for name in names}).build()
    for name in ("both", "edited", "staged"):
        Path(root, name).write_text("another text\n")
    git(root, "add", "both", "staged", env=env)
    Path(root, "both").write_text("yet another text\n")
    Path(root, "deleted").unlink()
    git(root, "rm", "-q", "staged-deletion", env=env)
    git(root, "rm", "-q", "--cached", "removed-but-kept", env=env)
    os.mkdir(os.path.join(root, "new"))
    Path(root, "new/file").write_text("new\n")
    seen = look(root)
    check(seen, root, env)
    assert states(seen) == [("both", "MM"), ("deleted", ".D"), ("edited", ".M"), ("staged", "M.")]
    assert seen.staged == ("both", "removed-but-kept", "staged", "staged-deletion")
    assert [path.path for path in seen.untracked] == ["new/file", "removed-but-kept"]
    assert seen.is_dirty


def test_a_staged_deletion_alone_makes_the_repository_dirty(look: Observe, simple: str, env: dict[str, str]) -> None:
    git(simple, "rm", "-q", "README.md", env=env)
    seen = look(simple)
    check(seen, simple, env)
    assert seen.dirty == ()
    assert seen.is_dirty


def test_an_edit_of_the_same_size_and_times_is_found(look: Observe, simple: str, env: dict[str, str]) -> None:
    """The inode's change time cannot be set back, and git looks at it."""
    path = Path(simple, "README.md")
    before = path.stat()
    path.write_text("HELLO\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    seen = look(simple)
    check(seen, simple, env)
    assert states(seen) == [("README.md", ".M")]


def test_a_touched_file_is_clean(look: Observe, simple: str, env: dict[str, str]) -> None:
    os.utime(os.path.join(simple, "README.md"), (1, 1))
    seen = look(simple)
    check(seen, simple, env)
    assert seen.dirty == ()


def test_an_edit_that_goes_back_to_the_committed_text_is_clean_again(
    look: Observe, simple: str, env: dict[str, str]
) -> None:
    before = look(simple)
    Path(simple, "README.md").write_text("other\n")
    between = look(simple, known_of(before))
    Path(simple, "README.md").write_text("hello\n")
    after = look(simple, known_of(between))
    assert between.repository_digest != before.repository_digest
    assert (after.status_digest, after.repository_digest, after.dirty) == (
        before.status_digest,
        before.repository_digest,
        (),
    )


def test_an_intent_to_add_is_no_staged_empty_file(look: Observe, simple: str, env: dict[str, str]) -> None:
    for name in ("intended", "empty", "gone", "linked"):
        Path(simple, name).write_text("" if name == "empty" else "text\n")
    os.remove(os.path.join(simple, "linked"))
    os.symlink("README.md", os.path.join(simple, "linked"))
    git(simple, "add", "-N", "intended", "gone", "linked", env=env)
    git(simple, "add", "empty", env=env)
    os.remove(os.path.join(simple, "gone"))
    seen = look(simple)
    check(seen, simple, env)
    assert states(seen) == [("empty", "A."), ("gone", ".D"), ("intended", ".A"), ("linked", ".A")]
    assert (seen.staged, seen.unstaged) == (("empty",), ("gone", "intended", "linked"))


def test_an_intent_to_add_again_what_was_removed_from_the_index(
    look: Observe, simple: str, env: dict[str, str]
) -> None:
    git(simple, "rm", "-q", "--cached", "README.md", env=env)
    git(simple, "add", "-N", "README.md", env=env)
    seen = look(simple)
    check(seen, simple, env)
    assert states(seen) == [("README.md", "DA")]


def test_mode_and_type_changes(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    builder = RepoBuilder(tmp_path)
    builder.commit(
        "one",
        {
            "executable": "x\n",
            "file-to-folder": "x\n",
            "file-to-link": "x\n",
            "file-to-repository": "x\n",
            "link-to-file": Symlink("executable"),
            "link-to-folder": Symlink("executable"),
            "plain": File(b"x\n", "100755"),
            "folder/inside": "x\n",
        },
    )
    root = builder.build()
    os.chmod(os.path.join(root, "executable"), 0o755)
    os.chmod(os.path.join(root, "plain"), 0o644)
    for name in ("file-to-folder", "file-to-link", "file-to-repository", "link-to-file", "link-to-folder"):
        os.remove(os.path.join(root, name))
    os.symlink("nowhere", os.path.join(root, "file-to-link"))
    Path(root, "link-to-file").write_text("executable")
    for name in ("file-to-folder", "link-to-folder", "file-to-repository"):
        os.mkdir(os.path.join(root, name))
    Path(root, "file-to-folder/new").write_text("x")
    git(os.path.join(root, "file-to-repository"), "init", "-q")
    git(os.path.join(root, "file-to-repository"), "commit", "-q", "--allow-empty", "-m", "one", env=env)
    os.remove(os.path.join(root, "folder/inside"))
    os.rmdir(os.path.join(root, "folder"))
    os.symlink("elsewhere", os.path.join(root, "folder"))
    seen = look(root)
    after = added(root, env=env)
    found = {file.path: (file.mode, file.content_id) for file in seen.dirty}
    missing = ("file-to-folder", "folder/inside", "link-to-folder")
    assert found == {
        **dict.fromkeys(missing, (None, None)),
        **{
            name: after[name.encode()]
            for name in ("executable", "file-to-link", "file-to-repository", "link-to-file", "plain")
        },
    }
    assert found["executable"][0] == "100755"
    assert found["file-to-link"][0] == "120000"
    assert found["file-to-repository"][0] == "160000"
    assert [tuple(path) for path in seen.untracked] == [("file-to-folder/new", "file"), ("folder", "symlink")]


def test_an_unborn_repository_in_place_of_a_file_leaves_the_file_missing(
    look: Observe, simple: str, env: dict[str, str]
) -> None:
    """There is no commit that git could track in its place; where git may not look, we cannot say more than that."""
    os.remove(os.path.join(simple, "README.md"))
    os.mkdir(os.path.join(simple, "README.md"))
    git(os.path.join(simple, "README.md"), "init", "-q")
    seen = look(simple)
    assert [tuple(file) for file in seen.dirty] == [("README.md", ".D", None, None, None)]
    git(simple, "update-index", "--assume-unchanged", "README.md", env=env)
    seen = look(simple)
    assert [tuple(file) for file in seen.dirty] == [("README.md", ".u", "160000", None, 0)]
    assert ("unidentified-files", 1) in seen.warnings


def test_symlinks_dangling_edited_and_replaced(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    links = {name: Symlink("target") for name in ("dangling", "edited", "replaced", "same")}
    root = RepoBuilder(tmp_path).commit("one", {**links, "target": "text\n"}).build()
    for name in ("edited", "replaced", "target"):
        os.remove(os.path.join(root, name))
    os.symlink("elsewhere/nothing", os.path.join(root, "edited"))
    Path(root, "replaced").write_text("text\n")
    os.symlink("nowhere", os.path.join(root, "new"))
    seen = look(root)
    check(seen, root, env)
    assert [tuple(path) for path in seen.untracked] == [("new", "symlink")]
    assert {file.path: file.size_bytes for file in seen.dirty} == {"edited": 17, "replaced": 5, "target": None}


def test_an_unmerged_index_in_all_seven_conflict_states(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    """One path for each set of stages, and each once with a work-tree file and once without."""
    stages = {"DD": (1,), "AU": (2,), "UA": (3,), "UD": (1, 2), "DU": (1, 3), "AA": (2, 3), "UU": (1, 2, 3)}
    root = RepoBuilder(tmp_path).commit("one", {"other": "x\n"}).build()
    texts = {1: b"base\n", 2: b"ours\n", 3: b"theirs\n"}
    ids = {
        stage: git(root, "hash-object", "-w", "--stdin", stdin=text, env=env).decode().strip()
        for stage, text in texts.items()
    }
    lines = []
    for xy, held in stages.items():
        for name in (f"{xy}-here", f"{xy}-gone"):
            lines += [f"100644 {ids[stage]} {stage}\t{name}\n" for stage in held]
        Path(root, f"{xy}-here").write_text(f"resolving {xy}\n")
    git(root, "update-index", "--index-info", stdin="".join(lines).encode(), env=env)
    seen = look(root)
    check(seen, root, env)
    assert states(seen) == sorted((f"{xy}-{where}", xy) for xy in stages for where in ("here", "gone"))
    assert seen.unmerged == tuple(sorted(f"{xy}-{where}" for xy in stages for where in ("here", "gone")))


def test_a_real_merge_conflict(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    builder = RepoBuilder(tmp_path).commit("base", {"a": "base\n", "b": "base\n"})
    builder.commit("theirs", {"a": "theirs\n", "b": None}, branch="side")
    builder.commit("ours", {"a": "ours\n", "b": "ours\n"})
    root = builder.build()
    git(root, "merge", "side", ok=(1,), env=env)
    seen = look(root)
    check(seen, root, env)
    assert states(seen) == [("a", "UU"), ("b", "UD")]


@pytest.mark.parametrize("setting", ["true", "input", "false"])
def test_line_endings_are_converted_as_git_add_converts_them(
    look: Observe, tmp_path: Path, env: dict[str, str], setting: str
) -> None:
    files = {"lf": b"a\nb\n", "crlf": b"a\r\nb\r\n", "mixed": b"a\r\nb\n", "binary": b"a\0\r\n", "clean": b"c\n"}
    root = RepoBuilder(tmp_path).commit("one", files).build()
    git(root, "config", "core.autocrlf", setting)
    for name in ("lf", "crlf", "mixed", "binary"):
        Path(root, name).write_bytes(b"edited\r\nline\r\n" + (b"\0" if name == "binary" else b""))
    Path(root, "added").write_bytes(b"new\r\n")
    git(root, "add", "-N", "added", env=env)
    seen = look(root)
    check(seen, root, env)


def test_attributes_in_folders_and_in_the_index_alone_are_obeyed(
    look: Observe, tmp_path: Path, env: dict[str, str]
) -> None:
    builder = RepoBuilder(tmp_path)
    builder.commit("one", {".gitattributes": "*.txt text\n", "a.txt": "a\n", "sub/.gitattributes": "*.txt -text\n"})
    builder.commit("two", {"sub/b.txt": "b\n", "other/c.txt": "c\n", "u.txt": b"\xff\xfeu\0\n\0"})
    root = builder.build()
    for name in ("a.txt", "sub/b.txt", "other/c.txt"):
        Path(root, name).write_bytes(b"edited\r\n")
    os.remove(os.path.join(root, ".gitattributes"))
    os.remove(os.path.join(root, "sub/.gitattributes"))
    Path(root, "other/.gitattributes").write_text("*.txt eol=crlf\n")
    Path(root, ".git/info/attributes").write_text("u.txt working-tree-encoding=UTF-16LE-BOM\n")
    Path(root, "u.txt").write_bytes("\ufeffedited\n".encode("utf-16-le"))
    seen = look(root)
    check(seen, root, env)
    assert {path.path for path in seen.untracked} == {"other/.gitattributes"}


def test_a_clean_filter_runs_as_it_does_for_git_add(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    builder = RepoBuilder(tmp_path).commit("one", {".gitattributes": "*.up filter=up\n", "a.up": "A\n", "b.up": "B\n"})
    root = builder.build()
    git(root, "config", "filter.up.clean", "tr a-z A-Z")
    Path(root, "a.up").write_text("edited\n")
    Path(root, "b.up").write_text("b\n")  # other bytes, but the filter makes the committed text of them
    seen = look(root)
    check(seen, root, env)
    assert [file.path for file in seen.dirty if file.content_id is None] == []


def test_a_failing_required_filter_leaves_only_its_own_files_unidentified(
    look: Observe, tmp_path: Path, env: dict[str, str]
) -> None:
    files = {f"{name}.{kind}": f"{name}\n" for name in "abcd" for kind in ("bad", "ok")}
    root = RepoBuilder(tmp_path).commit("one", {**files, ".gitattributes": "*.bad filter=broken\n"}).build()
    for name in files:
        Path(root, name).write_text(f"edited {name}\n")
    git(root, "config", "filter.broken.clean", "false")
    git(root, "config", "filter.broken.required", "true")
    seen = look(root)
    unidentified = {file.path for file in seen.dirty if file.content_id is None}
    assert unidentified == {"a.bad", "b.bad", "c.bad", "d.bad"}
    assert ("unidentified-files", 4) in seen.warnings
    git(root, "config", "--unset", "filter.broken.required")  # git then takes the file as it is
    ids = added(root, env=env)
    for file in seen.dirty:
        if file.content_id is not None:
            assert (file.mode, file.content_id) == ids[file.path.encode()]
    check(look(root), root, env)


def test_a_file_that_does_not_fit_its_encoding_is_unidentified(
    look: Observe, tmp_path: Path, env: dict[str, str]
) -> None:
    """`git add` refuses these; where nothing is stored git only complains and takes the bytes as they are."""
    attributes = "*.le working-tree-encoding=UTF-16LE\n*.any working-tree-encoding=UTF-16\n"
    texts = {
        "odd.le": b"x",
        "mark.le": "\ufeffhi\n".encode("utf-16-le"),
        "bare.any": "hi\n".encode("utf-16-le"),
        "good.le": "good\n".encode("utf-16-le"),
        "good.any": "good\n".encode("utf-16"),
    }
    root = RepoBuilder(tmp_path).commit("one", {**dict.fromkeys(texts, "old\n"), ".gitattributes": attributes}).build()
    for name, data in texts.items():
        Path(root, name).write_bytes(data)
    seen = look(root)
    assert {file.path for file in seen.dirty if file.content_id is None} == {"odd.le", "mark.le", "bare.any"}
    assert ("unidentified-files", 3) in seen.warnings
    for file in seen.dirty:
        git(root, "add", file.path, env=env, ok=(0,) if file.content_id else (128,))
        if file.content_id:
            assert git(root, "rev-parse", f":{file.path}", env=env).decode().strip() == file.content_id


def test_assume_unchanged_does_not_hide_an_edit(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    names = ("deleted", "edited", "mode", "same", "staged", "type")
    root = RepoBuilder(tmp_path).commit("one", {name: f"{name}\n" for name in names}).build()
    Path(root, "staged").write_text("staged\nagain\n")
    git(root, "add", "staged", env=env)
    git(root, "update-index", "--assume-unchanged", *names, env=env)
    Path(root, "staged").write_text("edited after that\n")
    Path(root, "edited").write_text("hidden edit\n")
    os.chmod(os.path.join(root, "mode"), 0o755)
    for name in ("deleted", "type"):
        os.remove(os.path.join(root, name))
    os.symlink("x", os.path.join(root, "type"))
    assert git(root, "status", "--porcelain", env=env) == b"M  staged\n"
    seen = look(root)
    check(seen, root, env, hidden=True)
    assert states(seen) == [("deleted", ".d"), ("edited", ".m"), ("mode", ".m"), ("staged", "Mm"), ("type", ".t")]
    assert [tuple(warning) for warning in seen.warnings] == [("hidden-edits", 5)]
    assert seen.is_dirty
    assert (seen.staged, seen.unstaged) == (("staged",), ())


def test_skip_worktree_does_not_hide_an_edit(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path).commit("one", {name: f"{name}\n" for name in ("absent", "edited", "same")}).build()
    git(root, "update-index", "--skip-worktree", "absent", "edited", "same", env=env)
    Path(root, "edited").write_text("hidden edit\n")
    os.remove(os.path.join(root, "absent"))
    let_the_clock_tick(os.path.join(root, "edited"))
    assert git(root, "status", "--porcelain", env=env) == b""
    seen = look(root)
    check(seen, root, env, hidden=True)
    assert states(seen) == [("absent", ".s"), ("edited", ".m")]
    assert [tuple(warning) for warning in seen.warnings] == [("hidden-edits", 1), ("sparse-checkout", 1)]
    again = look(root, known_of(seen))
    assert (again.dirty, again.warnings) == (seen.dirty, seen.warnings)
    assert again.cost.bytes_read == 0


def test_a_case_only_rename(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path).commit("one", {"Readme.md": "text\n", "src/Main.py": "x\n"}).build()
    git(root, "mv", "Readme.md", "README.md", env=env)
    os.rename(os.path.join(root, "src/Main.py"), os.path.join(root, "src/main.py"))
    seen = look(root)
    check(seen, root, env)
    assert [entry.path for entry in seen.entries()] == ["README.md", "src/Main.py"]
    assert seen.staged == ("README.md", "Readme.md")
    assert states(seen) == [("README.md", "A."), ("src/Main.py", ".D")]
    git(root, "config", "core.ignoreCase", "true")
    check(look(root), root, env)


def test_file_modes_and_links_that_the_file_system_cannot_hold(
    look: Observe, tmp_path: Path, env: dict[str, str]
) -> None:
    """`core.fileMode` and `core.symlinks` off: git takes modes from the index, for unmerged paths too."""
    root = RepoBuilder(tmp_path).commit("one", {"run": File(b"x\n", "100755"), "l": Symlink("run"), "m": "x\n"}).build()
    git(root, "config", "core.fileMode", "false")
    git(root, "config", "core.symlinks", "false")
    os.chmod(os.path.join(root, "run"), 0o644)
    Path(root, "run").write_text("edited\n")
    os.remove(os.path.join(root, "l"))
    Path(root, "l").write_text("elsewhere")
    oid = git(root, "rev-parse", "HEAD:m").decode().strip()
    conflict = f"0 {ZERO}\tm\n100755 {oid} 1\tm\n100644 {oid} 2\tm\n100755 {oid} 3\tm\n100755 {oid} 3\tt\n"
    git(root, "update-index", "--index-info", stdin=conflict.encode(), env=env)
    Path(root, "m").write_text("resolved\n")
    Path(root, "t").write_text("resolved\n")
    seen = look(root)
    check(seen, root, env)
    assert {file.path: file.mode for file in seen.dirty} == {
        "l": "120000",
        "m": "100644",
        "run": "100755",
        "t": "100755",
    }


def test_fifos_and_sockets_are_neither_opened_nor_hidden(look: Observe, tmp_path: Path, env: dict[str, str]) -> None:
    root = RepoBuilder(tmp_path).commit("one", {"edited": "x\n", "replaced": "x\n"}).build()
    Path(root, "edited").write_text("edited\n")
    os.remove(os.path.join(root, "replaced"))
    os.mkfifo(os.path.join(root, "replaced"))
    os.mkfifo(os.path.join(root, "untracked-fifo"))
    seen = look(root)
    assert seen.untracked == ()  # git does not list them either
    assert git(root, "ls-files", "--others", env=env) == b""
    oid = git(root, "hash-object", "edited", env=env).decode().strip()
    assert [tuple(file) for file in seen.dirty] == [
        ("edited", ".M", "100644", oid, 7),
        ("replaced", ".M", "100644", None, None),
    ]
    assert [tuple(warning) for warning in seen.warnings] == [("special-files", 1)]


def test_a_fifo_named_like_an_attributes_file_does_not_block(look: Observe, simple: str, env: dict[str, str]) -> None:
    Path(simple, "README.md").write_text("edited\n")
    first = look(simple)
    os.mkfifo(os.path.join(simple, "src/.git-later"))
    os.rename(os.path.join(simple, "src/.git-later"), os.path.join(simple, "src/attributes"))
    again = look(simple, known_of(first))
    assert again.dirty == first.dirty
