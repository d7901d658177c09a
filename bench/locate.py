"""`make bench-locate REPO=… COMMITS=…`: does the locate view name the files that real commits changed?

Each commit of the list is replayed at its parent, from a bare clone or any other: an index of the parent's tree and
history, and of nothing newer, answers the commit's message. The list is tab-separated with a head line; the columns
used are `parent`, `query` and `gold_src` (paths separated by blanks); rows whose parent the repository lacks are left
out and counted. With `--command` another program answers the same questions in a checkout of the parent whose
repository has no other ref; its arguments may hold `{query}`, else the question is its last argument.

A file counts as named within B tokens where its whole path stands in what the answer's first 4 B bytes say ("from the
start"), and for ours also in the answer that was asked to fit B tokens ("document").
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from repocue.errors import BudgetTooSmall
from repocue.git.process import Git
from repocue.locate import index, projection, search
from repocue.store import locate_index

BUDGETS = (100, 250, 500, 1000)
RESAMPLES = 2000
SEED = 1


class Case(NamedTuple):
    """One commit to replay."""

    parent: str
    query: str
    gold: tuple[str, ...]


class Answer(NamedTuple):
    """What a program answered: bytes asked for within each budget, the paths in order, and CPU seconds."""

    documents: dict[int, bytes]
    whole: bytes
    paths: list[str]
    cpu_s: float


def read_cases(path: str, git: Git) -> tuple[list[Case], int]:
    """The rows that the repository can replay, oldest parent first, and how many others there are."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    cases = []
    for row in sorted(rows, key=lambda row: (int(row.get("date") or 0), row["parent"])):
        gold = tuple(row["gold_src"].split())
        if gold and git.run("cat-file", "-t", row["parent"], ok=(0, 128)).strip() == b"commit":
            cases.append(Case(row["parent"], row["query"], gold))
    return cases, len(rows) - len(cases)


def tree_files(git: Git, commit: str) -> dict[str, str]:
    """The blob ids of a commit's regular files, by path."""
    from repocue.domain.paths import display

    files = {}
    for entry in git.run("ls-tree", "-r", "-z", commit).split(b"\0")[:-1]:
        words, _, path = entry.partition(b"\t")
        mode, _, oid = words.split(b" ")
        if mode in (b"100644", b"100755"):
            files[display(path)] = oid.decode()
    return files


def replay_ours(git: Git, cases: Sequence[Case], folder: str) -> Iterator[tuple[Answer, float]]:
    """Our answer to each case and the CPU seconds that extending the index took."""
    path = os.path.join(folder, "locate.db")
    for case in cases:
        files = tree_files(git, case.parent)
        before = _cpu_s()
        target = index.Target(
            state=case.parent, snapshot="", head=case.parent, is_shallow=False, files=partial(dict, files)
        )
        index.update(path, git, target)
        indexed = _cpu_s()
        with locate_index.open_index(path, write=False) as database:
            found = search.find(database, case.query, [])
        asked = _cpu_s()
        frame = projection.Frame("repository", "snapshot-000001", case.parent, False, "current", ())
        documents = {}
        for budget in BUDGETS:
            try:
                documents[budget] = projection.build(frame, case.query, found.paths, max_tokens=budget).document
            except BudgetTooSmall:
                documents[budget] = b""
        whole = projection.build(frame, case.query, found.paths, max_tokens=100_000).document
        yield Answer(documents, whole, found.paths, asked - indexed), indexed - before


def replay_command(repository: str, command: str, cases: Sequence[Case], folder: str) -> Iterator[tuple[Answer, float]]:
    """Another program's answers; its paths are those of the checkout, in the order in which they are first named."""
    root = os.path.join(folder, "checkout")
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for case in cases:
        subprocess.run(["rm", "-rf", root], check=True)
        subprocess.run(["git", "init", "-q", root], check=True, env=environ)
        with open(os.path.join(root, ".git", "objects", "info", "alternates"), "w", encoding="utf-8") as file:
            common = subprocess.check_output(
                ["git", "-C", repository, "rev-parse", "--path-format=absolute", "--git-path", "objects"], env=environ
            )
            file.write(common.decode())
        subprocess.run(["git", "-C", root, "checkout", "-q", "--detach", case.parent], check=True, env=environ)
        words = shlex.split(command)
        argv = [word.replace("{query}", case.query) for word in words]
        if argv == words:
            argv.append(case.query)
        before = os.times()
        done = subprocess.run(
            argv, cwd=root, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False, timeout=600
        )
        after = os.times()
        listed = subprocess.check_output(["git", "-C", root, "ls-files", "-z"], env=environ).decode("utf-8", "replace")
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        yield Answer({}, done.stdout, _named(done.stdout, listed.split("\0")[:-1]), spent), 0.0


def _named(output: bytes, paths: Sequence[str]) -> list[str]:
    """Those of `paths` that stand in `output`, in the order of their first mention."""
    found = [(match.start(), path) for path in paths if (match := _mention(path).search(output))]
    return [path for _, path in sorted(found)]


def _mention(path: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w./-])(?:\./)?" + re.escape(path.encode()) + rb"(?![\w/-]|\.\w)")


def recall(output: bytes, gold: Sequence[str]) -> float:
    """The share of `gold` that `output` names whole."""
    return sum(bool(_mention(path).search(output)) for path in gold) / len(gold)


def interval(values: Sequence[float], seed: int = SEED) -> tuple[float, float, float]:
    """The mean, and the 2.5th and 97.5th percentiles of means of resamples with replacement."""
    chosen = random.Random(seed)
    count = len(values)
    means = sorted(sum(chosen.choices(values, k=count)) / count for _ in range(RESAMPLES))
    return sum(values) / count, means[int(RESAMPLES * 0.025)], means[int(RESAMPLES * 0.975)]


def measures(cases: Sequence[Case], answers: Sequence[Answer]) -> dict[str, list[float]]:
    """Each measure's value for each case."""
    found: dict[str, list[float]] = {}
    for case, answer in zip(cases, answers, strict=True):
        gold = set(case.gold)
        for budget in BUDGETS:
            cut = recall(answer.whole[: 4 * budget], case.gold)
            found.setdefault(f"recall at {budget}, from the start", []).append(cut)
        for budget, document in answer.documents.items():
            found.setdefault(f"recall at {budget}, document", []).append(recall(document, case.gold))
        first_five = len(gold.intersection(answer.paths[:5])) / len(gold)
        found.setdefault("recall of the first five", []).append(first_five)
        rank = next((position for position, path in enumerate(answer.paths, 1) if path in gold), None)
        found.setdefault("mean reciprocal rank", []).append(1 / rank if rank else 0.0)
    return found


def report(name: str, cases: Sequence[Case], answers: Sequence[Answer], write: Callable[[str], Any]) -> None:
    """One table."""
    write(f"{name}, n = {len(cases)}")
    for measure, values in measures(cases, answers).items():
        mean, low, high = interval(values)
        write(f"  {measure:<36} {mean:.3f}  [{low:.3f}, {high:.3f}]")
    spent = sorted(answer.cpu_s for answer in answers)
    write(f"  {'CPU of a question, median':<36} {1000 * spent[len(spent) // 2]:.0f} ms")


def _cpu_s() -> float:
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


def main(arguments: Sequence[str] | None = None) -> None:
    """Run it."""
    parser = argparse.ArgumentParser(prog="bench-locate", description="Replay commits through the locate view.")
    parser.add_argument("--repository", required=True, help="a repository, bare or not; nothing is written into it")
    parser.add_argument("--commits", required=True, help="the list of commits")
    parser.add_argument("--command", help="another program to compare with")
    options = parser.parse_args(arguments)
    git = Git(options.repository, os.environ)
    cases, left_out = read_cases(options.commits, git)
    if not cases:
        sys.exit("none of the list's commits can be replayed in this repository")
    print(f"{options.repository}: {len(cases)} commits, {left_out} rows of the list left out")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        ours = list(replay_ours(git, cases, folder))
        report("repocue locate", cases, [answer for answer, _ in ours], print)
        costs = [cost for _, cost in ours]
        extended = sorted(costs[1:]) or [0.0]
        print(f"  {'CPU of the first index':<36} {costs[0]:.2f} s")
        print(f"  {'CPU of extending it, median':<36} {extended[len(extended) // 2]:.2f} s")
        print(f"  {'index size':<36} {os.path.getsize(os.path.join(folder, 'locate.db')) / 1e6:.1f} MB")
        if options.command:
            others = [answer for answer, _ in replay_command(options.repository, options.command, cases, folder)]
            report(options.command, cases, others, print)
    print(f"{time.monotonic() - started:.0f} s in all")


if __name__ == "__main__":
    main()
