"""The five reports of one set as documents, each checked against its contract and all against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from repocue.contracts import reader
from repocue.contracts.rules.report_set import check_report_set
from repocue.domain import tokens
from repocue.evaluation.m2 import naming
from repocue.evaluation.m2.order import order_of
from repocue.runners import protocol

if TYPE_CHECKING:
    from repocue.evaluation.m2.condition import Outcome
    from repocue.evaluation.m2.contexts import Context
    from repocue.evaluation.m2.inputs import Inputs
    from repocue.evaluation.m2.preparation import Prepared

VERSION: Final = "repocue/evaluation-4"
KIND: Final = "m2-condition"

NOT_COVERED: Final = (
    "The fingerprints and the guard do not cover ignored files, hooks, nor an index rewritten with new times alone;"
    " what a run changed and put back as it was is not seen.",
    "Filters that the repository's own configuration names were run as git status runs them.",
    "Context tokens are estimated as ceil(UTF-8 bytes / 4); they are no tokenizer's count.",
    "The duration of building a context is a diagnostic and in no condition's cost; setup and captures are overhead of"
    " the experiment.",
)
DRY_RUN: Final = (
    "No runner ran: this is a dry run and not agent evidence. What an agent would have used, found and answered is not"
    " observed."
)
OBSERVED: Final = (
    "What is known of the agent is what its runner reported; one set is five single runs, which show no more than that"
    " they happened."
)
FIXED_ORDER: Final = (
    "The conditions ran in the fixed order, so that what an earlier one left in a provider's cache cannot be told from"
    " what a condition does."
)


def build(
    inputs: Inputs, prepared: Prepared, run_index: int, outcomes: Mapping[str, Outcome] | None
) -> tuple[dict[str, Any], ...]:
    """The reports in the seed's order; `outcomes` by condition, None for a dry run. Raises ContractError."""
    model = model_of(outcomes)
    order = order_of(inputs.given.order, run_index)
    generated_at = prepared.clock.now()
    reports = tuple(
        {
            "schema_version": VERSION,
            "kind": KIND,
            "generated_at": generated_at,
            "maintenance_id": prepared.maintenance_id,
            "repocue_snapshot": prepared.snapshot,
            "condition": condition,
            "condition_order": order.index(condition) + 1,
            "order_policy": inputs.given.order,
            "run_index": run_index,
            "benchmark_version": protocol.BENCHMARK,
            "output_schema_version": protocol.ANSWER_CONTRACT,
            "repository": dict(prepared.repository),
            **({} if prepared.changed_paths is None else {"changed_paths": dict(prepared.changed_paths)}),
            "baseline": dict(prepared.baseline),
            "update": dict(prepared.update),
            "cue": _cue(context, inputs.given.max_tokens),
            **_of_run(prepared, None if outcomes is None else outcomes[condition]),
            "cue_delivery": _delivery(prepared, condition, model, run_index),
            **({} if outcomes is None else {"runner": dict(outcomes[condition].observation)}),
            "limitations": _limitations(inputs, context, None if outcomes is None else outcomes[condition]),
        }
        for condition, context in prepared.contexts.items()
    )
    for report in reports:
        reader.check(report, contract=VERSION, kind=KIND, subject=f"the report of {report['condition']}")
    check_report_set(reports, subject=f"the report set of run {run_index}")
    return reports


def model_of(outcomes: Mapping[str, Outcome] | None) -> str | None:
    """The model that all five name; None for a dry run."""
    if outcomes is None:
        return None
    model: str = next(iter(outcomes.values())).observation["metadata"]["model"]
    return model


def _cue(context: Context, max_tokens: int) -> dict[str, Any]:
    analysis = context.analysis
    return {
        **({} if context.contract is None else {"schema_version": context.contract}),
        "bytes": len(context.document),
        "estimated_tokens": tokens.estimate(len(context.document)),
        "max_tokens": max_tokens,
        "wall_duration_ms": context.wall_duration_ms,
        **(
            {}
            if analysis is None
            else {
                "structural_analysis_duration_ms": analysis.duration_ms,
                "structural_candidate_count": analysis.candidates,
            }
        ),
    }


def _of_run(prepared: Prepared, outcome: Outcome | None) -> dict[str, Any]:
    return {
        "overhead": {
            "setup_ms": prepared.setup_ms,
            "captures_ms": 0 if outcome is None else outcome.captures_ms,
        },
        "captures": None
        if outcome is None
        else {"pre_run": outcome.pre_run.to_json(), "post_run": outcome.post_run.to_json()},
    }


def _delivery(prepared: Prepared, condition: str, model: str | None, run_index: int) -> dict[str, Any] | None:
    if condition != "basic":
        return None
    return prepared.delivery.to_json(naming.trace_name(prepared.repository["name"], model, run_index))


def _limitations(inputs: Inputs, context: Context, outcome: Outcome | None) -> Sequence[str]:
    found = [*NOT_COVERED, DRY_RUN if outcome is None else OBSERVED]
    if outcome is not None and inputs.given.order == "fixed":
        found.append(FIXED_ORDER)
    if inputs.custom_task_sha256 is not None:
        found.append(f"The benchmark's text was supplied and is not the packaged one: {inputs.custom_task_sha256}.")
    if outcome is not None and outcome.left_behind:
        found.append(
            f"{outcome.left_behind} processes outlived the runner; they were killed before the capture after the run."
        )
    if context.analysis is not None:
        found.append(f"The structural oracle infers no calls, data flow or references: {inputs.oracle.sha256}.")
        found += [f"The structural oracle left out: {code} ({count})." for code, count in context.analysis.limitations]
    return found
