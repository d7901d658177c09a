"""How the answers of init, status, refresh, rebaseline and metrics read on a terminal. Pure: document in, text out."""

from __future__ import annotations

from typing import Any

from repocue.cli.tables import printable, table

_FRESHNESS = {
    "current": "current: the snapshot is what the repository is now",
    "dirty-but-indexed": "current, with uncommitted changes that the snapshot holds",
    "refresh-needed": "out of date: run 'repocue refresh'",
    "unknown": "unknown: the repository could not be compared with the snapshot",
}
_WARNINGS = {
    "cache-inside-work-tree": "the cache lies inside the work tree: unless it is ignored, it counts as untracked",
    "git-messages": "git wrote messages, which 'git status' shows",
    "hidden-edits": "edited files that git was told not to look at; they are indexed all the same",
    "nested-repositories": "repositories inside this one, whose contents are not indexed",
    "partial-clone": "a partial clone: some objects may be missing here, and none is fetched",
    "repository-moved": "the repository kept changing while it was observed",
    "shallow-history": "a shallow clone: history ends early",
    "sparse-checkout": "tracked files that the sparse checkout leaves out",
    "special-files": "tracked paths that are no files now but a FIFO, socket or device",
    "unidentified-files": "changed files that git could not take in, so that their contents are unknown",
    "unindexed-submodules": "submodules, whose contents are not indexed",
    "unlisted-folders": "folders of a sparse index whose files are not known here",
    "unreadable-files": "tracked files that could not be read, so that their contents are unknown",
    "unreadable-folders": "folders that could not be read, so that untracked files in them are unknown",
}
_RECENT = 10


def operation(document: dict[str, Any]) -> str:
    """The text of a `repocue/operation-1` document."""
    repository, run, outcome = document["repository"], document["run"], document["outcome"]
    if outcome == "already-initialized":
        head = f"{repository['name']} is initialized already; nothing was changed."
    elif outcome == "initialized":
        head = f"Took the first snapshot of {repository['name']}: {run['changed_files']:,} tracked files."
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
    return printable(lines + _warnings(document))


def status(document: dict[str, Any]) -> str:
    """The text of a `repocue/status-1` document."""
    files = document["files"]
    lines = [
        f"{document['repository']['name']}  {document['repository']['root']}",
        *_state(document),
        f"  files      {files['tracked']:,} tracked, {files['present']:,} present, {_bytes(files['bytes'])}",
    ]
    if document["changes"] is not None and document["freshness"] == "refresh-needed":
        lines.append(f"  changed    {_changes(document['changes'])}")
    return printable(lines + _warnings(document))


def metrics(document: dict[str, Any]) -> str:
    """The text of a `repocue/metrics-1` document, with tables."""
    totals = [
        (
            name,
            f"{total['runs']:,}",
            "not recorded" if total["failed"] is None else f"{total['failed']:,}",
            _ms(total["duration_ms"]) if total["runs"] else "-",
        )
        for name, total in {**document["maintenance"], "cue": document["cues"]}.items()
    ]
    recent = [
        (
            run["started_at"],
            run["kind"],
            run["trigger"],
            run["error_code"] or run["outcome"],
            run["snapshot_after"] or "-",
            run["epoch"],
            _ms(run["duration_ms"]),
            "unknown" if run["changed_files"] is None else f"{run['changed_files']:,}",
        )
        for run in document["runs"][-_RECENT:]
    ]
    cues = [
        (
            run["started_at"],
            run["view"],
            run["snapshot"],
            run["freshness"],
            _ms(run["duration_ms"]),
            f"{run['estimated_tokens']:,}",
            "-" if run["max_tokens"] is None else f"{run['max_tokens']:,}",
        )
        for run in document["cue_runs"][-_RECENT:]
    ]
    database = document["database"]
    lines = [
        f"{document['repository']['name']}  {document['snapshot']} of {document['snapshots']:,}, {document['epoch']}",
        f"database   {_bytes(database['bytes'])}  {database['path']}",
        "",
        *table(("command", "runs", "failed", "time in all"), totals, left=(0,)),
        "",
        _heading("Maintenance runs", len(document["runs"])),
        *table(
            ("started", "command", "by", "outcome", "snapshot", "epoch", "time", "files changed"),
            recent,
            left=(0, 1, 2, 3, 4, 5),
        ),
    ]
    if cues:
        names = ("started", "view", "snapshot", "freshness", "time", "est. tokens", "budget")
        lines += ["", _heading("Cues", len(document["cue_runs"])), *table(names, cues, left=(0, 1, 2, 3))]
    return printable(lines)


def _heading(title: str, count: int) -> str:
    return f"{title}:" if count <= _RECENT else f"{title}, the last {_RECENT} of {count:,}:"


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
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1024
    raise AssertionError("unreachable")
