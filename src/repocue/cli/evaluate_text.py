"""How a probe reads on a terminal. Pure: document in, text out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ROWS = (
    ("wall clock", "wall_duration_ms"),
    ("processor time", "cpu_duration_ms"),
    ("recorded by itself", "recorded_duration_ms"),
    ("of which scanning", "scan_duration_ms"),
    ("peak memory", "peak_memory_bytes"),
    ("git processes", "git_processes"),
    ("files looked at", "files_scanned"),
    ("file bytes read", "bytes_read"),
    ("answer", "output_bytes"),
    ("answer, in tokens", "estimated_tokens"),
    ("cache afterwards", "database_bytes"),
)
_STEPS = (("full baseline", "baseline"), ("no-op refresh", "no_op_refresh"), ("overview cue", "cue"))


def probe(document: Mapping[str, Any]) -> str:
    """The text of a `repocue/evaluation-probe-1` document."""
    repository = document["repository"]
    lines = [
        f"What RepoCue {document['executable']['version']} costs on {repository['name']}, in a temporary cache",
        "",
        f"{'':20}" + "".join(f"{title:>16}" for title, _ in _STEPS),
    ]
    for title, name in _ROWS:
        cells = [_cell(name, document[step]["costs"].get(name)) for _, step in _STEPS]
        lines.append(f"{title:20}" + "".join(f"{cell:>16}" for cell in cells))
    fingerprint = document["captures"]["after"]["state_fingerprint"]
    lines += [
        "",
        "Observed, but tokens, which are estimated as bytes / 4. A dash: not observed for that step.",
        f"The repository is as it was: {fingerprint[:23]}… before and after.",
        "Agent evidence: not observed. No agent ran, so this says nothing about what a cue saves.",
    ]
    return "\n".join(lines)


def _cell(name: str, cost: Mapping[str, Any] | None) -> str:
    if cost is None or cost["value"] is None:
        return "-"
    value = cost["value"]
    if name.endswith("_ms"):
        return f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms"
    if name.endswith("_bytes") or name == "bytes_read":
        return _size(value)
    return f"about {value:,}" if cost["source"] == "estimated" else f"{value:,}"


def _size(value: int) -> str:
    if value >= 1 << 20:
        return f"{value / (1 << 20):,.1f} MiB"
    return f"{value / 1024:,.1f} KiB" if value >= 1024 else f"{value} B"
