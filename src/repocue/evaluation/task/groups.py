"""Which pairs belong together: nothing is pooled that was not run alike (CONTRACTS, "Folders"). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from repocue.evaluation.task import schedule, verdicts
from repocue.evaluation.task.pairs import Pair, metrics


class Identity(NamedTuple):
    """What the pairs of a group share. The adapter's three are None where no attempt of theirs says."""

    benchmark_id: str
    benchmark_sha256: str
    policy_sha256: str
    cue_prefix_sha256: str
    adapter: str | None
    adapter_version: str | None
    cli_version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Pairs of one benchmark that were run alike. `cells` are those that count, by repeat."""

    identity: Identity
    kind: str
    paid_sha256: str
    pairs: tuple[Pair, ...]
    cells: dict[int, Pair]

    @property
    def counted(self) -> list[Pair]:
        """The pairs that count, by repeat."""
        return [self.cells[repeat] for repeat in sorted(self.cells)]

    def gates(self) -> list[str]:
        """Why it carries no verdict; empty where every gate holds."""
        return verdicts.open_gates(self.kind, self.cells)

    def to_json(self) -> dict[str, Any]:
        """The members of a summary's group, in their order."""
        complete = sum(pair.status == "complete" for pair in self.counted)
        return {
            "identity": self.identity._asdict(),
            "task_kind": self.kind,
            "evidence": evidence_word(complete),
            "coverage": {"complete": complete, "of": schedule.REPEATS},
            "cells": [
                {
                    "pair": schedule.pair_number(self.kind, repeat),
                    "repeat": repeat,
                    "order": schedule.order_of(self.kind, repeat),
                    "folder": self.cells[repeat].name if repeat in self.cells else None,
                    "not_counted": [
                        pair.name
                        for pair in self.pairs
                        if pair.prepared.repeat == repeat
                        and pair.began_at is not None
                        and pair is not self.cells.get(repeat)
                    ],
                }
                for repeat in range(1, schedule.REPEATS + 1)
            ],
            "metrics": metrics(self.counted),
            "verdict": verdicts.decide(self.counted, self.gates()).to_json(),
        }


def evidence_word(complete: int) -> str:
    """What a number of complete pairs can be called: three repeats are descriptive and never significant."""
    if complete == 0:
        return "none"
    return "descriptive" if complete >= schedule.REPEATS else "exploratory"


def groups(pairs: Sequence[Pair]) -> list[Group]:
    """The groups of all attempted pairs, sorted by identity.

    A pair whose adapter nobody knows, since nothing of it ended well, may have been of any group that shares the rest:
    it takes its cell in each of them, so that no failure can be tried away.
    """
    attempted = [pair for pair in pairs if pair.began_at is not None]
    known = sorted({_identity(pair) for pair in attempted}, key=lambda one: [part or "" for part in one])
    named = [identity for identity in known if identity.adapter is not None]
    found = []
    for identity in known:
        if identity.adapter is None and any(one[:4] == identity[:4] for one in named):
            continue
        unnamed = identity._replace(adapter=None, adapter_version=None, cli_version=None)
        members = tuple(pair for pair in attempted if _identity(pair) in (identity, unnamed))
        found.append(
            Group(
                identity=identity,
                kind=members[0].prepared.benchmark.task.kind,
                paid_sha256=members[0].prepared.paid_sha256,
                pairs=members,
                cells=verdicts.counted(members),
            )
        )
    return found


def _identity(pair: Pair) -> Identity:
    record = pair.prepared.record
    names = ("benchmark_id", "benchmark_sha256", "policy_sha256", "cue_prefix_sha256")
    return Identity(*(record[name] for name in names), *(pair.adapter or (None, None, None)))


def overall(found: Sequence[Group]) -> list[dict[str, Any]]:
    """The verdicts over nine pairs: one for each paid policy, adapter and versions that groups share."""
    keys = sorted({_population(group) for group in found}, key=lambda key: [part or "" for part in key])
    return [_overall(key, [group for group in found if _population(group) == key]) for key in keys]


def _population(group: Group) -> tuple[str, str | None, str | None, str | None]:
    return group.paid_sha256, *group.identity[4:]


def _overall(key: tuple[str, str | None, str | None, str | None], members: Sequence[Group]) -> dict[str, Any]:
    reasons, pairs = [], []
    for kind in schedule.KINDS:
        of_kind = [group for group in members if group.kind == kind]
        if len(of_kind) == 1:
            reasons += of_kind[0].gates()
            pairs += of_kind[0].counted
        else:
            why = "has no attempted pair" if not of_kind else f"has {len(of_kind)} groups, which are not pooled"
            reasons.append(f"benchmark-{'missing' if not of_kind else 'ambiguous'}: {kind} {why}")
    return {
        "identity": {
            "paid_sha256": key[0],
            "adapter": key[1],
            "adapter_version": key[2],
            "cli_version": key[3],
        },
        "benchmarks": [group.identity.benchmark_id for group in members],
        "coverage": {"complete": sum(pair.status == "complete" for pair in pairs), "of": schedule.PAIRS},
        "verdict": verdicts.decide(pairs, reasons).to_json(),
    }
