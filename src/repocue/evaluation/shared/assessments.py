"""Binding an independent assessment to what was assessed, by digest. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def broken_bindings(entry: Mapping[str, Any], binding: Mapping[str, Any]) -> list[str]:
    """The members of `binding` in which an assessment's entry differs; empty where it is bound to exactly this.

    `source_ids` are compared as sets.
    """
    return [name for name, expected in binding.items() if _comparable(name, entry[name]) != _comparable(name, expected)]


def judged(
    assessed: Sequence[Mapping[str, Any]], binding: Mapping[str, Any] | None
) -> tuple[list[str], bool | None, bool | None]:
    """(why entries were rejected, assessed correctness, assessed compliance), from the entries that name one answer.

    `binding` is what an entry must repeat, None where there is no answer. None is unknown.
    """
    rejected: list[str] = []
    correctness = compliance = None
    for entry in assessed:
        if binding is None:
            rejected.append("assessment-rejected: there is no answer that could have been assessed")
        elif broken := broken_bindings(entry, binding):
            rejected.append(f"assessment-rejected: it is bound to another {', '.join(broken)}")
        else:
            compliance = entry["compliance"] == "compliant"
            correctness = None if entry["correctness"] is None else entry["correctness"] == "correct"
    return rejected, correctness, compliance


def _comparable(name: str, value: Any) -> Any:
    return sorted(value) if name == "source_ids" else value
