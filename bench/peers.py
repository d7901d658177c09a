"""Other tools on the same repositories, where they are installed; never a bound, always a note.

Peers do different work: most parse symbols, RepoCue's core does not. The figures say what a session start costs,
not which tool is better.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.measure import Failed, run
from bench.repositories import settle
from tests.support.repos import git

TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool's command line for its answer about the repository it is started in."""

    name: str
    argv: tuple[str, ...]
    does: str


PEERS = (
    Peer("repomix", ("repomix", "--no-files", "--quiet", "-o", "{out}"), "packs the tree, no contents"),
    Peer("gitingest", ("gitingest", ".", "-o", "{out}"), "packs all contents"),
    Peer("aider", ("aider", "--show-repo-map", "--yes-always", "--no-check-update"), "maps symbols"),
    Peer("codegraph", ("codegraph", "build"), "indexes symbols"),
)


def time_peers(root: str, folder: str, env: Mapping[str, str]) -> Iterator[str]:
    """One line for each peer: twice on a clone (first, then again unchanged), or why it was not timed."""
    for peer in PEERS:
        if shutil.which(peer.argv[0]) is None:
            yield f"{peer.name}: not installed, not timed"
            continue
        clone = os.path.join(folder, f"{os.path.basename(root)}-{peer.name}")
        git(folder, "clone", "-q", root, clone)
        settle(clone)
        argv = [part.format(out=os.path.join(folder, "peer-output")) for part in peer.argv]
        try:
            first = run(argv, cwd=clone, env=env, timeout_s=TIMEOUT_S)
            again = run(argv, cwd=clone, env=env, timeout_s=TIMEOUT_S)
        except Failed as failure:
            yield f"{peer.name}: no figure ({str(failure)[:160]})"
        else:
            peak_mib = max(first.peak_memory_bytes, again.peak_memory_bytes) / 2**20
            yield (
                f"{peer.name} ({peer.does}): first {first.wall_duration_ms:.0f} ms, "
                f"again {again.wall_duration_ms:.0f} ms, peak {peak_mib:.0f} MiB"
            )
        finally:
            shutil.rmtree(clone, ignore_errors=True)
