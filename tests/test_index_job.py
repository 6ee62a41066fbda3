"""Building an index from many files by many workers: the same answers as one process, whatever runs the tasks."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import crivello
from crivello.cluster import engine, jobs
from crivello.collection import Collection
from crivello.errors import CollectionError, InvalidArgument
from crivello.index.job import Build, build
from crivello.index.policy import generations
from crivello.index.update import Indexer
from tests.searching import indexing
from tests.test_index_shell import json_of
from tests.test_shards import pages
from tests.test_shell import crivello as command

DIVISIONS: tuple[dict[str, Any], ...] = ({}, {"shards": 3}, {"shards": 3, "partition": "terms"})


def write(folder: Path, files: int = 4, each: int = 60) -> list[str]:
    """Files of documents; a third of each file's are replaced by the next file."""
    names = []
    for number in range(files):
        lines = "".join(
            json.dumps({"url": page.url, "title": page.title, "body": f"{page.body} file{number}"}) + "\n"
            for page in pages(each, first=number * each * 2 // 3)
        )
        name = folder / f"{number}.jsonl{'.gz' if number % 2 else ''}"
        name.write_bytes(gzip.compress(lines.encode()) if number % 2 else lines.encode())
        names.append(str(name))
    return names


def answers(collection: Collection) -> list[Any]:
    searcher = collection.searcher()
    queries = ("lighthouse night", '"the wind"', "file2 -file1", "number7*")
    return [
        [(hit.url, hit.score, hit.snippet) for hit in searcher.search(query, top=50)] for query in queries
    ]


@pytest.mark.parametrize("division", DIVISIONS, ids=str)
def test_workers_build_the_same_index_as_one_process(tmp_path: Path, division: dict[str, Any]) -> None:
    files = write(tmp_path)
    found = []
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for name, mapped in (("one", map), ("many", pool.map)):
            with Collection.write(tmp_path / name, settings=indexing(**division), create=True) as made:
                indexer = Indexer(made)
                built = indexer.add_files(files, mapped)
                assert [one.documents for one in built] == [60] * 4
                assert len(generations(made.segments)) == 4
                assert all(one.peak > 0 and not one.remarks for one in built)
                found.append(answers(made))
                indexer.merge()
                found.append(answers(made))
                assert made.searcher().documents == 180
    assert found[0] == found[2] and found[1] == found[3] and all(found[0])
    # As if all documents had been added at once: nothing that was replaced is counted after the merge.
    with Collection.write(tmp_path / "whole", settings=indexing(**division), create=True) as made:
        for file in files:
            made.add(crivello.index.jsonl.JsonLines(file), progress=False)
        Indexer(made).merge()
        assert answers(made) == found[1]


def test_a_task_may_run_twice_and_later_runs_go_on(tmp_path: Path) -> None:
    files = write(tmp_path)

    def twice(task: Any, tasks: Any) -> list[Any]:
        return [(task(one), task(one))[1] for one in tasks]

    with Collection.write(tmp_path / "c", settings=indexing(shards=2), create=True) as made:
        indexer = Indexer(made)
        indexer.add_files(files[:2], twice)
        indexer.add_files(files[2:], map)
        assert made.searcher().documents == 180
        with pytest.raises(InvalidArgument, match="2 shards by documents"):
            Indexer(made, indexing(shards=3)).add_files(files, map)
        with pytest.raises(InvalidArgument, match="contiguous"):
            Indexer(made, indexing(shards=2, assign="contiguous")).add_files(files, map)
        indexer.add_files(files[:1], map, rebuild=True)
        assert made.searcher().documents == 60


def test_a_failed_task_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    files = write(tmp_path)
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"url": "http://a.example/", "body": "good"}\n{"url"\n')
    with Collection.write(tmp_path / "c", settings=indexing(), create=True) as made:
        indexer = Indexer(made)
        indexer.add_files(files[:1], map)
        before = made.segments
        with pytest.raises(InvalidArgument, match=r"broken\.jsonl, line 2"):
            indexer.add_files([files[1], str(broken)], map)
    with crivello.open(tmp_path / "c") as opened:
        assert opened.segments == before and opened.searcher().documents == 60


def test_a_ray_cluster_indexes_files_from_the_shell(ray: Any, tmp_path: Path) -> None:
    files = write(tmp_path)
    address = engine.address_of(ray)
    named = [flag for file in files for flag in ("--from", file)]
    one = json_of("index", tmp_path / "one", *named, "--shards", "2")
    many = json_of("index", tmp_path / "many", *named, "--shards", "2", "--cluster", address)
    assert (one["documents"], one["added"]) == (many["documents"], many["added"]) == (180, 240)
    for folder in ("one", "many"):
        json_of("index", tmp_path / folder, "--merge")
    hits = [json_of("search", tmp_path / name, "lighthouse night")["hits"] for name in ("one", "many")]
    assert hits[0] and hits[0] == hits[1]
    for wrong in (("--cluster", "local"), ("--from", "-", "--cluster", "local")):
        done = command("index", tmp_path / "one", *wrong)
        assert done.returncode == 2 and "--cluster indexes files" in done.stderr


def test_an_error_of_a_task_comes_back_from_ray_as_itself(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"url"\n')
    task = Build(str(broken), str(tmp_path), 1, indexing(), ("documents", 1))
    failed = jobs._attempted(build, task)
    assert isinstance(failed, jobs._Failed)
    assert isinstance(failed.error(), InvalidArgument) and failed.error().hint
    gone = jobs._attempted(
        build, Build(str(tmp_path / "none"), str(tmp_path), 1, indexing(), ("documents", 1))
    )
    assert isinstance(gone.error(), CollectionError)
