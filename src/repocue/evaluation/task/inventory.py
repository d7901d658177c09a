"""Everything that was spent, successful or not, and counted or not (seed: "Wrong answers remain in cost inventory").

Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from repocue.evaluation.shared import exact
from repocue.evaluation.task.judging import CODEX_STREAM, Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class _Adapter:
    """The executions of one adapter; name None for those that nobody can ascribe."""

    name: str | None
    executions: Sequence[Judgement]


def inventory(judged: Sequence[Judgement]) -> list[dict[str, Any]]:
    """The sums of each adapter, apart; totals are complete only where no execution's cost is unknown.

    An execution without an observation may have been of any adapter, so one that may have run makes every complete
    total unknown.
    """
    ran = [one for one in judged if one.evidence.may_have_run]
    names = sorted({_name(one) or "" for one in ran})
    stray = any(_name(one) is None for one in ran)
    return [
        _sums(_Adapter(name=name or None, executions=[one for one in ran if (_name(one) or "") == name]), stray)
        for name in names
    ]


def _name(judged: Judgement) -> str | None:
    return None if judged.adapter is None else judged.adapter[0]


def _sums(adapter: _Adapter, has_stray: bool) -> dict[str, Any]:
    executions = adapter.executions
    tokens = [one.usage.total_tokens for one in executions if one.usage.total_tokens is not None]
    credits = [one.credits for one in executions if one.credits is not None]
    known_credits = exact.optional_text(exact.total(credits)) if credits else None
    known_tokens = sum(tokens) if tokens else None
    is_codex = all(
        one.evidence.observation is not None and one.evidence.observation["metadata"]["stream_format"] == CODEX_STREAM
        for one in executions
    )
    return {
        "adapter": adapter.name,
        "executions": len(executions),
        "known_total_tokens": known_tokens,
        "complete_total_tokens": known_tokens if not has_stray and len(tokens) == len(executions) else None,
        "known_credits": known_credits,
        "complete_credits": known_credits if is_codex and not has_stray and len(credits) == len(executions) else None,
    }
