"""Running a structural oracle: the packaged one or any executable that speaks its format.

The oracle runs in the repository's root without arguments, below a guard, with a deadline and bounds on what it may
print; nothing it starts outlives it. Its environment is that of git processes: no key, no token, no location variable.
Folders of the repository, and relative ones, are taken out of its PATH, so that the repository can supply no program.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from repocue.contracts.canonical import digest
from repocue.domain.times import rfc3339
from repocue.errors import EvaluationError
from repocue.git.environment import git_environment
from repocue.runners.supervision import Supervisor

PACKAGED: Final = "structural-oracle.bash"
TIMEOUT_S: Final = 120.0
STDOUT_LIMIT_BYTES: Final = 16 * 1024 * 1024
STDERR_LIMIT_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleTool:
    """A program to run. `sha256` is over its own bytes; of the packaged one over those of all its parts, by name."""

    path: str
    command: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleRun:
    """One successful run: raw output, and what it took from start to exit with complete standard output."""

    tool: OracleTool
    started_at: str
    duration_ms: float
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """The run as evidence holds it, output by digest."""
        return {
            "path": self.tool.path,
            "sha256": self.tool.sha256,
            "argv": list(self.tool.command),
            "started_at": self.started_at,
            "duration_ms": self.duration_ms,
            "exit_code": 0,
            "stdout_bytes": len(self.stdout),
            "stdout_sha256": digest(self.stdout),
            "stderr_sha256": digest(self.stderr),
        }


def packaged_tool() -> OracleTool:
    """The oracle that comes with RepoCue: a Bash program and the awk programs beside it."""
    from importlib.resources import files

    folder = str(files("repocue") / "data" / "oracle")
    whole = sha256()
    for name in sorted(os.listdir(folder)):
        if name.endswith((".bash", ".awk")):
            with open(os.path.join(folder, name), "rb") as part:
                data = part.read()
            whole.update(b"%s\0%d\0" % (name.encode(), len(data)) + data)
    path = os.path.join(folder, PACKAGED)
    return OracleTool(path=path, command=("bash", path), sha256="sha256:" + whole.hexdigest())


def external_tool(path: str, root: bytes) -> OracleTool:
    """An executable of the user's, given by its path. `root` is the repository that it is to read.

    Raises EvaluationError where it cannot be run, or lies in the repository, whose files are never executed.
    """
    resolved = os.path.realpath(path)
    if not os.path.isfile(resolved) or not os.access(resolved, os.X_OK):
        raise EvaluationError(
            f"{path!r} is no executable file.", code="oracle.not-executable", hint="Name an executable by its path."
        )
    if _is_below(os.fsencode(resolved), root):
        raise EvaluationError(
            f"The oracle {path!r} lies in the repository that it is to read; nothing of a repository is executed.",
            code="oracle.inside-repository",
            hint="Keep the oracle outside the repository.",
        )
    with open(resolved, "rb") as file:
        data = file.read()
    return OracleTool(path=resolved, command=(resolved,), sha256=digest(data))


def run_oracle(
    tool: OracleTool,
    root: bytes,
    environ: Mapping[str, str],
    *,
    timeout_s: float = TIMEOUT_S,
    stdout_limit_bytes: int = STDOUT_LIMIT_BYTES,
) -> OracleRun:
    """Run `tool` in the work tree at `root`.

    Raises EvaluationError, code ``oracle.failed``, where it does not end by itself with exit code 0, and
    ``process.not-started`` where it cannot be started. The caller checks before and after that the repository stayed
    in one state.
    """
    env = git_environment(environ)
    env["PATH"] = trusted_path(environ.get("PATH", os.defpath), root)
    supervisor = Supervisor(
        timeout_s=timeout_s, stdout_limit_bytes=stdout_limit_bytes, stderr_limit_bytes=STDERR_LIMIT_BYTES
    )
    ended = supervisor.run(tool.command, cwd=os.fsdecode(root), env=env)
    if not ended.is_success:
        said = ended.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
        reason = f": {said[-1][:300].rstrip('.')}" if said and ended.stopped is None else ""
        raise EvaluationError(
            f"The structural oracle {ended.describe()}{reason}.",
            code="oracle.failed",
            hint=f"Run it by hand in the repository's root: {' '.join(tool.command)}",
        )
    return OracleRun(
        tool=tool,
        started_at=rfc3339(ended.started_ms),
        duration_ms=ended.duration_ms,
        stdout=ended.stdout,
        stderr=ended.stderr,
    )


def trusted_path(path: str, root: bytes) -> str:
    """`path` without relative folders and without those in the repository at `root`."""
    folders = [folder for folder in path.split(os.pathsep) if os.path.isabs(folder)]
    return os.pathsep.join(folder for folder in folders if not _is_below(os.fsencode(os.path.realpath(folder)), root))


def _is_below(path: bytes, root: bytes) -> bool:
    return path == root or path.startswith(root.rstrip(b"/") + b"/")
