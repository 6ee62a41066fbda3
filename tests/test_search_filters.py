"""The filters in a query's text, and what the page makes of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello.search.filters import filters_of, narrowed, without
from crivello.search.results import FacetValue, Results
from crivello.web.facets import Chip, chips_of, facets_of

PIECES = ["wind", "-storm", '"solar wind"', "+sun", "(a OR b)", "site:a.example", "-lang:it", "Type:pdf",
          "after:2024-01-01", "before:2025-01-01", "(x site:b.example)", '"type:pdf"', "title:moon"]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("wind site:a.example", ["site:a.example"]),
        ("SITE:a.example wind -lang:it", ["site:a.example", "-lang:it"]),
        ("+type:pdf wind", ["type:pdf"]),
        ('"site:a.example" wind', []),
        ("(wind site:a.example) moon", []),
        ("wind OR site:a.example", []),
        ("NOT site:a.example", []),
        ("wind AND lang:en moon", []),
        ("site: wind website:a.example", []),
        (') lang:en (( "x', ["lang:en"]),
    ],
)
def test_filters_are_found_where_they_can_be_taken_out(query: str, found: list[str]) -> None:
    filters = filters_of(query)
    assert [f"{'-' * one.negated}{one.name}:{one.value}" for one in filters] == found


@given(st.lists(st.sampled_from(PIECES)))
def test_without_its_filters_a_query_has_the_other_pieces(pieces: list[str]) -> None:
    query = " ".join(pieces)
    filters = filters_of(query)
    plain = [piece for piece in pieces if piece.lstrip("-").lower().split(":")[0] not in
             ("site", "lang", "type", "before", "after")]  # fmt: skip
    assert without(query, *filters) == " ".join(plain)
    assert len(filters) == len(pieces) - len(plain)


@given(st.text(alphabet='ab site:lang-+"() ORAND', max_size=40))
def test_any_text_can_be_looked_through(query: str) -> None:
    filters = filters_of(query)
    assert all(
        query[one.start : one.end].lower().endswith(f"{one.name}:{one.value}".lower()) for one in filters
    )
    assert len(chips_of(query)) == len(filters)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("wind moon", "wind moon type:pdf"),
        ("wind OR moon", "(wind OR moon) type:pdf"),
        ("(wind OR moon)", "(wind OR moon) type:pdf"),
        ('"wind OR moon"', '"wind OR moon" type:pdf'),
    ],
)
def test_one_more_filter_holds_for_the_whole_query(query: str, expected: str) -> None:
    assert narrowed(query, "type:pdf") == expected


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
    assert (sites.title, len(sites.shown), len(sites.hidden)) == ("Site", 6, 3)
    assert [choice.label for choice in kinds.shown] == ["PDF"]
    assert [choice.label for choice in years.shown] == ["2024", "2019"]
    assert facets_of(Results("q", 9, 0, ())) == []
