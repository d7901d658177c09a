"""The order of candidates: what a small budget should see first comes first."""

from __future__ import annotations

from pathlib import Path

from tests.oracle.oracle import run
from tests.support.repos import Entry, RepoBuilder


def names(tmp_path: Path, files: dict[str, Entry]) -> list[str]:
    """`path:name` of every candidate in rank order."""
    found = run(RepoBuilder(tmp_path / "r").commit("one", files).build())
    assert found.exit_code == 0
    return [f"{candidate.module}:{candidate.name}" for candidate in found.candidates]


def test_production_sources_come_before_auxiliary_ones_and_tests_last(tmp_path: Path) -> None:
    one = "def f(): pass\n"
    files: dict[str, Entry] = {
        "tests/unit/a.py": one,
        "tests/conftest.py": one,
        "lib/test_here.py": one,
        "src/pkg/tests/b.py": one,
        "src/pkg/test_c.py": one,
        "docs/conf.py": one,
        "examples/e.py": one,
        "src/pkg/_vendor/v.py": one,
        "setup.py": one,
        "src/pkg/z.py": one,
        "src/a/deep/er/z.py": one,
        "tool.sh": "f() { :; }\n",
    }
    assert names(tmp_path, files) == [
        "src/a/deep/er/z.py:f",
        "src/pkg/z.py:f",
        "setup.py:f",
        "tool.sh:f",
        "src/pkg/_vendor/v.py:f",
        "docs/conf.py:f",
        "examples/e.py:f",
        "src/pkg/test_c.py:f",
        "src/pkg/tests/b.py:f",
        "lib/test_here.py:f",
        "tests/conftest.py:f",
        "tests/unit/a.py:f",
    ]


def test_every_candidate_of_src_comes_before_every_candidate_of_tests(tmp_path: Path) -> None:
    body = "import os\nclass C:\n    def m(self):\n        pass\n    def _p(self): pass\ndef _f(): pass\n"
    big = "class Big:\n" + "    def m(self): pass\n" * 50
    files: dict[str, Entry] = {"tests/a.py": big, "tests/x/b.py": body, "src/z.py": body, "src/tests/t.py": body}
    found = names(tmp_path, files)
    last_of_src = max(index for index, name in enumerate(found) if name.startswith("src/"))
    first_of_tests = min(index for index, name in enumerate(found) if name.startswith("tests/"))
    assert last_of_src < first_of_tests


def test_within_a_group_public_definitions_come_first_larger_ones_before_smaller_ones(tmp_path: Path) -> None:
    source = (
        "import os\n"
        "def _private():\n" + "    x\n" * 90 + "def small(): pass\n"
        "class Large:\n"
        "    def __init__(self):\n" + "        x\n" * 30 + "    def __repr__(self): pass\n"
        "    def method(self):\n" + "        x\n" * 40 + "def medium():\n" + "    x\n" * 20
    )
    assert names(tmp_path, {"src/a.py": source, "src/_hidden.py": "def shown():\n" + "    x\n" * 99}) == [
        "src/a.py:Large",
        "src/a.py:medium",
        "src/a.py:small",
        "src/a.py:Large.method",
        "src/a.py:Large.__init__",
        "src/_hidden.py:shown",
        "src/a.py:_private",
        "src/a.py:Large.__repr__",
        "src/a.py:os",
    ]


def test_the_span_of_a_definition_ends_with_its_last_line_of_code(tmp_path: Path) -> None:
    source = (
        "def first():\n    x = '''\n\n\n'''\n\n\n\n\n\n# a comment\n\n"  # five lines
        "def second():\n    a\n    b\n    c\n    d\n    e\n"  # six lines
        "def third(\n    a,\n):\n    return (\n        1,\n        2,\n    )\n"  # seven lines
    )
    assert names(tmp_path, {"a.py": source}) == ["a.py:third", "a.py:second", "a.py:first"]
    script = "a() {\n  x\n}\nb() (\n  x\n  y\n)\nc() { :; }\n"
    assert names(tmp_path / "2", {"a.sh": script}) == ["a.sh:b", "a.sh:a", "a.sh:c"]


def test_equal_candidates_are_ordered_by_path_bytes_then_by_line(tmp_path: Path) -> None:
    two = "def b(): pass\ndef a(): pass\n"
    assert names(tmp_path, {"B.py": two, "a.py": two, "é.py": two, "a-b.py": two}) == [
        "B.py:b",
        "B.py:a",
        "a-b.py:b",
        "a-b.py:a",
        "a.py:b",
        "a.py:a",
        "é.py:b",
        "é.py:a",
    ]
