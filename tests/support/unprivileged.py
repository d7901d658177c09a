"""Running code as a user without privileges, since tests may run as root, whom no permission stops."""

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


def unprivileged_python(body: str, *arguments: str, imports: str, env: Mapping[str, str]) -> bytes:
    """What `body` prints when nobody runs it with `arguments` (`sys.argv[1:]`).

    The interpreter may lie where nobody can read, so `imports` is run first with the caller's rights, as is hashlib,
    which the product loads late. Where the caller is not root, it is unprivileged enough.
    """
    code = f"import hashlib, os, sys\n{imports}\n{_DROP}\n{body}"
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=_environment(env), capture_output=True)
    if done.returncode:
        raise AssertionError(f"exited {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


_DROP = f"""
if os.geteuid() == 0:
    os.chdir("/")
    os.setgroups([])
    os.setresgid({USER}, {USER}, {USER})
    os.setresuid({USER}, {USER}, {USER})
"""


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """`env` with the modules that this interpreter finds and a home that nobody has."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return {**env, "PYTHONPATH": paths, "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"}


def _let_in(root: str) -> None:
    """Give every folder back its permissions, so that it can be removed."""
    for folder, folders, _ in os.walk(root):
        for name in folders:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                os.chmod(path, 0o755)
