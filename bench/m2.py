"""`evaluate-m2` with a runner that costs next to nothing: what the harness itself takes for each condition."""

from __future__ import annotations

import glob
import json
import os
import shutil
from collections.abc import Sequence

from bench.measure import Operation

CONDITIONS = 5

_ANSWER = {
    "schema_version": "repocue/benchmark-answer-2",
    "project_purpose": "none",
    "git": {"branch": None, "head": None, "dirty": False, "tracked_changes": [], "untracked": []},
    "primary_entry_points": [],
    "major_components": [],
    "important_documentation": [],
    "recent_relevant_changes": [],
    "project_symbols": [],
    "uncertainties": [],
}
_TOKENS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
_OBSERVATION = {
    "schema_version": "repocue/evaluation-runner-4",
    "condition": "$REPOCUE_EVAL_CONDITION",
    "run_index": 1,
    "metadata": {
        "adapter": "bench",
        "adapter_version": "1",
        "model": "none",
        "reasoning_effort": "none",
        "sandbox": "none",
        "benchmark_version": "$REPOCUE_EVAL_BENCHMARK_VERSION",
        "output_schema_version": "$REPOCUE_EVAL_OUTPUT_SCHEMA_VERSION",
        "repository_head": "$REPOCUE_EVAL_HEAD",
        "repocue_snapshot": "$REPOCUE_EVAL_SNAPSHOT",
    },
    "metrics": {"statuses": dict.fromkeys(_TOKENS, "not_observed")},
    "usage_events": [{"turn": 1}],
    "tokenizer_counts": [],
    "commands": [],
    "final_response": _ANSWER,
    "findings": [],
    "limitations": [],
}


def operation(root: str, folder: str, command: Sequence[str], *, every: int) -> Operation:
    """One whole set on the repository at `root`; what it publishes is thrown away before the next."""
    runner, out = os.path.join(folder, "m2-runner"), os.path.join(folder, "m2-sets")
    with open(runner, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\ncat <<END\n{json.dumps(_OBSERVATION)}\nEND\n")
    os.chmod(runner, 0o755)
    given = ["--output-directory", out, "--runner", runner, "--temporary-root", folder, "--quiet"]
    return Operation(
        name="evaluate-m2, 5 runs",
        argv=[*command, "evaluate-m2", *given],
        cwd=root,
        before=lambda: shutil.rmtree(out, ignore_errors=True),
        every=every,
    )


def oracle_ms(folder: str) -> float:
    """How long the structural oracle ran in the last set, by its own report: a program beside the harness."""
    (report,) = glob.glob(os.path.join(folder, "m2-sets", "*", "*_structural-oracle_*.json"))
    with open(report, encoding="utf-8") as file:
        taken: float = json.load(file)["cue"]["structural_analysis_duration_ms"]
    return taken
