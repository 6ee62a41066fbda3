"""Every code, order and size of blocks: the index differs in its bytes, and never in its answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crivello import codes
from crivello.errors import InvalidArgument
from crivello.index import Document, Index, Segment
from tests.searching import indexing, opened

TEXT = ["alpha beta gamma", "beta", "gamma delta alpha", "alpha " * 9, "delta beta alpha beta", ""]
QUERIES = ("alpha", "beta AND alpha", '"gamma delta"', "delta OR gamma", "alpha -beta", '"word7 word8"')


def corpus() -> list[Document]:
    """Lists of one block and of many, long counts, all zones, and a page that is there twice."""
    documents = [
        Document(
            f"https://{number % 3}.example/{number * 7919 % 400}",
            f"Title {number % 7}",
            f"{TEXT[number % 6]} word{number % 50} word{number % 49} {'often ' * (number % 13)}",
            ["en", "it", None][number % 3],
            f"heading {TEXT[number % 5]}",
            "an anchor" if number % 4 == 0 else "",
        )
        for number in range(400)
    ]
    return [*documents, documents[5]._replace(body="alpha is new")]


Answer = list[tuple[int, list[tuple[float, str]]]]


def answers(folder: Path, segments: list[Segment]) -> Answer:
    # Where more pages match than are looked at for closeness, equal ones go by their numbers.
    searcher = opened(folder, segments, proximity_depth=1000)
    searcher.verify()
    return [
        (results.matches, sorted((round(hit.score, 4), hit.url) for hit in results))
        for results in (searcher.search(query, top=1000) for query in QUERIES)
    ]


def built(folder: Path, **options: Any) -> list[Segment]:
    index = Index(folder, settings=indexing(**options))
    documents = corpus()
    index.add(documents[:150])
    index.add(documents[150:])
    return index.merge()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    folder = tmp_path_factory.mktemp("expected")
    found = answers(folder, built(folder))
    assert all(matches > 0 for matches, _ in found)
    return found


CODES = ["unary", "unary-ordered", *codes.names(), "golomb:5", "golomb-of:1000", "rice:3"]


@pytest.mark.parametrize("component", ["pointers", "counts", "positions"])
@pytest.mark.parametrize("code", CODES)
def test_every_code_gives_the_same_answers(
    tmp_path: Path, expected: Answer, component: str, code: str
) -> None:
    segments = built(tmp_path, **{component: code})
    assert answers(tmp_path, segments) == expected


@pytest.mark.parametrize("component", ["pointers", "counts", "positions"])
def test_a_code_that_cannot_hold_the_lists_is_refused(tmp_path: Path, component: str) -> None:
    with pytest.raises(InvalidArgument, match="do not go into minimal:2"):
        built(tmp_path, **{component: "minimal:2"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [
        {"order": "url"},
        {"order": "bisection"},
        {"quantum": 16},
        {"quantum": 4096},
        {"prefer": "smallest"},
        {"prefer": "fastest"},
        {"ranks": "peeling"},
        {"ranks": "pairs"},
        {"ranks_compact": True},
        {"ranks": "pairs", "ranks_compact": True, "signature_bits": 8},
        {"signature_bits": 0},
        {"signature_bits": 32},
        {
            "order": "bisection",
            "quantum": 17,
            "pointers": "elias-fano",
            "counts": "gamma",
            "positions": "ans",
        },
    ],
    ids=str,
)
def test_every_way_to_build_gives_the_same_answers(
    tmp_path: Path, expected: Answer, options: dict[str, Any]
) -> None:
    assert answers(tmp_path, built(tmp_path, **options)) == expected


@pytest.mark.parametrize("order", ["arrival", "url", "bisection"])
def test_threads_do_not_change_a_byte(tmp_path: Path, order: str) -> None:
    documents = [
        Document(f"https://{n}.example/", "", " ".join(f"word{(n * k) % 977}" for k in range(250)))
        for n in range(2000)
    ]
    written = []
    for threads in (1, 2):
        folder = tmp_path / str(threads)
        folder.mkdir()
        settings = indexing(threads=threads, order=order, prefer="smallest", memory=1 << 20)
        [(name, _)] = Index(folder, settings=settings).add(documents)
        written.append((folder / name).read_bytes())
    assert written[0] == written[1]
