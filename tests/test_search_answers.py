"""What an answer tells beside its hits, by the real engine: facets, folding, mixing, paging, spelling, explanations."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from crivello._core import signature
from crivello.errors import InvalidArgument
from crivello.index import Document, Index
from crivello.search.results import Explanation
from crivello.search.searcher import Search
from crivello.settings import Search as SearchSettings
from tests.searching import opened

KINDS = ("text/html", "application/pdf", "text/plain", "")
LANGUAGES = ("en", "it", "de", None)
# Words that every language leaves as they are.
SUBJECTS = ("onyx quartz", "onyx", "quartz zinc", "onyx zinc zinc")


def day(number: int) -> int:
    """A day of one of six years; of every seventh page nobody knows it."""
    when = datetime.date(2018 + number % 6, 1 + number % 12, 1 + number % 28)
    return 0 if number % 7 == 0 else (when - datetime.date(1970, 1, 1)).days


def page(number: int, **changes: Any) -> Document:
    rest = " ".join(f"word{(number * factor) % 997}" for factor in range(1, 40))
    return Document(
        f"https://{'www.' * (number % 2)}site{number % 5}.example/{number}",
        f"Page {number}",
        f"{SUBJECTS[number % 4]} {rest} onyx",
        LANGUAGES[number % 4 if number % 3 else 0],
        kind=KINDS[number % 4],
        day=day(number),
    )._replace(**changes)


@pytest.fixture(scope="module")
def segments(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[str, int]]]:
    """300 pages in two segments, some of them replaced."""
    folder = tmp_path_factory.mktemp("answers")
    index = Index(folder)
    index.add(page(number) for number in range(200))
    return folder, index.add(page(number) for number in range(180, 300))


@pytest.fixture(scope="module")
def search(segments: tuple[Path, list[tuple[str, int]]]) -> Search:
    return opened(*segments, count_limit=1_000_000)


@pytest.mark.parametrize(
    "query", ["onyx", "onyx OR zinc", "quartz AND zinc", "onyx -zinc", "site:site3.example"]
)
def test_the_counts_of_facets_are_those_of_the_narrowed_queries(search: Search, query: str) -> None:
    results = search.search(query, facets=True)
    assert results.exact and results.matches == search.count(query) > 0
    assert results.facets is not None and list(results.facets) == ["site", "language", "type", "year"]
    for name, values in results.facets.items():
        assert values, name
        for value in values:
            narrowed = search.search(value.query, facets=True)
            # site: takes in the hosts under a host, each of which is counted for itself.
            of_all = [other for other in values if name == "site" and other.value.endswith(f".{value.value}")]
            expected = value.count + sum(other.count for other in of_all)
            assert narrowed.matches == search.count(value.query) == expected, value


@pytest.mark.parametrize(
    ("query", "holds"),
    [
        ("onyx site:site3.example", lambda one: one.url.split("/")[2].endswith("site3.example")),
        ("onyx site:www.site3.example", lambda one: "www.site3." in one.url),
        ("onyx -site:site3.example", lambda one: "site3." not in one.url),
        ("onyx lang:it", lambda one: one.language == "it"),
        ("onyx (lang:it OR lang:de)", lambda one: one.language in ("it", "de")),
        ("onyx type:pdf", lambda one: one.kind == "application/pdf"),
        ("onyx type:text", lambda one: one.kind == "text/plain"),
        ("onyx after:2020", lambda one: one.day >= 18262),
        ("onyx before:2020", lambda one: 0 < one.day < 18262),
        ("onyx after:2019-03 before:2021-07-15", lambda one: 17956 <= one.day < 18823),
        ("type:pdf lang:en after:2020", lambda one: (one.kind, one.language, one.day >= 18262) == ("application/pdf", "en", True)),
    ],
)  # fmt: skip
def test_filters(search: Search, query: str, holds: Any) -> None:
    found = {hit.url for hit in search.search(query, top=1000)}
    assert found == {one.url for one in map(page, range(300)) if holds(one)}
    assert 0 < len(found) < 300


def test_a_hit_tells_what_is_known_of_its_page(search: Search) -> None:
    hits = {hit.url: hit for hit in search.search("onyx", top=1000)}
    for number in (1, 6, 50, 193):
        wanted = page(number)
        hit = hits[wanted.url]
        assert (hit.site, hit.language) == (wanted.url.split("/")[2], wanted.language or "")
        assert hit.kind == {"text/html": "html", "application/pdf": "pdf", "text/plain": "text"}.get(
            wanted.kind, ""
        )
        known = hit.date and (hit.date - datetime.date(1970, 1, 1)).days
        assert (known or 0) == wanted.day


def test_near_duplicates_are_folded(tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(400))
    copies = [Document(f"https://{n}.example/", "", f"{text} number{n}") for n in range(5)]
    others = [page(number) for number in range(5)]
    search = opened(tmp_path, Index(tmp_path).add([*copies, *others]), collapse=8)
    hits = {hit.url: hit for hit in search.search("word399 onyx", top=20)}
    # Ties go to the lower signature.
    first = min((copy.url for copy in copies), key=signature)
    assert set(hits) == {first, *(other.url for other in others)}
    assert hits[first].similar == 4 and hits[first].notes == ["+4 similar"]
    unfolded = search.search("word399", settings=SearchSettings(collapse=-1))
    assert len(unfolded) == unfolded.matches == 5 and not any(hit.similar for hit in unfolded)


def test_sites_are_mixed_where_they_are_nearly_as_good(tmp_path: Path) -> None:
    def pages(site: str, numbers: range, words: int) -> list[Document]:
        filler = " ".join(f"word{number}" for number in range(words))
        return [Document(f"https://{site}/{number}", "", f"onyx {number} {filler}") for number in numbers]

    near = [*pages("two.example", range(20, 23), 12), *pages("three.example", range(30, 31), 12)]
    far = pages("four.example", range(40, 41), 300)
    search = opened(
        tmp_path, Index(tmp_path).add([*pages("one.example", range(12), 8), *near, *far]), per_site=2
    )
    results = search.search("onyx", top=17)
    sites = [hit.site.split(".")[0] for hit in results]
    assert sites[:10] == ["one", "one", "two", "two", "three", "one", "one", "one", "one", "one"]
    assert len(results) == 17 and sites[-1] == "four" and results[9].more_from_site == 5
    best = results[5].score
    assert all(0.8 * best <= hit.score < best for hit in results[2:5]) and results[16].score < 0.8 * best

    for query in (
        "onyx site:one.example",
        "onyx -site:three.example -site:four.example",
        "onyx -site:three.example",
    ):
        unmixed = search.search(query, top=17)
        scores = [hit.score for hit in unmixed]
        assert scores == sorted(scores, reverse=True) and not any(hit.more_from_site for hit in unmixed)


@pytest.mark.parametrize("settings", [{}, {"collapse": 3, "per_site": 2}])
def test_a_page_of_results_is_not_ranked_again(
    segments: tuple[Path, list[tuple[str, int]]], settings: dict[str, Any]
) -> None:
    search, other = opened(*segments, **settings), opened(*segments, **settings)
    kept = search._rankings
    both = search.search("onyx zinc", top=20)
    [(_, ranking)] = kept.values()
    second = search.search("onyx zinc", top=10, offset=10)
    assert [hit.rank for hit in second] == list(range(11, 21))
    assert second.hits == both.hits[10:]
    assert [kept_now for _, kept_now in kept.values()] == [ranking]
    pages = [other.search("onyx zinc", offset=start).hits for start in range(0, 20, 10)]
    assert tuple(hit for page_of in pages for hit in page_of) == both.hits


def test_folding_leaves_no_page_short(tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(400))
    copies = [Document(f"https://{n}.example/", "", f"{text} number{n} onyx") for n in range(150)]
    others = [page(number) for number in range(100)]
    search = opened(tmp_path, Index(tmp_path).add([*copies, *others]), collapse=8)
    first = search.search("onyx word399")
    assert len(first) == 10 and first.matches == 250
    assert len(search.search("onyx word399", offset=90)) == 10
    found = {hit.url for start in range(0, 110, 10) for hit in search.search("onyx word399", offset=start)}
    assert found == {min((copy.url for copy in copies), key=signature), *(other.url for other in others)}


def leaves(explanation: Explanation) -> list[float]:
    if not explanation.parts:
        return [explanation.value]
    assert sum(part.value for part in explanation.parts) == pytest.approx(explanation.value, abs=1e-9)
    return [value for part in explanation.parts for value in leaves(part)]


@pytest.mark.parametrize("scorer", ["bm25f", "bm25", "tfidf", "ql"])
@pytest.mark.parametrize(
    "query", ["onyx", "onyx zinc quartz", '"onyx quartz"', "+onyx^3 qua* zimc~1", "title:page onyx < zinc"]
)
def test_an_explanation_adds_up_to_the_score(search: Search, scorer: Any, query: str) -> None:
    settings = SearchSettings(scorer=scorer)
    results = search.search(query, top=5, explain=True, settings=settings)
    assert results.hits
    for hit in results:
        assert hit.explanation is not None
        assert sum(leaves(hit.explanation)) == pytest.approx(hit.score, abs=1e-9)
        assert hit.explanation.value == hit.score == hit.to_dict()["explanation"]["value"]
        assert len(str(hit.explanation).splitlines()) >= len(hit.explanation.parts) + 1
    assert all(hit.explanation is None for hit in search.search(query))


def test_a_better_spelling_is_offered(tmp_path: Path) -> None:
    pages = [page(number, title="The lighthouse keeper") for number in range(60)]
    search = opened(tmp_path, Index(tmp_path).add(pages), suggest=True)
    assert search.search("lighthuose kepeer onyx").suggestion == "lighthouse keeper onyx"
    assert (
        search.search('lighthuose site:site1.example "keeper"').suggestion
        == 'lighthouse site:site1.example "keeper"'
    )
    assert search.search("lighthouse").suggestion is None and search.search("lighthouse").corrected is None
    assert search.search("xyzzyxq").suggestion is None
    assert search.search("lighthuose", settings=SearchSettings(suggest=False)).suggestion is None


def test_a_misspelt_query_without_matches_shows_what_was_meant(tmp_path: Path) -> None:
    pages = [page(number, title="The lighthouse keeper") for number in range(60)]
    search = opened(tmp_path, Index(tmp_path).add(pages), suggest=True)
    results = search.search("lighthuose kepeer", top=5, facets=True)
    meant = search.search("lighthouse keeper", top=5, facets=True)
    assert (results.query, results.corrected, results.suggestion) == (
        "lighthuose kepeer",
        "lighthouse keeper",
        None,
    )
    assert results.searched == "lighthouse keeper"
    assert (results.hits, results.matches, results.facets) == (meant.hits, 60, meant.facets)
    assert str(results).startswith(
        "nothing for 'lighthuose kepeer'; showing 60 pages for 'lighthouse keeper' in "
    )
    assert results.to_dict()["corrected"] == "lighthouse keeper" and "corrected" not in meant.to_dict()
    later = search.search("lighthuose kepeer", top=5, offset=5)
    assert later.corrected == "lighthouse keeper" and [hit.rank for hit in later] == [6, 7, 8, 9, 10]
    insisted = search.search("lighthuose kepeer", correct=False)
    assert (insisted.matches, insisted.corrected, insisted.suggestion) == (0, None, "lighthouse keeper")
    # A filter may be what leaves nothing.
    elsewhere = search.search("lighthuose site:nowhere.example")
    assert (elsewhere.matches, elsewhere.corrected) == (0, None)


def test_results_are_a_sequence_that_reads(search: Search) -> None:
    results = search.search("onyx", top=5)
    assert len(results) == 5 and list(results) == [results[place] for place in range(5)]
    assert results[-1] is results.hits[4] and results[1:3] == results.hits[1:3]
    assert repr(results) == str(results) and repr(results).startswith("300 pages for 'onyx' in ")
    assert repr(results[0]) == f"<Hit 1: {results[0].title!r} {results[0].score:.3f} {results[0].url}>"
    with pytest.raises(IndexError):
        results[5]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"query": None}, "a query is a text or operators of crivello.search, not None"),
        ({"query": b"onyx"}, "a query is a text or operators of crivello.search, not b'onyx'"),
        ({"top": -5}, "top is -5, which is not a whole number from 0 to 10,000,000"),
        ({"top": "3"}, "top is '3', which is not a whole number from 0 to 10,000,000"),
        ({"top": 1 << 70}, f"top is {1 << 70}, which is not a whole number from 0 to 10,000,000"),
        ({"top": True}, "top is True, which is not a whole number from 0 to 10,000,000"),
        ({"offset": -1}, "offset is -1, which is not a whole number from 0 to 10,000,000"),
        ({"offset": 1.0}, "offset is 1.0, which is not a whole number from 0 to 10,000,000"),
    ],
)
def test_a_wrong_argument_is_one_clear_error(search: Search, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument) as raised:
        search.search(**{"query": "onyx", **arguments})
    assert str(raised.value) == said
    if "query" in arguments:
        with pytest.raises(InvalidArgument, match="a query is a text"):
            search.count(arguments["query"])


def test_a_limit_of_time_gives_what_was_seen(tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(50))
    pages = (Document(f"https://{n}.example/", "", f"{text} {n}") for n in range(5000))
    segments = Index(tmp_path).add(pages)
    hurried = opened(tmp_path, segments, time_limit=1e-9)
    words = " ".join(f"word{number}" for number in range(50))
    results = hurried.search(words)
    assert results.partial and not results.exact and results.matches < 5000
    assert not hurried._rankings
    assert hurried.count(words) == 5000
    patient = opened(tmp_path, segments).search(words)
    assert not patient.partial and patient.exact and patient.matches == 5000


def test_matches_are_counted_up_to_a_limit(search: Search) -> None:
    limited = SearchSettings(count_limit=150, collapse=-1, per_site=0)
    results = search.search("onyx", settings=limited)
    assert not results.exact and 150 <= results.matches <= 300
    assert str(results).startswith("more than ")
    assert search.count("onyx", limit=7) == 7 and search.count("onyx") == 300
    assert search.count("*") == search.documents == 300 and search.count("absent") == 0


def test_a_notebook_shows_results_as_a_list(segments: tuple[Path, list[tuple[str, int]]]) -> None:
    results = opened(*segments).search("onyx", top=2)
    shown = results._repr_html_()
    assert shown.count("<a ") == 2 and "<mark>" in shown and "onyx" in shown
    assert f'href="{results.hits[0].url}"' in shown and "pages for" in shown
