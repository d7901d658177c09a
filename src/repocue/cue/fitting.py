"""The one budget-fitting engine: a document loses items in a given order until it fits.

A document is described by a *template*, an ordinary tree of dicts and lists in which a `Slot` stands for a list
of items and `BUDGET`, `WARNINGS` and `MORE` stand for the members that depend on the outcome. `Cut`s say in which
order items leave: the first cut takes its items one by one from the end of its slot, then the second begins, and
so on. The result is the **first** state in that order whose document, final LF included, costs at most
`max_tokens` estimated tokens (ceil(bytes / 4); seed, "Reuse Analysis").

Nothing is serialised per removal. The size of a state is arithmetic over exact item sizes:

* `budget.estimated_tokens` counts its own digits. The size without those digits being k, the estimate is the least
  e with e = ceil((k + digits(e)) / 4); such an e always exists, because the right side never falls when e grows.
* Every omission is named in `warnings`, so the first removal of a cut may make the document *longer*. Each further
  one of the same cut takes at least one byte of item and a comma and adds at most one digit, hence never makes
  it longer. So a cut is searched as "its first state, then a binary search over the rest", which is exact.
* One token more of budget adds at most one digit to `budget.max_tokens`: a state that fits a budget fits every
  larger one, and a bigger budget never shows less.
* Items that lie beyond what any state could show are never encoded: the work follows the budget, not the repository.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from repocue.contracts.canonical import compact, document
from repocue.domain.state import Warning
from repocue.domain.tokens import estimate
from repocue.errors import BudgetTooSmall

_LF_BYTES: Final = 1
_CHUNK: Final = 256


class _Place:
    """A spot in a template that the engine fills."""

    __slots__ = ()


BUDGET: Final = _Place()
"""Becomes `{max_tokens, estimated_tokens}`."""
WARNINGS: Final = _Place()
"""Becomes the warnings given plus one `{code, count}` for every kind of omission, sorted by code."""
MORE: Final = _Place()
"""Becomes `[]`, or one entry naming the budget at which the fitter need not omit anything."""


class Slot:
    """A list of items in a template, the most valuable first.

    `project` makes the JSON form of an item and is called only for items that could be shown. A slot that is a
    member of an object and loses all its items is left out altogether: an empty list says that there is nothing
    to list, an absent one that nothing of it fitted. Such an object must begin with a member that always stays.
    """

    __slots__ = ("items", "project")

    def __init__(self, *, items: Sequence[Any], project: Callable[[Any], Any] | None = None) -> None:
        self.items = items
        self.project = project

    def shown(self, count: int) -> list[Any]:
        """The JSON forms of the first `count` items."""
        if self.project is None:
            return list(self.items[:count])
        return [self.project(item) for item in self.items[:count]]


class Cut:
    """One run of removals: at most `count` items leave from the end of `slot`, counted under the warning `code`.

    `beyond` are items of that kind which a bound had already left out before the fitting; they are part of the
    warning's count from the start. Cuts may share a code; then the counts add up.
    """

    __slots__ = ("beyond", "code", "count", "slot")

    def __init__(self, *, slot: Slot, count: int, code: str, beyond: int = 0) -> None:
        self.slot = slot
        self.count = count
        self.code = code
        self.beyond = beyond


class Fitted(NamedTuple):
    """The outcome: the document's exact bytes and what it cost.

    `removed` counts the items taken out, `kept` the items that are shown, slot by slot.
    """

    document: bytes
    estimated_tokens: int
    removed: int
    kept: Mapping[Slot, int]
    warnings: tuple[Warning, ...]


def fit(
    template: Mapping[str, Any],
    *,
    cuts: Sequence[Cut] = (),
    max_tokens: int,
    warnings: Sequence[Warning] = (),
    more: Callable[[int], Mapping[str, Any]] | None = None,
) -> Fitted:
    """The first state of `template` under `cuts` that fits `max_tokens`.

    `more` makes the entry for `MORE` from the budget at which nothing has to be removed.
    Raises BudgetTooSmall, naming the smallest budget that would do, where no state fits.
    """
    arithmetic = _Arithmetic(template, cuts, max_tokens, warnings, more)
    removed = arithmetic.first_fit(max_tokens)
    if removed is None:
        kind = template.get("kind")
        needed = arithmetic.smallest_budget()
        raise BudgetTooSmall(
            f"The smallest {kind if isinstance(kind, str) else 'document'} cue takes {needed} estimated tokens;"
            f" the budget is {max_tokens}.",
            needed_tokens=needed,
            hint=f"Allow at least {needed} tokens (--max-tokens {needed}).",
        )
    return arithmetic.build(removed, max_tokens)


def _digits(number: int) -> int:
    return len(str(number))


def _estimate(size_without_estimate: int) -> int:
    """The least e with e = ceil((size_without_estimate + digits(e)) / 4)."""
    tokens = estimate(size_without_estimate + 1)
    while (again := estimate(size_without_estimate + _digits(tokens))) != tokens:
        tokens = again
    return tokens


def _needed(size_without_digits: int) -> int:
    """The smallest budget for a document of that size before the digits of `max_tokens` and of the estimate."""
    budget = 1
    while (tokens := _estimate(size_without_digits + _digits(budget))) > budget:
        budget = tokens
    return budget


class _Sizes:
    """Encoded sizes of one slot's items as running sums, extended only as far as they are asked for.

    Sums stop growing in detail beyond `cap` bytes: from there on a count's size is "more than `cap`".
    """

    __slots__ = ("_slot", "_sums", "absent", "cap")

    def __init__(self, slot: Slot, absent: int) -> None:
        self._slot = slot
        self._sums = [0]
        self.absent = absent
        """What leaving the empty list out changes: minus the bytes of `,"key":[]`, or 0 where it stays."""
        self.cap: int | None = None

    def of(self, count: int) -> int:
        """The bytes that `count` items add to the document in which the slot is `[]`."""
        total = len(self._slot.items)
        if count == 0:
            return self.absent if total else 0
        sums = self._sums
        while len(sums) <= count:
            if self.cap is not None and sums[-1] > self.cap:
                return self.cap + 1
            start = len(sums) - 1
            project = self._slot.project
            for item in self._slot.items[start : min(start + _CHUNK, total)]:
                sums.append(sums[-1] + len(compact(item if project is None else project(item))))
        return sums[count] + count - 1

    def whole(self) -> int:
        """The exact size of all items, whatever the cap."""
        total = len(self._slot.items)
        if len(self._sums) <= total:
            return len(compact(self._slot.shown(total))) - 2
        return self.of(total)


class _Arithmetic:
    """Exact sizes of all states of one template. A state is the number of items removed so far."""

    def __init__(
        self,
        template: Mapping[str, Any],
        cuts: Sequence[Cut],
        max_tokens: int,
        warnings: Sequence[Warning],
        more: Callable[[int], Mapping[str, Any]] | None,
    ) -> None:
        self._template = template
        self._given = list(warnings)
        self._more = more
        self._more_entry: Mapping[str, Any] | None = None
        self._sizes: dict[Slot, _Sizes] = {}
        bare = _bare(template, self._sizes)
        self._cuts = _bounded(cuts)
        unknown = [cut.code for cut in self._cuts if cut.slot not in self._sizes]
        if unknown:
            raise ValueError(f"cuts of slots that are not in the template: {unknown}")
        # `bare` writes both budget figures as one digit each and leaves all lists empty.
        self._base = len(compact(bare)) + _LF_BYTES - 2
        self._base += sum(len(compact(_warning(w))) for w in self._given)
        self._beyond: dict[str, int] = {}
        for cut in self._cuts:
            self._beyond[cut.code] = self._beyond.get(cut.code, 0) + cut.beyond
        self.states = sum(cut.count for cut in self._cuts)
        smallest = self._size(*self._at(self.states), removed=0)
        for sizes in self._sizes.values():
            sizes.cap = max(4 * max_tokens, smallest)

    def first_fit(self, max_tokens: int) -> int | None:
        """The smallest number of removals whose document fits, or None."""
        if self._fits(0, max_tokens):
            return 0
        if self.states and self._more is not None:
            kept, counts = self._at(0)
            whole = sum(sizes.whole() for slot, sizes in self._sizes.items() if kept[slot])
            whole += sum(sizes.of(0) for slot, sizes in self._sizes.items() if not kept[slot])
            self._more_entry = self._more(_needed(self._base + self._warnings_size(counts) + whole))
            for sizes in self._sizes.values():
                sizes.cap = (sizes.cap or 0) + len(compact(self._more_entry))
        start = 0
        for cut in self._cuts:
            # The first removal may lengthen the document, each further one does not (see the module).
            end = start + cut.count
            low, high = start + 1, end
            if low <= high and self._fits(high, max_tokens):
                while low < high:
                    middle = (low + high) // 2
                    if self._fits(middle, max_tokens):
                        high = middle
                    else:
                        low = middle + 1
                return high
            start = end
        return None

    def smallest_budget(self) -> int:
        """The smallest budget that some state fits: within a cut the last state is the smallest."""
        ends = [0]
        for cut in self._cuts:
            ends.append(ends[-1] + cut.count)
        return min(_needed(self._size(*self._at(state), removed=state)) for state in ends)

    def build(self, removed: int, max_tokens: int) -> Fitted:
        """The document of one state, with its size checked against the arithmetic."""
        kept, counts = self._at(removed)
        size = self._size(kept, counts, removed=removed) + _digits(max_tokens)
        tokens = _estimate(size)
        omitted = [Warning(code, count) for code, count in counts.items() if count]
        warnings = sorted([*self._given, *omitted], key=lambda w: (w.code.encode(), w.count or 0))
        places: dict[int, Any] = {
            id(BUDGET): {"max_tokens": max_tokens, "estimated_tokens": tokens},
            id(WARNINGS): [_warning(warning) for warning in warnings],
            id(MORE): [self._more_entry] if removed and self._more_entry is not None else [],
        }
        data = document(_filled(self._template, kept, places))
        if len(data) != size + _digits(tokens):
            raise RuntimeError(f"fitting expected {size + _digits(tokens)} bytes and wrote {len(data)}")
        return Fitted(document=data, estimated_tokens=tokens, removed=removed, kept=kept, warnings=tuple(warnings))

    def _fits(self, removed: int, max_tokens: int) -> bool:
        size = self._size(*self._at(removed), removed=removed) + _digits(max_tokens)
        return _estimate(size) <= max_tokens

    def _at(self, removed: int) -> tuple[dict[Slot, int], dict[str, int]]:
        """Items kept in each slot, and items omitted under each code, after so many removals."""
        kept = {slot: len(slot.items) for slot in self._sizes}
        counts = dict(self._beyond)
        for cut in self._cuts:
            taken = min(cut.count, removed)
            kept[cut.slot] -= taken
            counts[cut.code] += taken
            removed -= taken
        return kept, counts

    def _size(self, kept: Mapping[Slot, int], counts: Mapping[str, int], *, removed: int) -> int:
        """Bytes of a state's document without the digits of `max_tokens` and `estimated_tokens`."""
        size = self._base + sum(sizes.of(kept[slot]) for slot, sizes in self._sizes.items())
        if removed and self._more_entry is not None:
            size += len(compact(self._more_entry))
        return size + self._warnings_size(counts)

    def _warnings_size(self, counts: Mapping[str, int]) -> int:
        """Bytes of the omission warnings and of all commas between warnings."""
        written = len(self._given)
        size = 0
        for code, count in counts.items():
            if count:
                written += 1
                size += len(compact({"code": code, "count": count}))
        return size + max(written - 1, 0)


def _warning(warning: Warning) -> dict[str, Any]:
    """The JSON form of a warning: `{code, count?}`."""
    return {"code": warning.code} if warning.count is None else {"code": warning.code, "count": warning.count}


def _bounded(cuts: Sequence[Cut]) -> list[Cut]:
    """The cuts with counts that their slots can give."""
    left: dict[Slot, int] = {}
    bounded = []
    for cut in cuts:
        available = left.setdefault(cut.slot, len(cut.slot.items))
        count = max(0, min(cut.count, available))
        left[cut.slot] = available - count
        bounded.append(Cut(slot=cut.slot, count=count, code=cut.code, beyond=cut.beyond))
    return bounded


def _bare(node: Any, sizes: dict[Slot, _Sizes]) -> Any:
    """The template with every list empty and one-digit budget figures; collects the slots on the way."""
    if isinstance(node, Mapping):
        members: dict[str, Any] = {}
        for position, (key, value) in enumerate(node.items()):
            if isinstance(value, Slot):
                if position == 0:
                    raise ValueError(f"the slot {key!r} needs a member before it")
                sizes[value] = _Sizes(value, -len(compact(key)) - len(",:[]"))
                members[key] = []
            else:
                members[key] = _bare(value, sizes)
        return members
    if isinstance(node, (list, tuple)):
        return [_bare(value, sizes) for value in node]
    if node is BUDGET:
        return {"max_tokens": 0, "estimated_tokens": 0}
    return [] if node is WARNINGS or node is MORE else node


def _filled(node: Any, kept: Mapping[Slot, int], places: Mapping[int, Any]) -> Any:
    """The template with everything in its place."""
    if isinstance(node, Mapping):
        members: dict[str, Any] = {}
        for key, value in node.items():
            if isinstance(value, Slot):
                if kept[value] or not value.items:
                    members[key] = value.shown(kept[value])
            else:
                members[key] = _filled(value, kept, places)
        return members
    if isinstance(node, (list, tuple)):
        return [_filled(value, kept, places) for value in node]
    return places[id(node)] if isinstance(node, _Place) else node
