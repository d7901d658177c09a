"""The rules of prompt-cache benchmarks, request records and observations (seed 002)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from repocue.contracts.problems import Problem
from repocue.contracts.registry import Context
from repocue.contracts.rules.common import not_in_future, repeated, under
from repocue.contracts.rules.task import task
from repocue.domain import times, tokens


def benchmark(document: Mapping[str, Any], context: Context) -> Iterator[Problem]:
    """The rules of `repocue/cache-benchmark-1`:

    - The task keeps its own rules and is no verification.
    - Ids of prompts and steps stand once each; a step's prompt exists; cycle is null exactly for probes.
    - Cycles are numbered 1, 2, … without gaps. A pair is one cycle: its baseline and its cache steps name the same
      prompts in the same order.
    - Rates are dated no later than today (UTC) and hold for exactly this model and API version.
    """
    yield from under("/task", task(document["task"], context))
    if document["task"]["kind"] == "verification":
        yield Problem("/task/kind", "must be discovery or explanation: requests run no commands")
    yield from repeated(document["prompts"], "/prompts", "the prompt", "id")
    yield from repeated(document["steps"], "/steps", "the step", "id")
    known = {prompt["id"] for prompt in document["prompts"]}
    for position, step in enumerate(document["steps"]):
        if step["prompt"] not in known:
            yield Problem(f"/steps/{position}/prompt", f'no prompt has the id "{step["prompt"]}"')
        yield from _cycle_problem(step, f"/steps/{position}")
    yield from _pair_problems(document["steps"])
    rates = document["rates"]
    yield from not_in_future(rates, "/rates", context.today)
    if rates is not None:
        for name in ("model", "api_version"):
            if rates[name] != document[name]:
                yield Problem("/rates/" + name, f"the rates hold for {rates[name]}, not for {document[name]}")


def request(document: Mapping[str, Any], _context: Context) -> Iterator[Problem]:
    """The rules of `repocue/cache-request-1`:

    - cycle is null exactly for probes; estimated_tokens is ceil(body_bytes / 4).
    """
    yield from _cycle_problem(document, "")
    estimate = tokens.estimate(document["body_bytes"])
    if document["estimated_tokens"] != estimate:
        yield Problem("/estimated_tokens", f"must be {estimate}, ceil({document['body_bytes']} bytes / 4)")


def observation(document: Mapping[str, Any], _context: Context) -> Iterator[Problem]:
    """The rules of `repocue/cache-observation-1`:

    - The attempt's times contain the request's; duration_ms is the request's end minus its start; these three are
      null together, and then there is no status, response, request id or written byte.
    - A response body has a status, and its file is null exactly where it was withheld.
    """
    started, finished = times.epoch_ms(document["started_at"]), times.epoch_ms(document["finished_at"])
    if finished < started:
        yield Problem("/finished_at", f"lies before the start, {document['started_at']}")
    names = ("http_started_at", "http_finished_at", "duration_ms")
    absent = [name for name in names if document[name] is None]
    if absent and len(absent) < len(names):
        yield Problem("/" + absent[0], f"{', '.join(names)} are null together or not at all")
    elif not absent:
        http_started, http_finished = (times.epoch_ms(document[name]) for name in names[:2])
        if http_started < started:
            yield Problem("/http_started_at", f"lies before the attempt's start, {document['started_at']}")
        if http_finished < http_started:
            yield Problem("/http_finished_at", f"lies before the request's start, {document['http_started_at']}")
        if http_finished > finished:
            yield Problem("/http_finished_at", f"lies after the attempt's end, {document['finished_at']}")
        if document["duration_ms"] != http_finished - http_started:
            yield Problem("/duration_ms", f"must be {http_finished - http_started}, the request's end minus its start")
    if absent:
        for name, meaning in (("status", "a status"), ("response", "a response"), ("request_id", "a request id")):
            if document[name] is not None:
                yield Problem("/" + name, f"{meaning} cannot be there: the request never began")
        if document["request_bytes_written"] or document["request_complete"]:
            yield Problem("/request_bytes_written", "nothing can have been written: the request never began")
    response = document["response"]
    if response is not None:
        if document["status"] is None:
            yield Problem("/response", "a response body has a status before it")
        if response["withheld"] == (response["file"] is not None):
            yield Problem("/response/file", "is null exactly where the body is withheld")


def _cycle_problem(step: Mapping[str, Any], where: str) -> Iterator[Problem]:
    if (step["arm"] == "probe") != (step["cycle"] is None):
        yield Problem(where + "/cycle", "is null exactly for probes, which belong to no pair")


def _pair_problems(steps: list[Mapping[str, Any]]) -> Iterator[Problem]:
    """A pair is one cycle: the same prompts in the same order in both arms."""
    cycles = list(dict.fromkeys(step["cycle"] for step in steps if step["cycle"] is not None))
    if sorted(cycles) != list(range(1, len(cycles) + 1)):
        yield Problem("/steps", f"cycles are numbered 1, 2, … without gaps, not {', '.join(map(str, sorted(cycles)))}")
    for cycle in cycles:
        arms = {
            arm: [step["prompt"] for step in steps if step["cycle"] == cycle and step["arm"] == arm]
            for arm in ("baseline", "cache")
        }
        if arms["baseline"] != arms["cache"]:
            sent = "; ".join(f"{arm} sends {', '.join(prompts) or 'none'}" for arm, prompts in arms.items())
            yield Problem("/steps", f"cycle {cycle} is no pair, its arms send different prompts: {sent}")
