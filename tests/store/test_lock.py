"""Writers take turns: bounded, in order, and a dead one holds nobody up."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from repocue.errors import CacheBusy, CacheError
from repocue.store.lock import writer_lock


def test_a_second_writer_gives_up_after_the_bounded_wait(tmp_path: Path) -> None:
    path = str(tmp_path / "state.lock")
    with writer_lock(path):
        started = time.monotonic()
        with pytest.raises(CacheBusy) as error, writer_lock(path, wait_s=0.2):
            pass
        assert time.monotonic() - started >= 0.2
    assert "0.2 s" in error.value.message
    # The one that gave up must not take the lock later, when its turn comes.
    with writer_lock(path, wait_s=5):
        pass


def test_a_waiting_writer_gets_its_turn_when_the_first_one_ends(tmp_path: Path) -> None:
    path = str(tmp_path / "state.lock")
    order: list[str] = []

    def second() -> None:
        with writer_lock(path, wait_s=30):
            order.append("second")

    thread = threading.Thread(target=second)
    with writer_lock(path):
        thread.start()
        while not any(other.name == "repocue-lock" for other in threading.enumerate()):
            os.sched_yield()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_a_killed_writer_holds_nobody_up(tmp_path: Path) -> None:
    path = str(tmp_path / "state.lock")
    program = (
        "import sys, time\nfrom repocue.store.lock import writer_lock\n"
        "with writer_lock(sys.argv[1]):\n print('held', flush=True)\n time.sleep(600)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    with pytest.raises(CacheBusy), writer_lock(path, wait_s=0.05):
        pass
    child.kill()
    child.wait()
    child.stdout.close()
    with writer_lock(path, wait_s=5):
        pass


def test_only_one_of_many_holds_it_at_a_time(tmp_path: Path) -> None:
    path, inside = str(tmp_path / "state.lock"), tmp_path / "inside"
    program = (
        "import os, sys\nfrom repocue.store.lock import writer_lock\n"
        "for _ in range(20):\n"
        " with writer_lock(sys.argv[1]):\n"
        "  os.close(os.open(sys.argv[2], os.O_CREAT | os.O_EXCL))\n"
        "  os.unlink(sys.argv[2])\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", program, path, str(inside)]) for _ in range(4)]
    assert [child.wait() for child in children] == [0, 0, 0, 0]


def test_a_lock_in_a_missing_folder_is_an_error_of_the_cache(tmp_path: Path) -> None:
    with pytest.raises(CacheError), writer_lock(str(tmp_path / "none" / "state.lock")):
        pass
