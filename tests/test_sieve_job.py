"""The offline sieve as a job: the same URLs in the same order as one pass over all files, whoever runs the tasks."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello.errors import CrivelloError, InvalidArgument
from crivello.sieve import job as jobs
from crivello.sieve import sieve_files

URL = st.integers(0, 30).map(lambda number: f"http://site-{number}.example/")


def once(lists: Iterable[list[str]], seen: set[str]) -> list[list[str]]:
    """The definition."""
    found = []
    for urls in lists:
        new = [url for url in dict.fromkeys(urls) if url not in seen]
        seen.update(new)
        found.append(new)
    return found


def write(folder: Path, lists: Iterable[list[str]]) -> list[Path]:
    files = []
    for number, urls in enumerate(lists):
        files.append(folder / f"input-{number}.txt")
        files[-1].write_text("".join(f"{url}\n\n" for url in urls))
    return files


def texts(outputs: Iterable[Path]) -> list[list[str]]:
    return [path.read_text().splitlines() for path in outputs]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.lists(URL, max_size=12), min_size=1, max_size=4), min_size=1, max_size=3),
    st.sampled_from([1, 2, 8]),
)
def test_every_url_comes_once_and_in_order(rounds: list[list[list[str]]], ranges: int) -> None:
    seen: set[str] = set()
    with TemporaryDirectory() as name:
        folder = Path(name)
        for lists in rounds:
            found = sieve_files(write(folder, lists), folder / "seen", ranges=ranges)
            assert texts(found.outputs) == once(lists, seen)
            assert found.read == sum(map(len, lists)) and found.seen == len(seen)
            assert found.new == sum(map(len, texts(found.outputs)))
        left = {path.name for path in (folder / "seen").iterdir() if path.name.startswith("seen-")}
        assert left == {f"seen-{len(rounds)}-{at}" for at in range(ranges)}


def test_a_process_pool_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_LINES", 700)
    chance = random.Random(5)
    lists = [
        [f"http://h{chance.randrange(900)}.example/{chance.randrange(3)}" for _ in range(2000)]
        for _ in range(4)
    ]
    files = write(tmp_path, lists)
    packed = tmp_path / "input-2.txt.gz"
    packed.write_bytes(gzip.compress(files[2].read_bytes()))
    files[2] = packed
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = sieve_files(files, tmp_path / "seen", ranges=4, map=pool.map)
        again = sieve_files(files[:1], tmp_path / "seen", map=pool.map)
    assert texts(found.outputs) == once(lists, set())
    assert (again.new, again.read, again.seen) == (0, 2000, found.seen)


@pytest.mark.parametrize("last", ["partition", "merge", "emit"])
def test_a_job_that_was_killed_is_run_again(tmp_path: Path, last: str) -> None:
    lists = [[f"http://{number % 40}.example/" for number in range(at, at + 50)] for at in (0, 25, 60)]
    seen: set[str] = set()
    first = sieve_files(write(tmp_path, lists[:1]), tmp_path / "seen", ranges=2)
    assert texts(first.outputs) == once(lists[:1], seen)

    def stops(function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterable[Any]:
        for task in tasks:
            yield function(task)
            if function.__name__ == last:
                raise KeyboardInterrupt

    files = write(tmp_path, lists[1:])
    with pytest.raises(KeyboardInterrupt):
        sieve_files(files, tmp_path / "seen", map=stops)
    found = sieve_files(files, tmp_path / "seen")
    assert texts(found.outputs) == once(lists[1:], seen)
    assert not (tmp_path / "seen" / "work").exists()


def test_what_it_cannot_do_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, [["http://a.example/"]])
    for ranges in (0, 3, 8192):
        with pytest.raises(InvalidArgument):
            sieve_files(file, tmp_path / "seen", ranges=ranges)
    with pytest.raises(InvalidArgument):
        sieve_files([], tmp_path / "seen")
    with pytest.raises(CrivelloError, match=r"missing\.txt"):
        sieve_files([tmp_path / "missing.txt"], tmp_path / "seen")
    (tmp_path / "seen" / "sieve.json").write_text("{")
    with pytest.raises(CrivelloError, match="damaged"):
        sieve_files(file, tmp_path / "seen")
