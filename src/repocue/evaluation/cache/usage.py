"""Usage of one response as disjoint token categories; unknown stays unknown (seed, "Accounting and quality")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from repocue.contracts.problems import Problem, contract_error
from repocue.domain.measurement import MAX_COUNTER
from repocue.errors import ContractError

Ttl = Literal["5m", "1h"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one response; None is unknown, 0 was observed.

    Ordinary input, the two lifetimes of cache writes, cache reads and output are disjoint and priced once each.
    `cache_creation_input_tokens` is the two lifetimes' sum and `thinking_tokens` a part of output: neither is added.
    """

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None

    def to_json(self) -> dict[str, int | None]:
        """The members of a summary's `usage`, in their order."""
        return asdict(self)

    @property
    def is_complete(self) -> bool:
        """Whether every category that has a price is known."""
        return None not in (
            self.input_tokens,
            self.ephemeral_5m_input_tokens,
            self.ephemeral_1h_input_tokens,
            self.cache_read_input_tokens,
            self.output_tokens,
        )

    @property
    def has_cache_access(self) -> bool:
        """Whether a cache write or read was observed."""
        written = (
            self.cache_creation_input_tokens,
            self.ephemeral_5m_input_tokens,
            self.ephemeral_1h_input_tokens,
        )
        return any(count for count in (*written, self.cache_read_input_tokens))


UNKNOWN = Usage()


def read(usage: Mapping[str, Any] | None, *, ttl: Ttl | None) -> Usage:
    """The categories of a response's `usage` object.

    `ttl` is the only lifetime that the request named, None where it named none. Raises ContractError for a counter
    that is no integer from 0 to 2^53-1, for lifetimes that contradict their aggregate, and for more thinking than
    output: numbers that cannot all be true are not used in part.
    """
    if usage is None:
        return UNKNOWN
    total = _counter(usage, "cache_creation_input_tokens", "/usage")
    parts = _object(usage, "cache_creation")
    five = _counter(parts, "ephemeral_5m_input_tokens", "/usage/cache_creation")
    hour = _counter(parts, "ephemeral_1h_input_tokens", "/usage/cache_creation")
    five, hour = _lifetimes(total, five, hour, ttl)
    output = _counter(usage, "output_tokens", "/usage")
    thinking = _counter(_object(usage, "output_tokens_details"), "thinking_tokens", "/usage/output_tokens_details")
    if output is not None and thinking is not None and thinking > output:
        raise _error(
            "/usage/output_tokens_details/thinking_tokens", f"is {thinking}, more than the output of {output} it is in"
        )
    return Usage(
        input_tokens=_counter(usage, "input_tokens", "/usage"),
        cache_creation_input_tokens=total,
        ephemeral_5m_input_tokens=five,
        ephemeral_1h_input_tokens=hour,
        cache_read_input_tokens=_counter(usage, "cache_read_input_tokens", "/usage"),
        output_tokens=output,
        thinking_tokens=thinking,
    )


def _lifetimes(total: int | None, five: int | None, hour: int | None, ttl: Ttl | None) -> tuple[int | None, int | None]:
    """The two lifetimes of cache writes; an absent one is filled in only where nothing else is possible.

    Nothing else is possible where all of the aggregate is accounted for, or where what is left can only have the one
    lifetime that the request named.
    """
    if total is None:
        return five, hour
    if (five or 0) + (hour or 0) > total or (five is not None and hour is not None and five + hour < total):
        raise _error(
            "/usage/cache_creation",
            f"the lifetimes {five} and {hour} contradict cache_creation_input_tokens, {total}",
        )
    left = total - (five or 0) - (hour or 0)
    if five is None and hour is None:
        if left == 0:
            return 0, 0
        return {"5m": (left, 0), "1h": (0, left), None: (None, None)}[ttl]
    if five is None and (left == 0 or ttl == "5m"):
        return left, hour
    if hour is None and (left == 0 or ttl == "1h"):
        return five, left
    return five, hour


def _object(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _error(f"/usage/{name}", "must be an object")
    return found


def _counter(value: Mapping[str, Any], name: str, where: str) -> int | None:
    found = value.get(name)
    if found is None:
        return None
    if type(found) is not int or not 0 <= found <= MAX_COUNTER:
        raise _error(f"{where}/{name}", f"must be an integer from 0 to {MAX_COUNTER}")
    return found


def _error(pointer: str, message: str) -> ContractError:
    return contract_error([Problem(pointer, message)], code="usage", subject="the response")
