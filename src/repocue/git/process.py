"""Starting git, reading what it says, and turning its failures into ours.

Several processes can run side by side: `Git.start` each, then `Git.finish` all. One poll loop feeds and drains them,
so no pipe can fill up and block, and no thread is needed.
"""

from __future__ import annotations

import fcntl
import os
import select
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from repocue.domain.paths import display
from repocue.errors import GitFailed, RepositoryError
from repocue.git.environment import git_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from repocue.git.worktree import Worktree

MINIMUM_VERSION = (2, 31)
"""The oldest git whose answers we understand (`rev-parse --path-format`)."""

SCAN_TIMEOUT_S = 3600.0
"""The bound of one git process. Huge repositories on slow disks are slow; a process that hangs is not waited for."""

PROMISED = b"from promisor remote"
"""What git says where it would have to fetch an object of a partial clone."""

OUTPUT_LIMIT_BYTES = 2 << 30
_ERRORS_LIMIT_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 18
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031  # Linux only; a larger pipe means fewer wake-ups
_TICK_S = 0.1

_SETTINGS = (
    "--no-optional-locks",
    "--no-pager",
    "-c",
    "core.fsmonitor=false",  # the repository's own config may name a program here, and in the next
    "-c",
    "core.hooksPath=/dev/null",
)


class Child:
    """One running git process."""

    __slots__ = (
        "_errors",
        "_errors_size",
        "_output",
        "_sink",
        "_stdin",
        "argv",
        "limit_bytes",
        "ok",
        "process",
        "size",
    )

    def __init__(
        self,
        argv: Sequence[str | bytes],
        process: subprocess.Popen[bytes],
        *,
        stdin: bytes | None,
        ok: tuple[int, ...],
        limit_bytes: int,
        sink: Callable[[bytes], object] | None,
    ) -> None:
        self.argv = argv
        self.process = process
        self.ok = ok
        self.limit_bytes = limit_bytes
        self._errors_size = 0
        self._output: list[bytes] = []
        self._errors: list[bytes] = []
        self.size = 0
        """Bytes of stdout taken so far."""
        self._sink = sink
        self._stdin = memoryview(stdin) if stdin else None

    def output(self, prefix: bytes = b"") -> bytes:
        """Everything it wrote to stdout (nothing where a sink took it), after `prefix`."""
        if not prefix and len(self._output) == 1:
            return self._output[0]
        return b"".join([prefix, *self._output])

    @property
    def errors(self) -> bytes:
        """What it wrote to stderr, at most 1 MiB."""
        return b"".join(self._errors)

    def take(self, data: bytes) -> None:
        """Accept a piece of stdout. Raises GitFailed beyond the limit."""
        self.size += len(data)
        if self.size > self.limit_bytes:
            raise GitFailed(f"{self.name} printed more than {self.limit_bytes} bytes", code="git.output-too-large")
        if self._sink is None:
            self._output.append(data)
        else:
            self._sink(data)

    def take_error(self, data: bytes) -> None:
        """Accept a piece of stderr; what is beyond the limit is dropped."""
        if self._errors_size < _ERRORS_LIMIT_BYTES:
            self._errors.append(data)
        self._errors_size += len(data)

    def feed(self, descriptor: int) -> bool:
        """Write what the pipe takes of stdin; whether anything is left to write."""
        assert self._stdin is not None
        try:
            written = os.write(descriptor, self._stdin[:_PIPE_BYTES])
        except BlockingIOError:
            return True
        except BrokenPipeError:  # it ended early; its exit code says why
            return False
        self._stdin = self._stdin[written:]
        return bool(self._stdin)

    def end(self) -> None:
        """Close its pipes; kill it where it still runs."""
        if self.process.poll() is None:
            self.process.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                stream.close()
        self.process.wait()

    @property
    def name(self) -> str:
        """`git status`, for messages."""
        return "git " + display(os.fsencode(self.argv[0]))


class Git:
    """git in one folder. `processes` counts how many were started."""

    def __init__(
        self,
        root: bytes | str,
        environ: Mapping[str, str],
        git_exe: str = "git",
        *,
        options: Sequence[str | bytes] = (),
    ) -> None:
        self.root = os.fsencode(root)
        self.processes = 0
        self._environment = git_environment(environ)
        self._command: tuple[str | bytes, ...] = (git_exe, *_SETTINGS, *options)

    @classmethod
    def of(cls, worktree: Worktree, environ: Mapping[str, str]) -> Git:
        """git in the root of `worktree`. Should its git folder vanish, no other one further up is taken for it."""
        bounded = {**environ, "GIT_CEILING_DIRECTORIES": os.fsdecode(os.path.dirname(worktree.root))}
        return cls(worktree.root, bounded, options=worktree.git_options)

    def start(
        self,
        *args: str | bytes,
        stdin: bytes | None = None,
        ok: tuple[int, ...] = (0,),
        limit_bytes: int = OUTPUT_LIMIT_BYTES,
        env: Mapping[str, str] | None = None,
        settings: Sequence[str] = (),
        sink: Callable[[bytes], object] | None = None,
    ) -> Child:
        """Start one git process; `finish` must follow.

        `env` adds variables, `settings` options before the subcommand; `sink` takes stdout piece by piece.

        Raises GitFailed (`git.missing`) or RepositoryError (`repository.not-found`, `repository.unreadable`).
        """
        try:
            process = subprocess.Popen(
                [*self._command, *settings, *args],
                bufsize=0,
                cwd=self.root,
                env={**self._environment, **env} if env else self._environment,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise self._not_started(error) from None
        self.processes += 1
        return Child(args, process, stdin=stdin, ok=ok, limit_bytes=limit_bytes, sink=sink)

    def run(
        self,
        *args: str | bytes,
        stdin: bytes | None = None,
        ok: tuple[int, ...] = (0,),
        timeout_s: float = SCAN_TIMEOUT_S,
        limit_bytes: int = OUTPUT_LIMIT_BYTES,
        env: Mapping[str, str] | None = None,
        settings: Sequence[str] = (),
        sink: Callable[[bytes], object] | None = None,
    ) -> bytes:
        """Run one git process to its end and return its stdout.

        Raises GitFailed where it exits with a code not in `ok`, runs longer than `timeout_s` or prints more than
        `limit_bytes`; RepositoryError (`repository.ownership`) where git distrusts the folder's owner.
        """
        child = self.start(*args, stdin=stdin, ok=ok, limit_bytes=limit_bytes, env=env, settings=settings, sink=sink)
        self.finish(child, timeout_s=timeout_s)
        return child.output()

    def finish(
        self, *children: Child, timeout_s: float = SCAN_TIMEOUT_S, tick: Callable[[], object] | None = None
    ) -> None:
        """Wait for all of `children`, calling `tick` about ten times a second. None is left running, whatever happens.

        Raises as `run` does, for the first child that failed.
        """
        try:
            _drive(children, time.monotonic() + timeout_s, tick)
            for child in children:
                child.process.wait()
        finally:
            for child in children:
                child.end()
        for child in children:
            if child.process.returncode not in child.ok:
                raise self.failure(child)

    def failure(self, child: Child) -> RepositoryError:
        """The error that says why `child` failed."""
        errors = child.errors
        if b"dubious ownership" in errors or b"unsafe repository" in errors:
            return ownership_error(self.root, errors)
        if PROMISED in errors:
            return GitFailed(
                f"{child.name} needs an object that this partial clone left at its remote, in {display(self.root)}",
                code="git.missing-object",
                hint="Run git status there once, which fetches it; RepoCue itself never uses the network.",
            )
        if child.process.returncode == 129:  # git did not understand the arguments
            self.check_version()
        said = display(b"\n".join(errors.strip().splitlines()[:3]))
        code = child.process.returncode
        how = f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
        return GitFailed(f"{child.name} {how} in {display(self.root)}" + (f": {said}" if said else ""))

    def check_version(self) -> None:
        """Raise GitFailed (`git.too-old`) where git is older than `MINIMUM_VERSION`. Asked only after a failure."""
        child = self.start("version", ok=tuple(range(-64, 256)))
        self.finish(child, timeout_s=10)
        words = child.output().split()
        numbers = words[2].split(b".") if len(words) > 2 else []
        if len(numbers) >= 2 and numbers[0].isdigit() and numbers[1].isdigit():
            found = int(numbers[0]), int(numbers[1])
            if found < MINIMUM_VERSION:
                wanted = ".".join(map(str, MINIMUM_VERSION))
                raise GitFailed(
                    f"git {display(words[2])} is too old: at least {wanted} is needed",
                    code="git.too-old",
                    hint=f"Install git {wanted} or newer.",
                )

    def _not_started(self, error: OSError) -> RepositoryError:
        if error.filename is not None and os.fsencode(error.filename) == self.root:
            if isinstance(error, PermissionError):
                return RepositoryError(
                    f"{display(self.root)} cannot be entered: permission denied", code="repository.unreadable"
                )
            return RepositoryError(f"{display(self.root)} is not a folder", code="repository.not-found")
        if isinstance(error, FileNotFoundError):
            return GitFailed(
                "git was not found on PATH", code="git.missing", hint="Install git, or add its folder to PATH."
            )
        return GitFailed(f"git could not be started: {error.strerror}", code="git.missing")


def ownership_error(root: bytes, errors: bytes) -> RepositoryError:
    """The error for a repository that git distrusts, with the exact line that git says would allow it."""
    fix = [line.strip() for line in errors.splitlines() if b"safe.directory" in line and b"git config" in line]
    return RepositoryError(
        f"git refuses {display(root)}: its owner is another user (dubious ownership)",
        code="repository.ownership",
        hint=f"If you trust it: {display(fix[-1])}" if fix else "If you trust it, add it to git's safe.directory.",
    )


def _drive(children: Sequence[Child], deadline: float, tick: Callable[[], object] | None) -> None:
    """Feed and drain `children` until all their pipes are closed."""
    poller = select.poll()
    readers: dict[int, Callable[[bytes], None]] = {}
    writers: dict[int, Child] = {}
    for child in children:
        process = child.process
        assert process.stdout is not None
        assert process.stderr is not None
        _widen(process.stdout.fileno())
        readers[process.stdout.fileno()] = child.take
        readers[process.stderr.fileno()] = child.take_error
        if process.stdin is not None:
            _widen(process.stdin.fileno())
            os.set_blocking(process.stdin.fileno(), False)
            writers[process.stdin.fileno()] = child
    for descriptor in readers:
        poller.register(descriptor, select.POLLIN)
    for descriptor in writers:
        poller.register(descriptor, select.POLLOUT)
    next_tick = 0.0
    while readers or writers:
        for descriptor, _ in poller.poll(_TICK_S * 1000):
            if descriptor in writers:
                child = writers[descriptor]
                if not child.feed(descriptor):
                    poller.unregister(descriptor)
                    del writers[descriptor]
                    assert child.process.stdin is not None
                    child.process.stdin.close()
            else:
                data = os.read(descriptor, _CHUNK_BYTES)
                if data:
                    readers[descriptor](data)
                else:
                    poller.unregister(descriptor)
                    del readers[descriptor]
        now = time.monotonic()
        if tick is not None and now >= next_tick:
            next_tick = now + _TICK_S
            tick()
        if now > deadline:
            late = next((child for child in children if child.process.poll() is None), children[0])
            raise GitFailed(f"{late.name} did not end in time", code="git.timeout")


def _widen(descriptor: int) -> None:
    with suppress(OSError):  # not Linux, or the user's pipe quota is used up: the default size does as well
        fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
