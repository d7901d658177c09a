"""Running the RepoCue command line as a process of its own, with what it took (seed, "Data flow": the actual CLI)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repocue.contracts import canonical, reader
from repocue.domain import tokens
from repocue.domain.times import rfc3339
from repocue.errors import EvaluationError, RepoCueError
from repocue.evaluation.shared.environment import without_credentials
from repocue.runners.supervision import Supervisor


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRun:
    """One successful run. `argv` is as recorded; `duration_ms` runs to its exit with complete stdout."""

    argv: tuple[str, ...]
    started_at: str
    duration_ms: float
    stdout: bytes

    def to_json(self) -> dict[str, Any]:
        """The process cost as evidence holds it."""
        return {
            "argv": list(self.argv),
            "started_at": self.started_at,
            "duration_ms": self.duration_ms,
            "exit_code": 0,
            "stdout_bytes": len(self.stdout),
            "stdout_sha256": canonical.digest(self.stdout),
            "estimated_tokens": tokens.estimate(len(self.stdout)),
        }


def run_command(
    what: str,
    command: Sequence[str],
    arguments: Sequence[str],
    *,
    environ: Mapping[str, str],
    cwd: str,
    timeout_s: float,
    stdout_limit_bytes: int,
    recorded_as: Mapping[str, str] | None = None,
) -> CommandRun:
    """Run `command` with `arguments` in `cwd`, without credentials in its environment; it must exit with 0.

    `recorded_as` replaces paths made for this one run in the recorded argv. Raises EvaluationError with the message,
    hint and code of the command's own error where it gave one, else code ``evaluation.step-failed``.
    """
    argv = [*command, *arguments]
    ended = Supervisor(timeout_s=timeout_s, stdout_limit_bytes=stdout_limit_bytes).run(
        argv, cwd=cwd, env=without_credentials(environ)
    )
    if not ended.is_success:
        raise _failed(what, ended.describe(), ended.stderr, said_why=ended.stopped is None)
    names = recorded_as or {}
    return CommandRun(
        argv=tuple(names.get(word, word) for word in argv),
        started_at=rfc3339(ended.started_ms),
        duration_ms=ended.duration_ms,
        stdout=ended.stdout,
    )


def run_repocue(
    what: str,
    command: Sequence[str],
    arguments: Sequence[str],
    *,
    root: bytes,
    cache_dir: str,
    environ: Mapping[str, str],
    cwd: str,
    timeout_s: float,
    stdout_limit_bytes: int,
    recorded_as: Mapping[str, str] | None = None,
) -> CommandRun:
    """`run_command` for RepoCue itself, on the repository at `root` with its cache in `cache_dir`; it answers JSON."""
    shared = ("--repository", os.fsdecode(root), "--cache-dir", cache_dir)
    return run_command(
        what,
        command,
        (*arguments, *shared, "--format", "json", "--quiet"),
        environ=environ,
        cwd=cwd,
        timeout_s=timeout_s,
        stdout_limit_bytes=stdout_limit_bytes,
        recorded_as=recorded_as,
    )


def _failed(what: str, how: str, said: bytes, *, said_why: bool) -> EvaluationError:
    try:
        document = reader.read(said, contract="repocue/error-1") if said_why else None
    except RepoCueError:
        document = None
    if document is None:
        text = said.decode("utf-8", "backslashreplace").strip().splitlines()
        return EvaluationError(
            f"The {what} {how}{': ' + text[-1][:500] if text and said_why else ''}.", code="evaluation.step-failed"
        )
    return EvaluationError(f"The {what} failed: {document['message']}", code=document["code"], hint=document["hint"])
