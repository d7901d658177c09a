"""Report sets that several tests summarise."""

from __future__ import annotations

import json
import os
from typing import Any

from repocue.evaluation.m2.summary import summarize
from repocue.evaluation.m2.summary_inputs import Inputs
from tests.support.m2_sets import CONDITIONS, Agent, turn, write_set

Document = dict[str, Any]

DIRECT = (1000, 2000, 3000)
BASIC = (900, 1500, 3100)
"""Input tokens of three runs; each has 100 output tokens. Differences direct minus basic: 100, 500 and -100, so their
median is 100, while the medians differ by 2100 - 1600 = 500 of total tokens."""


def agents(run: int) -> dict[str, Agent]:
    """The five agents of run 1, 2 or 3."""
    return {
        "direct": Agent(turns=[turn(DIRECT[run - 1], 400, 100, 20)], duration_ms=1000.5 * run),
        "placebo": Agent(turns=[turn(DIRECT[run - 1], 300, 100, 20)], duration_ms=1000.5 * run),
        "basic": Agent(turns=[turn(BASIC[run - 1], 0, 100, 20)], duration_ms=900.25 * run),
        "ranked": Agent(turns=[turn(800 * run, 100, 120, 30)], duration_ms=800.0 * run),
        "structural-oracle": Agent(turns=[turn(400 * run, 0, 60), turn(300, 0, 40)], duration_ms=700.0 * run),
    }


def three_runs(parent: str | os.PathLike[str], **options: Any) -> list[str]:
    """A complete group: three sets with `agents`."""
    baselines = (80.5, 81.5, 90)
    return [
        write_set(parent, run_index=run, baseline_ms=baselines[run - 1], **{"agents": agents(run), **options})
        for run in (1, 2, 3)
    ]


def summary(*folders: str | os.PathLike[str], **more: Any) -> Document:
    """The summary's JSON, read back."""
    document = summarize(Inputs(report_sets=[os.fspath(folder) for folder in folders], **more))
    read: Document = json.loads(json.dumps(document))
    return read


def only_group(document: Document) -> Document:
    (repository,) = document["repositories"]
    (group,) = repository["groups"]
    found: Document = group
    return found


def of(rows: list[Document], condition: str) -> Document:
    """The row of one condition."""
    (found,) = [row for row in rows if row["condition"] == condition]
    return found


def save(folder: str | os.PathLike[str], documents: list[Document]) -> list[str]:
    """Documents as files of a new folder."""
    os.makedirs(folder, exist_ok=True)
    paths = []
    for number, document in enumerate(documents):
        path = os.path.join(os.fspath(folder), f"{number:02}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        paths.append(path)
    return paths


__all__ = ["CONDITIONS", "agents", "of", "only_group", "save", "summary", "three_runs"]
