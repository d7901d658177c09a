"""Binding an independent assessment to what was assessed, by digest. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def broken_bindings(entry: Mapping[str, Any], binding: Mapping[str, Any]) -> list[str]:
    """The members of `binding` in which an assessment's entry differs; empty where it is bound to exactly this.

    `source_ids` are compared as sets.
    """
    return [name for name, expected in binding.items() if _comparable(name, entry[name]) != _comparable(name, expected)]


def _comparable(name: str, value: Any) -> Any:
    return sorted(value) if name == "source_ids" else value
