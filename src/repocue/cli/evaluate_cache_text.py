"""How the answers of evaluate-cache read on a terminal. Pure: document in, text out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from repocue.cli.tables import UNKNOWN, count, printable, said, table

_SHORT = len("sha256:") + 12
_TTL_MS = {"5m": 300_000, "1h": 3_600_000}
_TOKENS = (
    ("input", "input_tokens"),
    ("write 5m", "ephemeral_5m_input_tokens"),
    ("write 1h", "ephemeral_1h_input_tokens"),
    ("read", "cache_read_input_tokens"),
    ("output", "output_tokens"),
    ("thinking", "thinking_tokens"),
)


def prepared(document: Mapping[str, Any]) -> str:
    """The text of a `repocue/cache-preparation-1` document of kind "prepared"."""
    steps = document["steps"]
    rows = [
        [
            step["id"],
            step["arm"],
            f"{step['request_bytes']:,}",
            step["request_sha256"][:_SHORT],
            step["reusable_identity"][:_SHORT],
        ]
        for step in steps
    ]
    lines = [
        f"Prepared {len(steps)} requests; nothing was sent.",
        f"  {document['prepared_directory']}",
        "",
        *table(("step", "arm", "bytes", "request", "reusable identity"), rows, left=(0, 1, 3, 4)),
    ]
    lines += [f"warning: {warning}" for warning in document["warnings"]]
    return printable(lines)


def observation(document: Mapping[str, Any]) -> str:
    """The text of a `repocue/cache-observation-1` document."""
    response = document["response"]
    kept = "none"
    if response is not None:
        kept = f"{response['bytes']:,} bytes, " + (
            "withheld" if response["withheld"] else f"kept as {response['file']}"
        )
    written = f"{document['request_bytes_written']:,} bytes handed over"
    whole = "to its last byte" if document["request_complete"] else "not to its end"
    lines = [
        f"Step {document['step']}: {document['outcome']}"
        + (f" ({document['reason']})" if document["reason"] is not None else ""),
        f"  request   {written}, {whole if document['request_bytes_written'] else 'nothing was sent'}",
        f"  status    {'none' if document['status'] is None else document['status']}",
        f"  id        {document['request_id'] or 'none'}",
        f"  response  {kept}",
        f"  HTTP      {document['http_started_at'] or 'never began'}"
        + (f", {document['duration_ms']:,} ms" if document["duration_ms"] is not None else ""),
        f"  attempt   {document['started_at']} to {document['finished_at']}",
    ]
    return printable(lines)


def summary(document: Mapping[str, Any]) -> str:
    """The text of a `repocue/cache-evaluation-1` document of kind "summary": a table of steps and one of pairs."""
    benchmark, inventory, verdict = document["benchmark"], document["inventory"], document["verdict"]
    rates = benchmark["rates_record"] or "none"
    lines = [
        f"{benchmark['id']}: {benchmark['model']}, cache lifetime {benchmark['ttl']}, rates {rates}",
        "",
        *_steps(document["steps"], benchmark["ttl"]),
        *[f"  {step['id']}: {reason}" for step in document["steps"] for reason in step["reasons"]],
        "",
        *_pairs(document["pairs"]),
        "",
        f"Known cost {_usd(inventory['known_usd'])}; complete cost {_usd(inventory['complete_usd'])}",
        f"Verdict: {verdict['status']}",
        *[f"  {reason}" for reason in verdict["reasons"]],
        f"Not observed: {', '.join(document['not_observed'])}",
        *document["limitations"],
    ]
    return printable(lines)


def _steps(steps: Sequence[Mapping[str, Any]], ttl: str) -> list[str]:
    names = (
        "step",
        "arm",
        "cycle",
        "status",
        *(title for title, _ in _TOKENS),
        "USD",
        "HTTP ms",
        f"last access (of {ttl})",
    )
    rows = [
        [step["id"], step["arm"], "-" if step["cycle"] is None else str(step["cycle"]), step["status"]]
        + [count(step["usage"][name]) for _, name in _TOKENS]
        + [step["usd"] or UNKNOWN, count(step["duration_ms"]), _access(step["last_access"], ttl)]
        for step in steps
    ]
    return table(names, rows, left=(0, 1, 3, len(names) - 1))


def _access(access: Mapping[str, Any] | None, ttl: str) -> str:
    """The gap beside the lifetime; whether anything expired in it is not claimed."""
    if access is None:
        return "none observed"
    gap = access["gap_ms"]
    side = "within" if gap <= _TTL_MS[ttl] else "beyond"
    return f"{gap / 1000:,.1f} s after {access['step']}, {side}"


def _pairs(pairs: Sequence[Mapping[str, Any]]) -> list[str]:
    names = ("cycle", "complete", "baseline USD", "cache USD", "difference", "initial", "subsequent", "reused")
    quality = ("delivery", "correctness", "compliance")
    rows = []
    for pair in pairs:
        money = ("baseline_usd", "cache_usd", "difference_usd", "initial_request_usd", "subsequent_requests_usd")
        rows.append(
            [
                str(pair["cycle"]),
                said(pair["complete"]),
                *(pair[name] or UNKNOWN for name in money),
                count(pair["observed_reuse_count"]),
                *(said(pair["quality"][name]) for name in quality),
            ]
        )
    if not rows:
        return ["No pairs: the benchmark has no cycles."]
    return table((*names, *quality), rows, left=(1, 8, 9, 10))


def _usd(value: str | None) -> str:
    return UNKNOWN if value is None else f"{value} USD"
