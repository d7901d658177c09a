"""Laws of task context: globs mean what git's do, bytes are cut and joined exactly, pinning touches nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.contracts.types.task import Item, Selector, SourceRange, TaskContext
from repocue.cue.task import pins
from repocue.cue.task.blocks import Place, cut, join, ordered, split_lines
from repocue.cue.task.globs import matches
from repocue.cue.task.selection import select
from repocue.errors import TaskContextError
from tests.support.repos import RepoBuilder, git

NAMES = [
    "a",
    "a.py",
    "ab.py",
    "docs/a.py",
    "docs/deep/er/a.py",
    "docs/deep/b.txt",
    "src/[x].py",
    "src/a b.py",
    "src/A.py",
    "src/x.py",
    "src/y-1.py",
    "src/lib/x.py",
    "star*name",
    "é/ü.md",
]
GLOBS = [
    "*.py",
    "?.py",
    "??.py",
    "a*",
    "docs/*",
    "docs/**",
    "docs/**/a.py",
    "**/a.py",
    "**/*.py",
    "src/**/x.py",
    "**",
    "*",
    "**/deep/**",
    "src/[ax].py",
    "src/[!x].py",
    "src/[^a-w].py",
    "src/[[:upper:]].py",
    "src/\\[x\\].py",
    "src/[]x[]*.py",
    "star\\*name",
    "s[t-u]ar*",
    "src/*-[0-9].py",
    "é/*.md",
    "d**s/deep/b.txt",
    "src/[a",
    "docs/deep**",
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> str:
    return RepoBuilder(tmp_path_factory.mktemp("globs") / "r").commit("all", dict.fromkeys(NAMES, "x\n")).build()


@pytest.mark.parametrize("glob", GLOBS)
def test_a_glob_matches_the_paths_that_gits_own_glob_matches(tree: str, glob: str) -> None:
    """git also takes everything below a matched folder; what only that brings in is told by our rule for folders."""
    listed = git(tree, "-c", "core.quotePath=false", "ls-files", f":(glob){glob}")
    expected = set(listed.decode().splitlines())
    ours = {name for name in NAMES if matches(glob, name)}
    # A folder that the glob matches brings its contents along in git, never in a selector.
    brought = {name for name in expected - ours if any(matches(glob, folder) for folder in _folders(name))}
    assert ours == expected - brought


def test_a_question_mark_is_one_character_where_gits_is_one_byte() -> None:
    assert matches("é/?.md", "é/ü.md")
    assert not matches("é/???.md", "é/ü.md")


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*a" * 30 + "b", "a" * 4000),
        ("**/" * 60 + "b", "a/" * 2000 + "c"),
        ("**/*" * 30 + "b", "a/" * 500 + "c"),
        ("*" * 3000 + "b", "a" * 4000),
    ],
)
def test_no_glob_takes_more_than_a_few_steps_for_each_character(glob: str, path: str) -> None:
    """Tried one way after another, each of these would take longer than anyone waits."""
    assert not matches(glob, path)


def _folders(name: str) -> list[str]:
    return [name[:position] for position, letter in enumerate(name) if letter == "/"]


texts = st.lists(st.sampled_from([b"a\n", b"bb\n", b"\n", b"\xc3\xa9\r\n"]), max_size=8).flatmap(
    lambda lines: st.sampled_from([b"".join(lines), b"".join([*lines, b"tail"])])
)


@given(texts)
def test_lines_end_with_their_lf_and_nothing_else_ends_one(data: bytes) -> None:
    lines = split_lines(data)
    assert b"".join(lines) == data
    assert all(line.count(b"\n") == line.endswith(b"\n") for line in lines)
    assert len(lines) == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


@given(texts, st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)) | st.none(), min_size=1, max_size=5))
def test_every_byte_is_delivered_once_and_every_source_is_found_in_its_block(
    data: bytes, ranges: list[tuple[int, int] | None]
) -> None:
    lines = split_lines(data)
    places = {
        Place("f", None if span is None or span[0] > span[1] or span[1] > len(lines) else span) for span in ranges
    }
    sources = [found for place in places if (found := cut(place, lines)) is not None]
    assert len(sources) == len(places)
    blocks = join(sources, {"f": lines})
    covered: list[int] = []
    for block in sorted(set(blocks.values()), key=lambda block: block.span):
        first, last = block.span
        assert block.data == (b"".join(lines[first - 1 : last]) if first else b"")
        covered += range(first, last + 1) if first else []
    wanted = {number for source in sources for number in range(source.span[0], source.span[1] + 1) if number}
    assert sorted(covered) == sorted(wanted)  # once each: a repeated line would be listed twice
    for source in sources:
        block = blocks[source.place]
        begin = sum(len(line) for line in lines[block.span[0] - 1 : source.span[0] - 1]) if block.span[0] else 0
        assert block.data[begin : begin + len(source.data)] == source.data


def test_overlapping_ranges_are_one_block_and_touching_ones_stay_two() -> None:
    lines = [b"%d\n" % number for number in range(1, 10)]
    places = [Place("f", span) for span in ((1, 2), (3, 5), (5, 6), (8, 9))]
    sources = [found for place in places if (found := cut(place, lines)) is not None]
    blocks = join(sources, {"f": lines})
    assert [blocks[source.place].place.id for source in ordered(sources)] == [
        "f#L1-L2",
        "f#L3-L6",
        "f#L3-L6",
        "f#L8-L9",
    ]


def test_a_whole_file_spans_its_lines_and_an_empty_one_none() -> None:
    whole, empty = cut(Place("f", None), [b"a\n", b"b"]), cut(Place("f", None), [])
    assert whole is not None
    assert empty is not None
    assert (whole.span, empty.span) == ((1, 2), (0, 0))
    assert cut(Place("f", (1, 3)), [b"a\n", b"b"]) is None


def _item(name: str, kind: Any, tags: tuple[str, ...], path: str) -> Item:
    return Item(
        id=name, kind=kind, summary="s", tags=tags, sources=(SourceRange(path=path, lines=None, sha256="sha256:"),)
    )


CONTEXT = TaskContext(
    schema_version="repocue/task-context-1",
    id="demo",
    items=(
        _item("b", "component", ("git", "slow"), "src/b.py"),
        _item("a", "component", ("git",), "docs/a.md"),
        _item("c", "invariant", ("slow",), "src/c.py"),
    ),
)


@pytest.mark.parametrize(
    ("items", "tags", "kinds", "paths", "selected"),
    [
        (("c", "a"), (), (), (), "ac"),
        ((), ("git",), (), (), "ab"),
        ((), ("git", "slow"), (), (), "abc"),  # any member of tags
        ((), ("git",), ("invariant",), (), None),  # every non-empty one of the three
        ((), ("slow",), ("component",), (), "b"),
        ((), (), (), ("src/*",), "bc"),
        ((), ("git",), (), ("src/*",), "b"),
        (("c",), ("git",), (), ("src/*",), "bc"),  # named ones come on top
    ],
)
def test_a_selector_takes_named_items_and_those_that_match_every_other_member(
    items: tuple[str, ...], tags: tuple[str, ...], kinds: Any, paths: tuple[str, ...], selected: str | None
) -> None:
    selector = Selector(items=items, tags=tags, kinds=kinds, paths=paths)
    if selected is None:
        with pytest.raises(TaskContextError, match="matches tags git and kinds invariant"):
            select(CONTEXT, selector)
    else:
        assert [item.id for item in select(CONTEXT, selector)] == list(selected)


documents = st.fixed_dictionaries(
    {
        "x": st.text(max_size=5) | st.integers() | st.none(),
        "items": st.lists(
            st.fixed_dictionaries(
                {
                    "sources": st.lists(
                        st.fixed_dictionaries(
                            {"n": st.lists(st.booleans(), max_size=2), "sha256": st.text(max_size=6)}
                        ),
                        max_size=3,
                    ),
                    'odd "name': st.text(max_size=3),
                }
            ),
            max_size=3,
        ),
    }
)


@given(documents, st.sampled_from([None, 0, 2, "\t"]), st.booleans(), st.booleans())
def test_rewriting_pins_changes_the_pins_and_no_other_byte(
    document: dict[str, Any], indent: Any, is_ascii: bool, is_crlf: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=is_ascii)
    if is_crlf and indent is not None:
        text = text.replace("\n", "\r\n")
    wanted = {(i, j): f"new-{i}-{j}" for i, item in enumerate(document["items"]) for j, _ in enumerate(item["sources"])}
    rewritten = pins.rewrite(text.encode("utf-8", "surrogatepass"), wanted).decode()
    for (i, j), pin in wanted.items():
        document["items"][i]["sources"][j]["sha256"] = pin
    again = json.dumps(document, indent=indent, ensure_ascii=is_ascii)
    assert rewritten == (again.replace("\n", "\r\n") if is_crlf and indent is not None else again)


def test_pins_are_found_in_any_layout() -> None:
    text = b'{ "items" :[{"sources"\t:\n[ {"sha256":"a\\"]}" ,"lines":null},{"lines":[1, 2],"sha256" : "b"}]}\r\n] }'
    expected = text.replace(b'"a\\"]}"', b'"NEW"').replace(b'"b"', b'"TOO"')
    assert pins.rewrite(text, {(0, 0): "NEW", (0, 1): "TOO"}) == expected


def test_the_declaration_of_this_project_is_read() -> None:
    """The packaged example of a declaration is a valid one."""
    from repocue.cue.task.loading import parse

    here = Path(__file__).parents[2] / ".repocue" / "task-context.json"
    assert parse(here.read_bytes(), "declaration").context.id == "repocue"
