"""Reading the event log that git writes where `GIT_TRACE2_EVENT` names a file."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from repocue.domain.paths import display
from repocue.errors import EvidenceError

_LIMIT_BYTES = 64 << 20


class _Event(msgspec.Struct):
    event: str
    sid: str


_decoder = msgspec.json.Decoder(_Event)


def read(path: str | bytes) -> tuple[str, int]:
    """(`sha256:<hex>` of the log's bytes, git processes that it shows the start of).

    git's own children count: each has a `start` event. Raises EvidenceError where the file cannot be read, is larger
    than 64 MiB or holds a line that is no event.
    """
    name = display(path if isinstance(path, bytes) else path.encode(errors="surrogateescape"))
    try:
        with open(path, "rb") as file:
            data = file.read(_LIMIT_BYTES + 1)
    except OSError as error:
        raise EvidenceError(f"{name}: {error.strerror}") from None
    if len(data) > _LIMIT_BYTES:
        raise EvidenceError(f"{name} is larger than {_LIMIT_BYTES} bytes")
    processes: set[str] = set()
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, start=1):
        try:
            event = _decoder.decode(line)
        except msgspec.MsgspecError:
            raise EvidenceError(f"{name}, line {number}: not an event of git's trace2 log") from None
        if event.event == "start":
            processes.add(event.sid)
    return "sha256:" + sha256(data).hexdigest(), len(processes)
