"""Numbers as people read them: exact in tables, rounded only where the exact one stands behind it. Pure."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final, Literal, NamedTuple

Unit = Literal["tokens", "ms", "bytes", "count"]

MINUS: Final = "\N{MINUS SIGN}"
THIN: Final = "\N{NARROW NO-BREAK SPACE}"

_DURATIONS: Final = ((Decimal(3_600_000), "h"), (Decimal(60_000), "min"), (Decimal(1000), "s"))
_SIZES: Final = ((Decimal(10**9), "GB"), (Decimal(10**6), "MB"), (Decimal(10**3), "kB"))


class Axis(NamedTuple):
    """How a chart shows a unit: values are divided by `divisor`, the axis is called `title`."""

    divisor: float
    title: str
    symbol: str = ""

    def short(self, value: float) -> str:
        """A signed value in this axis's unit: `+1,200`, `−0.5 s`."""
        text = _short(Decimal(repr(value)) / Decimal(self.divisor)) + (THIN + self.symbol if self.symbol else "")
        return f"+{text}" if value > 0 else text


def exact(value: float) -> str:
    """Every digit of a JSON number, grouped by thousands: `12,345.678`."""
    if isinstance(value, int):
        return f"{value:,}".replace("-", MINUS)
    digits = Decimal(repr(value))
    if digits == digits.to_integral_value():
        digits = digits.quantize(Decimal(1))
    return f"{digits:,f}".replace("-", MINUS)


def signed(value: float) -> str:
    """`exact`, with a plus sign where the value is above zero."""
    return f"+{exact(value)}" if value > 0 else exact(value)


def human(value: float, unit: Unit) -> str:
    """Three digits or so with a unit that suits the size: `1.84 s`, `412 ms`, `73.7 kB`, `48,213 tokens`."""
    if unit == "ms":
        return _scaled(value, _DURATIONS, "ms")
    if unit == "bytes":
        return _scaled(value, _SIZES, "B")
    shown = exact(value if isinstance(value, int) else float(round(Decimal(repr(value)), 1)))
    if unit == "tokens":
        return f"{shown}{THIN}{'token' if value == 1 else 'tokens'}"
    return shown


def percent(value: float) -> str:
    """One decimal place: `32.4 %`."""
    rounded = Decimal(repr(value)).quantize(Decimal("0.1"), rounding=ROUND_HALF_EVEN)
    return f"{rounded:,f}".replace("-", MINUS) + f"{THIN}%"


def axis(largest: float, unit: Unit) -> Axis:
    """The scale of an axis whose largest value is `largest`."""
    if unit == "tokens":
        return Axis(1, "tokens")
    if unit == "count":
        return Axis(1, "count")
    steps, smallest = (_DURATIONS, "milliseconds") if unit == "ms" else (_SIZES, "bytes")
    names = {"h": "hours", "min": "minutes", "s": "seconds"}
    for size, name in steps:
        if abs(largest) >= size * (2 if unit == "ms" else 1):
            return Axis(float(size), names.get(name, name), name)
    return Axis(1, smallest, "ms" if unit == "ms" else "B")


def times(count: int, one: str, many: str | None = None) -> str:
    """`1 pair`, `3 pairs`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _scaled(value: float, steps: tuple[tuple[Decimal, str], ...], smallest: str) -> str:
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    for size, name in steps:
        if abs(number) >= size:
            return f"{_short(number / size)}{THIN}{name}"
    return f"{_short(number)}{THIN}{smallest}"


def _short(number: Decimal) -> str:
    """Three significant digits, more where the whole part has more, no trailing zeros."""
    places = 0 if abs(number) >= 100 else 1 if abs(number) >= 10 else 2
    text = f"{number.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN):,f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", MINUS)
