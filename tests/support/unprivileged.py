"""Running a function as a user without privileges, since tests may run as root, whom no permission stops."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

USER = 65534
"""nobody"""


@contextmanager
def open_folder() -> Iterator[str]:
    """A temporary folder that an unprivileged user can enter, which pytest's own are not. It is removed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.realpath(folder)
        os.chmod(path, 0o755)
        try:
            yield path
        finally:
            _let_in(path)


def give_away(root: str) -> None:
    """Make everything below `root` the unprivileged user's, where the caller may do so."""
    if os.geteuid() != 0:
        return
    os.chown(root, USER, USER)
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            os.lchown(os.path.join(folder, name), USER, USER)


def unprivileged(
    command: list[str], *, env: Mapping[str, str], cwd: str | None = None, ok: tuple[int, ...] = (0,)
) -> subprocess.CompletedProcess[bytes]:
    """Run `command` as nobody (as the caller, where that is no privileged user either)."""
    user = {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, **user)  # type: ignore[call-overload]  # mypy cannot see through **
    if done.returncode not in ok:
        raise AssertionError(f"{command} exited {done.returncode}: {done.stderr.decode(errors='replace')}")
    assert isinstance(done, subprocess.CompletedProcess)
    return done


def unprivileged_python(code: str, *arguments: str, env: Mapping[str, str], cwd: str = "/") -> bytes:
    """What `code` prints when nobody runs it with `arguments`, with the modules that this interpreter finds."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return unprivileged(
        [sys.executable, "-c", code, *arguments], env={**env, "PYTHONPATH": paths, "HOME": "/"}, cwd=cwd
    ).stdout


def _let_in(root: str) -> None:
    """Give every folder back its permissions, so that it can be removed."""
    for folder, folders, _ in os.walk(root):
        for name in folders:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                os.chmod(path, 0o755)
