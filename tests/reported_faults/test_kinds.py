"""The table of reported kinds of fault points at tests that exist."""

from __future__ import annotations

import ast
import os
from functools import cache

from tests.reported_faults.kinds import KINDS

TESTS = os.path.dirname(os.path.dirname(__file__))


@cache
def names_in(file: str) -> frozenset[str]:
    """The names of the test functions of a file under `tests/`; none where there is no such file."""
    path = os.path.join(TESTS, file)
    if not os.path.isfile(path):
        return frozenset()
    with open(path, encoding="utf-8") as source:
        tree = ast.parse(source.read())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[:5] == "test_")


def test_every_kind_is_kept_out_by_tests_that_exist() -> None:
    missing = [
        f"{kind.number}: {test}"
        for kind in KINDS
        for test in kind.tests
        if test.split("::")[1] not in names_in(test.split("::")[0])
    ]
    assert missing == []
    assert [kind.number for kind in KINDS if not kind.tests] == []


def test_every_kind_stands_in_the_table_once_and_in_order() -> None:
    numbers = [kind.number for kind in KINDS]
    assert numbers == sorted(set(numbers))
    assert len({kind.fault for kind in KINDS}) == len(KINDS)
    assert [kind.number for kind in KINDS if len(set(kind.tests)) != len(kind.tests)] == []


def test_every_test_of_a_reported_fault_is_found_by_the_table() -> None:
    named = {test for kind in KINDS for test in kind.tests}
    files = {"git/test_reported_faults.py", "maintenance/test_reported_faults.py", "m2_summary/test_reported_faults.py"}
    files |= {f"reported_faults/{name}" for name in ("test_repository_kinds.py", "test_usage_kinds.py")}
    standing = {f"{file}::{test}" for file in files for test in names_in(file)}
    assert len(standing) > len(files)
    assert standing - named == set()
