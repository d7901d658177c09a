"""The console script: runs one command and turns whatever happens into an exit code.

0 done · 1 the operation failed · 2 usage · 3 `--exit-code` says stale · 130 interrupted.
"""

from __future__ import annotations

import sys

from repocue.cli import process_clock  # noqa: F401 - read the clock before anything else is loaded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line `argv` (without the program's name; `sys.argv[1:]` by default) and exit."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        from repocue.cli.app import run

        code = run(arguments)
    except KeyboardInterrupt:
        code = 130  # so early that nothing has been done and nothing is loaded to say so
    sys.exit(code)
