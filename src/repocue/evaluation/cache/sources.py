"""How many original sources a task cue may have for a request, and how large they may be (issue: "Limits")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from repocue.cue.task.blocks import split_lines
from repocue.errors import EvaluationError
from repocue.evaluation.cache.limits import CacheLimits


def check_bounds(cue: Mapping[str, Any], limits: CacheLimits) -> None:
    """Raises EvaluationError, code ``evaluation.sources``, for too many sources or one that is too large."""
    sources = cue["sources"]
    if len(sources) > limits.sources:
        raise _error(f"the selection has {len(sources)} sources; at most {limits.sources} are sent")
    for name, size in source_sizes(cue).items():
        if size > limits.source_bytes:
            raise _error(f"the source {name} has {size} bytes; at most {limits.source_bytes} are sent")


def source_sizes(cue: Mapping[str, Any]) -> dict[str, int]:
    """Bytes of every source by id. The cue keeps its contract, so that every source lies in its block."""
    blocks = {block["id"]: block for block in cue["blocks"]}
    sizes = {}
    for source in cue["sources"]:
        block = blocks[source["block"]]
        text: bytes = block["text"].encode()
        if source["id"] != block["path"]:
            first, last = source["id"][len(block["path"]) + len("#L") :].split("-L")
            begin = int(first) - block["first_line"]
            text = b"".join(split_lines(text)[begin : int(last) - block["first_line"] + 1])
        sizes[source["id"]] = len(text)
    return sizes


def _error(message: str) -> EvaluationError:
    return EvaluationError(
        message, code="evaluation.sources", hint="Select less, or narrow the declaration's line ranges."
    )
