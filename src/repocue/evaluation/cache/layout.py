"""The names of files and contracts in a prepared folder (CONTRACTS, "Folders").

::

    cache-eval-<benchmark id>-<12 hex>/
        manifest.json  preparation.json  benchmark.json  answer-schema.json  cue.json  refresh.json
        requests/<step>.json  requests/<step>.record.json
        attempts/<step>/  journal.json  response.body  observation.json  attempt.json
"""

from __future__ import annotations

from typing import Final

MANIFEST: Final = "manifest.json"
PREPARATION: Final = "preparation.json"
BENCHMARK: Final = "benchmark.json"
ANSWER_SCHEMA: Final = "answer-schema.json"
CUE: Final = "cue.json"
REFRESH: Final = "refresh.json"
REQUESTS: Final = "requests"
ATTEMPTS: Final = "attempts"
RESPONSE: Final = "response.body"
OBSERVATION: Final = "observation.json"

COMPLETE: Final = "complete"
"""The outcome of an attempt that sent its whole request and got a whole answer of status 200 about an unchanged state;
any other outcome names what went wrong."""

BEFORE_HTTP: Final = frozenset(
    {
        "source-changed",
        "key-missing",
        "key-unusable",
        "key-in-request",
        "name-not-found",
        "not-loopback",
        "connect-failed",
        "connect-timeout",
        "tls-certificate",
        "tls-version",
        "tls-failed",
    }
)
"""Outcomes of attempts whose request never began."""

MANIFEST_VERSION: Final = "repocue/manifest-1"
PREPARATION_VERSION: Final = "repocue/cache-preparation-1"
BENCHMARK_VERSION: Final = "repocue/cache-benchmark-1"
REQUEST_VERSION: Final = "repocue/cache-request-1"
JOURNAL_VERSION: Final = "repocue/cache-journal-1"
OBSERVATION_VERSION: Final = "repocue/cache-observation-1"
EVALUATION_VERSION: Final = "repocue/cache-evaluation-1"
ANSWER_VERSION: Final = "repocue/cache-answer-1"
CUE_VERSION: Final = "repocue/task-cue-1"


def request_file(step: str) -> str:
    """Where a step's wire body lies."""
    return f"{REQUESTS}/{step}.json"


def record_file(step: str) -> str:
    """Where the record beside it lies. No step's body has this name: `x.record` would need the body `x.record.json`,
    so preparation refuses such ids."""
    return f"{REQUESTS}/{step}.record.json"
