"""The filters in a query's text, and what the page makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello._core import QueryText, query_language
from crivello.errors import QuerySyntaxError
from crivello.index import Document, Index
from crivello.search.results import FacetValue, Results
from crivello.search.searcher import Search
from crivello.web.facets import Chip, chips_of, facets_of
from crivello.web.rephrase import suggestions
from tests.searching import opened

PIECES = ["wind", "-storm", '"solar wind"', "+sun", "(sun OR moon)", "site:a.example", "-lang:it", "NOT type:pdf",
          "language:en", "after:2024-01-01", "before:2025", "(moon site:b.example)", '"type:pdf"', "title:moon", "the",
          "OR", "AND", "*", "sun INSIDE (solar < wind)", "win*", "-+site:b.example", "…"]  # fmt: skip
VALUES = {"site": "a.example", "lang": "it", "type": "pdf", "before": "2025-01-01", "after": "2024-01-01"}


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Search:
    texts = [
        "solar wind",
        "the storm and the moon",
        "sun, moon and solar storm",
        "wind of type pdf",
        "the sun",
    ]
    known = [("a.example", "en", "text/html", 19_500), ("b.example", "it", "application/pdf", 19_800),
             ("a.example", "it", "application/pdf", 20_200)]  # fmt: skip
    pages = [
        Document(f"https://{site}/{place}/{language}", "The moon", text, language, kind=kind, day=day)
        for place, text in enumerate(texts)
        for site, language, kind, day in known
    ]
    folder: Path = tmp_path_factory.mktemp("filters")
    return opened(folder, Index(folder).add(pages))


def found(search: Search, query: str) -> set[str]:
    return {hit.url for hit in search.search(query, top=100, passages=False)}


@given(st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join))
def test_a_filter_that_is_taken_out_can_be_put_back(search: Search, query: str) -> None:
    try:
        matches = found(search, query)
    except QuerySyntaxError:
        assert QueryText(query).filters == []
        return
    text = QueryText(query)
    for one in text.filters:
        assert one.value[:4] in query[one.start : one.end]
        if one.removable:
            clause = f"{'-' * one.negated}{one.name}:{one.value}"
            rest = text.without([one])
            assert found(search, rest) >= matches
            assert found(search, QueryText(rest).narrowed(clause)) == matches
    for suggestion in suggestions(query):
        found(search, suggestion.query)


@given(
    st.one_of(
        st.lists(st.sampled_from([*PIECES, '"', "(", ")~", "site:", "INSIDE["])).map(" ".join), st.text()
    )
)
def test_plain_words_of_any_text_parse(search: Search, query: str) -> None:
    words = QueryText(query.encode(errors="replace").decode()).plain_words()
    if words:
        search.count(words)
        assert QueryText(words).filters == []


def test_every_filter_of_the_language_gets_a_chip() -> None:
    operators, fields = query_language()
    for name, canonical, is_filter in fields:
        if is_filter:
            assert chips_of(f"wind {name}:{VALUES[canonical]}") == [
                Chip(chips_of(f"{canonical}:{VALUES[canonical]}")[0].label, "wind")
            ]
            assert QueryText(f"wind {name}:{VALUES[canonical]}").plain_words() == "wind"
    for operator in operators:
        assert operator not in QueryText(f'sun {operator} "solar {operator} flare"~9').plain_words().split()


def test_words_without_operators() -> None:
    assert QueryText('sun INSIDE "solar flare"~9').plain_words() == "sun solar flare"
    assert chips_of("wind language:it") == chips_of("wind lang:it") == [Chip("Italian", "wind")]
    assert [one.query for one in suggestions('"solar wind" site:a.example')] == [
        '"solar wind"',
        "solar wind site:a.example",
        "solar wind",
    ]


def test_chips_are_in_the_words_of_people() -> None:
    query = "wind lang:it -site:a.example type:pdf after:2024-01-01 before:2025-01-01 after:2024-05-06"
    assert [chip.label for chip in chips_of(query)] == [
        "Italian",
        "not a.example",
        "PDF",
        "2024",
        "since 2024-05-06",
    ]
    assert chips_of("wind after:2024-01-01 before:2025-01-01") == [Chip("2024", "wind")]
    assert chips_of("after:2024 before:2025") == [Chip("2024", "*")]
    assert chips_of("wind NOT site:a.example") == [Chip("not a.example", "wind")]
    assert chips_of("(wind site:a.example) OR lang:it") == []
    assert chips_of("lang:tlh wind before:2025-01-01") == [
        Chip("tlh", "wind before:2025-01-01"),
        Chip("before 2025-01-01", "lang:tlh wind"),
    ]


def test_a_facet_is_shown_when_it_leaves_a_choice() -> None:
    facets = {
        "year": (FacetValue("2019", 5, "q"), FacetValue("2024", 3, "q")),
        "site": tuple(FacetValue(f"{number}.example", 9 - number, "q") for number in range(9)),
        "language": (FacetValue("en", 9, "q"),),
        "type": (FacetValue("pdf", 2, "q"),),
    }
    sites, kinds, years = facets_of(Results("q", 9, 0, (), facets=facets))
    assert (sites.title, len(sites.shown), len(sites.hidden)) == ("Site", 6, 2)
    assert [choice.label for choice in kinds.shown] == ["PDF"]
    assert [choice.label for choice in years.shown] == ["2024", "2019"]
    assert facets_of(Results("q", 9, 0, ())) == []
