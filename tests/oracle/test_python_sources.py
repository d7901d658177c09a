"""The Python reader on sources made to mislead it: nothing inside text is reported, everything real is."""

from __future__ import annotations

import random
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.oracle.oracle import Run, run
from tests.oracle.python_truth import Comparison
from tests.support.repos import Entry, RepoBuilder

TRAPS = Path(__file__).parent.parent / "data" / "oracle" / "traps.py.txt"


def read(tmp_path: Path, files: dict[str, Entry]) -> Run:
    return run(RepoBuilder(tmp_path / "r").commit("one", files).build())


def compare(files: dict[str, bytes], found: Run) -> Comparison:
    comparison = Comparison()
    for path, source in files.items():
        comparison.add(path, source, found.of(path))
    return comparison


def test_a_source_full_of_traps_is_read_as_python_reads_it(tmp_path: Path) -> None:
    source = TRAPS.read_bytes()
    found = read(tmp_path, {"src/traps.py": source})
    comparison = compare({"src/traps.py": source}, found)
    assert comparison.wrong == []
    assert comparison.missed == []
    assert found.limitations == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(a,\n      b = 1 , # c\n      *c ,\n) -> int : pass\n", ("function", "f", "(a, b = 1 , *c ) -> int")),
        ("async  def  g ( ) : pass\n", ("function", "g", "async ()")),
        ("class C [T: int] (Base [T], ): x = 1\n", ("class", "C", "[T: int] (Base [T])")),
        ("def h[T](x: T) -> T: return x\n", ("function", "h", "[T](x: T) -> T")),
        ("from  .a . b  import(c)\n", ("import", ".a.b", "c")),
        ("from . import (x as y,\n  z,)\n", ("import", ".", "x as y, z")),
        ("import a . b as c\n", ("import", "a.b", "as c")),
        ("\ufeffimport bom\n", ("import", "bom", "")),
        ("import dos\r\n", ("import", "dos", "")),
        ("#!/usr/bin/python\n# coding: utf-8\nimport é\n", ("import", "é", "")),
        ('x = f"{d["k"]}"\nclass New312: pass\n', ("class", "New312", "")),
        ("def f(): pass", ("function", "f", "()")),
        ("print 'python 2'\ndef f(): pass\n", ("function", "f", "()")),
    ],
)
def test_a_signature_is_the_source_in_one_line(source: str, expected: tuple[str, str, str], tmp_path: Path) -> None:
    assert read(tmp_path, {"a.py": source}).of("a.py") == [expected]


@pytest.mark.parametrize(
    "source",
    [
        "def f(): pass\nx = '''never closed\n",
        "def f(): pass\nx = 'never closed\n",
        "def f(): pass\nx = (1,\n",
        "def f(): pass\nx = (1]\n",
        "def f(): pass\nx = 1 \\\n",
        "def f(: pass\n",
        "def f():\n    if x:\n\\\n        def g(): pass\n",
        "def f\n",
        "def f(): pass\ndef \\\n  g(): pass\n",
        "class {{ name }}:\n    pass\ndef f(): pass\n",
        "def f(): pass\nx = f'{1'\n",
        "def f(): pass\n" + "(" * 500 + ")" * 500,
    ],
)
def test_a_source_that_is_not_understood_to_its_end_gives_nothing(source: str, tmp_path: Path) -> None:
    found = read(tmp_path, {"a.py": source, "b.py": "def whole(): pass\n"})
    assert [candidate.name for candidate in found.candidates] == ["whole"]
    assert found.limitations == {"file-not-understood": 1}


def test_signatures_and_imports_that_cannot_stand_in_a_line_are_left_out_and_counted(tmp_path: Path) -> None:
    source = (
        'def tab(a="\t"): pass\n'
        'def lines(a="""\n"""): pass\n'
        f"def long(a={'1' * 400}): pass\n"
        f"from many import {', '.join(f'name_{n}' for n in range(200))}\n"
        f"import {', '.join(f'module_{n}' for n in range(200))}\n"
    )
    found = read(tmp_path, {"a.py": source})
    assert sorted(found.of("a.py")) == [
        ("function", "lines", ""),
        ("function", "long", ""),
        ("function", "tab", ""),
        ("import", "many", ""),
    ]
    assert found.limitations == {"import-omitted": 1, "signature-omitted": 4}


def test_a_definition_that_stands_twice_is_reported_once_for_each_signature(tmp_path: Path) -> None:
    source = "if a:\n    def f(x): pass\nelif b:\n    def f(x): pass\nelse:\n    def f(y): pass\n"
    found = read(tmp_path, {"a.py": source})
    assert sorted(found.of("a.py")) == [("function", "f", "(x)"), ("function", "f", "(y)")]


FRAGMENTS = (
    "x = 'def a(): pass'",
    'y = """\ndef b(): pass\n"""',
    "z = f'{x}{{}}{y!r:>{3}}'",
    "# def c(): pass",
    "w = (\n'class D:',\n[1, {2: 3}],\n)",
    "v = r'\\'' + \"\\\"\"",
    "u = 1 + \\\n    2",
    "t = '''a'b\"c''' \"d\" '''\\'''e'''",
    "s = f'''{x\n}''' + rf\"\\{x}\"",
    "import m{n}, n{n} as o{n}",
    "from .p{n} import (q,\n  r as s{n},)",
    "r = lambda a=':', *b: {{'k': a}}",
    "q = b'\\x00' if x else u''",
    "",
    "\f",
)


def a_source(chance: random.Random, depth: int = 0) -> str:
    """A valid Python source, made of text that looks like code and of code."""
    lines = []
    for _ in range(chance.randint(2, 9)):
        n = chance.randint(0, 99)
        kind = chance.randint(0, 9)
        if kind < 4 or depth == 3:
            lines.append(chance.choice(FRAGMENTS).replace("{n}", str(n)).replace("{{'k': a}}", "{'k': a}"))
            continue
        head = chance.choice(
            (
                f"class C{n}:",
                f"class _C{n}(object, metaclass=type):",
                f"def f{n}(a, b=':', *, c=(1, 2), **d) -> 'x':",
                f"async def g{n}(\n    a: int = 1,  # )\n    b={{'k': '('}},\n):",
                "if True:",
                "try:",
                "with open('x') as f:",
                "for i in (1, 2):",
            )
        )
        body = a_source(chance, depth + 1) + "pass\n"
        # Only code may be indented: a string's lines stay where they are. So bodies hold one-line fragments alone.
        flat = [line for line in body.split("\n") if line and not line.startswith("\f")]
        lines.append(head + "\n" + "\n".join(f"    {line}" for line in flat))
        if head == "try:":
            lines.append("except (ValueError, TypeError):\n    pass")
    return "\n".join(lines) + "\n"


def generated(seed: int, count: int) -> dict[str, bytes]:
    """Sources that Python accepts."""
    chance = random.Random(seed)
    sources: dict[str, bytes] = {}
    while len(sources) < count:
        source = a_source(chance).encode()
        try:
            compile(source, "generated", "exec", dont_inherit=True)
        except SyntaxError:
            continue
        sources[f"src/g{len(sources):04d}.py"] = source
    return sources


def test_nothing_is_invented_and_nothing_missed_in_generated_sources(tmp_path: Path) -> None:
    sources = generated(1, 100)
    comparison = compare(sources, read(tmp_path, {**sources}))
    assert comparison.wrong == []
    assert comparison.missed == []
    assert min(comparison.total.values()) > 30


def mutants(seed: int, count: int) -> dict[str, bytes]:
    """Real sources with a few characters removed, added or exchanged, which Python still accepts."""
    chance = random.Random(seed)
    spec = find_spec("jinja2")
    assert spec is not None
    assert spec.submodule_search_locations
    originals = [path.read_bytes() for path in sorted(Path(spec.submodule_search_locations[0]).glob("*.py"))]
    sources: dict[str, bytes] = {}
    while len(sources) < count:
        lines = chance.choice(originals).split(b"\n")
        start = chance.randrange(len(lines))
        text = bytearray(b"\n".join(lines[start : start + 60]))
        for _ in range(chance.randint(1, 3)):
            if text:
                at = chance.randrange(len(text))
                text[at : at + chance.randint(0, 1)] = chance.choice(
                    (b"", b"'", b'"', b'"""', b"(", b")", b"{", b"}", b"\\", b"#", b"\n", b"f'", b":", b"\t", b"\r")
                )
        try:
            compile(bytes(text), "mutant", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            continue
        sources[f"src/m{len(sources):04d}.py"] = bytes(text)
    return sources


@pytest.mark.parametrize("count", [60, pytest.param(4000, marks=pytest.mark.deep)])
def test_nothing_is_invented_in_damaged_sources_that_python_still_accepts(count: int, tmp_path: Path) -> None:
    sources = mutants(count, count)
    comparison = compare(sources, read(tmp_path, {**sources}))
    assert comparison.wrong == []
    assert sum(comparison.total.values()) > count
