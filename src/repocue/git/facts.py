"""Live facts for the ranked cue, from a state proven equal to a snapshot before and after reading.

The work tree is observed, read, and observed again; where either observation differs from the snapshot nothing is
returned. Manifests and the Makefile are read from the work tree's root, never through a symbolic link, and within
bounds; commits are read by HEAD's id. Nothing is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from repocue.domain import entry_points, makefile
from repocue.domain.facts import RankedFacts
from repocue.domain.paths import display, raw
from repocue.domain.state import Warning
from repocue.errors import RepositoryMoved
from repocue.git.folder import Folder
from repocue.git.process import Git
from repocue.git.scan import observe

if TYPE_CHECKING:
    from repocue.domain.state import Known, Observation, SnapshotHeader
    from repocue.git.worktree import Worktree

MAX_ENTRY_POINTS: Final = 12
MAX_MAKE_TARGETS: Final = 40
MAX_SUBJECTS: Final = 5
MAX_SUBJECT_BYTES: Final = 200
MAX_MAKEFILE_BYTES: Final = 256 * 1024
MAX_SUBJECTS_OUTPUT_BYTES: Final = 16 << 20
_MARK: Final = b"\x01"
_GITLINK: Final = b"160000"


def read_facts(
    worktree: Worktree,
    environ: Mapping[str, str],
    *,
    header: SnapshotHeader,
    known: Known | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
    git: Git | None = None,
) -> tuple[RankedFacts, Observation]:
    """The facts of the state that `header` describes, and the observation made after reading them.

    `known` is what that snapshot left behind. Raises RepositoryMoved where the repository is not, or does not stay,
    in the snapshot's state, and GitFailed and RepositoryError as `observe` does.
    """
    git = git or Git.of(worktree, environ)
    before = observe(worktree, environ, known=known, progress=progress, git=git)
    _require(before, header, known, "is no longer")
    facts = _read(worktree, git, before)
    after = observe(worktree, environ, known=known, progress=progress, git=git)
    _require(after, header, known, "did not stay")
    return facts, after


def _require(observation: Observation, header: SnapshotHeader, known: Known | None, how: str) -> None:
    same = (
        observation.status_digest == header.status_digest
        and observation.repository_digest == header.repository_digest
        and (known is None or observation.dirty == known.dirty)
    )
    if not same:
        raise RepositoryMoved(
            f"The repository {how} in the state of {header.snapshot}, so live facts of that state cannot be read.",
            hint="Refresh first: repocue refresh, or --refresh.",
        )


def _read(worktree: Worktree, git: Git, observation: Observation) -> RankedFacts:
    warnings: list[Warning] = []
    names, subjects = _ask(git, observation.head, warnings)
    missing = {file.path for file in observation.dirty if file.mode is None}
    paths = [path for path in names if path not in missing]
    with Folder(worktree.root) as root:
        unread: list[str] = []
        manifests = {
            name: data
            for name in entry_points.MANIFESTS
            if name in paths and (data := _bounded(root, name, entry_points.MAX_MANIFEST_BYTES, unread)) is not None
        }
        rules = next((name for name in makefile.NAMES if name in paths), None)
        stated = None if rules is None else _bounded(root, rules, MAX_MAKEFILE_BYTES, unread)
    declared, broken = entry_points.declared(manifests)
    targets = [] if stated is None else makefile.targets(stated)
    if unread or broken:
        warnings.append(Warning("files-not-read", len(unread) + len(broken)))
    ends = {entry.partition("=")[2] or entry for entry in declared}
    points = declared + [path for path in entry_points.conventional(paths) if path not in ends]
    shown = [point for point in points if entry_points.is_showable(point)]
    return RankedFacts(
        entry_points=tuple(shown[:MAX_ENTRY_POINTS]),
        entry_points_total=len(points),
        make_targets=tuple(targets[:MAX_MAKE_TARGETS]),
        make_targets_total=len(targets),
        recent_commits=subjects,
        warnings=tuple(warnings),
    )


def _ask(git: Git, head: str | None, warnings: list[Warning]) -> tuple[list[str], tuple[str, ...]]:
    """Tracked paths among which entry points and rules may be, in git order, and the newest commits' subjects."""
    listing = git.start(
        "ls-files",
        "-s",
        "-z",
        "--",
        *entry_points.PATHSPECS,
        *makefile.NAMES,
        env={"GIT_LITERAL_PATHSPECS": "0"},  # our own patterns, not anybody's path
    )
    children = [listing]
    said = bytearray()

    def take(data: bytes) -> None:
        if len(said) <= MAX_SUBJECTS_OUTPUT_BYTES:
            said.extend(data)

    try:
        if head is not None:
            children.append(
                git.start(
                    "rev-list",
                    f"--max-count={MAX_SUBJECTS}",
                    "--encoding=UTF-8",
                    "--format=tformat:%x01%s",  # the mark, because an empty subject would print no line
                    head,
                    "--",
                    ok=(0, 128),  # 128: commits that are not here
                    sink=take,
                )
            )
    except BaseException:
        listing.end()
        raise
    git.finish(*children)
    if len(said) > MAX_SUBJECTS_OUTPUT_BYTES or any(child.process.returncode for child in children):
        warnings.append(Warning("recent-commits-not-read"))
    subjects = _subjects(bytes(said[:MAX_SUBJECTS_OUTPUT_BYTES]), warnings)
    records = [record.partition(b"\t") for record in listing.output().split(b"\0")[:-1]]
    return list(dict.fromkeys(display(path) for entry, _, path in records if not entry.startswith(_GITLINK))), subjects


def _subjects(output: bytes, warnings: list[Warning]) -> tuple[str, ...]:
    """The subjects in rev-list's answer, the long ones cut at a character and marked with an ellipsis."""
    lines = [line[1:] for line in output.split(b"\n") if line.startswith(_MARK)]
    shown = [_shortened(line.decode("utf-8", "replace")) for line in lines]
    if shortened := sum(cut for _, cut in shown):
        warnings.append(Warning("recent-commits-shortened", shortened))
    return tuple(text for text, _ in shown)


def _shortened(text: str) -> tuple[str, bool]:
    encoded = text.encode()
    if len(encoded) <= MAX_SUBJECT_BYTES:
        return text, False
    return encoded[: MAX_SUBJECT_BYTES - len("…".encode())].decode("utf-8", "ignore") + "…", True


def _bounded(root: Folder, name: str, limit_bytes: int, unread: list[str]) -> bytes | None:
    """A regular file's bytes; None, and its name among `unread`, where it cannot be read or is longer."""
    try:
        data = root.read(raw(name), limit_bytes + 1)
    except OSError:
        unread.append(name)
        return None
    if len(data) > limit_bytes:
        unread.append(name)
        return None
    return data
