"""The environment of processes that an evaluation starts: the caller's, without anything that is a credential."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_CREDENTIAL: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTH)\Z", re.IGNORECASE)
"""Names that end so hold credentials by convention: ANTHROPIC_API_KEY, GITHUB_TOKEN, AWS_SECRET_ACCESS_KEY."""


def without_credentials(environ: Mapping[str, str]) -> dict[str, str]:
    """A copy of `environ` for a child that needs no provider and no forge."""
    return {name: value for name, value in environ.items() if not _CREDENTIAL.search(name)}
