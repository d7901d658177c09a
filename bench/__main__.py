"""`python -m bench [--rounds N] [--only NAME] [PATH ...]`: measure, print, and exit 1 where a bound is missed."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence

from bench import peers, repositories
from bench.bounds import Verdict
from bench.core import measure
from bench.measure import Operation
from tests.support.environment import isolated_environment


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; 1 where a bound is missed."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", action="append", choices=repositories.CORPUS, help="these corpus repositories only")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("path", nargs="*", help="repositories of yours, measured on a clone")
    options = parser.parse_args(arguments)
    names = options.only or ([] if options.path else repositories.CORPUS)
    beside = os.path.join(os.path.dirname(sys.executable), "repocue")
    missed = []
    with tempfile.TemporaryDirectory(prefix="repocue-bench-") as folder:
        env = isolated_environment(folder)
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        for source in [*names, *options.path]:
            started = time.monotonic()
            make = repositories.build if source in repositories.CORPUS else repositories.clone
            root = make(source, folder)
            work = tempfile.mkdtemp(dir=folder)
            operations, verdicts = measure(root, work, [beside], env, rounds=options.rounds)
            print(f"\n{source}: {repositories.tracked_files(root)} tracked files")
            show(operations, verdicts)
            if not options.no_peers:
                for line in peers.time_peers(root, work, env):
                    print(f"  {line}")
            print(f"  ({time.monotonic() - started:.0f} s in all)")
            missed += [f"{source}: {verdict.what}" for verdict in verdicts if not verdict.holds]
    print("\n" + (f"missed: {'; '.join(missed)}" if missed else "every bound is kept"))
    return 1 if missed else 0


def show(operations: Sequence[Operation], verdicts: Sequence[Verdict]) -> None:
    """Print one repository's figures: medians with their ratios to S and P, then each bound."""
    s, p = operations[0].wall_ms, operations[1].wall_ms
    print(f"  {'median of':<22}{'ms':>9}{'x S':>8}{'x P':>8}{'peak MiB':>10}{'runs':>6}")
    for op in operations:
        ratios = f"{op.wall_ms / s:>8.2f}{op.wall_ms / p:>8.2f}"
        print(f"  {op.name:<22}{op.wall_ms:>9.1f}{ratios}{op.peak_mib:>10.1f}{len(op.runs):>6}")
    for verdict in verdicts:
        word = "kept  " if verdict.holds else "MISSED"
        print(f"  {word} {verdict.what}: {verdict.measured:.1f} of at most {verdict.bound:.1f} {verdict.unit}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
