"""The rules of one condition report, versions 3 and 4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from repocue.contracts.problems import Problem
from repocue.contracts.registry import Context
from repocue.contracts.rules import runner
from repocue.contracts.rules.common import under
from repocue.domain import tokens

CONDITIONS = ("direct", "placebo", "basic", "ranked", "structural-oracle")
"""M2's five conditions in the seed's order."""

CUE_CONTRACTS = {
    "direct": None,
    "placebo": "repocue/cue-2",
    "basic": "repocue/1",
    "ranked": "repocue/cue-2",
    "structural-oracle": "repocue/cue-2",
}
"""The contract of what each condition supplies."""


def version_3(report: Mapping[str, Any], context: Context) -> Iterator[Problem]:
    """The rules of `repocue/evaluation-3`:

    - condition_order is the condition's place in the list of five.
    - The observation is of the report's condition, run index, HEAD, snapshot, benchmark and answer contract, and
      keeps the rules of its own contract.
    """
    yield from _fixed_order(report)
    if "runner" in report:
        yield from _runner_problems(report, runner.VERSION_3)
        yield from under("/runner", runner.version_3(report["runner"], context))


def version_4(report: Mapping[str, Any], context: Context) -> Iterator[Problem]:
    """The rules of `repocue/evaluation-4`:

    - With order_policy fixed, condition_order is the condition's place in the list of five.
    - The cue has its condition's contract; estimated_tokens is ceil(bytes / 4) and within the budget; only direct has
      no bytes; only structural-oracle has structural members.
    - captures is there exactly when a runner ran; both captures agree, and the first agrees with the prepared state.
    - cue_delivery is there exactly in condition basic; its output has the size of the cue, and it finished before the
      pre-run capture: matching bytes alone do not prove delivery.
    - The observation is of the report's condition, run index, HEAD, snapshot, benchmark and answer contract, and
      keeps the rules of its own contract.
    - In an m2-condition-set, report_set is the path of the only set and null otherwise; sets are in the order of
      their run indexes.
    """
    if report["kind"] == "m2-condition-set":
        yield from _set_problems(report)
        return
    if report["order_policy"] == "fixed":
        yield from _fixed_order(report)
    yield from _cue_problems(report)
    yield from _capture_problems(report)
    yield from _delivery_problems(report)
    if "runner" in report:
        yield from _runner_problems(report, runner.VERSION_4)
        yield from under("/runner", runner.version_4(report["runner"], context))


def legacy_identity_problems(report: Mapping[str, Any]) -> Iterator[Problem]:
    """Where a version-3 report's state fingerprint or maintenance id is not what its own members give.

    Not part of reading, which keeps declared values: an import asks it before it compares with a checkout.
    """
    repository = report["repository"]
    names = ("repocue_status", "repository", "working_tree", "porcelain_status", "binary_diff")
    digests = [repository[name + "_digest"] for name in names]
    fingerprint = "sha256:" + _joined(*digests)
    if repository["state_fingerprint"] != fingerprint:
        yield Problem("/repository/state_fingerprint", f"must be {fingerprint}, from the five digests beside it")
    parts = (repository["resolved_root"], repository["state_fingerprint"], report["repocue_snapshot"])
    maintenance = "maintenance-" + _joined(*parts)[:24]
    if report["maintenance_id"] != maintenance:
        yield Problem("/maintenance_id", f"must be {maintenance}, from root, state fingerprint and snapshot")


def _joined(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()


def _fixed_order(report: Mapping[str, Any]) -> Iterator[Problem]:
    place = CONDITIONS.index(report["condition"]) + 1
    if report["condition_order"] != place:
        yield Problem("/condition_order", f"must be {place}, the place of {report['condition']} in the fixed order")


def _runner_problems(report: Mapping[str, Any], contract: str) -> Iterator[Problem]:
    expected = runner.Expected(
        contract=contract,
        condition=report["condition"],
        run_index=report["run_index"],
        head=report["repository"]["head"],
        snapshot=report["repocue_snapshot"],
    )
    yield from under("/runner", runner.expectation_problems(report["runner"], expected))


def _cue_problems(report: Mapping[str, Any]) -> Iterator[Problem]:
    cue, condition = report["cue"], report["condition"]
    contract, found = CUE_CONTRACTS[condition], cue.get("schema_version")
    if found != contract:
        wanted = f"must be {contract}" if contract else "must be absent"
        yield Problem("/cue/schema_version", f"{wanted} in condition {condition}, not {found or 'absent'}")
    estimate = tokens.estimate(cue["bytes"])
    if cue["estimated_tokens"] != estimate:
        yield Problem("/cue/estimated_tokens", f"must be {estimate}, ceil({cue['bytes']} bytes / 4)")
    if cue["estimated_tokens"] > cue["max_tokens"]:
        yield Problem("/cue/estimated_tokens", f"exceeds the budget of {cue['max_tokens']}")
    if condition == "direct" and cue["bytes"]:
        yield Problem("/cue/bytes", "must be 0: condition direct supplies no context")
    if condition != "direct" and not cue["bytes"]:
        yield Problem("/cue/bytes", f"must not be 0: condition {condition} supplies a context")
    for name in ("structural_analysis_duration_ms", "structural_candidate_count"):
        if name in cue and condition != "structural-oracle":
            yield Problem("/cue/" + name, f"condition {condition} runs no structural oracle")


def _capture_problems(report: Mapping[str, Any]) -> Iterator[Problem]:
    captures = report["captures"]
    if captures is None:
        if "runner" in report:
            yield Problem("/captures", "must not be null: a runner ran, and nothing shows that it changed nothing")
        return
    if "runner" not in report:
        yield Problem("/captures", "must be null: no runner ran")
    before, after = captures["pre_run"], captures["post_run"]
    prepared = report["repository"]["state_fingerprint"]
    if before["state_fingerprint"] != prepared:
        yield Problem("/captures/pre_run/state_fingerprint", f"is not that of the prepared state, {prepared}")
    for name, meaning in (("state_fingerprint", "content"), ("guard_digest", "refs, stash, config or HEAD's log")):
        if before[name] != after[name]:
            yield Problem(f"/captures/post_run/{name}", f"differs from the one before the run: {meaning} changed")
    if after["at"] < before["at"]:
        yield Problem("/captures/post_run/at", f"lies before the pre-run capture, {before['at']}")


def _delivery_problems(report: Mapping[str, Any]) -> Iterator[Problem]:
    delivery, condition = report["cue_delivery"], report["condition"]
    if (delivery is None) == (condition == "basic"):
        wanted = "must not be null" if condition == "basic" else "must be null"
        yield Problem("/cue_delivery", f"{wanted}: the shipped command makes the basic context and no other")
    if delivery is None:
        return
    if delivery["stdout_bytes"] != report["cue"]["bytes"]:
        yield Problem(
            "/cue_delivery/stdout_bytes", f"must be {report['cue']['bytes']}, the size of the supplied context"
        )
    if delivery["finished_at"] < delivery["started_at"]:
        yield Problem("/cue_delivery/finished_at", f"lies before the start, {delivery['started_at']}")
    captures = report["captures"]
    if captures and delivery["finished_at"] > captures["pre_run"]["at"]:
        yield Problem(
            "/cue_delivery/finished_at",
            f"{delivery['finished_at']} lies after the pre-run capture, {captures['pre_run']['at']}:"
            " matching bytes do not prove that the cue was there before the agent",
        )


def _set_problems(printed: Mapping[str, Any]) -> Iterator[Problem]:
    sets = printed["report_sets"]
    only = sets[0]["path"] if len(sets) == 1 else None
    if printed["report_set"] != only:
        yield Problem("/report_set", "must be the path of the only report set, and null where there is not exactly one")
    indexes = [entry["run_index"] for entry in sets]
    if indexes != sorted(set(indexes)):
        yield Problem("/report_sets", "must be in the order of their run indexes, each once")
