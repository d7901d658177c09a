"""Environments for child processes in which nothing of the caller's git, RepoCue or home folder is left."""

from __future__ import annotations

import os

_KEPT = ("PATH", "LANG", "TMPDIR", "SYSTEMROOT", "COVERAGE_PROCESS_START", "PYTHONDONTWRITEBYTECODE")


def isolated_environment(home: str, **more: str) -> dict[str, str]:
    """A small environment with `home` as HOME and cache folder, fixed identity and dates for git, UTC and C locale."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {
        **kept,
        "HOME": home,
        "XDG_CACHE_HOME": os.path.join(home, ".cache"),
        "XDG_CONFIG_HOME": os.path.join(home, ".config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "Ada Author",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_AUTHOR_DATE": "1700000000 +0000",
        "GIT_COMMITTER_NAME": "Carl Committer",
        "GIT_COMMITTER_EMAIL": "carl@example.org",
        "GIT_COMMITTER_DATE": "1700000000 +0000",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        **more,
    }
