"""Reading shell text as a POSIX shell with bash's additions would: into commands, not into results."""

from __future__ import annotations

import re

from repocue.runners.shell_lexer import NAME, Words
from repocue.runners.shell_tree import (
    MAX_DEPTH,
    Group,
    Loop,
    Node,
    Part,
    Pipeline,
    Redirect,
    ShellSyntaxError,
    Simple,
    Word,
)

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^]\n]*\])?\+?=")
_RESERVED = re.compile(r"(?:\[\[|[a-z]+|[{}!])(?=[\s;&|()<>]|$)")
_REDIRECT = re.compile(r"(?:\d+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|&>>|&>)")


def parse(text: str) -> list[Node]:
    """The commands of a shell text in order. Raises ShellSyntaxError."""
    parser = _Parser(text, 0)
    nodes = parser.sequence(frozenset())
    if parser.at < len(text):
        raise ShellSyntaxError(f"{text[parser.at]!r} closes nothing")
    return nodes


class _Parser(Words):
    def __init__(self, text: str, depth: int) -> None:
        super().__init__(text, depth)
        self._pending: list[tuple[list[Redirect], int, str, bool]] = []

    def sequence(self, stops: frozenset[str], closing: str = "") -> list[Node]:
        """Commands up to a reserved word of `stops`, the text `closing`, or the end."""
        nodes: list[Node] = []
        while True:
            self._skip_separators()
            if self.at >= len(self.text) or (closing and self.text.startswith(closing, self.at)):
                return nodes
            if self.text[self.at] == ")" or self.text.startswith(";;", self.at) or self._reserved() in stops:
                return nodes
            node = self._pipeline()
            self._skip_blanks()
            if self.text.startswith("&", self.at) and not self.text.startswith("&&", self.at):
                self.at += 1
                node = Group([node], has_scope=True)
            elif self.text.startswith(("&&", "||"), self.at):
                self.at += 2
            nodes.append(node)

    def _pipeline(self) -> Node:
        while self._reserved() in ("!", "time"):
            self._take_reserved()
            self._skip_blanks()
            if self.text.startswith("-p", self.at):
                self.at += 2
                self._skip_blanks()
        commands = [self._command()]
        while True:
            self._skip_blanks()
            if not self.text.startswith("|", self.at) or self.text.startswith("||", self.at):
                return commands[0] if len(commands) == 1 else Pipeline(commands)
            self.at += 2 if self.text.startswith("|&", self.at) else 1
            self._skip_separators(semicolons=False)
            commands.append(self._command())

    # commands

    def _command(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ShellSyntaxError("the text nests too deeply")
        try:
            return self._compound() or self._simple()
        finally:
            self.depth -= 1

    def _compound(self) -> Node | None:
        if self.text.startswith("((", self.at):
            self._skip_arithmetic()
            return self._with_redirects(Group([], has_scope=False))
        if self.text.startswith("(", self.at):
            self.at += 1
            group = Group(self.sequence(frozenset(), ")"), has_scope=True)
            self._expect(")")
            return self._with_redirects(group)
        word = self._reserved()
        if word == "{":
            self._take_reserved()
            group = Group(self.sequence(frozenset(("}",))), has_scope=False)
            self._take_reserved("}")
            return self._with_redirects(group)
        if word == "if":
            return self._with_redirects(self._if())
        if word in ("while", "until"):
            self._take_reserved()
            commands = self.sequence(frozenset(("do",)))
            return self._with_redirects(Group(commands + self._do(), has_scope=False))
        if word in ("for", "select"):
            return self._with_redirects(self._for())
        if word == "case":
            return self._with_redirects(self._case())
        if word == "function":
            self._take_reserved()
            self._skip_blanks()
            self._word()
            return self._function_body()
        if word == "[[":
            return self._with_redirects(self._condition())
        return None

    def _if(self) -> Group:
        commands: list[Node] = []
        self._take_reserved("if")
        while True:
            commands += self.sequence(frozenset(("then", "elif", "else", "fi")))
            if self._take_reserved("then", "elif", "else", "fi") == "fi":
                return Group(commands, has_scope=False)

    def _do(self) -> list[Node]:
        self._skip_separators()
        self._take_reserved("do")
        commands = self.sequence(frozenset(("done",)))
        self._take_reserved("done")
        return commands

    def _for(self) -> Loop:
        self._take_reserved()
        self._skip_blanks()
        words: list[Word] = []
        name = ""
        if self.text.startswith("((", self.at):
            self._skip_arithmetic()
        else:
            match = NAME.match(self.text, self.at)
            if match is None:
                raise ShellSyntaxError("a loop names no variable")
            name, self.at = match[0], match.end()
            self._skip_separators(semicolons=False)
            if self._reserved() == "in":
                self._take_reserved()
                while True:
                    self._skip_blanks()
                    if self.at >= len(self.text) or self.text[self.at] in ";\n":
                        break
                    words.append(self._word())
        return Loop(name, words, Group(self._do(), has_scope=False))

    def _case(self) -> Group:
        self._take_reserved("case")
        self._skip_blanks()
        self._word()
        self._skip_separators(semicolons=False)
        self._take_reserved("in")
        commands: list[Node] = []
        while True:
            self._skip_separators()
            if self._reserved() == "esac":
                self._take_reserved()
                return Group(commands, has_scope=False)
            while not self.text.startswith(")", self.at):  # the patterns
                self._skip_blanks()
                if self.at >= len(self.text):
                    raise ShellSyntaxError("a case is not closed")
                if self.text[self.at] in "(|":
                    self.at += 1
                elif self.text[self.at] != ")":
                    self._word()
            self.at += 1
            commands += self.sequence(frozenset(("esac",)))
            for closing in (";;&", ";&", ";;"):
                if self.text.startswith(closing, self.at):
                    self.at += len(closing)
                    break

    def _function_body(self) -> Node:
        self._skip_blanks()
        if self.text.startswith("(", self.at):
            self.at += 1
            self._skip_blanks()
            self._expect(")")
        self._skip_separators(semicolons=False)
        return self._command()

    def _condition(self) -> Group:
        """`[[ … ]]`: its words run nothing except substitutions."""
        self.at += 2
        simple = Simple()
        while True:
            self._skip_separators(semicolons=False)
            if self.at >= len(self.text):
                raise ShellSyntaxError("a condition is not closed")
            if self.text.startswith("]]", self.at):
                self.at += 2
                simple.words = [part for part in simple.words if any(piece.commands for piece in part)]
                return Group([Simple(assignments=[("_", word) for word in simple.words])], has_scope=False)
            if self.text[self.at] in "()<>&|;":
                self.at += 1
            else:
                simple.words.append(self._word())

    def _simple(self) -> Node:
        simple = Simple()
        start = self.at
        while True:
            self._skip_blanks()
            if self._take_redirect(simple.redirects):
                continue
            if self.at >= len(self.text) or self.text[self.at] in "\n|&;)":
                break
            if self.text[self.at] == "(":
                if len(simple.words) == 1 and not simple.assignments:
                    return self._function_body()
                raise ShellSyntaxError("a parenthesis stands inside a command")
            match = _ASSIGNMENT.match(self.text, self.at)
            if match and not simple.words:
                self.at = match.end()
                simple.assignments.append((match[1], self._array() if self._at("(") else self._word(may_be_empty=True)))
            else:
                simple.words.append(self._word())
        if self.at == start:
            raise ShellSyntaxError(f"a command is missing before {self.text[self.at : self.at + 1]!r}")
        return simple

    def _array(self) -> Word:
        self.at += 1
        parts: list[Part] = []
        while True:
            self._skip_separators(semicolons=False)
            if self._at(")"):
                self.at += 1
                return (*(part for part in parts if part.commands), Part("unknown", "", True))
            if self.at >= len(self.text):
                raise ShellSyntaxError("an array is not closed")
            parts.extend(self._word())

    # redirections

    def _with_redirects(self, node: Group | Loop) -> Node:
        redirects: list[Redirect] = []
        while True:
            self._skip_blanks()
            if not self._take_redirect(redirects):
                break
        if isinstance(node, Group):
            node.redirects = redirects
            return node
        return Group([node], has_scope=False, redirects=redirects) if redirects else node

    def _take_redirect(self, redirects: list[Redirect]) -> bool:
        match = _REDIRECT.match(self.text, self.at)
        if match is None:
            return False
        self.at = match.end()
        self._skip_blanks()
        target = self._word()
        if match[1] in ("<<", "<<-"):
            is_quoted = any(part.is_quoted for part in target)
            end = "".join(part.text for part in target)
            self._pending.append((redirects, len(redirects), end, match[1] == "<<-"))
            redirects.append(Redirect(match[1], (Part("text", end, is_quoted),), ""))
        else:
            redirects.append(Redirect(match[1], target, None))
        return True

    def _take_documents(self) -> None:
        """The here-documents that begin after the line that just ended."""
        for redirects, index, end, strips_tabs in self._pending:
            lines = []
            while True:
                if self.at >= len(self.text):
                    break  # a shell accepts a document that ends with the text
                stop = self.text.find("\n", self.at)
                line = self.text[self.at : stop if stop >= 0 else len(self.text)]
                self.at = stop + 1 if stop >= 0 else len(self.text)
                line = line.lstrip("\t") if strips_tabs else line
                if line == end:
                    break
                lines.append(line + "\n")
            redirects[index] = redirects[index]._replace(document="".join(lines))
        self._pending.clear()

    def _skip_separators(self, *, semicolons: bool = True) -> None:
        while True:
            self._skip_blanks()
            if self._at("\n"):
                self.at += 1
                self._take_documents()
            elif semicolons and self._at(";") and not self.text.startswith(";;", self.at):
                self.at += 1
            else:
                return

    def _reserved(self) -> str | None:
        match = _RESERVED.match(self.text, self.at)
        return match[0] if match else None

    def _take_reserved(self, *expected: str) -> str:
        self._skip_separators()
        word = self._reserved()
        if word is None or (expected and word not in expected):
            raise ShellSyntaxError(f"{' or '.join(expected) or 'a reserved word'} is missing")
        self.at += len(word)
        return word
