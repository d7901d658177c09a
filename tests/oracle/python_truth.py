"""What Python's own parser says about a source file, in the oracle's terms.

A claim and a fact are compared by the parser's view of a signature (`ast.dump` of parameters, result and bases), so
that the oracle's spelling of it may differ in white space and in nothing else.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

Fact = tuple[str, str, object]
"""(kind, qualified name, what the parser says of the rest)."""

KINDS = ("class", "function", "method", "import")


def facts(source: bytes) -> set[Fact]:
    """Every class, function, method and import outside functions. Raises SyntaxError or ValueError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return set(_facts(ast.parse(source).body, ""))


def _facts(body: Iterable[ast.AST], owner: str) -> Iterator[Fact]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield "class", owner + node.name, _bases(node)
            yield from _facts(node.body, f"{owner}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield "method" if owner else "function", owner + node.name, _callable(node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield "import", alias.name, f"as {alias.asname}" if alias.asname else ""
        elif isinstance(node, ast.ImportFrom):
            names = [f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in node.names]
            yield "import", "." * node.level + (node.module or ""), ", ".join(names)
        else:
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                inner = getattr(node, name, [])
                if isinstance(inner, list):
                    yield from _facts(inner, owner)


def _bases(node: ast.ClassDef) -> object:
    return tuple(map(ast.dump, node.bases)), tuple((each.arg, ast.dump(each.value)) for each in node.keywords)


def _callable(node: ast.FunctionDef | ast.AsyncFunctionDef) -> object:
    result = ast.dump(node.returns) if node.returns else None
    return isinstance(node, ast.AsyncFunctionDef), ast.dump(node.args), result


def claim(kind: str, name: str, signature: str) -> Fact:
    """A candidate of the oracle as a fact. Raises SyntaxError where its signature is none."""
    if kind == "import":
        return kind, name, signature
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "class":
            (node,) = ast.parse(f"class x{signature}: pass").body
            assert isinstance(node, ast.ClassDef)
            return kind, name, _bases(node)
        (node,) = ast.parse(
            f"{'async ' * signature.startswith('async ')}def x{signature.removeprefix('async ')}: pass"
        ).body
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return kind, name, _callable(node)


@dataclass(slots=True)
class Comparison:
    """Claims held against facts, file by file."""

    wrong: list[str] = field(default_factory=list)
    stated: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    """Facts that were reported whole, by kind."""
    named: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    """Facts that were reported, perhaps without their signature."""
    total: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    missed: list[str] = field(default_factory=list)

    def add(self, path: str, source: bytes, claims: Iterable[tuple[str, str, str]]) -> None:
        """Compare one file."""
        truth = facts(source)
        known = {fact[:2] for fact in truth}
        whole: set[Fact] = set()
        bare: set[tuple[str, str]] = set()
        for kind, name, signature in claims:
            try:
                stated = claim(kind, name, signature)
            except SyntaxError:
                stated = ("", "", None)
            if stated in truth:
                whole.add(stated)
            elif signature == "" and (kind, name) in known:
                bare.add((kind, name))
            else:
                self.wrong.append(f"{path}: {kind} {name} {signature}")
        for fact in truth:
            kind = fact[0]
            self.total[kind] += 1
            self.stated[kind] += fact in whole
            self.named[kind] += fact in whole or fact[:2] in bare
            if fact not in whole and fact[:2] not in bare:
                self.missed.append(f"{path}: {kind} {fact[1]}")

    def share(self, kind: str) -> float:
        """The share of the facts of a kind that was found."""
        return self.named[kind] / self.total[kind]
