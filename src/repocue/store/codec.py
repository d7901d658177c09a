"""How values become columns and come back. Whatever does not come back whole is a damaged database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from repocue.contracts import canonical
from repocue.domain.paths import display, raw
from repocue.domain.rows import CLEAN
from repocue.domain.state import FileRow
from repocue.store.faults import damaged

if TYPE_CHECKING:
    from repocue.domain.rows import CleanFiles

T = TypeVar("T")

ROW_COLUMNS = "path, index_mode, index_id, size_bytes, xy, mode, content_id, stages"
CLEAN_COLUMNS = "path, valid_from, index_mode, index_id, size_bytes"
_YEAR_1000_MS, _YEAR_10000_MS = -30_610_224_000_000, 253_402_300_800_000
CLEAN_ROWS = 64
"""So many rows are inserted by one statement, which takes two thirds of the time of one by one."""


def clean_groups(files: CleanFiles, snapshot: int) -> Iterator[list[Any]]:
    """The parameters of `CLEAN_COLUMNS` for these files, one after another, at most `CLEAN_ROWS` files a group."""
    mode_of = {mode: int(mode) for mode in set(files.modes)}
    names = map(raw, files.paths) if any(path[0] == '"' for path in files.paths) else map(str.encode, files.paths)
    columns = zip(
        names,
        repeat(snapshot),
        map(mode_of.__getitem__, files.modes),
        map(bytes.fromhex, files.oids),
        files.sizes,
        strict=False,
    )
    parameters = chain.from_iterable(columns)
    while group := list(islice(parameters, CLEAN_ROWS * 5)):
        yield group


def row_parameters(row: FileRow, snapshot: int) -> tuple[Any, ...]:
    """The parameters of `path, valid_from, index_mode, …` (`ROW_COLUMNS` with valid_from second) for any row."""
    clean = row.xy == CLEAN
    return (
        raw(row.path),
        snapshot,
        _mode(row.index_mode),
        _id(row.index_id),
        row.size_bytes,
        None if clean else row.xy,
        None if clean else _mode(row.mode),
        None if clean else _id(row.content_id),
        canonical.compact(row.stages).decode() if row.stages else None,
    )


def rows_of(answer: Iterable[tuple[Any, ...]], path: str) -> Iterator[FileRow]:
    """The rows of an answer with `ROW_COLUMNS`, one at a time; `path` is the database's, for the error."""
    modes: dict[int | None, str | None] = {None: None}
    new = tuple.__new__
    try:
        for name, index_mode, index_id, size_bytes, xy, mode, content_id, stages in answer:
            text_mode = modes.get(index_mode)
            if text_mode is None and index_mode is not None:
                text_mode = modes[index_mode] = f"{index_mode:06d}"
            oid = index_id.hex() if index_id is not None else None
            try:
                text = name.decode()
                if text[0] == '"':
                    text = display(name)
            except UnicodeDecodeError:
                text = display(name)
            if xy is None:
                yield new(FileRow, (text, text_mode, oid, (), text_mode, oid, size_bytes, CLEAN))
                continue
            yield FileRow(
                text,
                text_mode,
                oid,
                _stages(stages),
                None if mode is None else f"{mode:06d}",
                None if content_id is None else content_id.hex(),
                size_bytes,
                xy,
            )
    except (AttributeError, IndexError, TypeError, ValueError, msgspec.MsgspecError) as error:
        raise damaged(path, f"a file row cannot be read ({error})") from error


def pack(value: Any) -> tuple[bytes, str]:
    """The compact JSON of a value, and its digest."""
    data = canonical.compact(value)
    return data, canonical.digest(data)


def unpack(data: bytes, digest: str, kind: type[T], path: str) -> T:
    """The inverse of `pack`, checked against digest and type; raises CacheDamaged."""
    if canonical.digest(data) != digest:
        raise damaged(path, "kept values do not match their digest")
    return decode(data, kind, path)


def decode(data: bytes | str, kind: type[T], path: str) -> T:
    """JSON text as a value of type `kind`; raises CacheDamaged."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError as error:
        raise damaged(path, f"kept values cannot be read ({error})") from error


def moment(epoch_ms: Any, path: str) -> int:
    """A kept time, which a calendar must be able to show; raises CacheDamaged."""
    if type(epoch_ms) is not int or not _YEAR_1000_MS <= epoch_ms < _YEAR_10000_MS:
        raise damaged(path, f"{epoch_ms!r} is no time")
    return epoch_ms


def _mode(text: str | None) -> int | None:
    return None if text is None else int(text)


def _id(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def _stages(text: str | None) -> tuple[tuple[str, str, int], ...]:
    if text is None:
        return ()
    return msgspec.json.decode(text, type=tuple[tuple[str, str, int], ...])
