"""The structural cue: `repocue/cue-2`, kind `structural-oracle`: ranked facts, and what an oracle found in the sources.

An oracle is an external program that prints one candidate a line (`parse`), the best first. Candidates are admitted in
its order only while they fit together with the header, the entry points and all directories of depth one. Whatever
room is left is then filled as in the ranked cue, whose order of removal holds: depth-two directories, documents,
Makefile targets, recent commits, depth-one directories, entry points; candidates that were admitted leave last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from repocue.cue.fitting import Cut, Fitted, Slot, fit
from repocue.cue.ranked import Selection, select
from repocue.cue.subject import cue_2
from repocue.domain.paths import display
from repocue.domain.state import Warning
from repocue.errors import BudgetTooSmall

if TYPE_CHECKING:
    from repocue.cue.subject import Subject
    from repocue.domain.facts import RankedFacts
    from repocue.domain.state import Summary

KIND: Final = "structural-oracle"
MAX_CANDIDATES: Final = 20_000
MAX_RECORD_BYTES: Final = 4096

OMITTED: Final = "candidates-omitted"
INCOMPLETE: Final = "structure-incomplete"

MALFORMED: Final = "record-malformed"
NOT_UNDERSTOOD: Final = "message-not-understood"
BEYOND_BOUND: Final = "candidate-beyond-bound"
OTHER_LANGUAGES: Final = "file-not-examined"
"""The one limitation that says nothing about the files an oracle does read."""

_FIELDS: Final = 5


class Candidate(NamedTuple):
    """One definition or relationship. `module` is a path's text; `signature` is "" where there is none."""

    language: str
    module: str
    kind: str
    name: str
    signature: str


class Structure(NamedTuple):
    """What an oracle said: candidates, each once, in its order, and what it or the reader left out, by code."""

    candidates: tuple[Candidate, ...]
    limitations: tuple[tuple[str, int], ...]

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """That the structure has gaps, and how many records or files are missing, if any."""
        count = sum(count for code, count in self.limitations if code != OTHER_LANGUAGES)
        return (Warning(INCOMPLETE, count),) if count else ()


def parse(stdout: bytes, stderr: bytes = b"") -> Structure:
    """Read an oracle's output strictly.

    A record is `language TAB module TAB kind TAB name TAB signature` in UTF-8, without control characters, at most
    4 KiB; the first four are not empty. The module may be any path's bytes. A record of another shape is left out and
    counted. On standard error `limitation TAB code TAB count` says what the oracle itself left out; other lines are
    counted too. Nothing an oracle prints raises an error.
    """
    limitations: dict[str, int] = {}
    candidates: dict[Candidate, None] = {}
    for line in _lines(stdout):
        candidate = _candidate(line)
        if candidate is None:
            _count(limitations, MALFORMED)
        elif candidate not in candidates:
            if len(candidates) < MAX_CANDIDATES:
                candidates[candidate] = None
            else:
                _count(limitations, BEYOND_BOUND)
    for line in _lines(stderr):
        limitation = _limitation(line)
        _count(limitations, *(limitation or (NOT_UNDERSTOOD,)))
    return Structure(tuple(candidates), tuple(sorted(limitations.items())))


def build(subject: Subject, summary: Summary, facts: RankedFacts, structure: Structure, *, max_tokens: int) -> Fitted:
    """The structural cue of a snapshot, of facts and structure read from the same state; raises BudgetTooSmall."""
    selection = select(summary, facts)
    warnings = (*subject.warnings, *facts.warnings, *structure.warnings)
    total = len(structure.candidates)
    count = _admitted(subject, selection, structure, warnings, max_tokens)
    content = dict(selection.content)
    cuts = selection.cuts
    if total and not count:  # an absent list says that nothing of it fitted
        warnings = (*warnings, Warning(OMITTED, total))
    else:
        content["structure"] = slot = _slot(structure.candidates[:count])
        cuts = (*cuts, Cut(slot=slot, count=count, code=OMITTED, beyond=total - count))
    return fit(cue_2(subject, KIND, content), cuts=cuts, max_tokens=max_tokens, warnings=warnings)


def _admitted(
    subject: Subject, selection: Selection, structure: Structure, warnings: tuple[Warning, ...], max_tokens: int
) -> int:
    """How many candidates fit beside the header, the entry points and the depth-one directories alone."""
    gone = {cut.slot: cut for cut in selection.before_directories}
    depth_one = selection.depth_one
    content: dict[str, Any] = {}
    for name, value in selection.content.items():
        if value is depth_one.slot:
            content[name] = Slot(items=value.items[: depth_one.count])
        elif value not in gone or not value.items:
            content[name] = value
    omitted = [Warning(cut.code, cut.count + cut.beyond) for cut in selection.before_directories]
    omitted.append(Warning(selection.entry_points.code, selection.entry_points.beyond))
    slot = _slot(structure.candidates)
    content["structure"] = slot
    try:
        fitted = fit(
            cue_2(subject, KIND, content),
            cuts=(Cut(slot=slot, count=len(structure.candidates), code=OMITTED),),
            max_tokens=max_tokens,
            warnings=(*warnings, *(warning for warning in omitted if warning.count)),
        )
    except BudgetTooSmall:
        return 0
    return fitted.kept[slot]


def _slot(candidates: tuple[Candidate, ...]) -> Slot:
    return Slot(items=candidates, project=_projected)


def _projected(candidate: Candidate) -> dict[str, str]:
    members = candidate._asdict()
    if not candidate.signature:
        del members["signature"]
    return members


def _lines(data: bytes) -> list[bytes]:
    """The lines of `data`; the last one may lack its line feed."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _candidate(line: bytes) -> Candidate | None:
    fields = line.split(b"\t")
    if len(fields) != _FIELDS or len(line) > MAX_RECORD_BYTES or not all(fields[:-1]):
        return None
    if any(byte < 32 or byte == 127 for byte in line.replace(b"\t", b"")):
        return None
    language, module, kind, name, signature = fields
    try:
        return Candidate(language.decode(), display(module), kind.decode(), name.decode(), signature.decode())
    except UnicodeDecodeError:
        return None


def _limitation(line: bytes) -> tuple[str, int] | None:
    """`(code, count)` of a limitation's line; None of any other."""
    fields = line.split(b"\t")
    if len(fields) != 3 or fields[0] != b"limitation":
        return None
    code, count = fields[1], fields[2]
    is_code = 0 < len(code) <= 64 and code.replace(b"-", b"").isalnum() and code.islower()
    is_count = count.isdigit() and len(count) <= 15 and not count.startswith(b"0")
    return (code.decode("ascii"), int(count)) if is_code and is_count else None


def _count(limitations: dict[str, int], code: str, count: int = 1) -> None:
    limitations[code] = limitations.get(code, 0) + count
