"""Answers to task and cache benchmarks: one normal form, and the checks that need no judgement. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from repocue.contracts import canonical


def normalised(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The answer with everything sorted that is a set: items, commands, and the sources of items and claims.

    Claims and uncertainties keep their order. Members keep theirs.
    """
    result = dict(answer)
    result["items"] = sorted(({**item, "sources": sorted(item["sources"])} for item in answer["items"]), key=_id)
    result["claims"] = [{**claim, "sources": sorted(claim["sources"])} for claim in answer["claims"]]
    if "commands" in answer:
        result["commands"] = sorted(answer["commands"], key=_id)
    return result


def digest(answer: Mapping[str, Any]) -> str:
    """The digest of the normal form, as a document: what assessments are bound to."""
    return canonical.digest(canonical.document(normalised(answer)))


class Overlap(NamedTuple):
    """How a found set meets a required one, as counts, so that every ratio can be divided out."""

    shared: int
    found: int
    required: int

    @property
    def is_exact(self) -> bool:
        """Whether the sets are equal."""
        return self.shared == self.found == self.required


def overlap(found: Iterable[Any], required: Iterable[Any]) -> Overlap:
    """Compare two sets."""
    first, second = set(found), set(required)
    return Overlap(len(first & second), len(first), len(second))


def discovery_faults(answer: Mapping[str, Any], required: Mapping[str, Iterable[str]]) -> list[str]:
    """How the answer's items differ from `required` (item id to its source ids); empty where they are the same."""
    found = {item["id"]: set(item["sources"]) for item in answer["items"]}
    faults = []
    if missing := sorted(required.keys() - found.keys()):
        faults.append("items-missing: " + ", ".join(missing))
    if surplus := sorted(found.keys() - required.keys()):
        faults.append("items-not-required: " + ", ".join(surplus))
    for name in sorted(required.keys() & found.keys()):
        wanted = set(required[name])
        if missing := sorted(wanted - found[name]):
            faults.append(f"sources-missing: {name} lacks " + ", ".join(missing))
        if surplus := sorted(found[name] - wanted):
            faults.append(f"sources-not-required: {name} has " + ", ".join(surplus))
    return faults


def citation_faults(answer: Mapping[str, Any], delivered: Iterable[str]) -> list[str]:
    """Claims without a source, and sources cited or listed that were not delivered."""
    known = set(delivered)
    faults = []
    for number, claim in enumerate(answer["claims"], 1):
        if not claim["sources"]:
            faults.append(f"claim-without-source: claim {number}")
        if unknown := sorted(set(claim["sources"]) - known):
            faults.append(f"source-not-delivered: claim {number} cites " + ", ".join(unknown))
    faults += [
        f"source-not-delivered: item {item['id']} has " + ", ".join(unknown)
        for item in answer["items"]
        if (unknown := sorted(set(item["sources"]) - known))
    ]
    return faults


def every(values: Iterable[bool | None]) -> bool | None:
    """False where one is false; unknown where none is false and one is unknown."""
    found = list(values)
    if False in found:
        return False
    return None if None in found else True


def _id(value: Mapping[str, Any]) -> bytes:
    identifier: str = value["id"]
    return identifier.encode()
