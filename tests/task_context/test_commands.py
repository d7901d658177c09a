"""`repocue task` and `repocue cue --view task`, as they are run on real repositories."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repocue.contracts import reader
from tests.support.repos import File, RepoBuilder, Submodule, Symlink, git
from tests.task_context.declarations import PATH, declaration, item, pin_of, repository, source

Run = Callable[..., subprocess.CompletedProcess[bytes]]

A = b"one\ntwo\nthree\nfour\nfive\n"
B = "füür\nzwei".encode()
LATIN = b"caf\xe9\n"


@pytest.fixture
def root(tmp_path: Path, repocue: Run) -> str:
    path = repository(
        tmp_path / "r",
        {"src/a.py": A, "docs/b.md": File(B), "empty": b"", "latin.txt": LATIN},
        item("beta", source("docs/b.md", B), kind="document", tags=("docs",)),
        item("alpha", source("src/a.py", A, (2, 4)), source("src/a.py", A, (4, 5)), tags=("code",)),
        item("whole", source("src/a.py", A), source("empty", b""), tags=("code", "all")),
    )
    assert repocue("init", cwd=path).returncode == 0
    return path


def task_cue(repocue: Run, root: str, *arguments: str, tokens: int = 2000) -> dict[str, Any]:
    done = repocue("cue", "--view", "task", "--max-tokens", str(tokens), *arguments, cwd=root)
    assert (done.returncode, done.stderr) == (0, b"")
    return reader.read_canonical(done.stdout, contract="repocue/task-cue-1")


def refused(done: subprocess.CompletedProcess[bytes], exit_code: int = 1) -> tuple[str, str]:
    assert (done.returncode, done.stdout) == (exit_code, b"")
    error = json.loads(done.stderr)
    return error["code"], error["message"]


def no_cue(repocue: Run, root: str, *arguments: str) -> tuple[str, str]:
    return refused(repocue("cue", "--view", "task", "--max-tokens", "2000", *arguments, cwd=root))


def commit(root: str, files: dict[str, bytes | None]) -> None:
    for name, data in files.items():
        path = os.path.join(root, name)
        if data is None:
            os.unlink(path)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            Path(path).write_bytes(data)
    git(root, "add", "-A")
    git(root, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "more")


def test_the_cue_delivers_heads_bytes_once_each_with_their_digests(root: str, repocue: Run) -> None:
    cue = task_cue(repocue, root, "--tag", "code", "--item", "beta")
    assert [(entry["id"], entry["sources"]) for entry in cue["items"]] == [
        ("alpha", ["src/a.py#L2-L4", "src/a.py#L4-L5"]),
        ("beta", ["docs/b.md"]),
        ("whole", ["empty", "src/a.py"]),
    ]
    assert [(b["id"], b["first_line"], b["last_line"], b["text"].encode(), b["sha256"]) for b in cue["blocks"]] == [
        ("docs/b.md", 1, 2, git(root, "show", "HEAD:docs/b.md"), pin_of(B)),
        ("empty", None, None, b"", pin_of(b"")),
        ("src/a.py", 1, 5, git(root, "show", "HEAD:src/a.py"), pin_of(A)),
    ]
    assert [(s["id"], s["block"]) for s in cue["sources"]] == [
        ("docs/b.md", "docs/b.md"),
        ("empty", "empty"),
        ("src/a.py", "src/a.py"),
        ("src/a.py#L2-L4", "src/a.py"),
        ("src/a.py#L4-L5", "src/a.py"),
    ]
    assert cue["declaration"]["sha256"] == pin_of(git(root, "show", f"HEAD:{PATH}"))
    assert cue["repository"]["head"] == git(root, "rev-parse", "HEAD").decode().strip()
    assert cue["freshness"] == "current"


def test_overlapping_ranges_become_one_block(root: str, repocue: Run) -> None:
    cue = task_cue(repocue, root, "--item", "alpha")
    assert [(b["id"], b["text"]) for b in cue["blocks"]] == [("src/a.py#L2-L5", "two\nthree\nfour\nfive\n")]


def test_everything_before_the_task_is_the_same_while_declaration_and_selection_are(root: str, repocue: Run) -> None:
    def prefix(*arguments: str) -> tuple[bytes, bytes]:
        done = repocue("cue", "--view", "task", "--max-tokens", "2000", "--item", "alpha", *arguments, cwd=root)
        assert done.returncode == 0
        head, mark, rest = done.stdout.partition(b',"task":{')
        assert mark
        return head, rest

    first = prefix()
    assert prefix() == first  # and the same state gives the same bytes altogether
    asked = prefix("--question", "Why?")
    commit(root, {"other.txt": b"x\n"})
    moved = prefix("--refresh")
    assert first[0] == asked[0] == moved[0]
    assert len({first[1], asked[1], moved[1]}) == 3


def test_a_task_file_alone_or_inside_a_benchmark_asks_its_own_question(root: str, repocue: Run, tmp_path: Path) -> None:
    task = {
        "schema_version": "repocue/task-1",
        "id": "t",
        "kind": "explanation",
        "question": "How?",
        "declaration": PATH,
        "selector": {"items": ["beta"], "tags": [], "kinds": [], "paths": []},
    }
    benchmark = {
        "schema_version": "repocue/task-benchmark-1",
        "id": "b",
        "task": task,
        "overview": {"view": "overview", "max_tokens": 500},
        "task_context": {"max_tokens": 900},
        "sandbox": "read-only",
        "timeout_seconds": 60,
        "repeats": 3,
        "verification": None,
        "rubric": "It says how.",
    }
    found = []
    for name, document in (("task.json", task), ("benchmark.json", benchmark)):
        (tmp_path / name).write_text(json.dumps(document))
        found.append(task_cue(repocue, root, "--task-file", str(tmp_path / name)))
    assert found[0] == found[1]
    assert found[0]["task"] == {"id": "t", "kind": "explanation", "question": "How?"}
    code, message = refused(
        repocue("cue", "--view", "task", "--task-file", str(tmp_path / "task.json"), "--item", "beta", cwd=root), 2
    )
    assert (code, "already says" in message) == ("usage", True)


def test_a_selection_that_does_not_fit_says_what_and_by_how_much_and_the_named_budget_does(
    root: str, repocue: Run
) -> None:
    done = repocue("cue", "--view", "task", "--item", "whole", "--max-tokens", "100", cwd=root)
    code, message = refused(done)
    assert code == "budget.too-small"
    needed = int(message.split(" takes ")[1].split()[0])
    assert f"{needed - 100} more than the budget of 100" in message
    assert "its largest block is src/a.py with 24 bytes" in message
    assert task_cue(repocue, root, "--item", "whole", tokens=needed)["budget"]["max_tokens"] == needed
    assert (
        repocue("cue", "--view", "task", "--item", "whole", "--max-tokens", str(needed - 1), cwd=root).returncode == 1
    )


def test_a_drifted_pin_is_refused_by_name_and_pinning_mends_it(root: str, repocue: Run) -> None:
    commit(root, {"src/a.py": A.replace(b"two", b"2")})
    assert repocue("refresh", cwd=root).returncode == 0
    code, message = no_cue(repocue, root, "--item", "alpha", "--item", "beta")
    assert code == "task-context.drifted"
    assert "src/a.py#L2-L4 does not have the pinned digest" in message
    assert "L4-L5" not in message  # these lines are as pinned
    checked = repocue("task", "check", cwd=root)
    assert checked.returncode == 1
    document = reader.read_canonical(checked.stdout, contract="repocue/task-check-1")
    assert {s["id"]: s["status"] for i in document["items"] for s in i["sources"]} == {
        "src/a.py#L2-L4": "drifted",
        "src/a.py#L4-L5": "ok",
        "docs/b.md": "ok",
        "src/a.py": "drifted",
        "empty": "ok",
    }
    before = Path(root, PATH).read_bytes()
    done = repocue("task", "pin", cwd=root)
    assert json.loads(done.stdout)["counts"]["rewritten"] == 2
    new = A.replace(b"two", b"2")
    expected = before.replace(pin_of(A, (2, 4)).encode(), pin_of(new, (2, 4)).encode())
    assert Path(root, PATH).read_bytes() == expected.replace(pin_of(A).encode(), pin_of(new).encode())
    assert git(root, "status", "--porcelain").decode().split() == ["M", PATH]  # nothing else was written
    assert no_cue(repocue, root, "--item", "alpha")[0] == "task-context.dirty"
    commit(root, {})
    task_cue(repocue, root, "--item", "alpha", "--refresh")


def dirty_work_tree(root: str) -> None:
    Path(root, "src/a.py").write_bytes(A + b"six\n")


def dirty_index(root: str) -> None:
    dirty_work_tree(root)
    git(root, "add", "src/a.py")
    Path(root, "src/a.py").write_bytes(A)


def hidden_edit(root: str) -> None:
    git(root, "update-index", "--assume-unchanged", "src/a.py")
    dirty_work_tree(root)


def missing_file(root: str) -> None:
    os.unlink(os.path.join(root, "src/a.py"))


@pytest.mark.parametrize("change", [dirty_work_tree, dirty_index, hidden_edit, missing_file])
def test_a_source_that_differs_from_head_is_refused_by_name(
    root: str, repocue: Run, change: Callable[[str], None]
) -> None:
    change(root)
    code, message = no_cue(repocue, root, "--item", "alpha")
    assert code == "task-context.dirty"
    assert "src/a.py#L2-L4 differs from HEAD" in message
    assert task_cue(repocue, root, "--item", "beta", "--refresh")["freshness"] == "dirty-but-indexed"
    pinned = repocue("task", "pin", cwd=root)
    assert refused(pinned)[0] == "task-context.not-pinned"


@pytest.mark.parametrize(
    ("entry", "code", "words"),
    [
        (source("nowhere.py", b""), "task-context.missing", "nowhere.py is no file of HEAD's tree"),
        (source("new.py", b"x\n"), "task-context.untracked", "new.py is not tracked"),
        (source("staged.py", b"x\n"), "task-context.untracked", "staged.py is not tracked"),
        (source("sub", b""), "task-context.missing", "sub is no file of HEAD's tree"),
        (source("src", b""), "task-context.missing", "src is no file of HEAD's tree"),
        (source("src/a.py", A, (5, 6)), "task-context.out-of-range", "src/a.py#L5-L6 has fewer lines than that"),
        (source("latin.txt", LATIN), "task-context.not-utf-8", "latin.txt is not valid UTF-8"),
    ],
)
def test_a_source_that_is_not_there_in_full_is_refused_by_name(
    tmp_path: Path, repocue: Run, entry: dict[str, Any], code: str, words: str
) -> None:
    files = {"src/a.py": A, "latin.txt": LATIN, "sub": Submodule("1" * 40)}
    root = repository(tmp_path / "r", files, item("it", entry))
    Path(root, "new.py").write_bytes(b"x\n")
    Path(root, "staged.py").write_bytes(b"x\n")
    git(root, "add", "staged.py")
    assert repocue("init", cwd=root).returncode == 0
    found, message = no_cue(repocue, root, "--item", "it")
    assert found == code
    assert words in message


def test_odd_file_names_and_links_are_delivered_under_the_names_git_shows(tmp_path: Path, repocue: Run) -> None:
    names = {b'a"b\n.py': 'a"b\n.py', b"tab\tx": "tab\tx", b'"q': '"\\"q"', b"\xff": '"\\377"', "ü 1".encode(): "ü 1"}
    files = {**dict.fromkeys(names, b"x\n"), b"link": Symlink("target")}
    shown = [*names.values(), "link"]
    builder = RepoBuilder(tmp_path / "r")
    sources = [source(name, b"target" if name == "link" else b"x\n") for name in shown]
    builder.commit("first", {**files, PATH.encode(): declaration(item("it", *sources))})
    root = builder.build()
    assert repocue("init", cwd=root).returncode == 0
    cue = task_cue(repocue, root, "--item", "it")
    assert {block["path"] for block in cue["blocks"]} == {*shown}


def test_a_declaration_must_be_heads_own(root: str, repocue: Run, tmp_path: Path) -> None:
    Path(root, PATH).write_bytes(Path(root, PATH).read_bytes() + b"\n")
    assert no_cue(repocue, root, "--item", "beta")[0] == "task-context.dirty"
    listed = repocue("task", "list", cwd=root)
    assert json.loads(listed.stdout)["declaration"]["status"] == "dirty"
    bare = RepoBuilder(tmp_path / "none").commit("first", {"a": b"x\n"}).build()
    assert repocue("init", cwd=bare).returncode == 0
    code, message = no_cue(repocue, bare, "--item", "beta")
    assert (code, "is not tracked at HEAD" in message) == ("task-context.no-declaration", True)
    assert refused(repocue("task", "list", cwd=bare))[0] == "task-context.no-declaration"
    unborn = RepoBuilder(tmp_path / "unborn").build()
    assert repocue("init", cwd=unborn).returncode == 0
    assert no_cue(repocue, unborn, "--item", "beta")[0] == "task-context.unborn"


def test_a_declaration_that_breaks_its_contract_is_refused_with_a_pointer(tmp_path: Path, repocue: Run) -> None:
    twice = item("it", source("a", b"x\n"))
    root = repository(tmp_path / "r", {"a": b"x\n"}, twice, twice)
    assert repocue("init", cwd=root).returncode == 0
    code, message = no_cue(repocue, root, "--item", "it")
    assert code.startswith("contract")
    assert "/items/1/id" in message


def test_a_snapshot_of_another_commit_is_refused(root: str, repocue: Run) -> None:
    commit(root, {"other": b"x\n"})
    code, _ = no_cue(repocue, root, "--item", "beta")
    assert code == "task-context.stale"
    task_cue(repocue, root, "--item", "beta", "--refresh")


def test_selection_faults_are_named(root: str, repocue: Run) -> None:
    assert no_cue(repocue, root, "--item", "gamma") == (
        "task-context.unknown-item",
        "the declaration demo has no item gamma",
    )
    assert no_cue(repocue, root, "--tag", "nothing")[0] == "task-context.empty-selection"
    assert refused(repocue("cue", "--view", "task", cwd=root), 2)[0] == "usage.task"
    assert refused(repocue("cue", "--view", "task", "--kind", "nonsense", cwd=root), 2)[0] == "usage.task"
    assert refused(repocue("cue", "--item", "beta", cwd=root), 2)[0] == "usage"
    assert refused(repocue("cue", "--view", "task", "--task-file", "/nowhere", cwd=root), 2)[0] == "usage.file"


def test_list_shows_the_items_and_what_a_selector_takes(root: str, repocue: Run) -> None:
    done = repocue("task", "list", "--glob", "src/**", cwd=root)
    document = reader.read_canonical(done.stdout, contract="repocue/task-check-1")
    assert {entry["id"]: entry["selected"] for entry in document["items"]} == {
        "alpha": True,
        "beta": False,
        "whole": True,
    }
    text = repocue("task", "list", "--glob", "src/**", "--format", "text", cwd=root).stdout.decode()
    assert "2 of 3 items selected." in text
    assert "beta" not in text
    everything = json.loads(repocue("task", "list", cwd=root).stdout)
    assert {entry["selected"] for entry in everything["items"]} == {None}


def test_check_is_content_where_everything_holds(root: str, repocue: Run) -> None:
    done = repocue("task", "check", "--format", "text", cwd=root)
    assert done.returncode == 0
    assert done.stdout.decode().endswith("All 5 pins of 3 items hold at HEAD.\n")
    assert json.loads(repocue("task", "pin", cwd=root).stdout)["counts"]["rewritten"] == 0


def test_pin_makes_the_first_pins_of_a_declaration_not_yet_committed_and_keeps_its_mode(
    tmp_path: Path, repocue: Run
) -> None:
    root = RepoBuilder(tmp_path / "r").commit("first", {"a": b"x\n"}).build()
    path = Path(root, "context.json")
    draft = source("a", b"x\n") | {"sha256": "sha256:" + "0" * 64}
    path.write_bytes(declaration(item("it", draft)))
    path.chmod(0o640)
    done = repocue("task", "pin", "--declaration", "context.json", cwd=root)
    assert json.loads(done.stdout)["counts"]["rewritten"] == 1
    assert path.read_bytes() == declaration(item("it", source("a", b"x\n")))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(os.listdir(root)) == [".git", "a", "context.json"]


def test_pinning_works_beside_leftovers_and_under_the_longest_name(tmp_path: Path, repocue: Run) -> None:
    root = RepoBuilder(tmp_path / "r").commit("first", {"a": b"x\n"}).build()
    name = "n" * 250 + ".json"
    leftovers = {"context.json.repocue-new", ".repocue-new-0123456789ab"}
    for leftover in leftovers:
        Path(root, leftover).write_bytes(b"left")
    for path in (name, "context.json"):
        Path(root, path).write_bytes(declaration(item("it", source("a", b"old\n"))))
        assert repocue("task", "pin", "--declaration", path, cwd=root).returncode == 0
        assert Path(root, path).read_bytes() == declaration(item("it", source("a", b"x\n")))
    assert set(os.listdir(root)) == {".git", "a", name, "context.json"} | leftovers


def test_pin_never_follows_a_link_out_of_the_repository(tmp_path: Path, repocue: Run) -> None:
    root = RepoBuilder(tmp_path / "r").commit("first", {"a": b"x\n"}).build()
    outside = tmp_path / "outside.json"
    draft = source("a", b"x\n") | {"sha256": "sha256:" + "0" * 64}
    outside.write_bytes(declaration(item("it", draft)))
    os.symlink(outside, os.path.join(root, "context.json"))
    before = outside.read_bytes()
    assert refused(repocue("task", "pin", "--declaration", "context.json", cwd=root))[0].startswith("task-context")
    assert refused(repocue("task", "pin", "--declaration", "../outside.json", cwd=root))[0].startswith("task-context")
    assert outside.read_bytes() == before


LINKED, NESTED, GITS = "a symbolic link", "another repository's", "git's own"


@pytest.mark.parametrize(
    ("place", "why"), [("linked", LINKED), ("inside", LINKED), ("nested", NESTED), (".git", GITS), (".GIT/x", GITS)]
)
def test_a_declaration_is_neither_read_nor_pinned_outside_the_repository(
    tmp_path: Path, repocue: Run, place: str, why: str
) -> None:
    root = RepoBuilder(tmp_path / "r").commit("first", {"a": b"x\n", "real/keep": b""}).build()
    draft = declaration(item("it", source("a", b"x\n") | {"sha256": "sha256:" + "0" * 64}))
    outside = tmp_path / "outside"
    outside.mkdir()
    target = {"linked": outside, "inside": Path(root, "real")}.get(place)
    folder = Path(root, place)
    if target is not None:
        folder.symlink_to(target)
    folder.mkdir(parents=True, exist_ok=True)
    if place == "nested":
        git(str(folder), "init", "-q")
    path = folder / "context.json"
    path.write_bytes(draft)
    for command in ("check", "list", "pin"):
        code, message = refused(repocue("task", command, "--declaration", f"{place}/context.json", cwd=root))
        assert code == "task-context.no-declaration"
        assert why in message
    assert path.read_bytes() == draft


def test_a_declaration_with_other_line_ends_in_the_work_tree_is_heads_own(tmp_path: Path, repocue: Run) -> None:
    root = repository(tmp_path / "r", {"a": b"x\n"}, item("it", source("a", b"x\n")))
    kept = declaration(item("it", source("a", b"x\n")))
    git(root, "config", "core.autocrlf", "true")
    os.unlink(os.path.join(root, PATH))
    git(root, "checkout", "--", PATH)
    assert Path(root, PATH).read_bytes() == kept.replace(b"\n", b"\r\n")
    done = repocue("task", "check", cwd=root)
    assert done.returncode == 0
    seen = json.loads(done.stdout)["declaration"]
    assert (seen["status"], seen["sha256"]) == ("ok", pin_of(kept))
    assert json.loads(repocue("task", "pin", cwd=root).stdout)["counts"]["rewritten"] == 0


def test_pinning_keeps_the_work_trees_line_ends(tmp_path: Path, repocue: Run) -> None:
    draft = declaration(item("it", source("a", b"old\n")))
    root = RepoBuilder(tmp_path / "r").commit("first", {"a": b"x\n", PATH: draft}).build()
    git(root, "config", "core.autocrlf", "true")
    os.unlink(os.path.join(root, PATH))
    git(root, "checkout", "--", PATH)
    assert repocue("task", "pin", cwd=root).returncode == 0
    expected = declaration(item("it", source("a", b"x\n"))).replace(b"\n", b"\r\n")
    assert Path(root, PATH).read_bytes() == expected


def test_a_file_named_as_a_range_and_that_range_are_not_taken_for_one_another(tmp_path: Path, repocue: Run) -> None:
    files = {"a": b"one\ntwo\n", "a#L1-L2": b"other\n"}
    root = repository(
        tmp_path / "r",
        files,
        item("it", source("a", files["a"], (1, 2))),
        item("that", source("a#L1-L2", files["a#L1-L2"])),
    )
    assert repocue("init", cwd=root).returncode == 0
    for arguments in (("task", "check"), ("cue", "--view", "task", "--item", "it", "--item", "that")):
        code, message = refused(repocue(*arguments, cwd=root))
        assert code == "contract.rule"
        assert 'at /items/1/sources/0: "a#L1-L2" is the id of another source' in message


@pytest.mark.parametrize(
    "arguments",
    [
        ("task", "check", "--declaration"),
        ("task", "pin", "--declaration"),
        ("task", "list", "--declaration"),
        ("task", "list", "--item"),
        ("cue", "--view", "task", "--declaration"),
        ("cue", "--view", "task", "--tag"),
        ("cue", "--view", "task", "--glob"),
        ("cue", "--view", "task", "--item", "whole", "--question"),
        ("cue", "--view", "task", "--task-file"),
    ],
    ids=" ".join,
)
def test_an_argument_that_is_no_utf_8_is_one_usage_error(root: str, repocue: Run, arguments: tuple[str, ...]) -> None:
    done = repocue(*arguments, os.fsdecode(b"\xff\xfe"), cwd=root)
    code, message = refused(done, exit_code=2)
    assert code == ("usage.file" if "--task-file" in arguments else "usage.encoding")
    assert "\\udcff\\udcfe" in message


def test_what_a_sparse_checkout_leaves_out_is_heads_and_delivered(tmp_path: Path, repocue: Run) -> None:
    files = {"src/a.py": A, "docs/b.md": B}
    root = repository(tmp_path / "r", files, item("it", source("src/a.py", A), source("docs/b.md", B)))
    git(root, "sparse-checkout", "set", "--no-cone", "/docs/")
    assert sorted(os.listdir(root)) == [".git", "docs"]
    assert repocue("init", cwd=root).returncode == 0
    cue = task_cue(repocue, root, "--item", "it")
    assert [block["text"].encode() for block in cue["blocks"]] == [B, A]
    os.makedirs(os.path.join(root, "src"))
    Path(root, "src/a.py").write_bytes(b"hidden edit\n")
    assert no_cue(repocue, root, "--item", "it")[0] == "task-context.dirty"


def test_what_a_partial_clone_does_not_hold_is_not_said_to_be_untracked(tmp_path: Path, repocue: Run) -> None:
    files = {"src/a.py": A, "docs/b.md": B}
    whole = repository(tmp_path / "r", files, item("it", source("src/a.py", A)))
    git(whole, "config", "uploadpack.allowFilter", "true")
    root = str(tmp_path / "partial")
    git(str(tmp_path), "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{whole}", root)
    git(root, "sparse-checkout", "set", "--no-cone", "/.repocue/", "/docs/")
    git(root, "checkout", "-q", "main")
    assert repocue("init", cwd=root).returncode == 0
    code, message = no_cue(repocue, root, "--item", "it")
    assert code == "task-context.missing"
    assert message.endswith("src/a.py is no file of HEAD's tree, or not in this clone")
