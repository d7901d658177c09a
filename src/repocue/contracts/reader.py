"""The strict reader (ARCHITECTURE §5): bytes in, a checked document out, or one error with a JSON pointer.

The order is fixed: text (`jsontext`), then the contract's name and version, then that version's schema, then its
runtime rules. `convert` is the last step, for callers that want typed values. Nothing here prints, reads a file or
asks the clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeVar

from repocue.contracts import canonical, registry, schemas
from repocue.contracts.jsontext import DEFAULT_LIMITS, Limits, read_json
from repocue.contracts.problems import Problem, contract_error, pointer, shown
from repocue.contracts.registry import NO_CONTEXT, Context
from repocue.errors import ContractError

__all__ = [
    "DEFAULT_LIMITS",
    "Context",
    "Limits",
    "check",
    "convert",
    "identify",
    "problems",
    "read",
    "read_canonical",
    "read_json",
]

T = TypeVar("T")

_NEWER_HINT = "A newer RepoCue may read it; `repocue schema list` shows what this one reads."


def read(
    data: bytes,
    *,
    contract: str | tuple[str, ...] | None,
    kind: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    context: Context = NO_CONTEXT,
    subject: str | None = None,
) -> dict[str, Any]:
    """The document in `data`, which must be of `contract` (one of them; None: any known one) and of `kind`.

    Members keep their order, absent members stay absent. `subject` names the document in messages, for example a
    path. Raises ContractError for the first fault found, in the order text, version, schema, rules.
    """
    document = read_json(data, limits=limits, subject=subject or "the document")
    check(document, contract=contract, kind=kind, context=context, subject=subject)
    result: dict[str, Any] = document
    return result


def read_canonical(
    data: bytes,
    *,
    contract: str | tuple[str, ...],
    kind: str | None = None,
    indent: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    context: Context = NO_CONTEXT,
    subject: str | None = None,
) -> dict[str, Any]:
    """`read` for files that RepoCue wrote: the bytes must also be exactly the canonical form of what they say."""
    document = read(data, contract=contract, kind=kind, limits=limits, context=context, subject=subject)
    if canonical.document(document, indent=indent) != data:
        raise ContractError(
            f"{subject or 'the document'} is not in the form in which RepoCue writes it",
            pointer="",
            code="contract.not-canonical",
            hint="It was edited or written by another program after RepoCue wrote it.",
        )
    return document


def check(
    document: Any,
    *,
    contract: str | tuple[str, ...] | None,
    kind: str | None = None,
    context: Context = NO_CONTEXT,
    subject: str | None = None,
) -> str:
    """Hold a value, already parsed, to its contract from the version on; returns the contract's name."""
    name = identify(document, contract=contract, subject=subject)
    subject = f"{subject} ({name})" if subject else name
    found_kind = _kind(document, name, kind, subject)
    faults = _schema_problems(document, name, found_kind)
    if faults:
        raise contract_error(faults, code="schema", subject=subject)
    faults = list(_rule_problems(document, name, context))
    if faults:
        raise contract_error(faults, code="rule", subject=subject)
    return name


def identify(document: Any, *, contract: str | tuple[str, ...] | None = None, subject: str | None = None) -> str:
    """The contract that a parsed value declares; raises ContractError where it is none, unknown or not `contract`."""
    subject = subject or "the document"
    if not isinstance(document, dict):
        raise contract_error([Problem("", "must be an object")], code="version", subject=subject)
    declared = document.get("schema_version")
    if "schema_version" not in document:
        raise contract_error(
            [Problem("", 'the member "schema_version", which names the contract, is missing')],
            code="version",
            subject=subject,
        )
    where = "/schema_version"
    if not isinstance(declared, str):
        raise contract_error([Problem(where, "must be a string")], code="version", subject=subject)
    wanted = (contract,) if isinstance(contract, str) else contract
    if wanted is not None and declared in wanted:
        return declared
    if not registry.is_known(declared):
        raise contract_error(
            [Problem(where, registry.why_unknown(declared))], code="version", subject=subject, hint=_NEWER_HINT
        )
    if wanted is None:
        return declared
    names = " or ".join(wanted)
    raise contract_error(
        [Problem(where, f"{names} is wanted here, not {shown(declared)}")], code="version", subject=subject
    )


def problems(document: Any, *, context: Context = NO_CONTEXT) -> list[Problem]:
    """Every fault of a parsed value by the contract it declares, schema faults first and rules only without them.

    Raises ContractError where it declares no known contract or kind.
    """
    name = identify(document)
    faults = _schema_problems(document, name, _kind(document, name, None, name))
    return faults or list(_rule_problems(document, name, context))


def _schema_problems(document: Any, contract: str, kind: str | None) -> list[Problem]:
    """The schema step alone."""
    from repocue.contracts.validation import schema_problems

    return schema_problems(document, contract, kind)


def _rule_problems(document: Any, contract: str, context: Context = NO_CONTEXT) -> Iterator[Problem]:
    """The runtime rules alone; the document must satisfy its schema."""
    rule = registry.rule(contract)
    if rule is not None:
        yield from rule(document, context)


def _kind(document: dict[str, Any], contract: str, wanted: str | None, subject: str) -> str | None:
    """The document's kind where its contract has kinds, checked against `wanted`."""
    known = schemas.kinds(contract)
    if not known:
        return None
    allowed = [wanted] if wanted is not None else list(known)
    declared = document.get("kind")
    if isinstance(declared, str) and declared in allowed:
        return declared
    if "kind" not in document:
        problem = Problem("", 'the member "kind" is missing')
    elif isinstance(declared, str):
        problem = Problem("/kind", f'must be {" or ".join(allowed)}, not "{shown(declared)}"')
    else:
        problem = Problem("/kind", "must be a string")
    raise contract_error([problem], code="schema", subject=subject)


_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+|\.\.\.)\]")


def convert(value: Any, type_: type[T], *, subject: str = "the document") -> T:
    """`value` as `type_` (a msgspec Struct as a rule). Absent members are `msgspec.UNSET`, null is None.

    Refuses 1.0, 1e3 and true where an integer must stand. With a Struct that does not forbid unknown fields this is
    the lenient way to read what a provider sent. Raises ContractError.
    """
    import msgspec

    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at ")
        steps = [name or index for name, index in _STEP.findall(path.strip("`"))]
        problem = Problem(pointer(steps), message.replace("`", '"'))
        raise contract_error([problem], code="schema", subject=subject) from None
