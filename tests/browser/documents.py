"""Report documents, and their pages: the golden ones, and ones made from them."""

from __future__ import annotations

import copy
import json
import os
import random
from functools import cache
from typing import Any

from repocue.report.html.page import render

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(__file__)), "golden", "report")

HOSTILE = '</title><script>document.title="owned"</script><img src=x onerror="document.title=1">'
"""A repository's name that would like to be markup."""

BACKWARDS = "good\u202eevil\x07\x00"
"""A name that would like to turn the text after it around."""


@cache
def _golden(name: str) -> str:
    with open(os.path.join(GOLDEN, f"{name}.json"), encoding="utf-8") as file:
        return file.read()


def golden(name: str) -> dict[str, Any]:
    """A golden report document; the caller may change it."""
    document: dict[str, Any] = json.loads(_golden(name))
    return document


def hostile() -> dict[str, Any]:
    """A report in which every text that comes from outside is an attack."""
    document = golden("exploratory")
    document["repository"].update(name=HOSTILE, root="/tmp/" + HOSTILE, branch=BACKWARDS)
    document["maintenance"]["epochs"][0]["label"] = HOSTILE
    for row in document["maintenance"]["cue_runs"]:
        row["view"] = HOSTILE
    group = document["agent_evidence"]["groups"][0]
    group["identity"].update(model=HOSTILE, adapter=BACKWARDS)
    for each in document["quality"]["qualitative"]:
        each["assessor"] = HOSTILE
    document["limitations"].append(HOSTILE)
    return document


def thousand_pairs() -> dict[str, Any]:
    """One group of a thousand pairs, whose costs spread around both sides of no difference."""
    document = golden("rich")
    group = document["agent_evidence"]["groups"][0]
    document["agent_evidence"]["groups"] = [group]
    chance = random.Random(20261130)
    first = group["pairs"][0]
    group["pairs"] = []
    for number in range(1, 1001):
        pair = copy.deepcopy(first)
        pair["run_index"] = number
        for name in ("total_tokens", "execution_duration_ms"):
            pair["metrics"][name]["direct"] = chance.randrange(1000, 9000)
            pair["metrics"][name]["assisted"] = chance.randrange(800, 8000)
        group["pairs"].append(pair)
    return document


def many_groups() -> dict[str, Any]:
    """Ten groups, as a long history of runner versions makes them; group 3 has the most pairs."""
    document = golden("exploratory")
    first = document["agent_evidence"]["groups"][0]
    groups = []
    for number in range(1, 11):
        group = copy.deepcopy(first)
        group["id"] = f"group-{number}"
        group["identity"]["cli_version"] = f"0.{number}.0"
        if number == 3:
            group["pairs"] = group["pairs"] * 3
        groups.append(group)
    document["agent_evidence"]["groups"] = groups
    return document


def equal_differences() -> dict[str, Any]:
    """A thousand pairs in each of which the assisted agent needed 900 tokens less."""
    document = golden("exploratory")
    group = document["agent_evidence"]["groups"][0]
    group["pairs"] = [copy.deepcopy(group["pairs"][0]) for _ in range(1000)]
    for pair in group["pairs"]:
        pair["metrics"]["total_tokens"].update(direct=5000, assisted=4100)
    return document


MADE = {
    "hostile": hostile,
    "thousand-pairs": thousand_pairs,
    "many-groups": many_groups,
    "equal-differences": equal_differences,
}


def document(name: str) -> dict[str, Any]:
    """A document by name, golden or made."""
    return MADE[name]() if name in MADE else golden(name)


@cache
def page(name: str) -> bytes:
    """The page of a document."""
    return render(document(name))
