"""Kept event streams, by the name of their format: read again, they give what the adapter had read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from repocue.runners.claude import events as claude
from repocue.runners.codex import events as codex
from repocue.runners.observed import AgentStream

StreamReader = Callable[[bytes], AgentStream]

READERS: Mapping[str, StreamReader] = {
    "codex-exec-json": codex.read_stream,
    "claude-stream-json": claude.read_stream,
}
"""The readers of the formats that a task observation can name; `none` has no reader."""
