"""Findings: what an adapter noticed about a run that a reader of its numbers must know."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["info", "warning"]

EVIDENCE_CHARACTERS = 400
"""Evidence is a quotation, not a transcript: longer texts are cut and end in an ellipsis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing noticed. `category` is a stable kebab-case name; `evidence` a short quotation, or None."""

    category: str
    severity: Severity
    message: str
    evidence: str | None = None

    def to_json(self) -> dict[str, str]:
        """The contract's form; absent evidence is omitted."""
        members = {"category": self.category, "severity": self.severity, "message": self.message}
        if self.evidence:
            members["evidence"] = self.evidence
        return members


def info(category: str, message: str, evidence: str | None = None) -> Finding:
    """A finding that explains a number without casting doubt on it."""
    return Finding(category=category, severity="info", message=writable(message), evidence=_quoted(evidence))


def warning(category: str, message: str, evidence: str | None = None) -> Finding:
    """A finding that casts doubt on a number or on the run."""
    return Finding(category=category, severity="warning", message=writable(message), evidence=_quoted(evidence))


def grouped(texts: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Equal texts once, in order of first appearance, with their counts."""
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    return tuple(counts.items())


def writable(text: str) -> str:
    """`text` with lone surrogates replaced, so that it can be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def one_line(text: str) -> str:
    """`text` on one line, writable, with every run of white space made one blank."""
    return writable(" ".join(text.split()))


def _quoted(text: str | None) -> str | None:
    if not text or not text.strip():
        return None
    text = writable(text.strip())
    return text if len(text) <= EVIDENCE_CHARACTERS else text[: EVIDENCE_CHARACTERS - 1] + "…"
