"""Whether a task cue delivers what the repository holds and what its task selects (seed, "Data flow")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from repocue.contracts import canonical
from repocue.cue.task.blocks import split_lines
from repocue.errors import EvaluationError, RepoCueError

if TYPE_CHECKING:
    from repocue.contracts.types.task import Task
    from repocue.domain.state import Observation
    from repocue.git.process import Git

_READ_LIMIT_BYTES: Final = 256 * 1024 * 1024


def check_against(cue: Mapping[str, Any], observation: Observation, git: Git) -> bytes:
    """Compare declaration and sources with HEAD's own blobs and the observed work tree; returns the declaration.

    Raises EvaluationError, code ``evaluation.source-changed``, naming the first path that is not what was frozen: not
    in HEAD, other bytes there, or changed in index or work tree; GitFailed where git cannot be asked.
    """
    from repocue.cue.task.loading import changed_paths
    from repocue.git.content import read_head

    declaration = cue["declaration"]
    wanted = [declaration["path"], *dict.fromkeys(block["path"] for block in cue["blocks"])]
    touched = changed_paths(observation)
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
            data = b"".join(split_lines(data)[block["first_line"] - 1 : block["last_line"]])
        if data != block["text"].encode():
            raise _changed(block["id"], "HEAD's bytes are others")
    return head[declaration["path"]].data


def check_selection(cue: Mapping[str, Any], task: Task, declaration: bytes) -> None:
    """Raises EvaluationError, code ``evaluation.cue``, unless the cue delivers exactly the items that the task's
    selector takes from the declaration, as they stand there, with their pinned sources; TaskContextError or
    ContractError where it takes none."""
    from repocue.cue.task.blocks import Place
    from repocue.cue.task.loading import parse
    from repocue.cue.task.selection import select

    declared = parse(declaration, task.declaration).context
    expected = {
        item.id: (
            item.kind,
            item.summary,
            sorted(item.tags),
            {Place.of(source).id: source.sha256 for source in item.sources},
        )
        for item in select(declared, task.selector)
    }
    pins = {source["id"]: source["sha256"] for source in cue["sources"]}
    found = {
        item["id"]: (
            item["kind"],
            item["summary"],
            sorted(item["tags"]),
            {name: pins[name] for name in item["sources"]},
        )
        for item in cue["items"]
    }
    if found != expected or cue["declaration"]["id"] != declared.id:
        raise EvaluationError(
            f"The task cue delivers other items or sources than the selector takes: {', '.join(expected)}.",
            code="evaluation.cue",
            hint="The cue executable must be this version of RepoCue.",
        )


def _changed(path: str, why: str) -> RepoCueError:
    return EvaluationError(
        f"the source {path} is not what the cue delivers: {why}",
        code="evaluation.source-changed",
        hint="Commit or restore it, pin it anew where it was meant to change, and prepare again.",
    )
