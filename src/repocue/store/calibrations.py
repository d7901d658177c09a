"""Imported pairs of agent runs: numbers and digests, bound to the epoch and snapshot whose state they were made on.

No answer, command, path or narrative is stored, here as everywhere in the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from repocue.domain.ids import epoch_id, snapshot_id
from repocue.domain.measurement import Source
from repocue.store import codec

if TYPE_CHECKING:
    from repocue.store.database import Database

Amount = tuple[int | float | None, Source]
"""A value as its report declares it, None where it was not observed, and where it comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What pairs must have in common to be looked at together. None is a value of its own: it was not declared."""

    report_version: int
    adapter: str
    adapter_version: str
    cli_version: str | None
    model: str
    reasoning_effort: str
    service_tier: str | None
    sandbox: str
    benchmark_version: str
    benchmark_text_sha256: str | None
    max_tokens: int
    assisted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRun:
    """One of the two compared runs. `zeros` are token metrics of version 3 that may stand for an omitted counter."""

    values: dict[str, Amount]
    zeros: tuple[str, ...]
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The score of one condition's answer, field by field; None where a field could not be scored."""

    condition: str
    report_sha256: str
    response_sha256: str
    is_contaminated: bool
    correct: dict[str, bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """What the assisted run was supplied. `duration_ms` is the shipped command's, None where none was observed."""

    contract: str | None
    size_bytes: int
    estimated_tokens: int
    duration_ms: int | float | None
    stdout_sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The state that the set was made on, and its place in the evaluated cache, which was a temporary one."""

    branch: str | None
    head: str | None
    is_dirty: bool
    state_fingerprint: str
    maintenance_id: str
    evaluated_snapshot: str
    manifest_sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A direct and an assisted run of one published set, and the scores of all five answers of that set."""

    set_digest: str
    run_index: int
    identity: Identity
    direct: PairedRun
    assisted: PairedRun
    cue: Cue
    evidence: Evidence
    answers: tuple[Answer, ...]

    def is_contaminated(self, condition: str) -> bool:
        """Whether this condition's run had more than its condition supplies."""
        return any(answer.is_contaminated for answer in self.answers if answer.condition == condition)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """One assessor's scores of one condition's answer in one set. `assessed_at` is None where it is not known."""

    set_digest: str
    condition: str
    assessor: str
    assessed_at: str | None
    response_sha256: str
    assessment_sha256: str
    scores: dict[str, int]


class Calibration(NamedTuple):
    """A stored pair, with its number and what it is bound to."""

    number: int
    epoch: str
    snapshot: str
    imported_at_ms: int
    pair: Pair


def add(database: Database, pair: Pair, *, epoch: int, snapshot: int, imported_at_ms: int) -> tuple[int, bool]:
    """Store a pair inside the caller's transaction; returns its number, and whether it is new.

    A set's pair that is stored for this epoch already is left as it is, and then nothing at all is written.
    """
    row = database.one(
        "SELECT number FROM calibrations WHERE set_digest = ? AND assisted = ? AND epoch = ?",
        (pair.set_digest, pair.identity.assisted, epoch),
    )
    if row is not None:
        return int(row[0]), False
    data, digest = codec.pack(pair)
    row = database.one(
        "INSERT INTO calibrations (set_digest, assisted, epoch, snapshot, imported_at_ms, data, digest)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number",
        (pair.set_digest, pair.identity.assisted, epoch, snapshot, imported_at_ms, data, digest),
    )
    assert row is not None
    return int(row[0]), True


def calibrations(database: Database) -> list[Calibration]:
    """Every stored pair, in the order of import. Raises CacheDamaged where one is not what was stored."""
    answer = database.all(
        "SELECT number, epoch, snapshot, imported_at_ms, data, digest FROM calibrations ORDER BY number"
    )
    return [_calibration(row, database.path) for row in answer]


def calibration(database: Database, number: int) -> Calibration | None:
    """The pair with this number, or None."""
    row = database.one(
        "SELECT number, epoch, snapshot, imported_at_ms, data, digest FROM calibrations WHERE number = ?", (number,)
    )
    return None if row is None else _calibration(row, database.path)


def remove(database: Database, number: int) -> None:
    """Remove a pair inside the caller's transaction, and the opinions of its set with the set's last pair."""
    row = database.one("DELETE FROM calibrations WHERE number = ? RETURNING set_digest", (number,))
    if row is not None and database.one("SELECT 1 FROM calibrations WHERE set_digest = ?", row) is None:
        database.run("DELETE FROM calibration_assessments WHERE set_digest = ?", row)


def add_opinion(database: Database, opinion: Opinion) -> Opinion | None:
    """Store an opinion inside the caller's transaction; returns the one that was there already instead, if any."""
    row = database.one(
        "SELECT data, digest FROM calibration_assessments WHERE set_digest = ? AND condition = ? AND assessor = ?",
        (opinion.set_digest, opinion.condition, opinion.assessor),
    )
    if row is not None:
        return codec.unpack(row[0], row[1], Opinion, database.path)
    data, digest = codec.pack(opinion)
    database.run(
        "INSERT INTO calibration_assessments (set_digest, condition, assessor, data, digest) VALUES (?, ?, ?, ?, ?)",
        (opinion.set_digest, opinion.condition, opinion.assessor, data, digest),
    )
    return None


def opinions(database: Database) -> Iterator[Opinion]:
    """Every stored opinion, by set, condition and assessor."""
    sql = "SELECT data, digest FROM calibration_assessments ORDER BY set_digest, condition, assessor"
    for data, digest in database.each(sql):
        yield codec.unpack(data, digest, Opinion, database.path)


def _calibration(row: tuple[int, int, int, int, bytes, str], path: str) -> Calibration:
    number, epoch, snapshot, imported_at_ms, data, digest = row
    return Calibration(
        number=number,
        epoch=epoch_id(epoch),
        snapshot=snapshot_id(snapshot),
        imported_at_ms=imported_at_ms,
        pair=codec.unpack(data, digest, Pair, path),
    )
