"""Entry points as manifests declare them and file names suggest them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.domain.entry_points import (
    CONVENTIONAL,
    MAX_ENTRY_BYTES,
    PATHSPECS,
    conventional,
    declared,
    is_showable,
)
from tests.support.repos import RepoBuilder, git


def test_scripts_of_pyproject_are_declared_in_its_order() -> None:
    text = """
[project]
name = "x"
description = '''
[project.scripts]
fake = "not:this"
'''
scripts = { zeta = "x.z:main", alpha = "x.a:main" }
[project.gui-scripts]
window = "x.gui:main"
[tool.poetry.scripts]
old = "x.old:main"
newer = { callable = "x.n:main" }
file = { reference = "bin/f", type = "file" }
"""
    assert declared({"pyproject.toml": text.encode()}) == (
        ["zeta=x.z:main", "alpha=x.a:main", "window=x.gui:main", "old=x.old:main", "newer=x.n:main", "file=bin/f"],
        [],
    )


def test_bins_of_cargo_and_package_are_declared() -> None:
    cargo = b'[package]\nname="p"\n[[bin]]\nname="tool"\npath="./src/t.rs"\n[[bin]]\nname="other"\n'
    assert declared({"Cargo.toml": cargo})[0] == ["tool=src/t.rs", "other=src/bin/other.rs"]
    package = json.dumps({"name": "@scope/p", "bin": "./cli.js", "main": "./lib/index.js"}).encode()
    assert declared({"package.json": package})[0] == ["p=cli.js", "lib/index.js"]
    package = json.dumps({"bin": {"b": "b.js", "a": "./a.js", "odd": 7}}).encode()
    assert declared({"package.json": package})[0] == ["b=b.js", "a=a.js"]


@pytest.mark.parametrize(
    "value", [b"[]", b"null", b"7", b'{"bin": 1, "main": [], "name": {}}', b'{"bin": {"a": null}}', b"{}"]
)
def test_a_package_of_another_shape_declares_nothing(value: bytes) -> None:
    assert declared({"package.json": value}) == ([], [])


@pytest.mark.parametrize(
    "value", [b'project = "scripts"', b"[project]\nscripts = 1", b"[tool]\npoetry = [] # scripts", b"# scripts"]
)
def test_a_pyproject_of_another_shape_declares_nothing(value: bytes) -> None:
    assert declared({"pyproject.toml": value}) == ([], [])


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("pyproject.toml", b"[project.scripts\n"),
        ("pyproject.toml", b"\xff scripts"),
        ("pyproject.toml", b"scripts = " + b"[" * 100_000),
        ("pyproject.toml", b"scripts" + b".a" * 100_000 + b" = 1"),
        ("pyproject.toml", b"[scripts" + b".a" * 100_000 + b"]"),
        ("Cargo.toml", b"[[bin"),
        ("package.json", b"[" * 100_000),
        ("package.json", b'{"a":' * 100_000),
        ("package.json", b"\xef\xbb\xbf{}"),
        ("package.json", b"{"),
        ("package.json", b"\xff"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_named_and_declares_nothing(name: str, data: bytes) -> None:
    assert declared({name: data}) == ([], [name])


def test_a_number_of_a_million_digits_in_a_package_is_no_obstacle() -> None:
    data = b'{"main": "a.js", "x": ' + b"9" * 200_000 + b', "y": 1e999999}'
    assert declared({"package.json": data}) == (["a.js"], [])


@given(st.sampled_from(["pyproject.toml", "Cargo.toml", "package.json"]), st.binary(max_size=120))
def test_any_bytes_are_read_or_named(name: str, data: bytes) -> None:
    for prefix in (b"", b'[project.scripts]\na="b:c"\n', b"[[bin]]\n", b'{"bin":'):
        entries, unread = declared({name: prefix + data})
        assert unread in ([], [name])
        assert all(isinstance(entry, str) for entry in entries)


def test_conventional_files_come_by_depth_then_bytewise() -> None:
    paths = ["src/p/__main__.py", "bin/z", "bin/a", "main.go", "cmd/x/main.go", "manage.py", "src/main.rs"]
    assert conventional(paths) == [
        "main.go",
        "manage.py",
        "bin/a",
        "bin/z",
        "src/main.rs",
        "cmd/x/main.go",
        "src/p/__main__.py",
    ]


@pytest.mark.parametrize(
    "path",
    [
        "tests/main/__main__.py",
        "docs/__main__.py",
        "vendor/p/__main__.py",
        "a/b/c/d/e/__main__.py",
        "x__main__.py",
        "lib/main.py",
        "bin/.hidden",
        "bin/sub/tool",
        "bin/README.md",
        "main.go/inner",
        "mymain.go",
        "main.go\n",
    ],
)
def test_files_that_only_look_like_one_are_left_out(path: str) -> None:
    assert conventional([path]) == []


def test_the_pathspecs_find_every_conventional_path(tmp_path_factory: pytest.TempPathFactory) -> None:
    """git's own matching of `PATHSPECS` against names that cover each alternative of `CONVENTIONAL`."""
    paths = [
        *(f"main.{ending}" for ending in ("go", "py", "c", "cc", "cpp", "rb", "ts", "js")),
        *(f"{name}.py" for name in ("app", "manage", "wsgi", "asgi")),
        *(f"{name}.{ending}" for name in ("index", "server") for ending in ("js", "mjs", "cjs", "ts")),
        *(f"src/main.{ending}" for ending in ("rs", "py", "c", "cc", "cpp", "ts", "tsx", "js", "jsx")),
        *(f"src/index.{ending}" for ending in ("ts", "tsx", "js", "jsx")),
        *("__main__.py", "a/__main__.py", "a/b/c/d/__main__.py", "Program.cs", "a/b/Program.cs"),
        *("cmd/main.go", "cmd/a/main.go", "cmd/a/b/main.go", "src/bin/a.rs", "src/bin/a/main.rs"),
        *("bin/tool", "bin/tool.sh", "exe/tool", "exe/tool.rb", "bin/tö ol*[x]"),
        *("pyproject.toml", "Cargo.toml", "package.json"),
    ]
    assert [path for path in paths if not CONVENTIONAL.fullmatch(path)] == paths[-3:]
    root = RepoBuilder(tmp_path_factory.mktemp("r")).commit("c", dict.fromkeys(paths, b"x")).build(checkout=False)
    git(root, "read-tree", "HEAD")
    listed = git(root, "ls-files", "-z", "--", *PATHSPECS).decode().split("\0")[:-1]
    assert sorted(listed) == sorted(paths)


def test_long_entries_and_control_characters_are_not_showable() -> None:
    assert is_showable("a" * MAX_ENTRY_BYTES)
    assert not is_showable("a" * (MAX_ENTRY_BYTES + 1))
    assert not is_showable("ü" * (MAX_ENTRY_BYTES // 2 + 1))
    assert not is_showable("a\x1b[31m")
    assert not is_showable("a\ud800")
