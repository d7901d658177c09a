"""`make bench-locate` replays commits at their parents, and compares with another program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench import locate
from tests.support.repos import RepoBuilder, git

PROJECT = Path(__file__).parents[2]


def test_recall_counts_whole_paths_alone() -> None:
    gold = ("src/a.py", "b.py")
    assert locate.recall(b'["src/a.py"]', gold) == 0.5
    assert locate.recall(b"src/a.pyx old/b.py b.py.orig", gold) == 0.0
    assert locate.recall(b"./b.py: src/a.py.", gold) == 1.0


def test_the_interval_of_equal_values_is_a_point_and_of_others_holds_their_mean() -> None:
    assert locate.interval([0.5, 0.5, 0.5]) == (0.5, 0.5, 0.5)
    mean, low, high = locate.interval([0.0, 1.0] * 20)
    assert (mean, 0.3 < low < 0.5 < high < 0.7) == (0.5, True)


def test_a_list_is_replayed_from_a_bare_clone_at_each_parent_and_beside_another_program(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r").commit("Start", {"tide.py": "def tide(): pass\n", "moon.py": "x = 1\n"})
    root = repo.commit("Lunar phase", {"moon.py": "x = 2\n"}).build()
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", root, str(bare))
    first, second = git(root, "rev-list", "--reverse", "HEAD").decode().split()
    rows = [
        "commit\tparent\tdate\tquery\tgold_src",
        f"x\t{first}\t1\tthe tide\ttide.py",
        f"x\t{second}\t2\tlunar phase\tmoon.py",
        f"x\t{'0' * 40}\t3\tsomewhere else\tmoon.py",
    ]
    (tmp_path / "list.tsv").write_text("\n".join(rows) + "\n")
    command = [sys.executable, "-m", "bench.locate", "--repository", str(bare), "--commits", str(tmp_path / "list.tsv")]
    done = subprocess.run(
        [*command, "--command", "git grep -l -i -e {query}"], cwd=PROJECT, capture_output=True, timeout=120, check=True
    )
    lines = [" ".join(line.split()) for line in done.stdout.decode().splitlines()]
    assert "2 commits, 1 rows of the list left out" in lines[0]
    assert "repocue locate, n = 2" in lines
    ours, others = (
        lines[: lines.index("git grep -l -i -e {query}, n = 2")],
        lines[lines.index("git grep -l -i -e {query}, n = 2") :],
    )
    assert "recall of the first five 1.000 [1.000, 1.000]" in ours
    assert "mean reciprocal rank 1.000 [1.000, 1.000]" in ours
    assert "recall at 250, from the start 0.000 [0.000, 0.000]" in others  # nothing holds these phrases as they stand
