"""Answers and reports for scoring tests."""

from __future__ import annotations

from typing import Any

HEAD = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
FINGERPRINT = "sha256:" + "ab" * 32


def answer(purpose: str = "Adds numbers.", **git: Any) -> dict[str, Any]:
    """A valid `repocue/benchmark-answer-2`; keyword arguments replace members of its `git`."""
    state = {"branch": "main", "head": HEAD, "dirty": False, "tracked_changes": [], "untracked": []}
    return {
        "schema_version": "repocue/benchmark-answer-2",
        "project_purpose": purpose,
        "git": {**state, **git},
        "primary_entry_points": [{"path": "src/a.py", "responsibility": "The command line."}],
        "major_components": [{"name": "adder", "responsibilities": ["adding"], "paths": ["src"]}],
        "important_documentation": [{"path": "README.md", "purpose": "First steps."}],
        "recent_relevant_changes": ["Carries are added."],
        "project_symbols": [{"name": "add", "signature": "(a, b)", "owner": "src/a.py", "relevance": "The project."}],
        "uncertainties": [],
    }


def assessment(response_id: str, **more: Any) -> dict[str, Any]:
    """A valid `repocue/qualitative-assessment-2` of run 1, condition direct."""
    return {
        "schema_version": "repocue/qualitative-assessment-2",
        "assessor": "Ada",
        "response_id": response_id,
        "condition": "direct",
        "repository_head": HEAD,
        "state_fingerprint": FINGERPRINT,
        "run_index": 1,
        "scores": {
            "purpose": 4,
            "architecture": 3,
            "documentation": 2,
            "recent_changes": 1,
            "structural_completeness": 0,
            "uncertainty_handling": 4,
        },
        "evidence": ["README.md, first line"],
        **more,
    }
