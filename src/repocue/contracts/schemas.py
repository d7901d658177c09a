"""The packaged JSON Schemas (draft 2020-12): finding, joining, compiling.

A schema file refers to another contract by `urn:repocue:schema:<file name without ending>`. Joined, a contract is
one self-contained schema: what it refers to stands in its `$defs`, so that any validator can use it alone and none
ever fetches anything.
"""

from __future__ import annotations

import functools
import re
from typing import Any

_ENDING = ".schema.json"
_URN = "urn:repocue:schema:"
_NUMBERED = re.compile(r"([a-z0-9][a-z0-9-]*)-([1-9][0-9]*)\Z")

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def stem(contract: str) -> str:
    """The file name, without ending, of a contract's schema: `repocue/evaluation-4` has `evaluation-4`."""
    return "repocue-1" if contract == "repocue/1" else contract.removeprefix("repocue/")


def contract_of(file_stem: str) -> str:
    """The inverse of `stem`."""
    return "repocue/1" if file_stem == "repocue-1" else "repocue/" + file_stem


def family(contract: str) -> tuple[str, int] | None:
    """A contract's name without version, and its version; `("", 1)` for `repocue/1`; None for any other text."""
    if not contract.startswith("repocue/"):
        return None
    name = contract.removeprefix("repocue/")
    if name.isascii() and name.isdecimal() and name[0] != "0":
        return "", int(name[:9])
    match = _NUMBERED.match(name)
    return (match[1], int(match[2][:9])) if match else None


@functools.cache
def contract_names() -> tuple[str, ...]:
    """Every contract that has a schema in this package, `repocue/1` first, then by name and version."""
    from importlib.resources import files

    stems = [entry.name.removesuffix(_ENDING) for entry in (files("repocue") / "data" / "schemas").iterdir()]
    names = [contract_of(name) for name in stems if _NUMBERED.match(name)]
    return tuple(sorted(names, key=lambda name: family(name) or ("", 0)))


@functools.cache
def source(contract: str) -> dict[str, Any]:
    """The schema file of `contract` as it is packaged. Treat the value as read-only."""
    import json
    from importlib.resources import files

    resource = files("repocue") / "data" / "schemas" / (stem(contract) + _ENDING)
    schema: dict[str, Any] = json.loads(resource.read_bytes())
    return schema


@functools.cache
def joined(contract: str) -> dict[str, Any]:
    """The schema of `contract` with everything that it refers to in its own `$defs`. Treat it as read-only."""
    home = stem(contract)
    definitions: dict[str, Any] = {}
    pending = [home]
    done: set[str] = set()
    root: dict[str, Any] = {}
    while pending:
        name = pending.pop()
        if name in done:
            continue
        done.add(name)
        schema, found = _relocate(source(contract_of(name)), name, home)
        pending.extend(found)
        own = schema.pop("$defs", {})
        prefix = "" if name == home else name + "."
        definitions.update({prefix + key: value for key, value in own.items()})
        if name == home:
            root = schema
        else:
            for member in ("$schema", "$id"):
                schema.pop(member, None)
            definitions[name] = schema
    if definitions:
        root["$defs"] = dict(sorted(definitions.items()))
    return root


def _relocate(schema: dict[str, Any], name: str, home: str) -> tuple[dict[str, Any], list[str]]:
    """A copy of the file `name`'s schema whose references hold inside `home`, and the other files it refers to."""
    others: list[str] = []

    def target(reference: str) -> str:
        file, _, fragment = reference.partition("#")
        owner = file.removeprefix(_URN) if file else name
        if owner != name:
            others.append(owner)
        inside = fragment.removeprefix("/$defs/")
        if owner == home:
            return "#" + fragment
        return f"#/$defs/{owner}.{inside}" if inside else f"#/$defs/{owner}"

    def copy(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: target(part) if key == "$ref" and isinstance(part, str) else copy(part)
                for key, part in value.items()
            }
        return [copy(part) for part in value] if isinstance(value, list) else value

    return copy(schema), others


@functools.cache
def kinds(contract: str) -> dict[str, str]:
    """The kinds of a contract and the `$defs` name of each: those branches of a root `oneOf` that fix `kind`."""
    schema = joined(contract)
    result: dict[str, str] = {}
    for branch in schema.get("oneOf", ()):
        name = branch.get("$ref", "").removeprefix("#/$defs/")
        kind = schema.get("$defs", {}).get(name, {}).get("properties", {}).get("kind", {}).get("const")
        if isinstance(kind, str):
            result[kind] = name
    return result


@functools.cache
def for_kind(contract: str, kind: str | None) -> dict[str, Any]:
    """The joined schema of one kind; of the whole contract where `kind` is None."""
    schema = joined(contract)
    if kind is None:
        return schema
    return {"$schema": DIALECT, "$ref": "#/$defs/" + kinds(contract)[kind], "$defs": schema["$defs"]}


@functools.cache
def forms(contract: str) -> dict[str, str]:
    """Pattern to the words that say the same, from the `x-form` that stands beside it in the schema."""
    found: dict[str, str] = {}

    def search(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("x-form"), str) and isinstance(value.get("pattern"), str):
                found[value["pattern"]] = value["x-form"]
            for part in value.values():
                search(part)
        elif isinstance(value, list):
            for part in value:
                search(part)

    search(joined(contract))
    return found


@functools.cache
def validator(contract: str, kind: str | None) -> Any:
    """The compiled validator: formats are checked and nothing is ever fetched."""
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(
        for_kind(contract, kind), validate_formats=True, ignore_unknown_formats=False, offline=True
    )


def for_provider(contract: str) -> dict[str, Any]:
    """An answer's schema as it is handed to a provider: joined, without the members that only describe it."""

    def strip(value: Any, *, names: bool = False) -> Any:
        if isinstance(value, dict):
            return {
                key: strip(part, names=key in ("properties", "$defs") and not names)
                for key, part in value.items()
                if names or (key not in ("$schema", "$id", "title", "description") and not key.startswith("x-"))
            }
        return [strip(part) for part in value] if isinstance(value, list) else value

    result: dict[str, Any] = strip(joined(contract))
    return result
