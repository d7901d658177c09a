"""The usage of one `turn.completed` event of `codex exec --json`.

The member names are the contract's own, and input includes cached input, so nothing is converted here; what
matters is what must not be believed (seed, "Codex Adapter").
"""

from __future__ import annotations

from repocue.runners.findings import Finding, warning
from repocue.runners.jsonl import Members
from repocue.runners.usage import COUNTERS, UsageError, UsageEvent, counter, event


def read_usage(turn_completed: Members, turn: int, line: int) -> UsageEvent:
    """The counters of completed turn number `turn`, read from its event on line `line`.

    A usage object that is absent, null or empty leaves every counter unknown. Raises UsageError for repeated
    members, values that are no counters, and subsets that exceed a known whole.
    """
    where = f"line {line}: usage"
    if "usage" in turn_completed.repeated:
        raise UsageError(f"{where} stands twice in one event")
    usage = turn_completed.get("usage")
    if usage is None:
        return UsageEvent(turn=turn)
    if not isinstance(usage, Members):
        raise UsageError(f"{where} is not an object")
    if usage.repeated:
        raise UsageError(f"{where} repeats the member {usage.repeated[0]!r}")
    return event(turn, {name: counter(usage.get(name), f"{where}.{name}") for name in COUNTERS}, where)


def doubts(events: tuple[UsageEvent, ...]) -> list[Finding]:
    """What the counters themselves show that a reader must know."""
    found = []
    for one in events:
        known = one.counters()
        if known and not any(known.values()):
            found.append(
                warning(
                    "usage-all-zero",
                    f"Every counter of turn {one.turn} is zero: the Codex CLI writes zeros when the provider sent no "
                    "usage, so these observed zeros may stand for unknown values.",
                )
            )
    if len(events) > 1:
        found.append(
            warning(
                "usage-several-turns",
                f"The stream completed {len(events)} turns. Totals add them up; a Codex thread that was resumed "
                "reports counters that already include its earlier turns.",
            )
        )
    return found
