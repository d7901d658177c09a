"""Being asked to end, in one way: SIGTERM and SIGHUP interrupt like Ctrl-C, so that what was begun is cleaned up."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def ending_cleanly() -> Iterator[None]:
    """Within it, SIGTERM and SIGHUP raise KeyboardInterrupt. Those that are ignored (nohup) stay ignored."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    taken = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in taken:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, before[number])


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt
