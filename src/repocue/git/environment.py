"""The environment of every git process: what the user may decide is kept, all else is left out (ARCHITECTURE §3).

Location variables (`GIT_DIR`, `GIT_WORK_TREE`, `GIT_INDEX_FILE` …) that a hook or a wrapper left behind would make
git look at another repository, and keys and tokens are nobody's business in a filter that git starts; neither is
passed on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

_KEPT = frozenset(
    {
        "HOME",
        "LD_LIBRARY_PATH",
        "LOGNAME",
        "PATH",
        "SYSTEMROOT",
        "TMPDIR",
        "TZ",
        "USER",
        "XDG_CONFIG_HOME",
        # where git itself and its configuration are found
        "GIT_ATTR_NOSYSTEM",
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
        # an evaluation counts git's processes by it
        "GIT_TRACE2_EVENT",
    }
)

_FIXED = {
    "GIT_ALLOW_PROTOCOL": "",  # a partial clone must not fetch; git before 2.45 does not know GIT_NO_LAZY_FETCH
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}

_CONFIG_SECTIONS = ("core.", "extensions.", "filter.", "safe.", "submodule.")
"""Sections of `GIT_CONFIG_KEY_<n>` that bear on an observation; the others may hold credentials."""


def git_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a git process is given of `environ`: the keep-list above, and the fixed settings.

    Configuration in `GIT_CONFIG_COUNT` is passed on for the sections that say how to read a repository
    (`safe.directory` above all, which containers set in this way). Relative folders of `PATH` are left out: git is
    started inside the repository, whose own files must never be taken for programs.
    """
    kept = {name: value for name, value in environ.items() if name in _KEPT}
    if "PATH" in kept:
        kept["PATH"] = os.pathsep.join(folder for folder in kept["PATH"].split(os.pathsep) if os.path.isabs(folder))
    kept.update(_FIXED)
    if "GIT_CONFIG_COUNT" in environ:
        kept.update(_configuration(environ))
    return kept


def _configuration(environ: Mapping[str, str]) -> dict[str, str]:
    try:
        count = int(environ["GIT_CONFIG_COUNT"])
    except ValueError:
        return {}
    kept: dict[str, str] = {}
    number = 0
    for position in range(min(count, 1000)):
        key = environ.get(f"GIT_CONFIG_KEY_{position}", "")
        if key.lower().startswith(_CONFIG_SECTIONS):
            kept[f"GIT_CONFIG_KEY_{number}"] = key
            kept[f"GIT_CONFIG_VALUE_{number}"] = environ.get(f"GIT_CONFIG_VALUE_{position}", "")
            number += 1
    if number:
        kept["GIT_CONFIG_COUNT"] = str(number)
    return kept
