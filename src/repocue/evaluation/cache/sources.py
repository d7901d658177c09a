"""The original sources of a task cue, and whether they still are what the repository holds (seed, "Data flow")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from repocue.contracts import canonical
from repocue.errors import EvaluationError, RepoCueError
from repocue.evaluation.cache.limits import CacheLimits

if TYPE_CHECKING:
    from repocue.contracts.types.task import Task
    from repocue.domain.state import Observation
    from repocue.git.process import Git

_READ_LIMIT_BYTES: Final = 256 * 1024 * 1024


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
            text = b"".join(lines(text)[begin : int(last) - block["first_line"] + 1])
        sizes[source["id"]] = len(text)
    return sizes


def check_against(cue: Mapping[str, Any], observation: Observation, git: Git) -> bytes:
    """Compare declaration and sources with HEAD's own blobs and the observed work tree; returns the declaration.

    Raises EvaluationError, code ``evaluation.source-changed``, naming the first path that is not what was frozen: not
    in HEAD, other bytes there, or changed in index or work tree; GitFailed where git cannot be asked.
    """
    from repocue.git.content import read_head

    declaration = cue["declaration"]
    wanted = [declaration["path"], *dict.fromkeys(block["path"] for block in cue["blocks"])]
    touched = {entry.path for entry in observation.dirty} | set(observation.unmerged)
    for path in wanted:
        if path in touched:
            raise _changed(path, "it differs from HEAD in index or work tree")
    head = read_head(git, wanted, revision=observation.head or "HEAD", limit_bytes=_READ_LIMIT_BYTES)
    for path in wanted:
        if path not in head:
            raise _changed(path, "HEAD has no file there")
    if canonical.digest(head[declaration["path"]].data) != declaration["sha256"]:
        raise _changed(declaration["path"], "HEAD's declaration is another one")
    for block in cue["blocks"]:
        data = head[block["path"]].data
        if block["id"] != block["path"]:
            data = b"".join(lines(data)[block["first_line"] - 1 : block["last_line"]])
        if data != block["text"].encode():
            raise _changed(block["id"], "HEAD's bytes are others")
    return head[declaration["path"]].data


def check_selection(cue: Mapping[str, Any], task: Task, declaration: bytes) -> None:
    """Raises EvaluationError, code ``evaluation.cue``, unless the cue delivers exactly the items and sources that the
    task's selector takes from the declaration; TaskContextError or ContractError where it takes none."""
    from repocue.cue.task.blocks import Place
    from repocue.cue.task.loading import parse
    from repocue.cue.task.selection import select

    selected = select(parse(declaration, task.declaration).context, task.selector)
    expected = {item.id: {Place.of(source).id for source in item.sources} for item in selected}
    if {item["id"]: set(item["sources"]) for item in cue["items"]} != expected:
        raise EvaluationError(
            f"The task cue delivers other items or sources than the selector takes: {', '.join(expected)}.",
            code="evaluation.cue",
            hint="The cue executable must be this version of RepoCue.",
        )


def lines(data: bytes) -> list[bytes]:
    """The lines of some bytes, each up to and including its LF, and nothing else ends one."""
    *ended, rest = data.split(b"\n")
    return [line + b"\n" for line in ended] + ([rest] if rest else [])


def _changed(path: str, why: str) -> RepoCueError:
    return EvaluationError(
        f"the source {path} is not what the cue delivers: {why}",
        code="evaluation.source-changed",
        hint="Commit or restore it, pin it anew where it was meant to change, and prepare again.",
    )


def _error(message: str) -> EvaluationError:
    return EvaluationError(
        message, code="evaluation.sources", hint="Select less, or narrow the declaration's line ranges."
    )
