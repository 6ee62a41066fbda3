"""Queries as objects: their text, what they refuse, and what the slow evaluator makes of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello.errors import InvalidArgument
from crivello.index import Document, Index
from crivello.search import (
    After,
    Aligned,
    And,
    Before,
    Boost,
    Containing,
    Everything,
    Fuzzy,
    Group,
    In,
    Inside,
    Lang,
    Not,
    NotContaining,
    NotInside,
    Operator,
    Or,
    Ordered,
    Phrase,
    Prefix,
    Site,
    Term,
    Type,
    Window,
)
from crivello.search.searcher import Search
from tests.searching import opened
from tests.slow_scores import nearness
from tests.slow_search import SlowIndex, SlowSearch, distance


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (Term("solar"), '"solar"'),
        (Term('a "b" OR -c'), '"a  b  OR -c"'),
        (Phrase("b", "c"), '"b c"'),
        (Window(8, "a", "b", "c"), '"a b c"~8'),
        (In("url", Window(8, "a b", Or("c", "d"))), 'url:("a b" AND ("c" OR "d"))~8'),
        (Prefix("Comp"), "comp*"),
        (Fuzzy("Word"), "word~1"),
        (Fuzzy("word", 2), "word~2"),
        (And("a", Or("b", "c")), '"a" AND ("b" OR "c")'),
        (Term("a") & "b" & "c", '"a" AND "b" AND "c"'),
        ("a" | Term("b") | "c", '"a" OR "b" OR "c"'),
        (~Term("a") & "b", '(NOT "a") AND "b"'),
        (Not(Not("a")), 'NOT (NOT "a")'),
        (Group(["a"], ["b", "c"], ["d"]), '+"a" "b" "c" -"d"'),
        (Group(["a", Not("k")], [], [Lang("it")]), '+"a" +(NOT "k") -lang:it'),
        (Group([Site("x.org")], [And(Type("pdf"))]), "+(site:x.org AND (*)) ((type:pdf) AND (*))"),
        (Group([Not(Lang("it"))], ["a"]), '+((NOT lang:it) AND (*)) "a"'),
        (In("title", "a"), 'title:"a"'),
        (In("title", Or("a", "b")), 'title:("a" OR "b")'),
        (In("url", Prefix("comp")), "url:(comp*)"),
        (Boost(In("body", Window(9, "a", "b")), 2), '(body:"a b"~9)^2'),
        (Boost("a", 1e-5), '("a")^0.00001'),
        (Ordered("a", Or("b", "c"), Ordered("d", "e")), '"a" < ("b" OR "c") < ("d" < "e")'),
        (Containing("a", Phrase("b", "c"), (1, 2)), '"a" CONTAINING[1,2] "b c"'),
        (NotContaining("a", "b"), '"a" NOT CONTAINING "b"'),
        (Inside("a", And("b", "c")), '"a" INSIDE ("b" AND "c")'),
        (NotInside("a", "b", (0, 1)), '"a" NOT INSIDE[0,1] "b"'),
        (Aligned("a", Fuzzy("b")), '"a" ALIGNED b~1'),
        (And(Site("Example.org"), Lang("IT"), Type("pdf")), "site:example.org AND lang:it AND type:pdf"),
        (And(After("2024"), Before("2024-05")), "after:2024-01-01 AND before:2024-05-01"),
        (Before(datetime(2024, 5, 1, 12)), "before:2024-05-01"),
        (Everything(), "*"),
        (Everything() & "a", '(*) AND "a"'),
    ],
)
def test_the_text_of_an_operator(query: Operator, text: str) -> None:
    assert str(query) == text


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Term(""), "no word"),
        (lambda: Term("…"), "no word"),
        (lambda: Phrase(), "at least one word"),
        (lambda: Window(2, "a", "well-known"), "no room for 3 words"),
        (lambda: Window(-1, "a"), "no room"),
        (lambda: Window(5, Not("a")), "where they stand"),
        (lambda: Prefix("c"), "two letters"),
        (lambda: Prefix("a b"), "one word"),
        (lambda: Fuzzy("title:a"), "one word"),
        (lambda: Fuzzy("v12"), "ends in a letter"),
        (lambda: Window(10**9, "a", "b"), "at most 1,000,000"),
        (lambda: Fuzzy("word", 3), "1 or 2 changes"),
        (lambda: And(), "at least one"),
        (lambda: Group(), "at least one"),
        (lambda: Group("abc"), "a list"),
        (lambda: In("footer", "a"), "not a zone"),
        (lambda: In("title", Site("a.example")), "has none"),
        (lambda: Boost("a", 0), "more than 0"),
        (lambda: Boost("a", float("nan")), "more than 0"),
        (lambda: Ordered("a"), "two parts"),
        (lambda: Ordered(Not("a"), "b"), "where they stand"),
        (lambda: Ordered("a", Or("b", Site("c.example"))), "where they stand"),
        (lambda: Inside(Boost("a", 2), "b"), "where they stand"),
        (lambda: Containing("a", "b", (0, -1)), "margins"),
        (lambda: Site("a b"), "not a host"),
        (lambda: Lang("Italian"), "not a language"),
        (lambda: Type("exe"), "not a type"),
        (lambda: Before("yesterday"), "not a date"),
        (lambda: After("2023-02-29"), "not a date"),
        (lambda: After(date(1969, 12, 31)), "before 1970"),
        (lambda: Not(3), "neither"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_query_is_refused(make: Callable[[], Operator], complaint: str) -> None:
    with pytest.raises(InvalidArgument, match=complaint):
        make()


def test_operators_are_values() -> None:
    assert Term("a") & "b" == And("a", "b") and hash(Or("a", "b")) == hash(Or("a", "b"))
    assert len({Containing("a", "b"), NotContaining("a", "b"), Containing("a", "b")}) == 2
    assert repr(Phrase("a", "b")) == "Phrase(words=('a', 'b'))"


@given(st.text(max_size=30))
def test_the_text_of_a_term_is_only_words(searcher: Search, text: str) -> None:
    try:
        query = Term(text)
    except InvalidArgument:
        return
    assert searcher.search(str(query)).matches >= 0


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Search:
    folder: Path = tmp_path_factory.mktemp("index")
    return opened(folder, Index(folder).add([Document("https://a.example/", "Solar wind", "a b c")]))


@pytest.mark.parametrize(
    ("query", "spans"),
    [
        (Term("a"), {(0, 0), (3, 3), (6, 6)}),
        (Phrase("a", "b"), {(0, 1), (3, 4)}),
        (Window(3, "a", "c"), {(0, 2), (2, 3), (3, 5), (5, 6)}),
        (Window(2, "c", "a"), {(2, 3), (5, 6)}),
        (Window(3, Phrase("b", "c"), "a"), {(0, 2), (1, 3), (3, 5), (4, 6)}),
        (Window(1, Or("b", Phrase("a", "b"))), {(1, 1), (4, 4)}),
        (Ordered("a", "c"), {(0, 2), (3, 5)}),
        (Ordered("a", "a"), {(0, 3), (3, 6)}),
        (Ordered("c", "b", "a"), {(2, 6)}),
        (And("a", "a"), {(0, 0), (3, 3), (6, 6)}),
        (And("a", Phrase("b", "c")), {(0, 2), (1, 3), (3, 5), (4, 6)}),
        (Or("b", Phrase("a", "b")), {(1, 1), (4, 4)}),
        (Containing(Ordered("a", "c"), "b"), {(0, 2), (3, 5)}),
        (Containing(Ordered("a", "c"), "b", (2, 0)), set()),
        (NotContaining(Window(3, "a", "c"), "b"), {(2, 3), (5, 6)}),
        (NotContaining(Window(3, "a", "c"), "b", (0, 2)), {(0, 2), (2, 3), (3, 5), (5, 6)}),
        (Inside("b", Phrase("a", "b")), {(1, 1), (4, 4)}),
        (Inside("c", "b", (0, 1)), {(2, 2), (5, 5)}),
        (NotInside("a", "b", (1, 0)), {(6, 6)}),
        (NotInside("a", "b", (1, 2)), set()),
        (Aligned(Window(3, "a", "c"), Phrase("c", "a")), {(2, 3), (5, 6)}),
    ],
)
def test_intervals_by_their_definition(query: Operator, spans: set[tuple[int, int]]) -> None:
    index = SlowIndex()
    index.add([Document("https://a.example/", "b a", "a b c a b c a")])
    model = SlowSearch(index)
    assert model.spans(query, model.pages[0], "body") == spans
    assert model.spans(In("body", query), model.pages[0], "title") == set()


def test_distances() -> None:
    pairs = {("abcd", "abcd"): 0, ("abcd", "abdc"): 1, ("ca", "abc"): 3, ("à", "a"): 1, ("", "ab"): 2}
    assert {pair: distance(*pair) for pair in pairs} == pairs


def test_nearness_is_between_neighbours() -> None:
    assert nearness([{0, 4}, {2}], [1.0, 3.0]) == [3 / 4 + 3 / 4, 1 / 4 + 1 / 4]
    assert nearness([{0, 1}, {1}, {3}], [1.0, 2.0, 4.0]) == [2.0 + 1.0, 1.0 + 1.0, 1 / 4 + 2 / 4]
