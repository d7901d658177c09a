"""`python -m bench [--rounds N] [--only NAME] [PATH ...]`: measure, print, and exit 1 where a bound is missed.

`--only reports --rounds 5` takes seconds, the whole of it some minutes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence

from bench import core, peers, reports, repositories
from bench.bounds import Verdict
from bench.measure import Operation
from tests.support.environment import isolated_environment

NAMES = (*repositories.CORPUS, reports.NAME)
HELP = (
    "these sections only: a corpus repository of about 170, 5 000 or 57 000 files, or what `report` and"
    " `evaluate-m2 summary` take over 1 000 pairs; may be repeated"
)


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; 1 where a bound is missed."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--rounds", type=int, default=15, help="how often everything is timed (default: 15)")
    parser.add_argument("--only", action="append", choices=NAMES, help=HELP)
    parser.add_argument("--no-peers", action="store_true", help="leave out other tools, where they are installed")
    parser.add_argument("path", nargs="*", help="repositories of yours, measured on a clone")
    options = parser.parse_args(arguments)
    names = options.only or ([] if options.path else NAMES)
    beside = os.path.join(os.path.dirname(sys.executable), "repocue")
    missed = []
    with tempfile.TemporaryDirectory(prefix="repocue-bench-") as folder:
        env = isolated_environment(folder)
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        for source in [*names, *options.path]:
            started = time.monotonic()
            work = tempfile.mkdtemp(dir=folder)
            if source == reports.NAME:
                root = repositories.build(repositories.CORPUS[0], work)
                operations, verdicts = reports.measure(root, work, [beside], env, rounds=options.rounds)
                print(f"\n{source}: {reports.PAIRS} pairs, {reports.SETS} published sets")
            else:
                make = repositories.build if source in repositories.CORPUS else repositories.clone
                root = make(source, folder)
                operations, verdicts = core.measure(root, work, [beside], env, rounds=options.rounds)
                print(f"\n{source}: {repositories.tracked_files(root)} tracked files")
            show(operations, verdicts)
            if not options.no_peers and source != reports.NAME:
                for line in peers.time_peers(root, work, env):
                    print(f"  {line}")
            print(f"  ({time.monotonic() - started:.0f} s in all)")
            missed += [f"{source}: {verdict.what}" for verdict in verdicts if not verdict.holds]
    print("\n" + (f"missed: {'; '.join(missed)}" if missed else "every bound is kept"))
    return 1 if missed else 0


def show(operations: Sequence[Operation], verdicts: Sequence[Verdict]) -> None:
    """Print one section's figures: medians with their ratios to S and P (the floors timed), then each bound."""
    floors = {op.name[0]: op.wall_ms for op in operations if op.name[1] == ":"}
    heads = "".join(f"{'x ' + floor:>8}" for floor in floors)
    print(f"  {'median of':<26}{'ms':>9}{heads}{'peak MiB':>10}{'runs':>6}")
    for op in operations:
        ratios = "".join(f"{op.wall_ms / floor_ms:>8.2f}" for floor_ms in floors.values())
        print(f"  {op.name:<26}{op.wall_ms:>9.1f}{ratios}{op.peak_mib:>10.1f}{len(op.runs):>6}")
    for verdict in verdicts:
        word = "kept  " if verdict.holds else "MISSED"
        print(f"  {word} {verdict.what}: {verdict.measured:.1f} of at most {verdict.bound:.1f} {verdict.unit}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
