"""The console script: runs one command and turns whatever happens into an exit code.

0 done · 1 the operation failed · 2 usage · 3 `--exit-code` says stale · 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys

from repocue.cli import process_clock  # noqa: F401 - read the clock before anything else is loaded

TYPE_CHECKING = False  # typing's own constant, without loading typing before the clock has been read
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

COLLECT_AFTER = 100_000
"""New containers before the collector looks for cycles. Loading a command makes many that all stay; looking through
them again and again costs a short command more than the few cycles that it leaves."""


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line `argv` (without the program's name; `sys.argv[1:]` by default) and end the process."""
    gc.set_threshold(COLLECT_AFTER, 20, 20)
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        from repocue.cli.app import run
        from repocue.cli.interrupts import ending_cleanly

        with ending_cleanly():
            code = run(arguments)
    except KeyboardInterrupt:
        code = 130  # so early that nothing has been done and nothing is loaded to say so
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End the process without tearing the interpreter down: the kernel frees memory faster than Python does.

    Everything that must outlive the command has been written and closed by `run`; only the streams have buffers.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            pass  # `run` has said so already, or nobody is left to tell
    os._exit(code)
