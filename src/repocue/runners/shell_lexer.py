"""The words of shell text: quotes, escapes, expansions and substitutions, as a POSIX shell with bash's additions."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from repocue.runners.shell_tree import MAX_DEPTH, Node, Part, ShellSyntaxError, Word

BLANKS = " \t"
METACHARACTERS = " \t\n|&;()<>"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ANSI_C = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL)
_ANSI_C_LETTERS = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}


class Words(ABC):
    """A position in a text, and the reading of words from there. Every method leaves `at` behind what it read."""

    def __init__(self, text: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise ShellSyntaxError("the text nests too deeply")
        self.text = text
        self.at = 0
        self.depth = depth

    @abstractmethod
    def sequence(self, stops: frozenset[str], closing: str = "") -> list[Node]:
        """Commands up to a reserved word of `stops`, the text `closing`, or the end."""

    def _word(self, *, may_be_empty: bool = False) -> Word:
        parts: list[Part] = []
        start = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "<>" and self.text.startswith("(", self.at + 1):
                self.at += 2
                parts.append(self._substitution(is_quoted=True))
            elif char in METACHARACTERS:
                break
            else:
                self._piece(parts, char)
        if self.at == start and not may_be_empty:
            raise ShellSyntaxError("a word is missing")
        return tuple(parts)

    def _piece(self, parts: list[Part], char: str) -> None:
        if char == "\\":
            following = self.text[self.at + 1 : self.at + 2]
            self.at += 2
            if following != "\n":  # at the very end of a text a backslash is itself
                parts.append(Part("text", following or "\\", True))
        elif char == "'":
            parts.append(Part("text", self._until("'"), True))
        elif char == '"':
            self.at += 1
            self._double_quoted(parts)
        elif char == "$" and self.text.startswith("'", self.at + 1):
            self.at += 1
            parts.append(Part("text", self._ansi_c(), True))
        elif char == "$" and self.text.startswith('"', self.at + 1):
            self.at += 2
            self._double_quoted(parts)
        elif char in "$`":
            parts.append(self._expansion(is_quoted=False))
        else:
            end = self.at + 1
            while end < len(self.text) and self.text[end] not in METACHARACTERS and self.text[end] not in "\\'\"$`":
                end += 1
            parts.append(Part("text", self.text[self.at : end], False))
            self.at = end

    def _double_quoted(self, parts: list[Part]) -> None:
        plain: list[str] = []
        while True:
            char = self.text[self.at : self.at + 1]
            if not char:
                raise ShellSyntaxError("a double quote is not closed")
            if char == '"':
                self.at += 1
                parts.append(Part("text", "".join(plain), True))
                return
            if char == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                plain.append(following if following in '$`"\\' else "" if following == "\n" else "\\" + following)
                self.at += 2
            elif char in "$`":
                parts.append(Part("text", "".join(plain), True))
                plain.clear()
                parts.append(self._expansion(is_quoted=True))
            else:
                plain.append(char)
                self.at += 1

    def _expansion(self, *, is_quoted: bool) -> Part:
        if self._at("`"):
            return self._backticks(is_quoted)
        if self.text.startswith("$((", self.at):
            self.at += 1
            self._skip_arithmetic()
            return Part("unknown", "", is_quoted)
        if self.text.startswith("$(", self.at):
            self.at += 2
            return self._substitution(is_quoted)
        if self.text.startswith("${", self.at):
            return self._braced(is_quoted)
        match = NAME.match(self.text, self.at + 1)
        if match:
            self.at = match.end()
            return Part("variable", match[0], is_quoted)
        if self.text[self.at + 1 : self.at + 2] in tuple("0123456789@*#?$!-"):
            self.at += 2
            return Part("unknown", "", is_quoted)
        self.at += 1
        return Part("text", "$", True)

    def _substitution(self, is_quoted: bool) -> Part:
        inner = type(self)(self.text, self.depth + 1)
        inner.at = self.at
        commands = inner.sequence(frozenset(), ")")
        self.at = inner.at
        self._expect(")")
        return Part("commands", "", is_quoted, tuple(commands))

    def _backticks(self, is_quoted: bool) -> Part:
        plain: list[str] = []
        self.at += 1
        while True:
            char = self.text[self.at : self.at + 1]
            if not char:
                raise ShellSyntaxError("a backtick is not closed")
            if char == "`":
                self.at += 1
                inner = type(self)("".join(plain), self.depth + 1)
                commands = inner.sequence(frozenset())
                return Part("commands", "", is_quoted, tuple(commands))
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ("`", "\\", "$"):
                self.at += 1
            plain.append(self.text[self.at : self.at + 1])
            self.at += 1

    def _braced(self, is_quoted: bool) -> Part:
        """`${…}`: a plain name is a variable; everything cleverer is unknown, but what it runs is kept."""
        self.at += 2
        match = NAME.match(self.text, self.at)
        if match and self.text.startswith("}", match.end()):
            self.at = match.end() + 1
            return Part("variable", match[0], is_quoted)
        commands: list[Node] = []
        parts: list[Part] = []
        while True:
            char = self.text[self.at : self.at + 1]
            if not char:
                raise ShellSyntaxError("a parameter expansion is not closed")
            if char == "}":
                self.at += 1
                return Part("unknown", match[0] if match else "", is_quoted, tuple(commands))
            if char in "\\'\"$`" and not (char == "'" and is_quoted):
                parts.clear()
                self._piece(parts, char)
                commands += [node for part in parts for node in part.commands]
            else:
                self.at += 1

    def _at(self, char: str) -> bool:
        return self.text.startswith(char, self.at)

    def _expect(self, char: str) -> None:
        if not self._at(char):
            raise ShellSyntaxError(f"{char!r} is missing")
        self.at += len(char)

    def _until(self, quote: str) -> str:
        end = self.text.find(quote, self.at + 1)
        if end < 0:
            raise ShellSyntaxError("a single quote is not closed")
        inside = self.text[self.at + 1 : end]
        self.at = end + 1
        return inside

    def _ansi_c(self) -> str:
        end = self.at + 1
        while end < len(self.text) and self.text[end] != "'":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise ShellSyntaxError("a quote is not closed")
        inside = self.text[self.at + 1 : end]
        self.at = end + 1
        return _ANSI_C.sub(_ansi_c_character, inside)

    def _skip_arithmetic(self) -> None:
        """From the first of `((` past the matching `))`."""
        level = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            level += (char == "(") - (char == ")")
            self.at += 1
            if level == 0:
                return
        raise ShellSyntaxError("an arithmetic expression is not closed")

    def _skip_blanks(self) -> None:
        while self.at < len(self.text):
            if self.text[self.at] in BLANKS:
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif self.text[self.at] == "#" and (self.at == 0 or self.text[self.at - 1] in METACHARACTERS):
                end = self.text.find("\n", self.at)
                self.at = end if end >= 0 else len(self.text)
            else:
                return


def _ansi_c_character(match: re.Match[str]) -> str:
    hexadecimal, short, long, octal, letter = match.groups()
    if letter is not None:
        return _ANSI_C_LETTERS.get(letter, letter if letter in "\\'\"?" else "\\" + letter)
    code = int(octal, 8) & 0xFF if octal else int(hexadecimal or short or long, 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "�"
