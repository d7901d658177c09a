"""Every error RepoCue raises on purpose, in one tree.

::

    RepoCueError                 exit 1
    ├── UsageError               exit 2   what was typed cannot be meant
    ├── RepositoryError                   the evaluated repository, or git itself
    │   ├── RepositoryMoved               it kept changing while it was being observed
    │   └── GitFailed                     a git process failed, timed out or is missing
    ├── CacheError                        the local state database
    │   ├── CacheNotInitialized
    │   ├── CacheBusy                     another command holds it past the bounded wait
    │   ├── CacheDamaged
    │   ├── CacheTooNew                   written by a newer version
    │   ├── CacheFull                     no space left
    │   └── SnapshotConflict              the current snapshot is not the expected one
    ├── ContractError                     a JSON document breaks its contract (carries a JSON pointer)
    ├── BudgetTooSmall                    no cue fits; carries the smallest budget that would do
    ├── TaskContextError                  a declaration or its sources cannot be delivered as pinned
    ├── EvidenceError                     retained evidence is missing, altered or contradictory
    ├── EvaluationError                   an evaluation cannot start, or must not be published
    └── CalibrationError                  published evidence cannot be imported for this repository

A message says what is wrong and where; the hint says what to do next. Foreign exceptions are translated
where they are met, and `cli` alone turns an error into text or a `repocue/error-1` document.
"""

from __future__ import annotations


class RepoCueError(Exception):
    """Base of the tree.

    `code` is a stable, dotted, machine-readable name such as ``cache.busy``; `message` is one sentence;
    `hint` says what to do next, or is None where nothing can be advised.
    """

    exit_code = 1
    default_code = "error"

    def __init__(self, message: str, *, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.hint = hint


class UsageError(RepoCueError):
    """The arguments contradict each other or cannot be meant."""

    exit_code = 2
    default_code = "usage"


class RepositoryError(RepoCueError):
    """The path is no usable work tree (missing, bare, dubious ownership, unreadable)."""

    default_code = "repository"


class RepositoryMoved(RepositoryError):
    """The repository changed during every bounded attempt to observe it."""

    default_code = "repository.moved"


class GitFailed(RepositoryError):
    """A git process ended with an error, ran out of time or could not be started."""

    default_code = "git.failed"


class CacheError(RepoCueError):
    """The cache folder or the state database cannot be used."""

    default_code = "cache"


class CacheNotInitialized(CacheError):
    """No state is kept for this repository yet."""

    default_code = "cache.not-initialized"


class CacheBusy(CacheError):
    """Another command held the cache longer than the bounded wait (10 s)."""

    default_code = "cache.busy"


class CacheDamaged(CacheError):
    """The state database does not open, fails its integrity check or contradicts itself."""

    default_code = "cache.damaged"


class CacheTooNew(CacheError):
    """The state database was written by a newer version of RepoCue."""

    default_code = "cache.too-new"


class CacheFull(CacheError):
    """The file system under the cache has no room left; the old state is kept."""

    default_code = "cache.full"


class SnapshotConflict(CacheError):
    """Another command published a snapshot first; nothing was written."""

    default_code = "cache.snapshot-conflict"


class ContractError(RepoCueError):
    """A JSON document breaks its contract.

    `pointer` is the JSON pointer (RFC 6901) of the offending value, "" for the whole document, None where
    the text could not be read as JSON at all. The message already contains it.
    """

    default_code = "contract"

    def __init__(
        self, message: str, *, pointer: str | None = None, code: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.pointer = pointer


class BudgetTooSmall(RepoCueError):
    """Nothing left to remove and the cue still exceeds its budget.

    `needed_tokens` is the smallest budget, in estimated tokens, that would do.
    """

    default_code = "budget.too-small"

    def __init__(self, message: str, *, needed_tokens: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.needed_tokens = needed_tokens


class TaskContextError(RepoCueError):
    """A declaration, its selection or its sources cannot be delivered as pinned. The message names what and why."""

    default_code = "task-context"


class EvidenceError(RepoCueError):
    """Retained evidence is missing, altered or contradicts itself. The message names the file."""

    default_code = "evidence"


class EvaluationError(RepoCueError):
    """An evaluation cannot start, or its result must not be published."""

    default_code = "evaluation"


class CalibrationError(RepoCueError):
    """Published evidence cannot be imported as a calibration of this repository; nothing was imported."""

    default_code = "calibration"
