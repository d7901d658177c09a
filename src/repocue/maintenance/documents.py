"""Which tracked files are documents, and in which order (seed, "Experimental Ranked Selection").

Root README, AGENTS, ARCHITECTURE and CHANGELOG files come first, then nested README files, then all others; ties by
path depth, then bytewise. Only names are looked at: a document is such a file without a suffix or in a prose
format, or any other file in a markup language for prose.
"""

from __future__ import annotations

from repocue.domain.paths import sort_key

_ROOT_NAMES = frozenset(("README", "AGENTS", "ARCHITECTURE", "CHANGELOG"))
PROSE = frozenset(("asciidoc", "markdown", "rst"))
PLAIN = "plain-text"


def is_document(name: str, language: str | None) -> bool:
    """Whether a file is a document, from its own name and the language that name stands for (None: unknown)."""
    if language in PROSE:
        return True
    stem, dot, _ = name.partition(".")
    return (language == PLAIN or (language is None and not dot)) and stem.upper() in _ROOT_NAMES


def rank(path: str) -> tuple[int, int, bytes]:
    """The key under which document paths sort in the ranked order."""
    raw = sort_key(path)
    depth = raw.count(b"/")
    stem = raw[raw.rfind(b"/") + 1 :].partition(b".")[0].upper().decode(errors="replace")
    if depth == 0 and stem in _ROOT_NAMES:
        return 0, depth, raw
    return (1 if stem == "README" else 2), depth, raw
