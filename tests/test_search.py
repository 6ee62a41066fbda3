"""Searching from Python: words, snippets, ranks, errors and damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from crivello._core import signature, write_ranks
from crivello.errors import CorruptFile, InvalidArgument, QuerySyntaxError
from crivello.index import Document, Index
from crivello.search import Results
from crivello.search.searcher import Search
from crivello.settings import Search as SearchSettings
from tests.searching import opened

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
ITALIAN = SearchSettings(language="it")


@pytest.fixture
def searcher(tmp_path: Path) -> Search:
    return opened(tmp_path, Index(tmp_path).add(PAGES))


def urls(answer: Results) -> list[str]:
    return [hit.url for hit in answer]


def test_words_match_whatever_their_case_accents_and_endings(searcher: Search) -> None:
    assert urls(searcher.search("CITTA", settings=ITALIAN)) == ["https://a.example/"]
    assert urls(searcher.search("acqua", settings=ITALIAN)) == ["https://a.example/"]
    assert set(urls(searcher.search("winds"))) == {"https://b.example/", "https://c.example/"}


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
def test_operators(searcher: Search, query: str, found: str) -> None:
    assert set(urls(searcher.search(query))) == {f"https://{name}.example/" for name in found}


def test_a_snippet_marks_the_words_of_the_page(searcher: Search) -> None:
    hit = searcher.search("sailed solar").hits[0]
    assert hit.rank == 1 and hit.title == "Wind and sails"
    assert hit.snippet.marked("[", "]") == "[Sailing] ships used the wind, and <b>[solar]</b> panels now."
    assert "&lt;b&gt;<mark>solar</mark>" in hit.snippet.html()
    nowhere_in_the_body = searcher.search("italia", settings=ITALIAN).hits[0]
    assert str(nowhere_in_the_body.snippet) == "Roma è una città antica. L'acqua scorre."
    assert str(searcher.search("sailed", passages=False).hits[0].snippet) == ""


def test_static_ranks_add_to_the_score(tmp_path: Path) -> None:
    pages = [Document(f"https://{n}.example/", "", "same words") for n in range(3)]
    segments = Index(tmp_path).add(pages)
    strengths = [(signature(page.url), 7.0, float(page.url == "https://2.example/")) for page in pages]
    ranks = tmp_path / "a.ranks", write_ranks(strengths, tmp_path / "a.ranks"), "indegree"
    by_text, by_both = (opened(tmp_path, segments, ranks, rank_weight=weight) for weight in (0.0, 1.0))
    # Ties go to the lower signature.
    assert urls(by_text.search("words"))[0] == min((page.url for page in pages), key=signature)
    assert urls(by_both.search("words"))[0] == "https://2.example/"
    parts = by_both.search("words", explain=True).hits[0].explanation
    assert parts is not None and [part.label for part in parts.parts] == ["word", "static rank by indegree"]


def test_the_page_that_is_about_the_word_comes_before_the_contents_to_which_all_link(tmp_path: Path) -> None:
    filler = " ".join(f"other{place}" for place in range(400))
    about = Document("https://a.example/array", "Array: numbers in a row", "array " * 12 + filler)
    contents = Document("https://a.example/contents", "Contents", f"array {filler} {filler}")
    others = [
        Document(f"https://a.example/{place}", "", filler + " array" * (place % 10 == 0))
        for place in range(200)
    ]
    segments = Index(tmp_path).add([about, contents, *others])
    # Of so many pages, all others link to the contents, and none to the page.
    strengths = [(signature(contents.url), 1.0, 9_999.0), (signature(about.url), 1.0, 0.0)]
    ranks = tmp_path / "a.ranks", write_ranks(strengths, tmp_path / "a.ranks"), "indegree"
    by_default, by_links = (
        opened(tmp_path, segments, ranks),
        opened(tmp_path, segments, ranks, rank_weight=0.5),
    )
    assert urls(by_default.search("array"))[:2] == [about.url, contents.url]
    assert urls(by_links.search("array"))[:2] == [contents.url, about.url]


def test_a_wrong_query_says_where(searcher: Search) -> None:
    with pytest.raises(QuerySyntaxError, match="never closed") as raised:
        searcher.search('città "solar wind')
    assert raised.value.position == 6
    with pytest.raises(QuerySyntaxError):
        searcher.search("(" * 100_000)
    with pytest.raises(InvalidArgument, match="k1"):
        searcher.search("wind", settings=SearchSettings(k1=-1))


def test_an_empty_index_answers_nothing(tmp_path: Path) -> None:
    searcher = opened(tmp_path, [], suggest=True)
    results = searcher.search("wind", facets=True)
    assert results.matches == len(results) == searcher.documents == searcher.bytes == 0
    assert results.facets == {"site": (), "language": (), "type": (), "year": ()}


def test_damage_is_reported_with_its_place(tmp_path: Path) -> None:
    segments = Index(tmp_path).add(PAGES)
    path = tmp_path / segments[0][0]
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    with pytest.raises(CorruptFile) as raised:
        opened(tmp_path, segments).verify()
    assert raised.value.path == path
    path.write_bytes(whole[:-1])
    with pytest.raises(CorruptFile):
        opened(tmp_path, segments)
