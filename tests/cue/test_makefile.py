"""Makefile targets as we read them, held against GNU make's own database."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.domain.makefile import MAX_NAME_BYTES, targets


def stated(text: str) -> list[str]:
    return targets(text.encode())


def make_says(text: str, folder: Path) -> set[str]:
    """The explicit targets in make's own database of this Makefile (`make -p`); nothing is built (`-q`)."""
    (folder / "probe.mk").write_text(text)
    done = subprocess.run(
        ["make", "-pqRr", "-f", "probe.mk", "no-such-target"],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        capture_output=True,
        text=True,
    )
    files = done.stdout.split("\n# Files\n", 1)[1].split("\n# files hash-table stats", 1)[0]
    found = set()
    for block in files.split("\n\n"):
        lines = block.strip("\n").split("\n")
        if "# Not a target:" in lines:
            continue
        heads = [line for line in lines if line and not line.startswith(("#", "\t"))]
        if heads and ":" in heads[0] and "=" not in heads[0].partition(":")[0]:
            found.add(heads[0].partition(":")[0].strip())
    return found - {"probe.mk", "no-such-target", "phony"}  # a phony name without a rule builds nothing


name = st.sampled_from(["all", "test", "docs/index.html", "a-b", "x_1", "ünï", "include-me", "endefine", "v1.2", "a+b"])
names = st.lists(name, min_size=1, max_size=3).map(" ".join)
line = st.one_of(
    st.builds("{}: {}".format, names, name),
    st.builds("{}:: {}\n\techo: it".format, st.just("double"), name),
    st.builds("{} : {} ; echo a:b=c".format, names, name),
    st.builds("{}: # why: not".format, names),
    st.builds("{}:\n\t@echo {}: no target\n\tx := y: z".format, names, name),
    st.builds("{} \\\n  {} \\\n  : {}".format, name, name, name),
    st.builds("{}: VAR := value".format, st.just("test")),
    st.builds("{}: export VAR = a:b".format, st.just("all")),
    st.builds("{} {} &: {}\n\ttouch it".format, st.just("left"), st.just("right"), name),
    st.sampled_from(
        [
            "V = not: a rule",
            "V := x: y",
            "V ::= x: y",
            "V += x: y",
            "V ?= x: y",
            "V != echo x: y",
            "override V = x: y",
            "export V = x: y",
            "export PATH",
            "unexport V",
            "-include none.mk",
            "vpath %.c src",
            "# comment: nothing",
            "%.o: %.c\n\tcc",
            "a.o b.o: %.o: %.c\n\tcc",
            ".PHONY: phony",
            ".SUFFIXES:",
            "define BODY\ninner: trap\n\techo\nendef",
            "define NESTED\ndefine IN\nx: y\nendef\nz: y\nendef",
            "define V2 =\ninner2: trap\nendef",
            "ifeq (a,a)\nin-condition: all\nelse\nendif",
            "ifdef V\nendif",
            "",
            "   ",
        ]
    ),
)


@pytest.mark.skipif(shutil.which("make") is None, reason="GNU make is the oracle")
@given(lines=st.lists(line, max_size=8))
def test_the_targets_are_those_in_makes_own_database(
    lines: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = "\n".join(lines) + "\n"
    expected = {
        target for target in make_says(text, tmp_path_factory.mktemp("make")) if "/" in target or target[0] != "."
    }
    assert set(stated(text)) == expected


def test_targets_come_once_each_in_the_order_of_appearance() -> None:
    assert stated("b: a\na:\nb: c\nc d: a\n") == ["b", "a", "c", "d"]


def test_what_only_make_could_work_out_is_not_claimed() -> None:
    text = "$(BIN): x\n$(foreach a,b c,$(a)): y\n*.o: z\nlib(a.o): q\nback\\:slash: r\n${X}-y plain: s\n"
    assert stated(text) == ["plain"]


def test_a_changed_recipe_prefix_hides_recipes_and_nothing_else() -> None:
    assert stated(".RECIPEPREFIX = >\nall:\n>fake: no\nreal: x\n") == ["all", "real"]


def test_both_branches_of_a_condition_count_because_nothing_is_evaluated() -> None:
    assert stated("ifeq ($(OS),x)\na:\nelse\nb:\nendif\n") == ["a", "b"]


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe: x\n",
        b"\x00\x01: x\n",
        b"a" * (MAX_NAME_BYTES + 1) + b": x\n",
        b"define X\nnever: ended\n",
        b"\\",
        b":" * 1000,
        b"$(" * 50_000 + b"x: y\n",
        b"override " * 20_000 + b"define",
        b"x\\\n" * 20_000,
        b"",
    ],
    ids=range(10),
)
def test_hostile_bytes_state_no_target(data: bytes) -> None:
    assert targets(data) == []


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_an_error(data: bytes) -> None:
    for target in targets(data):
        assert target.encode() in data
