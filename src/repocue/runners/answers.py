"""An agent's final answer, held to its contract."""

from __future__ import annotations

from typing import Any

from repocue.errors import ContractError


def read_answer(text: str | None, contract: str) -> tuple[dict[str, Any] | None, str]:
    """The answer and "", or None and why it is none: there is no text, or the text breaks the contract."""
    from repocue.contracts import reader

    if text is None or not text.strip():
        return None, "there is no final message"
    try:
        return reader.read(text.encode(), contract=contract, subject="the answer"), ""
    except UnicodeEncodeError:
        return None, "it holds characters that are not Unicode"
    except ContractError as error:
        return None, error.message
