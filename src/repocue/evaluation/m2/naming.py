"""Names of published sets and their files (facts of version 3, kept in version 4), and the maintenance id."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from typing import Final

NO_RUNNER: Final = "no-runner"
"""The model part of a dry run's names."""
MANIFEST: Final = "manifest.json"
MANIFEST_VERSION: Final = "repocue/manifest-1"
_OTHER: Final = re.compile(r"[^A-Za-z0-9._-]+")
_SET: Final = re.compile(r"_run-\d{2,}_maintenance-[0-9a-f]{24}\Z", re.ASCII)
_MAX_PART: Final = 80  # so that no name exceeds what file systems take, whatever a model is called


def part(text: str) -> str:
    """A name's part: letters, digits, `.`, `_` and `-` stay, anything else becomes one `-`, edges are trimmed."""
    return _OTHER.sub("-", text)[:_MAX_PART].strip("-") or "unnamed"


def run_part(run_index: int) -> str:
    """`run-01`."""
    return f"run-{run_index:02d}"


def set_name(repository: str, model: str | None, run_index: int, maintenance_id: str) -> str:
    """`<repository>_<model>_run-<NN>_<maintenance id>`; `model` None is a dry run."""
    return f"{part(repository)}_{_model(model)}_{run_part(run_index)}_{maintenance_id}"


def report_name(repository: str, condition: str, model: str | None, run_index: int) -> str:
    """`<repository>_<condition>_<model>_run-<NN>.json`."""
    return f"{part(repository)}_{condition}_{_model(model)}_{run_part(run_index)}.json"


def trace_name(repository: str, model: str | None, run_index: int) -> str:
    """`<repository>_basic_<model>_run-<NN>.trace2.jsonl`."""
    return report_name(repository, "basic", model, run_index).removesuffix(".json") + ".trace2.jsonl"


def model_of_set(name: str, repository: str, run_index: int, maintenance_id: str) -> str | None:
    """The model part of a folder's name where it is one of a set of this repository, run and state; else None."""
    head, tail = f"{part(repository)}_", f"_{run_part(run_index)}_{maintenance_id}"
    if not (name.startswith(head) and name.endswith(tail) and len(name) > len(head) + len(tail)):
        return None
    return name[len(head) : -len(tail)]


def published_sets(output: str) -> list[str]:
    """The folders in an output directory that have a set's name, of whatever repository."""
    try:
        names = os.listdir(output)
    except OSError:
        return []
    return [os.path.join(output, name) for name in sorted(names) if _SET.search(name)]


def maintenance_id(resolved_root: str, state_fingerprint: str, snapshot: str) -> str:
    """What the five reports of one prepared state share: `maintenance-` and 24 hex digits.

    The first digits of the sha256 of root, state fingerprint and snapshot joined by NUL, as in version 3, with version
    4's fingerprint. Prepared again, the same state has the same id; nothing of one preparation's time is in it.
    """
    joined = "\0".join((resolved_root, state_fingerprint, snapshot))
    return "maintenance-" + sha256(joined.encode("utf-8", "surrogateescape")).hexdigest()[:24]


def _model(model: str | None) -> str:
    return NO_RUNNER if model is None else part(model)
