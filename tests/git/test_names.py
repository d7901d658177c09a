"""Path names in any bytes: text and bytes map one-to-one, as git itself quotes them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.domain.paths import display, display_all, quoted, raw, sort_key
from repocue.git.sizes import sizes
from repocue.git.worktree import find
from tests.git.conftest import Observe
from tests.support.git_oracle import added
from tests.support.repos import RepoBuilder, git

NAMES = {
    b"new\nline": "new\nline",
    b"tab\there": "tab\there",
    b'in "quotes"': 'in "quotes"',
    b"back\\slash": "back\\slash",
    b"-leading-dash": "-leading-dash",
    b'"leading quote': '"\\"leading quote"',
    b'"': '"\\""',
    b"invalid \xff utf-8": '"invalid \\377 utf-8"',
    b"\xed\xa0\x80 surrogate": '"\\355\\240\\200 surrogate"',
    b"control \x01\x7f": "control \x01\x7f",
    "four bytes \U0001f600".encode(): "four bytes \U0001f600",
    "umlaut ü".encode(): "umlaut ü",
    "umlaut decomposed ü".encode(): "umlaut decomposed ü",
    b" spaces ": " spaces ",
    b"(glob)[a-z]{1,2}*?": "(glob)[a-z]{1,2}*?",
    b":(top)magic": ":(top)magic",
    b"folder \xfe/\xfd": '"folder \\376/\\375"',
    b"carriage\rreturn": "carriage\rreturn",
}


@pytest.mark.parametrize("name", NAMES, ids=list(NAMES.values()))
def test_the_text_of_a_name_is_as_written_here(name: bytes) -> None:
    assert display(name) == NAMES[name]
    assert raw(NAMES[name]) == name


def test_a_reported_fault_odd_names_are_observed_in_every_state(
    look: Observe, tmp_path: Path, env: dict[str, str]
) -> None:
    """Kinds: names that git quotes are not found, names that are not UTF-8 end the run, brackets are taken as globs."""
    files = {b"%s/%s" % (state, name): b"text of " + name for state in (b"clean", b"edited", b"gone") for name in NAMES}
    root = RepoBuilder(tmp_path / "r").commit("one", files).build()
    base = os.fsencode(root)
    os.mkdir(os.path.join(base, b"new"))
    for name in NAMES:
        with open(os.path.join(base, b"edited", name), "ab") as file:
            file.write(b"edited")
        os.unlink(os.path.join(base, b"gone", name))
        os.makedirs(os.path.dirname(os.path.join(base, b"new", name)), exist_ok=True)
        with open(os.path.join(base, b"new", name), "wb") as file:
            file.write(b"new")
    seen = look(root)
    assert [raw(entry.path) for entry in seen.entries()] == sorted(files)
    after = added(root, env=env)
    assert {raw(file.path): (file.mode, file.content_id) for file in seen.dirty} == {
        **{b"edited/" + name: after[b"edited/" + name] for name in NAMES},
        **{b"gone/" + name: (None, None) for name in NAMES},
    }
    assert [raw(path.path) for path in seen.untracked] == sorted(b"new/" + name for name in NAMES)
    assert seen.unstaged == tuple(file.path for file in seen.dirty)
    assert [raw(path) for path in seen.unstaged] == sorted(map(raw, seen.unstaged))
    for path in (*seen.unstaged, *(entry.path for entry in seen.entries())):
        assert json.loads(json.dumps(path).encode()) == path
    measured = sizes(find(root, env), env)
    assert {raw(path): size for path, size in measured.items()} == {
        name: os.lstat(os.path.join(base, name)).st_size for name in files if not name.startswith(b"gone/")
    }


@given(st.binary(min_size=1, max_size=60))
def test_every_name_comes_back_from_its_text(name: bytes) -> None:
    text = display(name)
    assert raw(text) == name
    assert json.loads(json.dumps(text, ensure_ascii=False).encode()) == text
    assert sort_key(text) == name


@given(st.text(max_size=40))
def test_a_text_is_accepted_only_in_the_one_spelling_of_its_name(text: str) -> None:
    for candidate in (text, '"' + text, '"' + text + '"', '"' + text + '\\"'):
        try:
            name = raw(candidate)
        except ValueError:
            continue
        assert display(name) == candidate


@given(st.lists(st.binary(min_size=1, max_size=20).map(lambda name: name.replace(b"\0", b"0")), max_size=8))
def test_names_shown_together_are_shown_as_each_alone(names: list[bytes]) -> None:
    assert display_all(b"".join(name + b"\0" for name in names)) == [display(name) for name in names]


@pytest.mark.parametrize(
    "text", ['"', '"abc"', '"\\"', '"unclosed', '"\\xff"', '"\\8"', '"\\777"', '"\\a', '"\\377', "\ud800", '"ü"']
)
def test_a_text_that_no_name_has_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        raw(text)


def test_quoting_equals_gits_own_for_every_byte(tmp_path: Path, env: dict[str, str]) -> None:
    """git prints names quoted where `-z` is not given."""
    names = [b"q" + bytes([byte]) + b"q" for byte in range(1, 256) if byte != ord("/")]
    names += [b'"%s' % name for name in (b"plain", b"\xc3\xbc", b"a\nb", b"\\")]
    root = RepoBuilder(tmp_path).build()
    oid = git(root, "hash-object", "-w", "--stdin", stdin=b"", env=env).strip()
    git(
        root,
        "update-index",
        "-z",
        "--index-info",
        stdin=b"".join(b"100644 %s\t%s\0" % (oid, n) for n in names),
        env=env,
    )
    shown = git(root, "-c", "core.quotePath=true", "ls-files", env=env).decode("ascii").splitlines()
    stored = sorted(names)
    assert len(shown) == len(stored)
    for name, text in zip(stored, shown, strict=True):
        if text.startswith('"'):
            assert quoted(name) == text
        if display(name).startswith('"'):
            assert display(name) == text


@given(st.lists(st.binary(min_size=1, max_size=30), min_size=1, max_size=20))
def test_quoting_equals_gits_own_for_names_at_random(git_quoting: object, names: list[bytes]) -> None:
    """`git check-attr` prints any name that it is given, quoted as git quotes."""
    clean = [name.replace(b"\0", b"0").replace(b"/", b"|") for name in names]
    for name, text in zip(clean, git_quoting(clean), strict=True):  # type: ignore[operator]  # a fixture's function
        assert text in (quoted(name), name.decode("ascii", "replace"))
        if display(name).startswith('"'):
            assert display(name) == text


@pytest.fixture
def git_quoting(tmp_path: Path, env: dict[str, str]) -> object:
    """`git_quoting(names)`: each name as git prints it."""
    root = RepoBuilder(tmp_path).build()

    def quoting(names: list[bytes]) -> list[str]:
        given = b"".join(name + b"\0" for name in names)
        listed = git(
            root, "-c", "core.quotePath=true", "check-ignore", "-n", "-v", "-z", "--stdin", stdin=given, ok=(0, 1)
        )
        assert listed.split(b"\0")[3::4] == names
        lines = (
            git(
                root,
                "-c",
                "core.quotePath=true",
                "check-ignore",
                "-n",
                "-v",
                "--stdin",
                stdin=b"".join(quoted(name).encode() + b"\n" for name in names),
                ok=(0, 1),
            )
            .decode("ascii")
            .splitlines()
        )
        return [line.partition("\t")[2] for line in lines]

    return quoting
