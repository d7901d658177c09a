"""How the answers of init, status, refresh, rebaseline and metrics read on a terminal. Pure: document in, text out."""

from __future__ import annotations

from typing import Any

_FRESHNESS = {
    "current": "current: the snapshot is what the repository is now",
    "dirty-but-indexed": "current, with uncommitted changes that the snapshot holds",
    "refresh-needed": "out of date: run 'repocue refresh'",
    "unknown": "unknown: the repository could not be compared with the snapshot",
}
_WARNINGS = {
    "cache-inside-work-tree": "the cache lies inside the work tree: unless it is ignored, it counts as untracked",
    "repository-moved": "the repository kept changing while it was observed",
}
_RECENT = 10


def operation(document: dict[str, Any]) -> str:
    """The text of a `repocue/operation-1` document."""
    repository, run, outcome = document["repository"], document["run"], document["outcome"]
    if outcome == "already-initialized":
        head = f"{repository['name']} is initialized already; nothing was changed."
    elif outcome == "initialized":
        head = f"Took the first snapshot of {repository['name']}: {run['changed_files']} tracked files."
    elif document["kind"] == "rebaseline":
        head = f"Opened {document['epoch']} of {repository['name']} with {document['snapshot']} as its baseline."
    elif outcome == "published":
        head = f"Published {document['snapshot']} of {repository['name']}."
    else:
        head = f"Nothing changed in {repository['name']} since {document['snapshot']}."
    lines = [head, *_state(document)]
    if document["changes"] is not None and outcome == "published":
        lines.append(f"  changed    {_changes(document['changes'])}")
    if run is not None:
        lines.append(f"  took       {_ms(run['duration_ms'])}, of which {_ms(run['scan_duration_ms'])} scanning")
    return "\n".join(lines + _warnings(document))


def status(document: dict[str, Any]) -> str:
    """The text of a `repocue/status-1` document."""
    files = document["files"]
    lines = [
        f"{document['repository']['name']}  {document['repository']['root']}",
        *_state(document),
        f"  files      {files['tracked']} tracked, {files['present']} present, {_bytes(files['bytes'])}",
    ]
    if document["changes"] is not None and document["freshness"] == "refresh-needed":
        lines.append(f"  changed    {_changes(document['changes'])}")
    return "\n".join(lines + _warnings(document))


def metrics(document: dict[str, Any]) -> Any:
    """The text of a `repocue/metrics-1` document, with tables."""
    from rich.console import Group
    from rich.table import Table

    totals = Table("what", "runs", "failed", "duration", title="Totals", title_justify="left")
    for name, total in {**document["maintenance"], "cue": document["cues"]}.items():
        totals.add_row(name, str(total["runs"]), str(total["failed"]), _ms(total["duration_ms"]))
    recent = Table(
        "started",
        "kind",
        "by",
        "epoch",
        "outcome",
        "duration",
        "files changed",
        title="Last runs",
        title_justify="left",
    )
    for run in document["runs"][-_RECENT:]:
        changed = "unknown" if run["changed_files"] is None else str(run["changed_files"])
        outcome = run["error_code"] or run["outcome"]
        recent.add_row(
            run["started_at"], run["kind"], run["trigger"], run["epoch"], outcome, _ms(run["duration_ms"]), changed
        )
    database = document["database"]
    return Group(
        f"{document['repository']['name']}  {document['snapshot']} of {document['snapshots']}, {document['epoch']}",
        f"database   {_bytes(database['bytes'])}  {database['path']}",
        totals,
        recent,
    )


def _state(document: dict[str, Any]) -> list[str]:
    repository = document["repository"]
    branch = repository["branch"] or "detached"
    head = repository["head"][:12] if repository["head"] else "no commit yet"
    return [
        f"  snapshot   {document['snapshot']}, {document['epoch']}, observed {document['basis']['observed_at']}",
        f"  basis      {branch} at {head}{', dirty' if repository['dirty'] else ''}",
        f"  freshness  {_FRESHNESS[document['freshness']]}",
    ]


def _changes(changes: dict[str, Any]) -> str:
    files = [f"{count} {kind.replace('_', ' ')}" for kind, count in changes["files"].items() if count]
    whole = [kind.removeprefix("repository.").replace("_", " ") for kind in changes["repository"]]
    return ", ".join(files + whole) or "nothing"


def _warnings(document: dict[str, Any]) -> list[str]:
    lines = []
    for warning in document["warnings"]:
        text = _WARNINGS.get(warning["code"], warning["code"].replace("-", " "))
        lines.append(f"  warning    {text}" + (f" ({warning['count']})" if "count" in warning else ""))
    return lines


def _ms(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:.0f} ms" if value < 10_000 else f"{value / 1000:.1f} s"


def _bytes(value: int) -> str:
    size = float(value)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError("unreachable")
