"""Matched pairs and their differences, overview minus task (seed: "before medians/ranges"). Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from repocue.evaluation.shared import exact
from repocue.evaluation.task import layout, schedule
from repocue.evaluation.task.evidence import Status
from repocue.evaluation.task.judging import Judgement

if TYPE_CHECKING:
    from repocue.evaluation.task.frozen import Prepared

CREDITS = "credits"
TOTAL_TOKENS = "total_tokens"

_TOKENS = (
    TOTAL_TOKENS,
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
)

METRICS = (CREDITS, *_TOKENS, "adapter_duration_ms", "completed_commands", "cue_duration_ms", "cue_estimated_tokens")
"""What is compared. Cue tokens are inside input already and are shown for what they are; the cue's duration is that of
its own process, and the adapter's is no task-ready latency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """One metric of a pair, exactly; None is unknown."""

    overview: Decimal | None
    task: Decimal | None

    @property
    def difference(self) -> Decimal | None:
        """Overview minus task; above zero the task context took less."""
        return exact.difference(self.overview, self.task)

    def to_json(self, write: Callable[[Decimal | None], Any]) -> dict[str, Any]:
        """The members of a summary's difference; `write` makes the contract's form of a value."""
        return {"overview": write(self.overview), "task": write(self.task), "difference": write(self.difference)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One prepared folder with its judged attempts, first one first."""

    prepared: Prepared
    judged: Mapping[layout.Arm, Judgement]

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.prepared.name

    @property
    def number(self) -> int | None:
        """The pair's number in the schedule; None for a repeat that it does not have."""
        number = schedule.pair_number(self.prepared.benchmark.task.kind, self.prepared.repeat)
        return number if number <= schedule.PAIRS else None

    @property
    def is_scheduled(self) -> bool:
        """Whether this is a cell of the schedule, in the cell's own order."""
        kind = self.prepared.benchmark.task.kind
        return self.number is not None and self.prepared.order == schedule.order_of(kind, self.prepared.repeat)

    @property
    def began_at(self) -> str | None:
        """When its first attempt was journaled; "" where it was attempted and no journal says, None where it was not.

        A pair whose journal is lost counts as the first of its cell: nobody can show that it was not.
        """
        if self.status == "not-attempted":
            return None
        times = [one.evidence.started_at for one in self.judged.values() if one.evidence.status != "not-attempted"]
        known = [time for time in times if time is not None]
        return min(known) if len(known) == len(times) else ""

    @property
    def status(self) -> Status:
        """What became of it: complete where both attempts are."""
        found = [one.status for one in self.judged.values()]
        for status in ("incomplete", "failed"):
            if status in found:
                return status
        if "not-attempted" not in found:
            return "complete"
        return "not-attempted" if set(found) == {"not-attempted"} else "incomplete"

    @property
    def adapter(self) -> tuple[str, str, str] | None:
        """Adapter, version and CLI version that both attempts share, as far as they say."""
        found = {one.adapter for one in self.judged.values() if one.adapter is not None}
        return found.pop() if len(found) == 1 else None

    @property
    def has_one_adapter(self) -> bool:
        """Whether no two attempts name different adapters."""
        return len({one.adapter for one in self.judged.values() if one.adapter is not None}) < 2

    def matched(self, metric: str) -> Matched:
        """A metric of both arms; of a pair that is not complete nothing is matched."""
        if self.status != "complete":
            return Matched(overview=None, task=None)
        return Matched(overview=self._value("overview", metric), task=self._value("task", metric))

    def _value(self, arm: layout.Arm, metric: str) -> Decimal | None:
        judged = self.judged[arm]
        if metric == CREDITS:
            return judged.credits
        if metric in _TOKENS:
            return _exact(getattr(judged.usage, metric))
        if metric == "adapter_duration_ms":
            return _exact(judged.evidence.duration_ms)
        if metric == "completed_commands":
            return _exact(judged.completed_commands)
        process = self.prepared.record["processes"][arm]
        return _exact(process["duration_ms" if metric == "cue_duration_ms" else "estimated_tokens"])


def _exact(value: float | None) -> Decimal | None:
    return None if value is None else Decimal(repr(value))


def written(metric: str) -> Callable[[Decimal | None], Any]:
    """How values of a metric are written: credits as decimal strings, everything else as numbers."""
    return exact.optional_text if metric == CREDITS else _number


def _number(value: Decimal | None) -> float | int | None:
    if value is None:
        return None
    return int(value) if value == value.to_integral_value() else float(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median and range of values; there is at least one."""

    median: Decimal
    min: Decimal
    max: Decimal

    def to_json(self, write: Callable[[Decimal | None], Any]) -> dict[str, Any]:
        """The members of a summary's spread."""
        return {"median": write(self.median), "min": write(self.min), "max": write(self.max)}


def spread(values: Iterable[Decimal]) -> Spread | None:
    """Median and range; None of nothing."""
    found = list(values)
    return Spread(median=exact.median(found), min=min(found), max=max(found)) if found else None


def metrics(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Every metric over counted pairs: matched first, then medians and ranges, with how many pairs have it."""
    found: dict[str, Any] = {}
    for name in METRICS:
        write = written(name)
        known = [one for one in (pair.matched(name) for pair in pairs) if one.difference is not None]
        columns = {
            "overview": spread(one.overview for one in known if one.overview is not None),
            "task": spread(one.task for one in known if one.task is not None),
            "difference": spread(one.difference for one in known if one.difference is not None),
        }
        found[name] = {
            "coverage": {"complete": len(known), "of": len(pairs)},
            **{title: None if column is None else column.to_json(write) for title, column in columns.items()},
        }
    return found
