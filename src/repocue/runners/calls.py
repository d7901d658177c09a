"""The program calls of a shell text: what each does to the repository, and which paths it names.

Scopes are followed as a shell does: `cd` holds until its scope ends, pipelines and subshells have scopes of their own,
variables that the text sets are known. A call's class comes from its program and from whether it has operands at all:
a filter at the end of a pipe (`git log | head`) touches no file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from repocue.runners import programs, shell
from repocue.runners.programs import GIT, READ, SEARCH
from repocue.runners.shell_tree import (
    MAX_DEPTH,
    Group,
    Loop,
    Node,
    Pipeline,
    Redirect,
    ShellSyntaxError,
    Simple,
    Word,
)
from repocue.runners.words import UNKNOWN, Argument, expand

_STRING = re.compile(r"""(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)')""")
_VERSIONED = re.compile(r"(python|pypy|node|ruby|perl|php|lua)[0-9.]+\Z")
_LINE_RANGE = re.compile(r"-L[^:]*:?.*:(.+)\Z|[^:]*:(.+)\Z")
MAX_LOOP_TEXTS = 1000


@dataclass(slots=True)
class Scope:
    """Where a command runs. `folder` is None once a `cd` went somewhere the text does not say."""

    folder: str | None
    variables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    has_input: bool = False
    is_fed_names: bool = False

    def inner(self, *, has_input: bool | None = None, is_fed_names: bool | None = None) -> Scope:
        """A scope inside this one: what happens there does not come out."""
        return Scope(
            self.folder,
            dict(self.variables),
            self.has_input if has_input is None else has_input,
            self.is_fed_names if is_fed_names is None else is_fed_names,
        )


@dataclass(slots=True)
class Call:
    """One program run. `kinds` are its classes; `paths` are (folder, text) of every path it names, in order."""

    program: str
    arguments: tuple[Argument, ...]
    folder: str | None
    kinds: set[str] = field(default_factory=set)
    paths: list[tuple[str | None, str]] = field(default_factory=list)

    def name(self, arguments: Iterable[Argument], folder: str | None) -> None:
        """Add what `arguments` can be to the named paths."""
        self.paths.extend((folder, text) for argument in arguments for text in argument.texts)


class Reader:
    """Walks a shell text and collects its calls. `is_file(folder, text)` says whether a path is a repository's file."""

    def __init__(self, root: str, is_file: Callable[[str | None, str], bool], home: str | None = None) -> None:
        self.root = root
        self.home = home
        self.calls: list[Call] = []
        self._is_file = is_file
        self._depth = 0

    def read(self, text: str) -> None:
        """Collect the calls of `text`, run in the root. Raises ShellSyntaxError."""
        variables: dict[str, tuple[str, ...]] = {"PWD": (self.root,)}
        if self.home:
            variables["HOME"] = (self.home,)
        self._walk_text(text, Scope(self.root, variables))

    # the tree

    def _walk_text(self, text: str, scope: Scope) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ShellSyntaxError("shells start shells too deeply")
        self._walk(shell.parse(text), scope)
        self._depth -= 1

    def _walk(self, nodes: Iterable[Node], scope: Scope) -> None:
        for node in nodes:
            if isinstance(node, Simple):
                self._simple(node, scope)
            elif isinstance(node, Pipeline):
                for index, part in enumerate(node.commands):
                    self._walk([part], scope.inner(has_input=scope.has_input or index > 0))
            elif isinstance(node, Group):
                self._group(node, scope)
            else:
                self._loop(node, scope)

    def _group(self, group: Group, scope: Scope) -> None:
        has_input = self._redirects(group.redirects, scope)
        inner = scope.inner(has_input=True) if group.has_scope or has_input else scope
        if group.has_scope and not has_input:
            inner.has_input = scope.has_input
        self._walk(group.commands, inner)
        if not group.has_scope:
            scope.folder, scope.variables = inner.folder, inner.variables

    def _loop(self, loop: Loop, scope: Scope) -> None:
        self._substitutions(loop.words, scope)
        texts = [text for word in loop.words for one in expand(word, scope.variables, self.home) for text in one.texts]
        if loop.name:
            scope.variables[loop.name] = tuple(dict.fromkeys(texts))[:MAX_LOOP_TEXTS]
        self._group(loop.body, scope)

    def _simple(self, simple: Simple, scope: Scope) -> None:
        values = [word for _, word in simple.assignments]
        self._substitutions([*values, *simple.words], scope)
        has_input = self._redirects(simple.redirects, scope) or scope.has_input
        own = dict(scope.variables)
        for name, word in simple.assignments:
            own[name] = tuple(text for one in expand(word, own, self.home) for text in one.texts) if word else ("",)
        if not simple.words:
            scope.variables = own
            return
        arguments = [one for word in simple.words for one in expand(word, scope.variables, self.home)]
        inner = scope.inner(has_input=has_input)
        document = next((one.document for one in simple.redirects if one.document is not None), None)
        self._call(arguments, inner, document)
        scope.folder, scope.variables = inner.folder, inner.variables

    def _substitutions(self, words: Iterable[Word], scope: Scope) -> None:
        for word in words:
            for part in word:
                if part.commands:
                    self._walk(part.commands, scope.inner(has_input=False))

    def _redirects(self, redirects: Sequence[Redirect], scope: Scope) -> bool:
        """Collect reads by redirection; whether standard input comes from a file or document."""
        has_input = False
        for redirect in redirects:
            self._substitutions([redirect.target], scope)
            if redirect.operator in ("<<", "<<-", "<<<"):
                has_input = True
            elif redirect.operator in ("<", "<>"):
                has_input = True
                if any(part.commands for part in redirect.target):
                    continue  # a process substitution: what runs in it has been collected
                target = expand(redirect.target, scope.variables, self.home)
                call = Call("<", tuple(target), scope.folder, {READ})
                call.name(target, scope.folder)
                if any(text != "/dev/null" for one in target for text in one.texts) or UNKNOWN in target:
                    self.calls.append(call)
        return has_input

    # calls

    def _call(self, arguments: Sequence[Argument], scope: Scope, document: str | None = None) -> None:
        if not arguments:
            return
        program = os.path.basename(arguments[0].text)
        rest = tuple(arguments[1:])
        call = Call(program, rest, scope.folder)
        self.calls.append(call)
        versioned = _VERSIONED.match(program)
        plain = versioned[1] if versioned else program
        if program in ("cd", "pushd"):
            self._change_folder(rest, scope)
        elif program == "popd":
            scope.folder = None
        elif program in programs.PREFIXES:
            self._prefix(program, rest, scope, document)
        elif program in programs.SHELLS:
            self._shell(rest, scope, document)
        elif program == "eval":
            self._walk_text(" ".join(one.text for one in rest), scope)
        elif program in ("xargs", "parallel"):
            self._names_from_input(call, rest, scope)
        elif program in ("find", "gfind"):
            self._find(call, rest, scope)
        elif program in ("fd", "fdfind"):
            self._fd(call, rest, scope)
        elif program == "git":
            self._git(call, rest, scope)
        elif program == "dd":
            self._dd(call, rest, scope)
        elif plain in programs.INTERPRETERS:
            self._interpreter(call, programs.INTERPRETERS[plain], rest, scope, document)
        elif program in programs.PROGRAMS:
            self._table(call, programs.PROGRAMS[program], rest, scope)

    def _change_folder(self, rest: Sequence[Argument], scope: Scope) -> None:
        operands = [one for one in rest if not programs.is_option(one.text)]
        target = operands[0].text if operands else (self.home or "")
        if not target or target == "-" or (scope.folder is None and not target.startswith("/")):
            scope.folder = None
        else:
            scope.folder = os.path.normpath(os.path.join(scope.folder or "/", target))
        if scope.folder is not None:
            scope.variables["PWD"] = (scope.folder,)
        else:
            scope.variables.pop("PWD", None)

    def _prefix(self, program: str, rest: Sequence[Argument], scope: Scope, document: str | None) -> None:
        if program == "command" and rest and rest[0].text in ("-v", "-V"):
            return
        start = programs.after_options([one.text for one in rest], programs.split_valued(programs.PREFIXES[program]))
        while program == "env" and start < len(rest) and "=" in rest[start].text:
            start += 1
        start += program == "timeout"
        self._call(rest[start:], scope, document)

    def _shell(self, rest: Sequence[Argument], scope: Scope, document: str | None) -> None:
        for index, one in enumerate(rest):
            if not one.text.startswith(("-", "+")):
                return  # a script's file: running it is not reading it
            if one.text[1:2] != "-" and "c" in one.text and index + 1 < len(rest):
                self._walk_text(rest[index + 1].text, scope.inner())
                return
        if document is not None:
            self._walk_text(document, scope.inner())

    def _names_from_input(self, call: Call, rest: Sequence[Argument], scope: Scope) -> None:
        valued = programs.split_valued(
            "-I -i -n -P -L -s -d -E -a -j --replace --max-args --max-procs --arg-file --delimiter"
        )
        texts = [one.text for one in rest]
        for name, value in zip(texts, rest[1:], strict=False):
            if name in ("-a", "--arg-file"):
                call.kinds.add(READ)
                call.name([value], scope.folder)
        inner = list(rest[programs.after_options(texts, valued) :])
        if ":::" in texts:
            inner = [one for one in inner if one.text != ":::"]
        self._call(inner, scope.inner(is_fed_names=True))

    def _find(self, call: Call, rest: Sequence[Argument], scope: Scope) -> None:
        call.kinds.add(SEARCH)
        texts = [one.text for one in rest]
        start = next((i for i, text in enumerate(texts) if text not in ("-H", "-L", "-P")), len(texts))
        end = next((i for i in range(start, len(texts)) if texts[i].startswith("-") or texts[i] in "(!"), len(texts))
        call.name(rest[start:end], scope.folder)
        index = end
        while index < len(texts):
            if texts[index] in ("-exec", "-execdir", "-ok", "-okdir"):
                stop = next((i for i in range(index + 1, len(texts)) if texts[i] in (";", "+")), len(texts))
                self._call([*rest[index + 1 : stop]], scope.inner(is_fed_names=True))
                index = stop
            index += 1

    def _fd(self, call: Call, rest: Sequence[Argument], scope: Scope) -> None:
        call.kinds.add(SEARCH)
        texts = [one.text for one in rest]
        run = next((i for i, text in enumerate(texts) if text in ("-x", "-X", "--exec", "--exec-batch")), len(texts))
        valued = programs.split_valued(
            "-e -t -d -E -c -g --extension --type --max-depth --exclude --color --glob -S --size"
        )
        operands = _operands(rest[:run], valued)
        call.name(operands[1:], scope.folder)
        self._call(rest[run + 1 :], scope.inner(is_fed_names=True))

    def _dd(self, call: Call, rest: Sequence[Argument], scope: Scope) -> None:
        named = [Argument((one.text[3:],)) for one in rest if one.text.startswith("if=")]
        if named:
            call.kinds.add(READ)
            call.name(named, scope.folder)

    def _table(self, call: Call, program: programs.Program, rest: Sequence[Argument], scope: Scope) -> None:
        valued = programs.split_valued(program.valued)
        texts = [one.text for one in rest]
        options = {text.partition("=")[0] for text in texts if programs.is_option(text)}
        clusters = {"-" + letter for text in options if not text.startswith("--") for letter in text[1:]}
        replaced = options & programs.split_valued(program.replaces_leading)
        operands = _operands(rest, valued)[0 if replaced else program.leading :]
        is_recursive = bool((options | clusters) & programs.split_valued(program.recursive))
        searches_folder = program.kind == SEARCH and program.leading and not scope.has_input and not scope.is_fed_names
        if call.program in ("grep", "egrep", "fgrep", "zgrep"):
            searches_folder = False  # without -r they read standard input
        operands = [one for one in operands if one.text != "-"]
        if operands or is_recursive or searches_folder or scope.is_fed_names or not program.reads_input:
            call.kinds.add(program.kind)
            call.name(operands, scope.folder)
            call.name(_option_values(rest, programs.split_valued(program.pathful)), scope.folder)

    def _git(self, call: Call, rest: Sequence[Argument], scope: Scope) -> None:
        call.kinds.add(GIT)
        folder = scope.folder
        index = 0
        while index < len(rest) and programs.is_option(rest[index].text):
            text = rest[index].text
            if text == "-C" and index + 1 < len(rest):
                target = rest[index + 1].text
                folder = os.path.normpath(os.path.join(folder or "/", target)) if folder or target[:1] == "/" else None
            index += 2 if text == "-C" or text in programs.GIT_GLOBAL_VALUED else 1
        command = rest[index].text if index < len(rest) else ""
        arguments = rest[index + 1 :]
        texts = [one.text for one in arguments]
        if command == "grep":
            call.kinds.add(SEARCH)
        border = texts.index("--") if "--" in texts else len(texts)
        operands = _operands(arguments[:border], programs.split_valued(programs.GIT_VALUED))
        has_pattern = command == "grep" and not {"-e", "-f"} & set(texts)
        for one in operands[1 if has_pattern else 0 :]:
            call.name([one], folder)
            for text in one.texts:
                revision, colon, path = text.partition(":")
                if colon and not revision.startswith("-"):
                    call.name([Argument((path,))], folder if path.startswith("./") else self.root)
        for text in texts[:border]:
            ranged = _LINE_RANGE.match(text) if text.startswith("-L") else None
            if ranged and ranged[1]:
                call.name([Argument((ranged[1],))], folder)
        call.name(arguments[border + 1 :], folder)

    def _interpreter(
        self, call: Call, inline: str, rest: Sequence[Argument], scope: Scope, document: str | None
    ) -> None:
        """A program given as text reads the repository's files that its string literals name; another one is other."""
        texts = [one.text for one in rest]
        programs_text = [value.text for value in _option_values(rest, programs.split_valued(inline))]
        is_filter = call.program.startswith(("perl", "ruby")) and any(
            text[:1] == "-" and text[1:2] != "-" and {"n", "p"} & set(text) for text in texts
        )
        if document is not None and (not texts or texts[0] in ("-", "/dev/stdin")):
            programs_text.append(document)
        literals = [
            Argument((text,))
            for program in programs_text
            for text in dict.fromkeys(filter(None, (a or b for a, b in _STRING.findall(program))))
            if self._is_file(scope.folder, text)
        ]
        if is_filter:
            operands = _operands(rest, programs.split_valued(inline + " -ne -pe -lne -lpe -ane -nE -pE -nle -ple -i"))
            literals += [one for one in operands if one.text != "-"]
        if literals or (is_filter and scope.is_fed_names):
            call.kinds.add(READ)
            call.name(literals, scope.folder)


def _operands(arguments: Sequence[Argument], valued: frozenset[str]) -> list[Argument]:
    """The arguments that are no option and no option's value; everything after `--`."""
    found: list[Argument] = []
    index = 0
    while index < len(arguments):
        text = arguments[index].text
        if text == "--":
            return found + list(arguments[index + 1 :])
        if not programs.is_option(text):
            found.append(arguments[index])
        elif text in valued:
            index += 1
        index += 1
    return found


def _option_values(arguments: Sequence[Argument], names: frozenset[str]) -> list[Argument]:
    """The values of the named options, given apart (`-f x`, also at a cluster's end: `-Bc x`) or joined (`--f=x`)."""
    letters = {name[1] for name in names if len(name) == 2}
    found = []
    for index, one in enumerate(arguments):
        name, equals, value = one.text.partition("=")
        if equals and name in names:
            found.append(Argument((value,)))
        elif one.text in names or (
            len(one.text) > 2 and one.text[0] == "-" and one.text[1] != "-" and one.text[-1] in letters
        ):
            found.extend(arguments[index + 1 : index + 2])
    return found
