"""Importing published report sets: all of one call in one transaction, or none of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from repocue.calibration import assessments, evidence, sets
from repocue.domain.ids import calibration_id, epoch_id
from repocue.errors import CalibrationError
from repocue.maintenance import summary
from repocue.scoring import report_folders
from repocue.scoring.basis import Basis
from repocue.store import calibrations, snapshots
from repocue.store.calibrations import Calibration
from repocue.store.database import exists, not_initialized, open_state
from repocue.store.lock import writer_lock

if TYPE_CHECKING:
    from repocue.domain.state import SnapshotHeader
    from repocue.maintenance.request import Request
    from repocue.scoring.assessment import Rejected, Source
    from repocue.scoring.report_folders import Stored
    from repocue.store.calibrations import Opinion, Pair
    from repocue.store.database import Database
    from repocue.store.snapshots import Current

BASIC: Final = "basic"

Outcome = Literal["imported", "already-imported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Paths as they were given: sets or parents of sets, and assessments or folders of them."""

    report_sets: Sequence[str]
    assisted: str = BASIC
    assessment_files: Sequence[str] = ()


class ImportedSet(NamedTuple):
    """One set of the call: where it was read, under which number it is stored, and whether it was there already."""

    folder: str
    outcome: Outcome
    stored: Calibration


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """What one call imported. `opinions_added` and `opinions_known` count assessments of these sets' answers."""

    header: SnapshotHeader
    assisted: str
    sets: tuple[ImportedSet, ...]
    unknown: tuple[str, ...]
    opinions_added: int
    opinions_known: int
    rejected: tuple[Rejected, ...]


def import_sets(request: Request, inputs: Inputs) -> ImportResult:
    """Import the pairs of all sets in `inputs`, bound to the current epoch and snapshot.

    A set that is stored for this epoch already is left as it is. Raises EvidenceError, ContractError, EvaluationError
    or CalibrationError where a set or an assessment cannot be used, CacheError or RepositoryError where the maintained
    state cannot; then nothing was imported.
    """
    if inputs.assisted not in sets.ASSISTED:
        raise CalibrationError(f"{inputs.assisted!r} is no assisted condition", code="calibration.condition")
    if not exists(request.state_path):
        raise not_initialized()
    stored, unknown = _read(request, inputs)
    opinions = assessments.read(inputs.assessment_files)
    with (
        writer_lock(request.lock_path, wait_s=request.lock_wait_s),
        open_state(request.state_path, mode="write", wait_s=request.lock_wait_s) as database,
    ):
        current = snapshots.current(database)
        tally = summary.summary_of(snapshots.kept(database, summary.KEPT_AS, summary.Tally))
        checkout = evidence.observe(
            request.worktree,
            request.environ,
            current,
            evidence.Counts(tally.tracked_files, tally.size_bytes),
            legacy=any(one.set.version == 3 for one in stored),
        )
        basis = Basis.of_observation(checkout.capture.observation)
        pairs = []
        for one in stored:
            evidence.check(one.set, checkout)
            pairs.append(sets.pair_of(one.set, inputs.assisted, basis))
        return _store(request, database, current, inputs.assisted, stored, unknown, pairs, opinions)


def _read(request: Request, inputs: Inputs) -> tuple[list[Stored], tuple[str, ...]]:
    found = report_folders.find(inputs.report_sets)
    stored = []
    for place, folder in enumerate(found.sets):
        if request.progress is not None:
            request.progress("Reading report sets", place, len(found.sets))
        one = report_folders.load(folder)
        sets.check_applicable(one.set)
        stored.append(one)
    return stored, found.unknown


def _store(
    request: Request,
    database: Database,
    current: Current,
    assisted: str,
    stored: Sequence[Stored],
    unknown: tuple[str, ...],
    pairs: Sequence[Pair],
    sources: Sequence[Source],
) -> ImportResult:
    bound = assessments.bind([one.set for one in stored], sources)
    epoch, snapshot = current.snapshot.epoch_number, current.snapshot.number
    imported = []
    with database.writing(durable=True):
        known = {_runs(old.pair): old for old in calibrations.calibrations(database) if old.epoch == epoch_id(epoch)}
        for one, pair in zip(stored, pairs, strict=True):
            _check_other_runs(one.folder, pair, known.get(_runs(pair)))
            number, is_new = calibrations.add(
                database, pair, epoch=epoch, snapshot=snapshot, imported_at_ms=request.now_ms()
            )
            there = calibrations.calibration(database, number)
            assert there is not None  # just stored, or found in its place
            known[_runs(pair)] = there
            imported.append(ImportedSet(one.folder, "imported" if is_new else "already-imported", there))
        added = sum(_add_opinion(database, opinion) for opinion in bound.opinions)
    return ImportResult(
        header=current.header,
        assisted=assisted,
        sets=tuple(imported),
        unknown=unknown,
        opinions_added=added,
        opinions_known=len(bound.opinions) - added,
        rejected=bound.rejected,
    )


def _runs(pair: Pair) -> tuple[Hashable, ...]:
    """What two sets have in common only where they hold the same runs: every figure, and every answer's digest."""
    return (
        pair.identity,
        pair.run_index,
        *((run.position, *run.values.items()) for run in (pair.direct, pair.assisted)),
        pair.cue,
        pair.evidence.maintenance_id,
        *((answer.condition, answer.response_sha256) for answer in pair.answers),
    )


def _check_other_runs(folder: str, pair: Pair, known: Calibration | None) -> None:
    """Runs count once, though their reports may have been spelled anew: white space makes another digest."""
    if known is not None and known.pair.set_digest != pair.set_digest:
        raise CalibrationError(
            f"{folder} holds the same runs as {calibration_id(known.number)}, in reports of other bytes",
            code="calibration.same-runs",
            hint="Name only one of the two; a set's original counts, and a run counts once.",
        )


def _add_opinion(database: Database, opinion: Opinion) -> bool:
    """Whether the opinion was new. Raises CalibrationError where the assessor said otherwise before."""
    there = calibrations.add_opinion(database, opinion)
    if there is not None and (there.scores, there.assessed_at) != (opinion.scores, opinion.assessed_at):
        when = there.assessed_at or "an unknown date"
        raise CalibrationError(
            f"{opinion.assessor} assessed the answer of condition {opinion.condition} otherwise before ({when})",
            code="calibration.assessor-contradicts",
            hint="Remove the calibrations of that set first, if the earlier assessment was a mistake.",
        )
    return there is None
