"""Printing: one answer on stdout, progress on a terminal's stderr.

rich is loaded only where a command's text form needs it, or when a bar is really shown.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from repocue.contracts import canonical
from repocue.errors import RepoCueError

if TYPE_CHECKING:
    from repocue.cli.options import Invocation, Progress

BAR_DELAY_S = 1.0
"""A command that ends sooner shows no bar."""


class ReaderGone(Exception):
    """Whoever read our stdout has closed it. Not an error: the command ends silently."""


def wants_text(invocation: Invocation) -> bool:
    """Whether this command answers in text: asked for, or on a terminal with `--format auto`."""
    if invocation.format == "auto":
        return sys.stdout is not None and sys.stdout.isatty()
    return invocation.format == "text"


def emit(invocation: Invocation, document: Any, text: Callable[[Any], Any], *, indent: bool = False) -> None:
    """Print the answer: `document` as canonical JSON, or what `text` makes of it.

    `text` returns a string, or anything rich can render.
    """
    if wants_text(invocation):
        write(_shown(text(document)))
    else:
        write(canonical.document(document, indent=indent))


def for_file(invocation: Invocation, document: Any, text: Callable[[Any], Any]) -> bytes:
    """The answer as it goes to a file: indented canonical JSON, or text where that was asked for by name."""
    if invocation.format == "text":
        return _shown(text(document), width=100)
    return canonical.document(document, indent=True)


def _shown(answer: Any, *, width: int | None = None) -> bytes:
    """Text as it is printed; `width` makes it plain and independent of any terminal."""
    if isinstance(answer, str):
        return answer.rstrip("\n").encode("utf-8", "backslashreplace") + b"\n"
    from rich.console import Console

    console = Console(highlight=False) if width is None else Console(highlight=False, width=width, color_system=None)
    with console.capture() as capture:  # rich itself ends the process when a pipe breaks
        console.print(answer)
    return capture.get().encode("utf-8", "backslashreplace")


def safe(text: str) -> str:
    """`text` with whatever could steer a terminal shown as an escape; line ends stay."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def plain(text: str) -> Any:
    """`text` as a part of a rich answer: brackets in it are no markup, and nothing in it steers the terminal."""
    from rich.text import Text

    return Text(safe(text))


def fields(pairs: Sequence[tuple[str, str]]) -> str:
    """Labels and values in two aligned columns; the lines of a value of several stand below each other."""
    width = max((len(label) for label, _ in pairs), default=0)
    margin = "\n" + " " * (width + 2)
    return "\n".join(f"{label:<{width}}  {margin.join(value.splitlines() or [''])}" for label, value in pairs)


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None, whole: Sequence[str] = ()
) -> Any:
    """A rich table of `rows`; a column whose name ends in a blank is aligned to the right, as numbers are.

    Columns named in `whole` are never folded, so that what stands in them can be copied.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for column in columns:
        justify: Any = "right" if column.endswith(" ") else "left"
        made.add_column(column.strip(), justify=justify, overflow="fold", no_wrap=column in whole)
    for row in rows:
        made.add_row(*(Text(safe(cell)) for cell in row))  # Text, because brackets in a cell are no markup
    return made


def write(data: bytes) -> None:
    """Write `data` to stdout as it is; raises ReaderGone, or RepoCueError where it cannot be written."""
    try:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        sys.stdout.flush()
        rest = memoryview(data)
        while rest:  # an unbuffered stream (PYTHONUNBUFFERED) may take a part only
            rest = rest[_taken(sys.stdout.buffer.write(rest)) :]
    except OSError as error:
        raise unwritten(error) from error
    flush()


def _taken(count: int | None) -> int:
    if count is None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return count


def flush() -> None:
    """Hand everything printed to the system, so that a failure to do so is seen while it can be told."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        raise unwritten(error) from error


def unwritten(error: OSError) -> ReaderGone | RepoCueError:
    """What to raise for a failed write to stdout. What is still buffered can reach no one and is dropped."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
    except OSError:
        pass  # then the interpreter's last flush fails as well; it has been said already
    if isinstance(error, BrokenPipeError):
        return ReaderGone()
    reason = error.strerror or str(error)
    return RepoCueError(f"the answer could not be written: {reason}", code="output.failed")


@contextmanager
def progress(invocation: Invocation) -> Iterator[Progress | None]:
    """A place to report progress to, or None where nothing would be shown.

    A bar appears on a terminal's stderr when the work has taken a second, and is removed at the end.
    """
    can_draw = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") not in (None, "", "dumb")
    if invocation.quiet or not can_draw:
        yield None
        return
    bar = _Bar()
    try:
        yield bar.update
    finally:
        bar.close()


class _Bar:
    """A rich progress bar that comes into being after `BAR_DELAY_S`, from a timer's thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stage, self._done, self._total = "Working", 0, None  # type: str, int, int | None
        self._progress: Any = None
        self._task: Any = None
        self._closed = False
        self._started = time.monotonic()
        self._timer = threading.Timer(BAR_DELAY_S, self._show)
        self._timer.daemon = True
        self._timer.start()

    def update(self, stage: str, done: int, total: int | None) -> None:
        with self._lock:
            self._stage, self._done, self._total = stage, done, total
            if self._progress is not None:
                self._progress.update(self._task, description=stage, completed=done, total=total)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._closed:
                return
            self._progress = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._progress.add_task(self._stage, completed=self._done, total=self._total)
            self._progress.start()

    def close(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._progress is not None:
                self._progress.stop()
