"""The text forms of `repocue task`."""

from __future__ import annotations

from typing import Any

_SHOWN_DIGITS = 12


def text(document: dict[str, Any]) -> str:
    """What `task list`, `check` and `pin` print on a terminal."""
    return {"list": _list, "check": _check, "pin": _pin}[document["kind"]](document)


def _list(document: dict[str, Any]) -> str:
    lines = [_head(document)]
    for item in document["items"]:
        if item["selected"] is False:
            continue
        tags = f"  [{', '.join(item['tags'])}]" if item["tags"] else ""
        lines += ["", f"{item['id']}  {item['kind']}{tags}", f"  {item['summary']}"]
        lines += [f"    {source['id']}{_size(source)}{_note(source)}" for source in item["sources"]]
    counts = document["counts"]
    if counts["selected"] is not None:
        lines += ["", f"{counts['selected']} of {counts['items']} items selected."]
    return "\n".join(lines)


def _check(document: dict[str, Any]) -> str:
    counts = document["counts"]
    lines = [_head(document)]
    lines += _bad(document)
    if document["ok"]:
        lines.append(f"All {counts['sources']} pins of {counts['items']} items hold at HEAD.")
    else:
        lines.append(f"{counts['ok']} of {counts['sources']} pins hold. A cue cannot be made of the others.")
        if counts["drifted"]:
            lines.append("Once the new contents are reviewed, 'repocue task pin' rewrites the pins.")
    return "\n".join(lines)


def _pin(document: dict[str, Any]) -> str:
    counts = document["counts"]
    if not counts["rewritten"]:
        return f"{_head(document)}\nNothing to rewrite: all {counts['sources']} pins hold at HEAD."
    return (
        f"{_head(document)}\nRewrote {counts['rewritten']} of {counts['sources']} pins."
        " Review the declaration and commit it."
    )


def _head(document: dict[str, Any]) -> str:
    declaration = document["declaration"]
    state = {"ok": "", "dirty": ", differs from HEAD", "untracked": ", not committed"}[declaration["status"]]
    return f"{declaration['path']}  {declaration['id']} at {document['head'][:_SHOWN_DIGITS]}{state}"


def _bad(document: dict[str, Any]) -> list[str]:
    return [
        f"  {item['id']}: {source['id']}{_note(source)}"
        for item in document["items"]
        for source in item["sources"]
        if source["status"] != "ok"
    ]


def _size(source: dict[str, Any]) -> str:
    return "" if source["bytes"] is None else f"  {source['bytes']} bytes"


def _note(source: dict[str, Any]) -> str:
    return "" if source["status"] == "ok" else f"  {source['status'].replace('-', ' ')}"
