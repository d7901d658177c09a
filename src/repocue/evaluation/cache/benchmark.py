"""Reading a cache benchmark, and the sizes its requests may have."""

from __future__ import annotations

from typing import Final

from repocue.contracts import reader
from repocue.contracts.registry import Context
from repocue.contracts.types.cache import CacheBenchmark
from repocue.domain import tokens
from repocue.errors import BudgetTooSmall, EvaluationError
from repocue.evaluation.cache import layout
from repocue.evaluation.cache.limits import CacheLimits

_RECORD_ENDING: Final = ".record"


def read(data: bytes, *, limits: CacheLimits, today: str | None, subject: str) -> CacheBenchmark:
    """The benchmark in `data`, held to its contract and to `limits`; `today` (YYYY-MM-DD) bounds the rates' date.

    Raises ContractError, or EvaluationError (code ``evaluation.benchmark``) for what only these limits refuse.
    """
    document = reader.read(
        data,
        contract=layout.BENCHMARK_VERSION,
        limits=reader.Limits(max_bytes=limits.benchmark_bytes, max_depth=limits.json_depth),
        context=Context(today=today),
        subject=subject,
    )
    benchmark = reader.convert(document, CacheBenchmark, subject=subject)
    for value, most, what in (
        (len(benchmark.steps), limits.steps, "steps"),
        (benchmark.max_output_tokens, limits.max_output_tokens, "max_output_tokens"),
        (benchmark.max_context_tokens, limits.max_context_tokens, "max_context_tokens"),
    ):
        if value > most:
            raise EvaluationError(f"{subject}: {what} is {value}, more than {most}.", code="evaluation.benchmark")
    for step in benchmark.steps:
        if step.id.endswith(_RECORD_ENDING):
            raise EvaluationError(
                f"{subject}: the step id {step.id} ends in {_RECORD_ENDING}, which names the record beside a request.",
                code="evaluation.benchmark",
                hint="Choose another id.",
            )
    return benchmark


def check_request(step: str, wire: bytes, *, benchmark: CacheBenchmark, limits: CacheLimits) -> None:
    """Hold one wire body to the benchmark's estimated context budget and to the size that is sent.

    Raises BudgetTooSmall or EvaluationError, naming the step and by how much; nothing is ever truncated.
    """
    if len(wire) > limits.send.request_bytes:
        raise EvaluationError(
            f"The request of step {step} has {len(wire)} bytes, {len(wire) - limits.send.request_bytes} more than"
            f" the {limits.send.request_bytes} that are sent.",
            code="evaluation.request-too-large",
            hint="Select fewer or smaller sources.",
        )
    needed = tokens.estimate(len(wire))
    if needed > benchmark.max_context_tokens:
        raise BudgetTooSmall(
            f"The request of step {step} takes {needed} estimated tokens, {needed - benchmark.max_context_tokens} more"
            f" than max_context_tokens, {benchmark.max_context_tokens}.",
            needed_tokens=needed,
            hint="Raise max_context_tokens in the benchmark, or select less; nothing is truncated.",
        )


def warnings(benchmark: CacheBenchmark) -> list[str]:
    """What will keep a verdict from being reached although the benchmark keeps its contract."""
    found = []
    cycles = len({step.cycle for step in benchmark.steps if step.cycle is not None})
    if benchmark.required_pairs > cycles:
        found.append(
            f"required-pairs-unreachable: a verdict needs {benchmark.required_pairs} cycles and the steps have {cycles}"
        )
    if benchmark.rates is None:
        found.append("rates-missing: without prices no cost and no verdict can be computed")
    asked = (benchmark.system, benchmark.task.question, *(prompt.text for prompt in benchmark.prompts))
    if not any(benchmark.id in text for text in asked):
        found.append(
            f"benchmark-id-not-told: an answer must carry the id {benchmark.id}, which no instruction mentions"
        )
    return found
