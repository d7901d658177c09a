"""init, status, cue and refresh on one repository, beside S and P."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence

from bench import m2
from bench.bounds import GROWTH_KIB, Verdict, condition_ms, everyday_ms, init_ms, peak_mib
from bench.measure import Operation, floor, interleave, run
from bench.repositories import tracked_files
from tests.support.repos import git

EDITS = 20


def measure(
    root: str, folder: str, command: Sequence[str], env: Mapping[str, str], *, rounds: int
) -> tuple[list[Operation], list[Verdict]]:
    """Time everything on the repository at `root`, caches under `folder`; returns operations and verdicts."""
    cache, fresh = os.path.join(folder, "cache"), os.path.join(folder, "fresh")

    def repocue(name: str, *arguments: str, cache_dir: str = cache) -> list[str]:
        return [*command, name, "--cache-dir", cache_dir, *arguments]

    run(repocue("init"), cwd=root, env=env)
    status = ["git", "--no-optional-locks", "status", "--porcelain=v2", "-z", "-uall"]
    s = Operation(name="S: git status", argv=status, cwd=root)
    p = floor(root)
    everyday = [Operation(name=name, argv=repocue(name), cwd=root) for name in ("cue", "status", "refresh")]
    init = Operation(
        name="init",
        argv=repocue("init", cache_dir=fresh),
        cwd=root,
        before=lambda: shutil.rmtree(fresh, ignore_errors=True),
        every=3,
    )
    experiment = m2.operation(root, folder, command, every=5)
    operations = [s, p, *everyday, init, experiment]
    interleave(operations, rounds=rounds, env=env)

    daily, once, memory = (
        everyday_ms(s.wall_ms, p.wall_ms),
        init_ms(s.wall_ms, p.wall_ms),
        peak_mib(tracked_files(root)),
    )
    verdicts = [Verdict(what=op.name, measured=op.wall_ms, bound=daily, unit="ms") for op in everyday]
    verdicts.append(Verdict(what="init", measured=init.wall_ms, bound=once, unit="ms"))
    verdicts += [
        Verdict(what=f"peak of {op.name}", measured=op.peak_mib, bound=memory, unit="MiB") for op in [*everyday, init]
    ]
    verdicts.append(
        Verdict(
            what="evaluate-m2, own time per condition",
            measured=(experiment.wall_ms - m2.oracle_ms(folder)) / m2.CONDITIONS,
            bound=condition_ms(s.wall_ms, p.wall_ms),
            unit="ms",
        )
    )
    growth = max(_growths_kib(root, cache, repocue("refresh"), env))
    verdicts.append(Verdict(what="growth of a one-file refresh", measured=growth, bound=GROWTH_KIB, unit="KiB"))
    return operations, verdicts


def _growths_kib(root: str, cache: str, refresh: Sequence[str], env: Mapping[str, str]) -> list[float]:
    """How much the cache folder grew at each of `EDITS` refreshes after one file was edited."""
    tracked = git(root, "ls-files", "-z").split(b"\0")[:-1]
    growths = []
    for number in range(EDITS):
        path = os.path.join(os.fsencode(root), tracked[len(tracked) * number // EDITS])
        with open(path, "ab") as file:
            file.write(b"one more line\n")
        before = _bytes_in(cache)
        run(refresh, cwd=root, env=env)
        growths.append((_bytes_in(cache) - before) / 1024)
    git(root, "reset", "-q", "--hard")
    return growths


def _bytes_in(folder: str) -> int:
    return sum(os.lstat(os.path.join(at, name)).st_size for at, _, names in os.walk(folder) for name in names)
