"""How the answers of `repocue calibration` read on a terminal. Pure: document in, text out."""

from __future__ import annotations

from typing import Any

from repocue.cli import output

_REASONS = {
    "epoch-superseded": "no: its epoch is superseded",
    "contaminated": "no: a run had more than its condition supplies",
}


def text(document: dict[str, Any]) -> Any:
    """The text of a `repocue/calibration-1` document of any kind."""
    found: Any = {"import": _imported, "list": _listed, "show": _shown, "remove": _removed}[document["kind"]](document)
    return found


def _imported(document: dict[str, Any]) -> Any:
    from rich.console import Group

    new = sum(one["outcome"] == "imported" for one in document["sets"])
    known = len(document["sets"]) - new
    head = f"Imported {new} of {len(document['sets'])} sets, bound to {document['snapshot']} of {document['epoch']}."
    lines = [head if new else "Nothing was imported: every set was imported before."]
    if new and known:
        lines.append(f"{known} were imported before and are left as they were.")
    assessments = document["assessments"]
    if assessments["added"] or assessments["known"]:
        lines.append(f"Assessments: {assessments['added']} added, {assessments['known']} known already.")
    lines += [
        f"Not bound to any answer: {one['source']}: {one['reason'].replace('-', ' ')} ({one['detail']})"
        for one in assessments["rejected"]
    ]
    lines += [f"Belongs to no set: {path}" for path in document["unknown_entries"]]
    return Group(output.plain("\n".join(lines)), _table(document["sets"]), *_limitations(document))


def _listed(document: dict[str, Any]) -> Any:
    if not document["calibrations"]:
        return "No calibration is stored; 'repocue calibration import' makes one from published report sets."
    from rich.console import Group

    return Group(_table(document["calibrations"]), *_limitations(document))


def _removed(document: dict[str, Any]) -> str:
    row = document["calibration"]
    return output.safe(
        f"Removed {row['id']}, run {row['run_index']} of {row['model']}; its published set is untouched."
    )


def _shown(document: dict[str, Any]) -> Any:
    from rich.console import Group

    row, identity, evidence, cue = (document[name] for name in ("calibration", "identity", "evidence", "cue"))
    duration = "not observed" if cue["duration_ms"] is None else f"{cue['duration_ms']} ms"
    facts = output.fields(
        [
            ("calibration", row["id"]),
            ("counts", _standing(row)),
            ("set", row["set"]),
            ("bound to", f"{row['snapshot']} of {row['epoch']}, imported {row['imported_at']}"),
            (
                "runner",
                f"{identity['adapter']} {identity['adapter_version']}, CLI {identity['cli_version'] or 'unknown'}",
            ),
            ("model", f"{identity['model']}, effort {identity['reasoning_effort']}"),
            ("cue", f"{cue['bytes']} bytes, budget {identity['max_tokens']} tokens, command {duration}"),
            ("state", f"{evidence['branch'] or 'detached'} at {evidence['head'] or 'no commit'}"),
        ]
    )
    metrics = output.table(
        ("measurement", "direct ", "source", "assisted ", "source"),
        [
            (name, _side(one, "direct"), one["direct_source"], _side(one, "assisted"), one["assisted_source"])
            for name, one in document["metrics"].items()
        ],
    )
    answers = output.table(
        ("answer of", "right ", "scored ", "contaminated"),
        [
            (
                one["condition"],
                str(sum(right is True for right in one["correct"].values())),
                str(sum(right is not None for right in one["correct"].values())),
                "yes" if one["contaminated"] else "no",
            )
            for one in document["answers"]
        ],
    )
    opinions = [
        f"{one['assessor']} on {one['condition']}, {one['assessed_at'] or 'date unknown'}: "
        + ", ".join(f"{name.replace('_', ' ')} {score}" for name, score in one["scores"].items())
        for one in document["assessments"]
    ]
    marked = any(one["ambiguous_zeros"] for one in document["metrics"].values())
    marks = ["? holds, or is made from, a zero of version 3, which may stand for a counter that was left out."]
    below = map(output.plain, [*(marks if marked else []), *opinions])
    return Group(output.plain(facts), metrics, answers, *below, *_limitations(document))


def _table(rows: list[dict[str, Any]]) -> Any:
    return output.table(
        ("id", "run ", "assisted", "model", "report ", "snapshot", "counts"),
        [
            (
                row["id"],
                str(row["run_index"]),
                row["assisted"],
                row["model"],
                str(row["report_version"]),
                row["snapshot"],
                _standing(row),
            )
            for row in rows
        ],
        whole=("id", "snapshot"),
    )


def _standing(row: dict[str, Any]) -> str:
    if row["counts"]:
        return "yes"
    return f"{_REASONS[row['reason']]} ({row['detail']})"


def _side(one: dict[str, Any], side: str) -> str:
    """A value; a question mark where a zero of version 3 is in it, which may be a counter that was left out."""
    value = one[side]
    return "unknown" if value is None else f"{value:,}{'?' if side in one['ambiguous_zeros'] else ''}"


def _limitations(document: dict[str, Any]) -> list[Any]:
    return [output.plain(f"Note: {text}") for text in document["limitations"]]
