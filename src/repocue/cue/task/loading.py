"""Reading a declaration and its sources from HEAD's blobs, with the state they are in.

The bytes of a source are those of HEAD's blob, no filter applied, so that a pin means the same on every machine.
Whether the work tree still agrees with HEAD is the observation's word, asked after the bytes were read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from repocue.contracts import canonical
from repocue.cue.task.blocks import Place, Source, cut, split_lines
from repocue.errors import TaskContextError

if TYPE_CHECKING:
    from repocue.contracts.types.task import Item, TaskContext
    from repocue.domain.state import Observation
    from repocue.git.process import Git

CONTRACT: Final = "repocue/task-context-1"
DEFAULT_DECLARATION: Final = ".repocue/task-context.json"
DECLARATION_LIMIT_BYTES: Final = 1 << 20

OK: Final = "ok"
DRIFTED: Final = "drifted"
DIRTY: Final = "dirty"
UNTRACKED: Final = "untracked"
MISSING: Final = "missing"
OUT_OF_RANGE: Final = "out-of-range"
NOT_UTF8: Final = "not-utf-8"

NOT_CHECKED_OUT: Final = ".s"
"""How an observation marks a file that a sparse checkout leaves out: HEAD's, and not in the work tree."""

_REASONS: Final = {
    DIRTY: "differs from HEAD",
    UNTRACKED: "is not tracked",
    MISSING: "is no file of HEAD's tree, or not in this clone",
    OUT_OF_RANGE: "has fewer lines than that",
    NOT_UTF8: "is not valid UTF-8",
    DRIFTED: "does not have the pinned digest",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A declaration's bytes and what they say. `path` is as git shows it."""

    path: str
    data: bytes
    context: TaskContext

    @property
    def sha256(self) -> str:
        """The digest of the declaration's bytes."""
        return canonical.digest(self.data)


@dataclass(slots=True, kw_only=True)
class Files:
    """The lines of HEAD's files by path; paths that are no file there are absent. Extended by `read`."""

    git: Git
    head: str
    lines: dict[str, list[bytes]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def read(self, paths: Iterable[str]) -> None:
        """Read the files at `paths` that were not asked for before, with one git process as a rule."""
        from repocue.git.content import read_head

        wanted = sorted({*paths} - self.asked)
        self.asked.update(wanted)
        for path, found in read_head(self.git, wanted, revision=self.head).items():
            self.lines[path] = split_lines(found.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one source of an item turned out to be.

    `status` is ok or the first reason why it cannot be delivered; `source` is None where it has no bytes at all.
    """

    place: Place
    pin: str
    status: str
    source: Source | None

    @property
    def can_be_pinned(self) -> bool:
        """Whether the source has bytes at HEAD that a pin may name."""
        return self.status in (OK, DRIFTED)


def parse(data: bytes, path: str) -> Declaration:
    """The declaration in `data`; raises ContractError."""
    from repocue.contracts import reader
    from repocue.contracts.types.task import TaskContext

    limits = reader.Limits(max_bytes=DECLARATION_LIMIT_BYTES)
    document = reader.read(data, contract=CONTRACT, limits=limits, subject=path)
    return Declaration(path=path, data=data, context=reader.convert(document, TaskContext, subject=path))


def read_declaration(files: Files, path: str) -> Declaration:
    """The declaration at `path` in HEAD; raises TaskContextError where it is not there, ContractError."""
    files.read([path])
    if path not in files.lines:
        raise TaskContextError(
            f"the declaration {path} is not tracked at HEAD",
            code="task-context.no-declaration",
            hint="Commit it, or name another one with --declaration.",
        )
    return parse(b"".join(files.lines[path]), path)


def committed(head: str | None) -> str:
    """`head`, where there is a commit; raises TaskContextError."""
    if head is None:
        raise TaskContextError(
            "the repository has no commit, and sources are HEAD's",
            code="task-context.unborn",
            hint="Commit the declaration and its sources first.",
        )
    return head


def settled(observation: Observation | None, head: str | None) -> Observation:
    """The observation, where it found HEAD to be still the snapshot's; raises TaskContextError."""
    if observation is None:
        raise TaskContextError(
            "the repository kept changing, so its sources cannot be told to be HEAD's",
            code="task-context.moved",
            hint="Run the command again when it rests.",
        )
    if observation.head != head:
        raise TaskContextError(
            "HEAD is no longer the snapshot's commit, so a task cue would speak of two states",
            code="task-context.stale",
            hint="Run 'repocue refresh', or add --refresh.",
        )
    return observation


def find(files: Files, items: Iterable[Item], observation: Observation) -> dict[tuple[str, str], Found]:
    """Every source of `items`, by (item id, source id); `files` must hold those of the observed HEAD."""
    changed = changed_paths(observation)
    untracked = {entry.path for entry in observation.untracked}
    found: dict[tuple[str, str], Found] = {}
    for item in items:
        for entry in item.sources:
            place = Place.of(entry)
            lines = files.lines.get(entry.path)
            source = None if lines is None else cut(place, lines)
            status = _status(source, lines is not None, entry.sha256, place.path in changed, place.path in untracked)
            found[item.id, place.id] = Found(place=place, pin=entry.sha256, status=status, source=source)
    return found


def changed_paths(observation: Observation) -> set[str]:
    """The tracked paths that do not stand as HEAD has them; what a sparse checkout leaves out is not among them."""
    return {
        *observation.staged,
        *observation.unstaged,
        *observation.unmerged,
        *(entry.path for entry in observation.dirty if entry.xy != NOT_CHECKED_OUT),
    }


def check_deliverable(declaration: Declaration, found: dict[tuple[str, str], Found], observation: Observation) -> None:
    """Raise TaskContextError, naming what is wrong, unless all stand as HEAD has them and as pinned."""
    if declaration.path in changed_paths(observation):
        raise TaskContextError(
            f"the declaration {declaration.path} differs from HEAD",
            code="task-context.dirty",
            hint="Commit it, or restore it with git.",
        )
    bad = {(entry.place.id, entry.status) for entry in found.values() if entry.status != OK}
    if not bad:
        return
    words = [f"{source} {_REASONS[status]}" for source, status in sorted(bad)]
    shown = "; ".join(words[:8]) + (f"; and {len(words) - 8} more" if len(words) > 8 else "")
    states = {status for _, status in bad}
    code = next(state for state in (UNTRACKED, MISSING, OUT_OF_RANGE, DIRTY, NOT_UTF8, DRIFTED) if state in states)
    hint = (
        "'repocue task check' shows every pin; 'repocue task pin' rewrites them once the new contents are reviewed."
        if states == {DRIFTED}
        else "'repocue task check' shows the state of every source."
    )
    raise TaskContextError(f"sources cannot be delivered: {shown}", code=f"task-context.{code}", hint=hint)


def _status(source: Source | None, is_file: bool, pin: str, is_changed: bool, is_untracked: bool) -> str:
    if not is_file:
        return UNTRACKED if is_untracked or is_changed else MISSING
    if is_changed:
        return DIRTY
    if source is None:
        return OUT_OF_RANGE
    try:
        source.data.decode("utf-8")
    except UnicodeDecodeError:
        return NOT_UTF8
    return OK if source.sha256 == pin else DRIFTED
