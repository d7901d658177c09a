"""One agent's answer and the identity by which assessments are bound to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from repocue.contracts.canonical import digest_of

_GIT: Final = ("branch", "head", "dirty", "tracked_changes", "untracked")
_LISTS: Final = {
    "primary_entry_points": ("path", "responsibility"),
    "major_components": ("name", "responsibilities", "paths"),
    "important_documentation": ("path", "purpose"),
    "project_symbols": ("name", "signature", "owner", "relevance"),
}
_MEMBERS: Final = (
    "schema_version",
    "project_purpose",
    "git",
    "primary_entry_points",
    "major_components",
    "important_documentation",
    "recent_relevant_changes",
    "project_symbols",
    "uncertainties",
)


def canonical_answer(answer: Mapping[str, Any]) -> dict[str, Any]:
    """A `repocue/benchmark-answer-2` with its members in the contract's order, its lists as the agent ordered them."""
    ordered: dict[str, Any] = {}
    for name in _MEMBERS:
        value = answer[name]
        if name == "git":
            value = {member: value[member] for member in _GIT}
        elif name in _LISTS:
            value = [{member: item[member] for member in _LISTS[name]} for item in value]
        ordered[name] = value
    return ordered


def response_digest(answer: Mapping[str, Any]) -> str:
    """The `response_id` of an assessment: the digest of the answer's compact canonical text, without a final LF.

    Two answers have the same digest exactly when they say the same in the same order; spelling of the JSON and
    order of its members make no difference.
    """
    return digest_of(canonical_answer(answer))


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One condition report's answer. `repository_head` is None while there is no commit yet.

    `source` says for people where it lies, for example `<set folder>/<file>`; it is no part of the identity.
    """

    source: str
    repository: str
    condition: str
    run_index: int
    repository_head: str | None
    state_fingerprint: str
    answer: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """See `response_digest`."""
        return response_digest(self.answer)

    @classmethod
    def of_report(cls, report: Mapping[str, Any], *, source: str) -> Response | None:
        """The response in a condition report of version 3 or 4; None in one that has no runner observation."""
        runner = report.get("runner")
        if runner is None:
            return None
        repository = report["repository"]
        return cls(
            source=source,
            repository=repository["name"],
            condition=report["condition"],
            run_index=report["run_index"],
            repository_head=repository["head"] or None,
            state_fingerprint=repository["state_fingerprint"],
            answer=runner["final_response"],
        )
