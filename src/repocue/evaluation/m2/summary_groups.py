"""Which sets may stand together: one repository state, one runner, one benchmark, budget and report version. Pure.

Nothing is pooled across adapters, versions, models, efforts, tiers, sandboxes, benchmarks, cue budgets or report
versions (ARCHITECTURE §6), nor across states of a repository, arguments of the agent's program, or builds of RepoCue:
the five conditions, and the runs of each, have everything in common but the context. An absent member is a value of
its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from repocue.contracts import canonical
from repocue.errors import EvaluationError
from repocue.evaluation.m2.summary_runs import Run, SetRuns
from repocue.scoring.measurements import cli_version

REQUIRED_RUNS: Final = 3
REQUIRED_REPORTS: Final = 15
"""A complete comparison group: three runs of five conditions (seed, "Preparation and Isolation")."""

_RUNNER: Final = ("adapter", "adapter_version", "model", "reasoning_effort", "service_tier", "sandbox", "arguments")
_STATE: Final = ("branch", "head", "dirty", "state_fingerprint", "tracked_files", "tracked_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Sets with equal identity, in the order of their run indexes. `id` is `group-1`, …, over the whole summary."""

    id: str
    name: str
    root: str
    identity: Mapping[str, Any]
    sets: tuple[SetRuns, ...]

    @property
    def is_dry(self) -> bool:
        """Whether these are dry runs: contexts and their costs, and no agent evidence."""
        return self.identity["runner"] is None

    @property
    def runs(self) -> tuple[tuple[SetRuns, Run], ...]:
        """Every run with its set, by run index and then by condition."""
        return tuple((one, run) for one in self.sets for run in one.runs)

    @property
    def is_complete(self) -> bool:
        """Whether three runs or more of all five conditions are there, each with an agent's report."""
        return not self.is_dry and len(self.sets) >= REQUIRED_RUNS

    @property
    def pool(self) -> str:
        """What groups of different repositories must have in common to stand in one aggregate."""
        return canonical.digest_of([value for name, value in self.identity.items() if name != "state"])


def identity(one: SetRuns) -> dict[str, Any]:
    """What the sets of a group have in common, beside their repository."""
    first = one.first
    return {
        "report_version": one.version,
        "state": {name: first["repository"][name] for name in _STATE},
        "runner": None if one.metadata is None else _runner(one.metadata),
        "repocue": _repocue(one),
        "benchmark_version": first["benchmark_version"],
        "benchmark_text_sha256": one.task_sha256,
        "oracle_sha256": one.oracle_sha256,
        "output_schema_version": first["output_schema_version"],
        "max_tokens": first["cue"]["max_tokens"],
    }


def _runner(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """`cli_version` is null where none is declared; version 3 calls it `codex_version`."""
    found = {name: metadata.get(name) for name in _RUNNER}
    return {
        "adapter": found.pop("adapter"),
        "adapter_version": found.pop("adapter_version"),
        "cli_version": cli_version(metadata),
    } | found


def _repocue(one: SetRuns) -> dict[str, Any] | None:
    """The build that made the basic context; version 3 does not say."""
    delivery = one.basic_delivery
    return None if delivery is None else {name: delivery["executable"][name] for name in ("version", "package_sha256")}


def grouped(sets: Iterable[SetRuns]) -> tuple[Group, ...]:
    """The groups, repository by repository (by name, then root), each in the order of its first set.

    Raises EvaluationError, code ``evaluation.repeated-run``, where one run of a group is there twice: which of them
    counts is for a person to say, not for a summary to choose.
    """
    found: dict[tuple[str, str, str], list[SetRuns]] = {}
    for one in sets:
        repository = one.first["repository"]
        key = (repository["name"], repository["resolved_root"], canonical.digest_of(identity(one)))
        found.setdefault(key, []).append(one)
    ordered = sorted(found.items(), key=lambda item: item[0][:2])
    return tuple(
        Group(id=f"group-{number}", name=key[0], root=key[1], identity=identity(members[0]), sets=_by_run(members))
        for number, (key, members) in enumerate(ordered, start=1)
    )


def _by_run(members: Sequence[SetRuns]) -> tuple[SetRuns, ...]:
    seen: dict[int, SetRuns] = {}
    for one in members:
        other = seen.setdefault(one.run_index, one)
        if other is not one:
            raise EvaluationError(
                f"{other.folder} and {one.folder} are both run {one.run_index} of the same comparison.",
                code="evaluation.repeated-run",
                hint="Name one of them: every run counts once, and a summary does not choose.",
            )
    return tuple(seen[index] for index in sorted(seen))
