"""The index and SIGKILL: at every fault point, and at any moment of adding, deleting, merging and committing.

``CRIVELLO_TEST_INDEX_KILLS`` says how many random kills there are; 6 unless it is set.
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
from crivello.collection import Collection
from tests.index_victim import BEGUN, DIFFERENT, DONE, STEPS, Model, make, model_after, note, work, written

KILLS = int(os.environ.get("CRIVELLO_TEST_INDEX_KILLS", "6"))
POINTS = [point for point in _core.fault_points() if point.startswith("index.")]

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["tests.index_victim"])


def start(*arguments: object) -> multiprocessing.context.ForkServerProcess:
    process = _processes.Process(target=work, args=arguments)
    process.start()
    return process


def check(folder: Path, seed: int) -> int:
    """Opens what a killed process left and compares it with what was committed; gives the steps to keep."""
    done, begun = written(folder, DONE), written(folder, BEGUN)
    with Collection.write(folder) as collection:
        collection.verify()
        assert {path.name for path in (folder / "index").iterdir()} == {n for n, _ in collection.segments}
        found = titles(collection)
        assert collection.searcher().documents == len(found)
    kept = done if found == model_after(seed, done) else begun
    assert begun - done in (0, 1)
    assert found == model_after(seed, kept)
    note(folder, kept, BEGUN, DONE)
    return kept


def titles(collection: Collection) -> Model:
    return {hit.url: hit.title for hit in collection.search("written", top=DIFFERENT)}


def test_there_are_fault_points() -> None:
    assert len(POINTS) == 3


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("hits", [1, 7])
def test_a_kill_at_a_fault_point(tmp_path: Path, point: str, hits: int) -> None:
    folder = tmp_path / "collection"
    make(folder)
    process = start(folder, 7, 0, point, hits)
    process.join(60)
    assert process.exitcode == -signal.SIGKILL, f"{point} was not reached"
    again = start(folder, 7, check(folder, 7))
    again.join(60)
    assert again.exitcode == 0
    assert check(folder, 7) == STEPS


def test_kills_at_any_moment(tmp_path: Path) -> None:
    chance = random.Random(2026)
    seed = kills = within = 0
    folder = tmp_path / "0"
    make(folder)
    first = 0
    while kills < KILLS:
        process = start(folder, seed, first)
        deadline = time.monotonic() + 60
        while written(folder, BEGUN) <= first and process.is_alive() and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.1))
        process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        kills += process.exitcode != 0
        within += written(folder, BEGUN) > written(folder, DONE)
        first = check(folder, seed)
        if first == STEPS:
            seed, first = seed + 1, 0
            folder = tmp_path / str(seed)
            make(folder)
    print(f"{kills} kills, {within} of them between the beginning of a change and its end")
