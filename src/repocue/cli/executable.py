"""How this very RepoCue is started again, for commands that run others as processes of their own."""

from __future__ import annotations

import os
import sys


def own_command() -> list[str]:
    """The console script beside the running interpreter; where there is none, the module.

    `-P` keeps the working directory, which may be a hostile repository, off the module path.
    """
    script = os.path.join(os.path.dirname(sys.executable), "repocue")
    if os.access(script, os.X_OK):
        return [script]
    return [sys.executable, "-P", "-m", "repocue"]
