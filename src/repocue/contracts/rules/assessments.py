"""The rules of assessment bundles, of both evaluations that read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from repocue.contracts.problems import Problem
from repocue.contracts.registry import Context
from repocue.contracts.rules.common import repeated


def bundle(document: Mapping[str, Any], _context: Context) -> Iterator[Problem]:
    """The rules of an assessment bundle:

    - Each attempt, or step, is judged at most once.
    """
    if document["kind"] != "assessment-bundle":
        return
    subject = "attempt" if document["schema_version"].startswith("repocue/task-") else "step"
    yield from repeated(document["entries"], "/entries", f"the {subject}", subject)
