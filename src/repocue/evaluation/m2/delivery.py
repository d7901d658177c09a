"""The basic context: what the shipped `repocue cue` prints as a process of its own, with evidence of that.

Those exact bytes are delivered. The process is timed from outside, from its start to its exit with complete output.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from repocue.contracts import canonical, reader
from repocue.domain.measurement import milliseconds
from repocue.domain.paths import display
from repocue.domain.times import rfc3339
from repocue.errors import EvaluationError
from repocue.evaluation.m2.contexts import Context
from repocue.evaluation.shared import files
from repocue.evaluation.shared.processes import run_command
from repocue.git import trace2

if TYPE_CHECKING:
    from repocue.domain.state import SnapshotHeader
    from repocue.evaluation.m2.inputs import Given
    from repocue.evaluation.shared.clock import AttemptClock

CONTRACT: Final = "repocue/1"
_USABLE: Final = ("current", "dirty-but-indexed")
_TRACE_LIMIT_BYTES: Final = 64 * 1024 * 1024
_VERSION_LIMIT_BYTES: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Executable:
    """The shipped command's identity. `package_sha256` is over every file of the installed package by name."""

    path: str
    sha256: str
    version: str
    package_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How the basic context was made. `trace` are the bytes of git's own event log of that process."""

    executable: Executable
    argv: tuple[str, ...]
    cache_state: str
    hint_state: str
    started_ms: int
    finished_ms: int
    duration_ms: float
    stdout: bytes = field(repr=False)
    trace: bytes = field(repr=False)
    trace_sha256: str
    git_processes: int

    def to_json(self, trace_file: str) -> dict[str, Any]:
        """The report's `cue_delivery`; `trace_file` is the name of the trace in the set."""
        return {
            "executable": {
                "path": self.executable.path,
                "sha256": self.executable.sha256,
                "version": self.executable.version,
                "package_sha256": self.executable.package_sha256,
            },
            "argv": list(self.argv),
            "cache_state": self.cache_state,
            "hint_state": self.hint_state,
            "started_at": rfc3339(self.started_ms),
            "finished_at": rfc3339(self.finished_ms),
            "duration_ms": self.duration_ms,
            "exit_code": 0,
            "stdout_bytes": len(self.stdout),
            "stdout_sha256": canonical.digest(self.stdout),
            "trace2": {"file": trace_file, "sha256": self.trace_sha256, "git_processes": self.git_processes},
        }


def identify(given: Given, folder: str) -> Executable:
    """Which command this is: its file, the version that it reports itself, and the package behind it."""
    program = given.command[0]
    path = os.path.abspath(program) if os.sep in program else shutil.which(program, path=given.environ.get("PATH"))
    if path is None:
        raise EvaluationError(f"{files.shown(program)} is not on PATH.", code="evaluation.executable")
    said = run_command(
        "version of RepoCue",
        given.command,
        ["--version"],
        environ=given.environ,
        cwd=folder,
        timeout_s=given.limits.cue_s,
        stdout_limit_bytes=_VERSION_LIMIT_BYTES,
    ).stdout
    words = said.decode("utf-8", "backslashreplace").split()
    if len(words) != 2 or words[0] != "repocue":
        raise EvaluationError(
            f"{files.shown(program)} does not say which RepoCue it is: {said[:100]!r}.", code="evaluation.executable"
        )
    whole = files.read_given(path, limit_bytes=1 << 30, what="executable")
    return Executable(
        path=display(os.fsencode(path)),
        sha256=canonical.digest(whole),
        version=words[1],
        package_sha256=package_sha256(),
    )


def package_sha256() -> str:
    """A digest of the installed package: of every file's relative path and sha256, in bytewise order of the paths.

    Compiled files that Python keeps beside its sources are left out.
    """
    import repocue

    folder = os.path.dirname(os.path.abspath(repocue.__file__))
    names = [name for name in files.names_below(folder) if "__pycache__/" not in name]
    whole = sha256()
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            part = sha256(file.read()).hexdigest()
        whole.update(b"%s\0%s\n" % (os.fsencode(name), part.encode()))
    return "sha256:" + whole.hexdigest()


def deliver(
    given: Given,
    executable: Executable,
    *,
    cache: str,
    folder: str,
    header: SnapshotHeader,
    kept_contents: int,
    clock: AttemptClock,
) -> tuple[Context, Delivery]:
    """Have the shipped command print the overview of the snapshot in `cache`; `folder` is for its trace.

    Raises EvaluationError where it fails, where its output is not the overview of exactly that snapshot within the
    budget, or where it left no trace of git.
    """
    begun = time.perf_counter()
    trace = os.path.join(folder, "trace2.jsonl")
    root = os.fsdecode(given.worktree.root)
    arguments = ["-C", root, "cue", "--cache-dir", cache, "--max-tokens", str(given.max_tokens), "--quiet"]
    run = run_command(
        "shipped cue command",
        given.command,
        arguments,
        environ=_environment(given.environ, trace),
        cwd=folder,
        timeout_s=given.limits.cue_s,
        stdout_limit_bytes=given.limits.cue_stdout_bytes,
    )
    finished_ms = clock.now_ms()
    _check(run.stdout, header, given.max_tokens)
    data = files.read_file(trace, limit_bytes=_TRACE_LIMIT_BYTES)
    trace_sha256, git_processes = trace2.read(trace)
    os.unlink(trace)  # no runner is to find it
    context = Context(
        condition="basic",
        contract=CONTRACT,
        document=run.stdout,
        wall_duration_ms=milliseconds(time.perf_counter() - begun),
    )
    return context, Delivery(
        executable=executable,
        argv=_shown(run.argv),
        cache_state=f"temporary; {header.snapshot} of a full baseline, confirmed by a refresh that found nothing new",
        hint_state=f"the index digest of that refresh and the content ids of {kept_contents} changed files",
        started_ms=finished_ms - round(run.duration_ms),
        finished_ms=finished_ms,
        duration_ms=run.duration_ms,
        stdout=run.stdout,
        trace=data,
        trace_sha256=trace_sha256,
        git_processes=git_processes,
    )


def _environment(environ: Mapping[str, str], trace: str) -> dict[str, str]:
    """The caller's, with git's event log going to `trace` and no other setting of RepoCue's."""
    kept = {name: value for name, value in environ.items() if not name.startswith(("GIT_TRACE2", "REPOCUE_"))}
    return {**kept, "GIT_TRACE2_EVENT": trace}


def _check(stdout: bytes, header: SnapshotHeader, max_tokens: int) -> None:
    """Raises ContractError or EvaluationError unless `stdout` is the overview of the prepared snapshot."""
    cue = reader.read_canonical(stdout, contract=CONTRACT, kind="overview", subject="the shipped command's cue")
    expected = {
        "snapshot": header.snapshot,
        "branch": header.branch,
        "head": header.head,
        "status_digest": header.status_digest,
        "repository_digest": header.repository_digest,
        "max_tokens": max_tokens,
    }
    found = {
        "snapshot": cue["snapshot"],
        "branch": cue["repository"]["branch"],
        "head": cue["repository"]["head"],
        "status_digest": cue["basis"]["status_digest"],
        "repository_digest": cue["basis"]["repository_digest"],
        "max_tokens": cue["budget"]["max_tokens"],
    }
    differing = [name for name, value in expected.items() if found[name] != value]
    if cue["freshness"] not in _USABLE:
        differing.append("freshness")
    if differing:
        raise EvaluationError(
            f"The shipped command's cue does not describe the prepared state: {', '.join(differing)} differ.",
            code="evaluation.repository-changed",
            hint="Run it again while nothing else works in the repository; the same run index can be used.",
        )


def _shown(argv: Sequence[str]) -> tuple[str, ...]:
    return tuple(display(os.fsencode(word)) for word in argv)
