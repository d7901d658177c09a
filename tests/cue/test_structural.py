"""The structural cue: what an oracle's output is read as, and which candidates are admitted."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repocue.contracts import reader
from repocue.cue import ranked, structural
from repocue.cue.structural import Candidate, Structure, parse
from repocue.domain.state import Warning
from repocue.errors import BudgetTooSmall
from tests.cue import samples
from tests.cue.golden import check
from tests.cue.test_corpus import NAMES, depth_one, paths_of, rich_facts, summary_of
from tests.oracle.oracle import run
from tests.support.repos import Entry, File, RepoBuilder

GOOD = b"python\tsrc/a.py\tclass\tA\t(Base)\n"
A = Candidate("python", "src/a.py", "class", "A", "(Base)")


def candidates(count: int, width: int = 10) -> tuple[Candidate, ...]:
    return tuple(
        Candidate("python", f"src/m{number}.py", "function", f"f{number}", "(" + "a" * width + ")")
        for number in range(count)
    )


def built(structure: Structure, max_tokens: int, **more: Any) -> dict[str, Any]:
    values = {"subject": samples.subject(), "summary": samples.summary(), "facts": samples.facts(), **more}
    fitted = structural.build(**values, structure=structure, max_tokens=max_tokens)
    document: dict[str, Any] = reader.read(fitted.document, contract="repocue/cue-2", kind="structural-oracle")
    assert len(fitted.document) <= 4 * max_tokens
    return document


# ---- reading an oracle -----------------------------------------------------------------------------------------------


def test_records_are_read_in_their_order_and_each_once() -> None:
    other = b"bash\tb.sh\tfunction\tf\t\n"
    found = parse(GOOD + other + GOOD)
    assert found == Structure((A, Candidate("bash", "b.sh", "function", "f", "")), ())
    assert parse(GOOD.rstrip(b"\n")) == Structure((A,), ())
    assert parse(b"") == Structure((), ())


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"python\tsrc/a.py\tclass\tA",
        b"python\tsrc/a.py\tclass\tA\t\t",
        b"\tsrc/a.py\tclass\tA\t",
        b"python\t\tclass\tA\t",
        b"python\tsrc/a.py\t\tA\t",
        b"python\tsrc/a.py\tclass\t\t",
        b"python\tsrc/a.py\tclass\tA\t\r",
        b"python\tsrc/a.py\tclass\tA\0\t",
        b"python\tsrc/a.py\tclass\tA\x1b[31m\t",
        b"python\tsrc/a.py\tclass\t\xff\t",
        b"python\tsrc/a.py\tclass\tA\t\xed\xa0\x80",
        b"python\tsrc/a.py\tclass\tA\t(" + b"x" * 4096 + b")",
        b'{"language": "python"}',
    ],
)
def test_a_record_of_another_shape_is_left_out_and_counted(line: bytes) -> None:
    assert parse(GOOD + line + b"\n" + GOOD) == Structure((A,), (("record-malformed", 1),))


def test_a_module_may_be_any_path_and_is_shown_as_git_quotes_it() -> None:
    assert parse(b"python\tsrc/\xff.py\tclass\tA\t\n").candidates[0].module == '"src/\\377.py"'


def test_limitations_are_read_summed_and_anything_else_on_standard_error_is_counted() -> None:
    stderr = (
        b"limitation\tfile-too-large\t2\nlimitation\tfile-too-large\t3\nlimitation\tfile-not-examined\t900\n"
        b"warning: something\nlimitation\tBad Code\t1\nlimitation\tx\t-1\nlimitation\tx\t01\nlimitation\tx\n\n"
    )
    found = parse(GOOD + b"x\n", stderr)
    assert found.limitations == (
        ("file-not-examined", 900),
        ("file-too-large", 5),
        ("message-not-understood", 6),
        ("record-malformed", 1),
    )
    # Files that no oracle of these languages reads are no gap in the structure.
    assert found.warnings == (Warning("structure-incomplete", 12),)
    assert parse(GOOD, b"limitation\tfile-not-examined\t900\n").warnings == ()


def test_the_number_of_candidates_is_bounded() -> None:
    found = parse(b"".join(b"python\ta.py\tfunction\tf%d\t()\n" % number for number in range(20_003)))
    assert len(found.candidates) == 20_000
    assert found.limitations == (("candidate-beyond-bound", 3),)


@given(st.binary(max_size=200), st.binary(max_size=100))
def test_whatever_an_oracle_prints_is_read_without_an_error(stdout: bytes, stderr: bytes) -> None:
    found = parse(stdout, stderr)
    lines = stdout.split(b"\n")
    counts = dict(found.limitations)
    assert len(found.candidates) + counts.get("record-malformed", 0) <= len(lines)


# ---- admitting and fitting -------------------------------------------------------------------------------------------


def test_everything_fits_a_large_budget_in_the_oracles_order() -> None:
    document = built(Structure((*candidates(3), A), ()), 100_000)
    content = document["content"]
    assert [entry["name"] for entry in content["structure"]] == ["f0", "f1", "f2", "A"]
    assert content["structure"][3] == A._asdict()
    plain = json.loads(ranked.build(samples.subject(), samples.summary(), samples.facts(), max_tokens=100_000).document)
    assert {name: value for name, value in content.items() if name != "structure"} == plain["content"]


def test_a_candidate_without_a_signature_has_no_such_member() -> None:
    document = built(Structure((A._replace(signature=""),), ()), 10_000)
    assert document["content"]["structure"] == [
        {"language": "python", "module": "src/a.py", "kind": "class", "name": "A"}
    ]


def test_an_oracle_that_found_nothing_gives_an_empty_list() -> None:
    assert built(Structure((), ()), 10_000)["content"]["structure"] == []


def essential(document: dict[str, Any], count: int, total: int, structure: Structure) -> int:
    """The bytes of the document that shows the essentials and `count` candidates alone, put together here by hand."""
    summary, facts = samples.summary(), samples.facts()
    content = {
        "tracked_files": summary.tracked_files,
        "present_files": summary.present_files,
        "bytes": summary.size_bytes,
        "entry_points": list(facts.entry_points),
        "directories": list(summary.directories[0]),
        "structure": [
            {name: value for name, value in candidate._asdict().items() if name != "signature" or value}
            for candidate in structure.candidates[:count]
        ],
    }
    if not count:
        del content["structure"]
    warnings = [
        {"code": "files-not-read", "count": 1},
        {"code": "hidden-edits", "count": 2},
        {"code": "shallow-history"},
        {"code": "depth-two-directories-omitted", "count": 5},
        {"code": "documents-omitted", "count": 240},
        {"code": "make-targets-omitted", "count": 43},
        {"code": "recent-commits-omitted", "count": 5},
    ]
    if total > count:
        warnings.append({"code": "candidates-omitted", "count": total - count})
    budget = document["budget"]
    whole = {**document, "content": content, "warnings": warnings}
    for _ in range(3):  # until the estimate counts its own digits
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":")) + "\n"
        size = len(text.encode())
        whole["budget"] = {**budget, "estimated_tokens": -(-size // 4)}
    return size


@pytest.mark.parametrize("width", [0, 7, 60, 300])
@pytest.mark.parametrize("total", [1, 2, 9, 10, 11, 40])
def test_candidates_are_admitted_exactly_while_the_essentials_still_fit_with_them(total: int, width: int) -> None:
    structure = Structure(candidates(total, width), ())
    for max_tokens in range(240, 2400, 97):
        document = built(structure, max_tokens)
        count = len(document["content"].get("structure", []))
        assert essential(document, count, total, structure) <= 4 * max_tokens
        if count < total:
            assert essential(document, count + 1, total, structure) > 4 * max_tokens
        if count:
            assert document["content"]["directories"][:3] == ["docs", "src", "tests"]
            assert document["content"]["entry_points"] == list(samples.facts().entry_points)
        omitted = {entry["code"]: entry.get("count") for entry in document["warnings"]}
        assert omitted.get("candidates-omitted", 0) == total - count


def test_candidates_push_out_what_the_seed_removes_first_and_nothing_else() -> None:
    structure = Structure(candidates(40, 20), ())
    document = built(structure, 600)
    content = document["content"]
    assert len(content["structure"]) > 10
    assert not {"documents", "make_targets"} & set(content)
    assert content["directories"] == ["docs", "src", "tests"]
    # What candidates do not take is filled as in the ranked cue: recent subjects leave after Makefile targets.
    few = built(Structure(candidates(2, 20), ()), 600)["content"]
    assert len(few["structure"]) == 2
    assert "make_targets" in few
    assert "recent_commits" in few


def test_without_room_for_a_candidate_the_cue_is_the_ranked_one_and_says_so() -> None:
    structure = Structure(candidates(4, 2000), ())
    document = built(structure, 400)
    plain = json.loads(ranked.build(samples.subject(), samples.summary(), samples.facts(), max_tokens=400).document)
    assert "structure" not in document["content"]
    assert {"code": "candidates-omitted", "count": 4} in document["warnings"]
    assert document["content"]["directories"][:3] == plain["content"]["directories"][:3]


def test_a_budget_that_nothing_fits_names_the_smallest_one_that_would_do() -> None:
    structure = Structure(candidates(4), ())
    with pytest.raises(BudgetTooSmall) as caught:
        built(structure, 50)
    needed = caught.value.needed_tokens
    built(structure, needed)
    with pytest.raises(BudgetTooSmall):
        built(structure, needed - 1)


@given(samples.summaries(), st.integers(0, 30), st.integers(0, 80), st.integers(150, 1500))
def test_a_bigger_budget_never_shows_fewer_candidates(summary: Any, total: int, width: int, max_tokens: int) -> None:
    structure = Structure(candidates(total, width), ())

    def shown(budget: int) -> int:
        try:
            fitted = structural.build(samples.subject(), summary, samples.facts(), structure, max_tokens=budget)
        except BudgetTooSmall:
            return -1
        assert len(fitted.document) <= 4 * budget
        return len(json.loads(fitted.document)["content"].get("structure", []))

    counts = [shown(max_tokens + more) for more in (0, 1, 7, 100, 10_000)]
    assert counts == sorted(counts)


def test_golden_cues_stay_as_they_are() -> None:
    structure = Structure(
        (A, Candidate("bash", '"bin/\\377"', "function", "größe", ""), *candidates(8, 30)), (("file-not-text", 2),)
    )
    for name, max_tokens in (("structural", 2000), ("structural-500", 500)):
        fitted = structural.build(
            samples.subject(), samples.summary(), samples.facts(), structure, max_tokens=max_tokens
        )
        check(name, fitted.document)


# ---- the corpus ------------------------------------------------------------------------------------------------------


def a_body(path: str) -> bytes:
    """A generated Python or Bash source, another one for each path."""
    chance = random.Random(path)
    lines = ["#!/usr/bin/env bash" if path.endswith(".sh") else f'"""{path}: def fake(): pass"""']
    for number in range(chance.randint(0, 5)):
        stem = f"{chance.choice(('load', 'Render', 'check', '_hide'))}{number}"
        if path.endswith(".sh"):
            lines += [f"{stem}() {{", *["  :"] * chance.randint(1, 9), "}", f". lib/{stem}.sh"]
        elif chance.random() < 0.5:
            lines += [f"class {stem.title()}(Base):", *["    def method(self, value: int) -> str: ..."] * 3]
        else:
            lines += [f"def {stem}(", "    path: str,", "    *,", f"    {'depth_' * chance.randint(1, 6)}: int = 0,"]
            lines += [") -> None:", *["    pass"] * chance.randint(1, 9)]
    return "\n".join(lines).encode() + b"\n"


@pytest.mark.parametrize("name", NAMES)
def test_the_structural_cue_keeps_every_depth_one_directory_of_the_corpus_at_500_tokens(
    name: str, tmp_path: Path
) -> None:
    # The oracle reads these files alone; the summary is that of the whole list.
    sources: dict[str, Entry] = {
        path: File(a_body(path)) for path in paths_of(name) if path.endswith((".py", ".sh", ".bash"))
    }
    found = run(RepoBuilder(tmp_path / "r").commit("one", sources).build())
    structure = parse(found.stdout, found.stderr)
    assert structure.limitations == tuple(found.limitations.items())
    assert len(structure.candidates) == len(set(found.candidates))
    assert len(structure.candidates) > len(sources)

    fitted = structural.build(samples.subject(), summary_of(name), rich_facts(name), structure, max_tokens=500)
    document = reader.read(fitted.document, contract="repocue/cue-2", kind="structural-oracle")
    content = document["content"]
    expected = depth_one(name)
    assert content["directories"][: len(expected)] == expected
    assert content["entry_points"] == list(rich_facts(name).entry_points)
    assert len(fitted.document) <= 2000
    shown = content["structure"]
    assert len(shown) >= 3
    assert [(entry["module"], entry["name"]) for entry in shown] == [
        (candidate.module, candidate.name) for candidate in structure.candidates[: len(shown)]
    ]
    omitted = {entry["code"]: entry.get("count") for entry in document["warnings"]}
    assert omitted["candidates-omitted"] == len(structure.candidates) - len(shown)
