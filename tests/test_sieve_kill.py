"""The sieves and SIGKILL: at every fault point, and at any moment.

``CRIVELLO_TEST_KILLS`` says how many random kills each kind gets; 6 unless it is set.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import pytest

from crivello import _core
from crivello.sieve import KINDS
from tests.sieve_victim import STEPS, Folder, batch_of, drain, work

KILLS = int(os.environ.get("CRIVELLO_TEST_KILLS", "6"))

# Children come from a process that has no threads: RocksDB's would not survive a fork.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["tests.sieve_victim", "crivello.sieve.native", "crivello.sieve.lsm"])


def start(*arguments: object) -> multiprocessing.context.ForkServerProcess:
    process = _processes.Process(target=work, args=arguments)
    process.start()
    return process


def check_nothing_lost_and_nothing_twice(path: Path, kind: str, seed: int) -> int:
    """Opens what a killed process left and compares it with what was committed; gives the steps done."""
    folder = Folder(path, kind)
    sieve = folder.open()
    model, steps = folder.model(seed)
    assert sieve.stats()["waiting"] + sieve.stats()["pending"] >= len(model.waiting())
    model.check_taken(drain(sieve))
    assert not model.waiting()
    # Nothing that was committed is new.
    for step in range(steps):
        sieve.add(batch_of(seed, step)[0])
    assert drain(sieve) == []
    sieve.close()
    return steps


_OWNERS = {"direct": ["memory", "bloom"], "flush": ["mercator", "offline"]}


@pytest.mark.parametrize(
    ("point", "kind"),
    [
        (point, kind)
        for point in _core.fault_points()
        if not point.startswith("index.")
        for kind in _OWNERS.get(point.split(".")[0], [point.split(".")[0]])
    ],
)
@pytest.mark.parametrize("hits", [1, 4])
def test_a_kill_at_a_fault_point(tmp_path: Path, point: str, kind: str, hits: int) -> None:
    process = start(tmp_path, kind, 7, hits, point, hits)
    process.join(60)
    assert process.exitcode == -signal.SIGKILL, f"{point} was not reached"
    check_nothing_lost_and_nothing_twice(tmp_path, kind, 7)
    again = start(tmp_path, kind, 7, hits)
    again.join(60)
    assert again.exitcode == 0
    assert check_nothing_lost_and_nothing_twice(tmp_path, kind, 7) == STEPS


@pytest.mark.parametrize("kind", KINDS)
def test_kills_at_any_moment(tmp_path: Path, kind: str) -> None:
    chance = random.Random(2026)
    seed = kills = 0
    path = tmp_path / "0"
    while kills < KILLS:
        process = start(path, kind, seed, chance.randrange(10**6))
        time.sleep(chance.uniform(0.005, 0.08))
        process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        kills += process.exitcode != 0
        if (path / "manifest.json").exists():
            steps = check_nothing_lost_and_nothing_twice(path, kind, seed)
            if steps == STEPS:
                seed += 1
                path = tmp_path / str(seed)
