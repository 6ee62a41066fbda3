"""Searching from Python: answers, errors, damage, and how good the answers are."""

from __future__ import annotations

from pathlib import Path

import pytest

from crivello._core import Log, Searcher, signature
from crivello.errors import CorruptFile, InvalidArgument, QuerySyntaxError
from crivello.graph import Graph, Ranks, build_graph, rank_graph
from crivello.index import Document, Index
from crivello.search import Results, results
from tests import cranfield

PAGES = [
    Document("https://a.example/", "Le città d'Italia", "Roma è una città antica. L'acqua scorre.", "it"),
    Document("https://b.example/", "Solar wind", "The wind of the Sun blows at 400 km/s; winds vary.", "en"),
    Document(
        "https://c.example/",
        "Wind and sails",
        "Sailing ships used the wind, and <b>solar</b> panels now.",
        None,
    ),
]


@pytest.fixture
def searcher(tmp_path: Path) -> Searcher:
    return Searcher(tmp_path, Index(tmp_path).add(PAGES))


def urls(answer: Results) -> list[str]:
    return [hit.url for hit in answer]


def ask(searcher: Searcher, query: str, language: str = "en") -> Results:
    return results(query, searcher.search(query, language=language))


def test_words_match_whatever_their_case_accents_and_endings(searcher: Searcher) -> None:
    assert urls(ask(searcher, "CITTA", language="it")) == ["https://a.example/"]
    assert urls(ask(searcher, "acqua", language="it")) == ["https://a.example/"]
    assert set(urls(ask(searcher, "winds"))) == {"https://b.example/", "https://c.example/"}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("solar AND wind", "bc"),
        ('"solar wind"', "b"),
        ("wind NOT sun", "c"),
        ("wind -sun", "c"),
        ("+wind +(sun OR km)", "b"),
        ("NOT wind", "a"),
        ('"wind the"', ""),  # the title ends and the body begins there
        ("absent", ""),
    ],
)
def test_operators(searcher: Searcher, query: str, found: str) -> None:
    assert set(urls(ask(searcher, query))) == {f"https://{name}.example/" for name in found}


def test_a_snippet_marks_the_words_of_the_page(searcher: Searcher) -> None:
    hit = ask(searcher, "sailed solar").hits[0]
    assert hit.rank == 1 and hit.title == "Wind and sails"
    assert hit.snippet.marked("[", "]") == "[Sailing] ships used the wind, and <b>[solar]</b> panels now."
    assert "&lt;b&gt;<mark>solar</mark>" in hit.snippet.html()
    nowhere_in_the_body = ask(searcher, "italia", language="it").hits[0]
    assert str(nowhere_in_the_body.snippet) == "Roma è una città antica. L'acqua scorre."


def test_pages_of_results_follow_each_other(tmp_path: Path) -> None:
    pages = [Document(f"https://{n}.example/", "", "same words") for n in range(25)]
    searcher = Searcher(tmp_path, Index(tmp_path).add(pages))
    whole = searcher.search("words", top=25)[2]
    parts = [hit for offset in range(0, 25, 10) for hit in searcher.search("words", offset=offset)[2]]
    assert parts == whole and [hit[1] for hit in whole] == [page.url for page in pages]
    assert results("words", searcher.search("words", offset=20), 20).hits[0].rank == 21


def test_static_ranks_add_to_the_score(tmp_path: Path) -> None:
    pages = [Document(f"https://{n}.example/", "", "same words") for n in range(3)]
    segments = Index(tmp_path).add(pages)
    links = Log(tmp_path / "links.log", "links", write=True)
    favourite = signature("https://2.example/")
    links.append([(signature(page.url), favourite.to_bytes(8, "little")) for page in pages])
    built = build_graph(tmp_path / "links.log", links.sync(), tmp_path / "a.graph")
    ranked = rank_graph(Graph(tmp_path / "a.graph", built.length), tmp_path / "a.ranks")
    searcher = Searcher(tmp_path, segments, Ranks(tmp_path / "a.ranks", ranked.length))
    assert searcher.search("words")[2][0][1] == "https://0.example/"
    assert searcher.search("words", rank_weight=1.0)[2][0][1] == "https://2.example/"


def test_a_wrong_query_says_where(searcher: Searcher) -> None:
    with pytest.raises(QuerySyntaxError, match="never closed") as raised:
        searcher.search('città "solar wind')
    assert raised.value.position == 6
    with pytest.raises(QuerySyntaxError):
        searcher.search("(" * 100_000)
    with pytest.raises(InvalidArgument, match="k1"):
        searcher.search("wind", k1=-1)


def test_an_empty_index_answers_nothing(tmp_path: Path) -> None:
    searcher = Searcher(tmp_path, [])
    assert searcher.search("wind")[0] == searcher.documents == searcher.bytes == 0


def test_damage_is_reported_with_its_place(tmp_path: Path) -> None:
    segments = Index(tmp_path).add(PAGES)
    path = tmp_path / segments[0][0]
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    with pytest.raises(CorruptFile) as raised:
        Searcher(tmp_path, segments).verify()
    assert raised.value.path == path
    path.write_bytes(whole[:-1])
    with pytest.raises(CorruptFile):
        Searcher(tmp_path, segments)


def average_precision(ranking: list[str], relevant: set[str]) -> float:
    found = [place for place, url in enumerate(ranking, start=1) if url in relevant]
    return sum(hits / place for hits, place in enumerate(found, start=1)) / len(relevant)


def test_answers_are_good_on_cranfield(tmp_path: Path) -> None:
    documents, queries, judgments = cranfield.documents(), cranfield.queries(), cranfield.judgments()
    assert (len(documents), len(queries), len(judgments)) == (1400, 225, 225)
    searcher = Searcher(tmp_path, Index(tmp_path).add(documents))
    precisions = []
    for number, relevant in judgments.items():
        hits = searcher.search(queries[number - 1], top=1000)[2]
        precisions.append(average_precision([url for _, url, _, _ in hits], relevant))
    mean = sum(precisions) / len(precisions)
    print(f"Cranfield: MAP {mean:.4f}")
    assert mean >= 0.28
