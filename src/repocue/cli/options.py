"""The options that every command shares, and what they resolve to."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from repocue.cli import process_clock
from repocue.errors import CacheError

if TYPE_CHECKING:
    from repocue.git.worktree import Worktree
    from repocue.maintenance.request import Request
    from repocue.store.location import CacheLocation

MAX_TOKENS = 2_097_152
"""The largest budget of a cue, in estimated tokens."""

_FORMS = ("auto", "json", "text")

Progress = Callable[[str, int, "int | None"], None]
"""Called with (what is being done, how many are done, of how many or None)."""


class Session:
    """What was typed of the shared options so far, at either level; also what an error report goes by."""

    __slots__ = ("cache_dir", "format", "quiet", "repository")

    def __init__(self) -> None:
        self.repository: str | None = None
        self.cache_dir: str | None = None
        self.format: str | None = None
        self.quiet = False


class Invocation(NamedTuple):
    """The shared options of one command, resolved.

    `repository` is a path as typed, relative to the working directory; `cache_dir` is None where no option names one;
    `format` is auto, json or text.
    """

    repository: str
    cache_dir: str | None
    format: str
    quiet: bool

    @property
    def environ(self) -> Mapping[str, str]:
        """The process environment, the one place where the command line hands it on."""
        return os.environ

    def worktree(self) -> Worktree:
        """The work tree that `repository` lies in; raises RepositoryError."""
        from repocue.git import worktree

        return worktree.find(self.repository, self.environ)

    def cache(self) -> CacheLocation:
        """Where states are kept: `--cache-dir`, else `REPOCUE_CACHE_DIR`, else the user's cache folder."""
        from repocue.store.location import CacheLocation

        return CacheLocation(self.cache_dir or cache_root(self.environ))

    def request(
        self, progress: Progress | None = None, *, repository: str | None = None, loading: str | None = None
    ) -> Request:
        """Everything a maintenance operation needs; raises RepositoryError where there is no work tree.

        `repository` goes before the option. `loading` names the module that the command imports next: it is loaded
        while git looks for the work tree, which takes about as long.
        """
        from repocue.git import worktree as finder

        def load() -> None:
            from importlib import import_module

            import_module("repocue.maintenance.request")
            if loading is not None:
                import_module(loading)

        worktree = finder.find(repository or self.repository, self.environ, meanwhile=load)
        from repocue.maintenance.request import Request

        return Request(
            worktree=worktree,
            cache=self.cache(),
            environ=self.environ,
            elapsed_ms=process_clock.elapsed_ms,
            clock_method=process_clock.METHOD,
            now_ms=now_ms,
            progress=progress,
        )


def now_ms() -> int:
    """The wall clock, in milliseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1_000_000


def cache_root(environ: Mapping[str, str]) -> str:
    """The folder of all states where no option names one; raises CacheError where there is no home folder.

    The XDG rules are answered here, because asking the library costs every command its import; a test holds
    the two to the same answer.
    """
    named = environ.get("REPOCUE_CACHE_DIR")
    if named:
        return named
    if sys.platform == "linux":
        for base, *rest in ((environ.get("XDG_CACHE_HOME", ""),), (environ.get("HOME", ""), ".cache")):
            if os.path.isabs(base):  # the XDG rules say to ignore a relative one
                return os.path.join(base, *rest, "repocue")
    from platformdirs import user_cache_dir

    try:
        folder = user_cache_dir("repocue", appauthor=False)
    except (KeyError, RuntimeError, OSError):
        folder = ""
    if not os.path.isabs(folder):
        raise CacheError(
            "no cache folder can be chosen: the environment names no home or cache folder by an absolute path",
            code="cache.no-home",
            hint="Name one with --cache-dir or REPOCUE_CACHE_DIR.",
        )
    return folder


def _remember(member: str) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """A callback that leaves an option's value in the session, whichever level it was typed at."""

    def callback(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        if value == "":  # an unset shell variable, as a rule: the default would not be what was meant
            raise click.BadParameter("it is empty.", ctx, parameter)
        session = ctx.find_object(Session)
        if session is not None and value:
            setattr(session, member, value)
        return value

    return callback


def temporary_root(named: str | None, environ: Mapping[str, str]) -> str:
    """Where temporary folders are made: as named, else as the environment says; nothing is tried out by writing."""
    return named or environ.get("TMPDIR") or "/tmp"  # noqa: S108 - only a root: what is made in it has a random name and is private


def _shared(formats: tuple[str, ...], *, cache: bool = True, repository: bool = True) -> list[Callable[[Any], Any]]:
    options = [
        click.option(
            "-C",
            "--repository",
            metavar="PATH",
            callback=_remember("repository"),
            expose_value=False,
            help="The repository that PATH lies in.  [default: the working directory]",
        ),
        click.option(
            "--cache-dir",
            metavar="DIR",
            callback=_remember("cache_dir"),
            expose_value=False,
            help="Keep states in DIR.  [default: $REPOCUE_CACHE_DIR, else the user's cache folder]",
        ),
        click.option(
            "--format",
            type=click.Choice(formats),
            callback=_remember("format"),
            expose_value=False,
            is_eager=True,  # so that a usage error in the rest of the line is already printed in this form
            help="Form of answer and errors; auto is text on a terminal, JSON otherwise.  [default: auto]"
            if "text" in formats
            else "The answer is JSON; auto makes errors text on a terminal.  [default: auto]",
        ),
        click.option(
            "--quiet",
            is_flag=True,
            callback=_remember("quiet"),
            expose_value=False,
            help="Show no progress.",
        ),
    ]
    return [*options[: int(repository)], *options[1 : 1 + int(cache)], *options[2:]]


def session_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The shared options before the command's name, as in `repocue -C elsewhere status`."""
    for option in reversed(_shared(_FORMS)):
        function = option(function)
    return function


def common_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the shared options; it is called with `invocation` (an `Invocation`) as a keyword."""
    return _with_invocation(function, _FORMS)


def common_options_with(*formats: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`common_options` for a command that answers in further `formats` as well."""
    return lambda function: _with_invocation(function, (*_FORMS, *formats))


def json_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`common_options` for a command whose answer is JSON always."""
    return _with_invocation(function, ("auto", "json"))


def cacheless_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`common_options` for a command that opens no maintained cache, and so takes no `--cache-dir`."""
    return _with_invocation(function, _FORMS, cache=False)


def evidence_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`common_options` for a command whose folder of evidence says which repository it is about, if any."""
    return _with_invocation(function, _FORMS, cache=False, repository=False)


def _with_invocation(
    function: Callable[..., Any], formats: tuple[str, ...], *, cache: bool = True, repository: bool = True
) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        context = click.get_current_context()
        session = context.find_object(Session) or Session()
        if session.format and session.format not in formats:
            raise click.UsageError(f"this command answers in JSON alone, not in {session.format}.", ctx=context)
        if session.cache_dir and not cache:
            raise click.UsageError("this command opens no cache, so --cache-dir means nothing to it.", ctx=context)
        if session.repository and not repository:
            raise click.UsageError("this command reads evidence, so --repository means nothing to it.", ctx=context)
        invocation = Invocation(
            repository=session.repository or ".",
            cache_dir=session.cache_dir,
            format=session.format or "auto",
            quiet=session.quiet,
        )
        return function(*args, invocation=invocation, **kwargs)

    for option in reversed(_shared(formats, cache=cache, repository=repository)):
        wrapper = option(wrapper)
    return wrapper
