"""The environments of processes that an evaluation starts, made from the caller's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from repocue.runners import protocol

_CREDENTIAL: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTH)\Z", re.IGNORECASE)
"""Names that end so hold credentials by convention: ANTHROPIC_API_KEY, GITHUB_TOKEN, AWS_SECRET_ACCESS_KEY."""


def without_credentials(environ: Mapping[str, str]) -> dict[str, str]:
    """A copy of `environ` for a child that needs no provider and no forge."""
    return {name: value for name, value in environ.items() if not _CREDENTIAL.search(name)}


def for_runner(environ: Mapping[str, str], prefix: str, request: Mapping[str, str]) -> dict[str, str]:
    """A copy of `environ` for a runner, with the request's variables under the protocol's `prefix`.

    No variable of either protocol is left from elsewhere; credentials stay, since an agent needs them.
    """
    prefixes = (protocol.EVALUATION_PREFIX, protocol.TASK_PREFIX)
    kept = {name: value for name, value in environ.items() if not name.startswith(prefixes)}
    return kept | {prefix + name: value for name, value in request.items()}
