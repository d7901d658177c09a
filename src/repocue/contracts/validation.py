"""A document against its schema: every fault with its pointer, in words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repocue.contracts import schemas
from repocue.contracts.problems import Problem, literal, pointer, shown, token

MAX_PROBLEMS = 50
"""More faults than this are not listed: the first ones are what a person mends."""

_ARTICLES = {"array": "an array", "integer": "an integer", "object": "an object", "null": "null"}


def schema_problems(document: Any, contract: str, kind: str | None = None) -> list[Problem]:
    """What is wrong with `document` by the schema of `contract`, at most `MAX_PROBLEMS`, in document order.

    JSON Schema calls 1.0 and 1e3 integers; contracts do not, so a float where an integer must stand is a fault.
    """
    validator = schemas.validator(contract, kind)
    forms = schemas.forms(contract)
    found = _collect(validator, document, forms)
    if not found:
        rewritten = _with_fractions(document)
        if rewritten is not None:
            found = [
                Problem(problem.pointer, "must be an integer, written without fraction or exponent")
                for problem in _collect(validator, rewritten, forms, only=("type", "enum", "const", "anyOf", "oneOf"))
            ]
    if not found:
        return []
    position = _positions(document)
    return sorted(found, key=lambda problem: position(problem.pointer))[:MAX_PROBLEMS]


def _collect(
    validator: Any, document: Any, forms: Mapping[str, str], only: tuple[str, ...] | None = None
) -> list[Problem]:
    errors = itertools.islice(validator.iter_errors(document), MAX_PROBLEMS)
    leaves = [leaf for error in errors for leaf in _leaves(error, document)]
    mistyped = {tuple(leaf.instance_path) for leaf in leaves if leaf.kind.name == "type"}
    problems: list[Problem] = []
    for leaf in leaves:
        # A value of the wrong type is also none of the options: that need not be said.
        is_told = leaf.kind.name in ("enum", "const") and tuple(leaf.instance_path) in mistyped
        if not is_told and (only is None or leaf.kind.name in only):
            problems.extend(_describe(leaf, document, forms))
    return list(dict.fromkeys(problems))


def _leaves(error: Any, document: Any) -> Iterator[Any]:
    """The errors that explain `error`: for alternatives, those of the branch that was plainly meant."""
    if error.kind.name not in ("anyOf", "oneOf") or not getattr(error.kind, "context", None):
        yield error
        return
    # The branch that was meant accepts the value's type and, where a constant tells branches apart, that constant;
    # of several, the one with fewest faults.
    here = list(error.instance_path)

    def misfit(branch: list[Any]) -> tuple[int, int, int]:
        wrong_type = sum(1 for e in branch if e.kind.name == "type" and list(e.instance_path) == here)
        wrong_constant = sum(1 for e in branch if e.kind.name == "const" and len(e.instance_path) == len(here) + 1)
        return wrong_type, wrong_constant, len(branch)

    branches = list(error.kind.context)
    best = min(branches, key=misfit)
    if misfit(best)[0] and len(branches) > 1:
        yield error  # no branch accepts even the type
        return
    for part in best:
        yield from _leaves(part, document)


def _describe(error: Any, document: Any, forms: Mapping[str, str]) -> Iterator[Problem]:
    kind = error.kind
    path = list(error.instance_path)
    where = pointer(path)
    value = _at(document, path)
    match kind.name:
        case "additionalProperties" | "unevaluatedProperties":
            for name in kind.unexpected:
                yield Problem(where + token(name), "unknown member")
        case "required":
            yield Problem(where, f'the member "{shown(kind.property)}" is missing')
        case "type":
            yield Problem(where, f"must be {_types(kind.types)}, not {_type_of(value, kind.types)}")
        case "enum":
            options = ", ".join(_literal(option) for option in kind.options)
            yield Problem(where, f"must be {'one of ' * (len(kind.options) > 1)}{options}, not {_literal(value)}")
        case "const":
            yield Problem(where, f"must be {_literal(kind.expected_value)}, not {_literal(value)}")
        case "minimum":
            yield Problem(where, f"must be at least {kind.limit}, not {_literal(value)}")
        case "maximum":
            yield Problem(where, f"must be at most {kind.limit}, not {_literal(value)}")
        case "exclusiveMinimum":
            yield Problem(where, f"must be greater than {kind.limit}, not {_literal(value)}")
        case "minItems":
            yield Problem(where, f"must have at least {kind.limit} item{'s' * (kind.limit != 1)}, not {len(value)}")
        case "maxItems":
            yield Problem(where, f"must have at most {kind.limit} item{'s' * (kind.limit != 1)}, not {len(value)}")
        case "minLength":
            yield Problem(where, "must not be empty" if kind.limit == 1 else f"must have {kind.limit} characters")
        case "maxLength":
            yield Problem(where, f"must have at most {kind.limit} characters, not {len(value)}")
        case "uniqueItems":
            yield Problem(where, "holds the same item twice")
        case "pattern":
            form = forms.get(kind.pattern) or f"text of the form {kind.pattern}"
            yield Problem(where, f"must be {form}, not {_literal(value)}")
        case "format":
            yield Problem(where, f"{_literal(value)} is not a valid {kind.format}")
        case "anyOf" | "oneOf":
            wrong = [part for branch in kind.context for part in branch if part.kind.name == "type"]
            found = [name for part in wrong if list(part.instance_path) == path for name in part.kind.types]
            types = list(dict.fromkeys(found))
            yield Problem(where, f"must be {_types(types)}, not {_type_of(value, types)}")
        case _:
            yield Problem(where, _fallback(error.message))


def _fallback(message: str) -> str:
    return shown(message[:1].lower() + message[1:])


def _at(document: Any, path: list[str | int]) -> Any:
    for step in path:
        document = document[step]
    return document


def _types(types: list[str]) -> str:
    names = [_ARTICLES.get(name, "a " + name) for name in types if name != "null"]
    if "null" in types:
        names.append("null")
    return " or ".join(names)


def _type_of(value: Any, wanted: Sequence[str] = ()) -> str:
    if isinstance(value, float) and "integer" in wanted:
        return "a fraction"
    if value is None:
        return "null"
    for types, name in (
        ((bool,), "a boolean"),
        ((int, float), "a number"),
        ((str,), "a string"),
        ((list,), "an array"),
    ):
        if isinstance(value, types):
            return name
    return "an object"


def _literal(value: Any) -> str:
    """A scalar as JSON, cut where it is long; anything else by its type."""
    if isinstance(value, dict | list):
        return _type_of(value)
    return literal(value)


def _with_fractions(value: Any) -> Any | None:
    """A copy in which every float without a fraction has one, or None where there is no such float."""
    if not _holds_whole_float(value):
        return None

    def rewrite(part: Any) -> Any:
        if isinstance(part, float) and part.is_integer():
            return math.copysign(0.5, part)
        if isinstance(part, dict):
            return {name: rewrite(member) for name, member in part.items()}
        return [rewrite(item) for item in part] if isinstance(part, list) else part

    return rewrite(value)


def _holds_whole_float(value: Any) -> bool:
    """Asked of every document that is valid, so it copies nothing."""
    if isinstance(value, dict):
        return any(map(_holds_whole_float, value.values()))
    if isinstance(value, list):
        return any(map(_holds_whole_float, value))
    return isinstance(value, float) and value.is_integer()


def _positions(document: Any) -> Any:
    """A sort key for pointers: the place of their value in the document, parents before their parts."""
    order: dict[str, int] = {}

    def walk(value: Any, where: str) -> None:
        order[where] = len(order)
        if isinstance(value, Mapping):
            for name, member in value.items():
                walk(member, where + token(name))
        elif isinstance(value, list):
            for position, item in enumerate(value):
                walk(item, where + token(position))

    walk(document, "")
    return lambda where: order.get(where, len(order))
