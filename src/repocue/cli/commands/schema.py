"""`repocue schema`: the contracts that documents name, their schemas, and whether a document keeps its contract."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from typing import Any

import click

from repocue.cli.app import Group
from repocue.cli.options import Invocation, common_options
from repocue.cli.output import emit
from repocue.errors import RepoCueError, UsageError

_VERSION = "repocue/schema-1"


@click.group(
    "schema",
    cls=Group,
    examples=("repocue schema list", "repocue schema show repocue/task-1", "repocue schema validate task.json"),
)
def command() -> None:
    """List, show and check the contracts of RepoCue's JSON documents.

    Every document names its contract in its first member, schema_version.
    """


@command.command("list")
@common_options
def list_contracts(invocation: Invocation) -> None:
    """List the contracts that this version knows."""
    from repocue.contracts import registry, schemas

    contracts = [
        {
            "name": name,
            "title": schemas.source(name)["title"],
            "kinds": list(schemas.kinds(name)),
            "use": "import-only" if name in registry.IMPORT_ONLY else "read-write",
        }
        for name in schemas.contract_names()
    ]
    emit(invocation, {"schema_version": _VERSION, "kind": "list", "contracts": contracts}, _list_text)


@command.command("show")
@click.argument("name")
@common_options
def show(invocation: Invocation, name: str) -> None:
    """Show the JSON Schema (draft 2020-12) of the contract NAME.

    NAME is as documents write it, or without "repocue/". The schema stands alone: what it refers to is part of it.
    In text form the members are shown as a table.
    """
    from repocue.contracts import pages, registry, schemas

    contract = name if name.startswith("repocue/") else "repocue/" + name
    if not registry.is_known(contract):
        raise UsageError(registry.why_unknown(contract), hint="See 'repocue schema list'.")
    emit(invocation, schemas.joined(contract), lambda _: pages.page(contract), indent=True)


@command.command("validate")
@click.argument("file")
@common_options
def validate(invocation: Invocation, file: str) -> int:
    """Check the document in FILE (- for standard input) against the contract it names.

    Lists what is wrong, each fault with its JSON pointer, and then ends with exit code 1. Dates of prices are held
    to today's UTC date.
    """
    from repocue.contracts import reader, schemas
    from repocue.domain import paths
    from repocue.errors import ContractError

    data = _read(file, reader.DEFAULT_LIMITS.max_bytes)
    today = datetime.now(UTC).date().isoformat()
    contract: str | None = None
    kind: str | None = None
    try:
        document = reader.read_json(data, subject="the file")
        contract = reader.identify(document, subject="the file")
        declared = document.get("kind") if schemas.kinds(contract) else None
        kind = declared if isinstance(declared, str) else None
        faults: list[tuple[str | None, str]] = list(reader.problems(document, context=reader.Context(today=today)))
    except ContractError as error:
        faults = [(error.pointer, error.message)]
    answer = {
        "schema_version": _VERSION,
        "kind": "validation",
        "file": paths.display(os.fsencode(file)),
        "contract": contract,
        "document_kind": kind,
        "valid": not faults,
        "problems": [{"pointer": pointer, "message": message} for pointer, message in faults],
    }
    emit(invocation, answer, _validation_text)
    return 1 if faults else 0


def _read(file: str, limit_bytes: int) -> bytes:
    """At most one byte more than the limit, so that the reader can say that it is passed."""
    from repocue.domain import paths

    try:
        if file == "-":
            if sys.stdin is None:
                raise OSError("standard input is closed")
            return sys.stdin.buffer.read(limit_bytes + 1)
        with open(file, "rb") as stream:
            return stream.read(limit_bytes + 1)
    except OSError as error:
        name = "standard input" if file == "-" else paths.display(os.fsencode(file))
        raise RepoCueError(f"{name} cannot be read: {error.strerror or error}", code="file.unreadable") from error


def _list_text(answer: dict[str, Any]) -> str:
    width = max(len(entry["name"]) for entry in answer["contracts"])
    return "\n".join(f"{entry['name']:<{width}}  {entry['title']}" for entry in answer["contracts"])


def _validation_text(answer: dict[str, Any]) -> str:
    contract = answer["contract"] or "no known contract"
    kind = f", kind {answer['document_kind']}" if answer["document_kind"] else ""
    name = "standard input" if answer["file"] == "-" else answer["file"]
    if answer["valid"]:
        return f"{name}: keeps {contract}{kind}"
    lines = [f"{name}: breaks {contract}{kind}" if answer["contract"] else f"{name}: {contract}"]
    for problem in answer["problems"]:
        where = "" if problem["pointer"] is None else (problem["pointer"] or "(the whole document)") + ": "
        lines.append(f"  {where}{problem['message']}")
    return "\n".join(lines)
