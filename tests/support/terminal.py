"""Running a command as a person does: on a terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence


def on_terminal(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str],
    columns: int = 100,
    term: str = "dumb",
    seen: Callable[[bytes], None] | None = None,
) -> tuple[int, str]:
    """(exit code, everything shown) of a process whose stdin, stdout and stderr are one terminal of this width.

    `seen` is called with all that has been shown so far, each time more was.
    """
    import fcntl
    import pty
    import struct
    import termios

    pid, descriptor = pty.fork()
    if pid == 0:  # the child: become the command
        try:
            os.chdir(cwd)
            os.execvpe(argv[0], list(argv), {**env, "TERM": term, "COLUMNS": str(columns), "LINES": "40"})
        finally:
            os._exit(127)
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    shown = []
    try:
        while data := os.read(descriptor, 65536):
            shown.append(data)
            if seen is not None:
                seen(b"".join(shown))
    except OSError:
        pass  # Linux says EIO when the other side of a terminal is closed
    os.close(descriptor)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), b"".join(shown).decode().replace("\r\n", "\n")
