"""`report` and `evaluate-m2 summary` over a thousand pairs of agent runs, beside P."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence

from bench.bounds import Verdict, reports_ms
from bench.measure import Operation, floor, interleave, run
from repocue.store import calibrations
from repocue.store.database import open_state
from tests.report.made import amounts, pair
from tests.support.m2_sets import Agent, turn, write_set

NAME = "reports"
ASSISTED = 4
PAIRS = 1000
SETS = PAIRS // ASSISTED
"""Each set pairs its direct run with four assisted ones."""
EVERY = 3


def measure(
    root: str, folder: str, command: Sequence[str], env: Mapping[str, str], *, rounds: int
) -> tuple[list[Operation], list[Verdict]]:
    """Time both commands in both forms, with a cache of the repository at `root` and sets under `folder`."""
    cache, published = os.path.join(folder, "cache"), os.path.join(folder, "published")
    run([*command, "init", "--cache-dir", cache], cwd=root, env=env)
    _import_pairs(cache)
    for number in range(1, SETS + 1):
        used = dict(zip(("direct", "placebo", "basic", "ranked", "structural-oracle"), _agents(number), strict=True))
        write_set(published, run_index=number, agents=used)
    operations = [floor(root)]
    for name, given in (
        ("report", ["report", "--cache-dir", cache]),
        ("evaluate-m2 summary", ["evaluate-m2", "summary", "--report-set", published]),
    ):
        operations += [
            Operation(
                name=f"{name}, {form}", argv=[*command, *given, "--format", form, "--quiet"], cwd=root, every=EVERY
            )
            for form in ("json", "text")
        ]
    interleave(operations, rounds=rounds, env=env)
    p, *timed = operations
    bound = reports_ms(p.wall_ms)
    return operations, [Verdict(what=op.name, measured=op.wall_ms, bound=bound, unit="ms") for op in timed]


def _import_pairs(cache: str) -> None:
    """A thousand pairs into the one state under `cache`, as an import leaves them."""
    (path,) = glob.glob(os.path.join(cache, "**", "state.db"), recursive=True)
    with open_state(path, mode="write") as database, database.writing(durable=False):
        for number in range(PAIRS):
            found = pair(str(number), 1 + number, amounts(2000 + number, 1000.5 + number), amounts(2000, 900.25))
            calibrations.add(database, found, epoch=1, snapshot=1, imported_at_ms=0)


def _agents(number: int) -> Iterator[Agent]:
    """The five agents of a set, no two sets alike."""
    for place in range(ASSISTED + 1):
        spent = 3000 + 7 * number - 100 * place
        yield Agent(turns=[turn(spent, 400, 100, 20), turn(spent // 2, 300, 50)], duration_ms=1000.5 + number)
