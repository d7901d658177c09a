"""What `git status` says, as values. The format is porcelain version 2 with `-z` (git-status(1))."""

from __future__ import annotations

COMMAND = (
    "status",
    "--porcelain=v2",
    "--branch",
    "-z",
    "--untracked-files=all",
    "--no-renames",
    "--ignore-submodules=none",
    "--no-ahead-behind",
)


class Changed:
    """A tracked path that differs from HEAD, from the index or from both.

    `submodule` is git's four letters (`N...`, `SCMU`); `stages` are ((mode, id, stage), …) of the index, empty for a
    staged deletion and an intent to add; `worktree_mode` is 000000 where the path is missing.
    """

    __slots__ = ("path", "stages", "submodule", "worktree_mode", "xy")

    def __init__(
        self, path: bytes, xy: str, submodule: str, stages: tuple[tuple[str, str, int], ...], worktree_mode: str
    ) -> None:
        self.path = path
        self.xy = xy
        self.submodule = submodule
        self.stages = stages
        self.worktree_mode = worktree_mode

    @property
    def is_unmerged(self) -> bool:
        """Whether the index holds several stages of it."""
        return bool(self.stages) and self.stages[0][2] != 0


class Status:
    """One answer of `COMMAND`. `branch` is git's own word for it, `(detached)` for none; `head` None when unborn.

    `changed` is in git order; `untracked` too, a nested repository's path ending in a slash.
    """

    __slots__ = ("branch", "changed", "head", "untracked")

    def __init__(self, branch: bytes | None, head: str | None, changed: list[Changed], untracked: list[bytes]) -> None:
        self.branch = branch
        self.head = head
        self.changed = changed
        self.untracked = untracked


def parse(output: bytes) -> Status:
    """Read `COMMAND`'s answer. Raises ValueError where it is not what git documents."""
    branch: bytes | None = None
    head: str | None = None
    changed: list[Changed] = []
    untracked: list[bytes] = []
    seen_unmerged = False
    for record in output.split(b"\0")[:-1]:
        kind = record[:2]
        if kind == b"? ":
            untracked.append(record[2:])
        elif kind == b"1 ":
            changed.append(_ordinary(record))
        elif kind == b"u ":
            changed.append(_unmerged(record))
            seen_unmerged = True
        elif record.startswith(b"# branch.oid "):
            oid = record[13:]
            head = None if oid == b"(initial)" else oid.decode()
        elif record.startswith(b"# branch.head "):
            branch = record[14:]
        elif not record.startswith(b"# "):
            raise ValueError(f"unknown record {record[:40]!r}")
    if seen_unmerged:  # git lists these after the others
        changed.sort(key=lambda entry: entry.path)
    return Status(branch, head, changed, untracked)


def _ordinary(record: bytes) -> Changed:
    _, xy, submodule, _, mode, worktree_mode, _, oid, path = record.split(b" ", 8)
    state = xy.decode()
    stages = () if mode == b"000000" else ((mode.decode(), oid.decode(), 0),)
    return Changed(path, state, submodule.decode(), stages, worktree_mode.decode())


def _unmerged(record: bytes) -> Changed:
    _, xy, submodule, m1, m2, m3, worktree_mode, h1, h2, h3, path = record.split(b" ", 10)
    stages = tuple(
        (mode.decode(), oid.decode(), stage)
        for stage, (mode, oid) in enumerate(((m1, h1), (m2, h2), (m3, h3)), start=1)
        if mode != b"000000"
    )
    return Changed(path, xy.decode(), submodule.decode(), stages, worktree_mode.decode())
