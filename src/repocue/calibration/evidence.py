"""Whether a set's evidence holds on this checkout and against its maintained snapshot.

Contents are compared, by digests recomputed here, never ids: the evaluated cache was a temporary one, and its snapshot
ids say nothing about this one's. A version's digests are read by that version's definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from repocue.domain.paths import display
from repocue.errors import CalibrationError, RepositoryMoved
from repocue.git import evidence, evidence3
from repocue.maintenance.verdict import is_same_state

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from repocue.git.evidence import Capture
    from repocue.git.evidence3 import Evidence3
    from repocue.git.worktree import Worktree
    from repocue.scoring.report_set import ReportSet
    from repocue.store.snapshots import Current


class Counts(NamedTuple):
    """What the maintained snapshot counts."""

    tracked_files: int
    tracked_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """The evidence of this checkout, taken once for all sets. `legacy` is None where no set needs it."""

    root: str
    capture: Capture
    legacy: Evidence3 | None
    counts: Counts


def observe(
    worktree: Worktree, environ: Mapping[str, str], current: Current, counts: Counts, *, legacy: bool
) -> Checkout:
    """The checkout's evidence. Raises CalibrationError where the maintained snapshot is not of this state.

    Raises RepositoryMoved where the checkout changed meanwhile, and what git's room raises.
    """
    before = evidence.capture(worktree, environ)
    if not is_same_state(current, before.observation):
        raise CalibrationError(
            f"the maintained snapshot {current.header.snapshot} is not the state that the repository is in now",
            code="calibration.stale-cache",
            hint="Run 'repocue refresh', then import again; a set of another state is refused even then.",
        )
    old = None
    if legacy:
        old = evidence3.read(worktree, environ)
        after = evidence.capture(worktree, environ, earlier=before)
        if after.state_fingerprint != before.state_fingerprint:
            raise RepositoryMoved(
                f"{display(worktree.root)} changed while evidence was compared with it",
                hint="Try again when no other command is changing it.",
            )
    return Checkout(root=display(worktree.root), capture=before, legacy=old, counts=counts)


class _Claim(NamedTuple):
    """A member of a report's repository, what it must be here, and what it means to a person."""

    member: str
    here: Any
    meaning: str


def check(found: ReportSet, checkout: Checkout) -> None:
    """Raise CalibrationError where a set was made on another repository, or on another state of this one."""
    stated = found.repository
    if stated["resolved_root"] != checkout.root:
        raise CalibrationError(
            f"{found.name} is about another repository: {stated['resolved_root']}, not {checkout.root}",
            code="calibration.other-repository",
            hint="Name the repository that was evaluated with -C.",
        )
    for claim in _claims(found, checkout):
        if stated[claim.member] != claim.here:
            raise CalibrationError(
                f"{found.name} was made on another state: {claim.meaning} differs"
                f" ({claim.member} is {_shown(stated[claim.member])} there and {_shown(claim.here)} here)",
                code="calibration.evidence-differs",
                hint="Check out the evaluated state, refresh, and import again.",
            )


def _claims(found: ReportSet, checkout: Checkout) -> Iterator[_Claim]:
    if found.version == 3:
        assert checkout.legacy is not None
        yield from _claims_3(checkout.legacy)
    else:
        yield from _claims_4(checkout.capture)
    yield _Claim("tracked_files", checkout.counts.tracked_files, "the number of tracked files")
    yield _Claim("tracked_bytes", checkout.counts.tracked_bytes, "the size of the tracked files")
    if found.version != 3:
        yield _Claim("state_fingerprint", checkout.capture.state_fingerprint, "the fingerprint of the whole state")


def _claims_3(here: Evidence3) -> Iterator[_Claim]:
    """Version 3's, except its repository digest: that tool's own serialisation cannot be recomputed."""
    yield _Claim("branch", here.branch, "the branch")
    yield _Claim("head", here.head, "HEAD")
    yield _Claim("dirty", here.is_dirty, "whether there are changes")
    yield _Claim("repocue_status_digest", here.repocue_status_digest, "the status")
    yield _Claim("working_tree_digest", here.working_tree_digest, "the list of changed and untracked paths")
    yield _Claim("porcelain_status_digest", here.porcelain_status_digest, "git's own status")
    yield _Claim("binary_diff_digest", here.binary_diff_digest, "the content of the changes")


def _claims_4(here: Capture) -> Iterator[_Claim]:
    now = here.observation
    yield _Claim("branch", now.branch, "the branch")
    yield _Claim("head", now.head, "HEAD")
    yield _Claim("dirty", now.is_dirty, "whether there are changes")
    yield _Claim("status_digest", now.status_digest, "the status")
    yield _Claim("repository_digest", now.repository_digest, "the content of tracked files")
    yield _Claim("untracked_content_digest", here.untracked_content_digest, "the content of untracked files")


def _shown(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
