"""What the report says first: a few sentences and the leading numbers. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from repocue.domain.measurement import DERIVED, NOT_OBSERVED, OBSERVED
from repocue.report.html.groups import largest
from repocue.report.html.metrics import LEADING, metric
from repocue.report.html.numbers import exact, human, percent, times
from repocue.report.html.text import plain

MOST_OPENED: Final = 3
"""The opening speaks of this many groups, those of the most pairs."""


class Key(NamedTuple):
    """One leading number: its name, its value, where it comes from, and what it is over."""

    label: str
    text: str
    value: float | None
    source: str
    detail: str


def opening(document: Mapping[str, Any]) -> list[str]:
    """What the report says, in a few sentences. Without agent evidence there is no word of any saving."""
    current = document["maintenance"]["current_epoch"]
    runs = " and ".join(_runs(current))
    duration = current["duration_ms"]
    if duration is None:
        first = f"The current epoch has {runs}, and no total: its baseline or the duration of a run is not known."
    else:
        first = f"Maintaining the current epoch took {human(duration, 'ms')} in {runs}."
    sentences = [first]
    evidence = document["agent_evidence"]
    if evidence["status"] == "unavailable":
        sentences.append(
            "Agent evidence is unavailable: there is no calibration that applies here, so this report "
            "says what maintenance cost and nothing about what agents need."
        )
        return sentences
    groups = evidence["groups"]
    pairs = sum(len(group["pairs"]) for group in groups)
    sentences.append(
        f"Agent evidence is {plain(evidence['status'])}: {times(pairs, 'pair')} in {times(len(groups), 'group')}."
    )
    if len(groups) > 1:
        sentences[-1] += " The groups were measured differently and are never pooled."
    for number in sorted(largest(groups, MOST_OPENED)):
        group = groups[number - 1]
        found = [_comparison(group, name) for name in LEADING if _difference(group, name) is not None]
        if found and len(groups) > 1:
            model = group["identity"]["model"]
            name = f"Group {number}" + ("" if model is None else f", {plain(model)}")
            found[0] = f"{name}, {plain(group['status'])}: {found[0][0].lower()}{found[0][1:]}"
        sentences.append(" ".join(found) if found else f"Group {number} has no pair in which both costs are known.")
    return sentences


def keys(document: Mapping[str, Any]) -> list[Key]:
    """The leading numbers."""
    current = document["maintenance"]["current_epoch"]
    duration = current["duration_ms"]
    size = document["maintenance"]["database_bytes"]
    cues = len(document["maintenance"]["cue_runs"])
    found = [
        Key(
            "Maintenance, current epoch",
            "not observed" if duration is None else human(duration, "ms"),
            duration,
            NOT_OBSERVED if duration is None else OBSERVED,
            ", ".join(_runs(current)),
        ),
        Key("Cues served", exact(cues), cues, OBSERVED, "commands in this window, not users"),
        Key(
            "Database now",
            "not observed" if size is None else human(size, "bytes"),
            size,
            NOT_OBSERVED if size is None else OBSERVED,
            "its size when this report was made",
        ),
    ]
    evidence = document["agent_evidence"]
    groups = evidence["groups"]
    if evidence["status"] == "unavailable":
        found.append(Key("Agent evidence", "unavailable", None, NOT_OBSERVED, "no calibration applies"))
        return found
    pairs = sum(len(group["pairs"]) for group in groups)
    found.append(
        Key(
            "Pairs used",
            exact(pairs),
            pairs,
            OBSERVED,
            f"{plain(evidence['status'])}, in {times(len(groups), 'group')}",
        )
    )
    if len(groups) == 1:
        for name in LEADING:
            difference = _difference(groups[0], name)
            if difference is not None:
                coverage = groups[0]["metrics"][name]["coverage"]
                found.append(
                    Key(
                        f"{metric(name).label}, direct minus assisted",
                        ("+" if difference["median"] > 0 else "") + human(difference["median"], metric(name).unit),
                        difference["median"],
                        DERIVED,
                        "of the one pair"
                        if coverage["of"] == 1
                        else f"median of {coverage['complete']} of {coverage['of']} paired differences",
                    )
                )
    return found


def _runs(current: Mapping[str, Any]) -> tuple[str, str]:
    return times(current["baseline_runs"], "baseline run"), times(current["refresh_runs"], "refresh", "refreshes")


def _difference(group: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    statistics = group["metrics"].get(name)
    return None if statistics is None else statistics["difference"]


def _comparison(group: Mapping[str, Any], name: str) -> str:
    statistics = group["metrics"][name]
    unit, median = metric(name).unit, statistics["difference"]["median"]
    label = metric(name).label.lower()
    complete, of = statistics["coverage"]["complete"], statistics["coverage"]["of"]
    coverage = f"the median of {complete} of {of} pairs" if of > 1 else "one pair"
    if median == 0:
        return f"For {label}, the paired difference was zero ({coverage})."
    share = statistics["percent_median"]
    part = f", {percent(abs(share))}" if share is not None and (share > 0) == (median > 0) else ""
    return (
        f"For {label}, the assisted agent needed {human(abs(median), unit)} {'less' if median > 0 else 'more'} "
        f"than the direct one{part} ({coverage})."
    )
