"""Analysis from Python and through the real command, and what a search finds by it."""

from __future__ import annotations

import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crivello
from crivello._core import count_tokens
from crivello.index import Document, Index
from crivello.search.searcher import Search
from crivello.settings import Search as SearchSettings
from tests import shell
from tests.searching import opened


def lab_words(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    done = shell.run("lab", "words", *arguments, given=stdin)
    assert b"Traceback" not in done.stderr
    return done


def test_an_identifier_is_whole_and_in_parts() -> None:
    assert crivello.analyze("è std::Vectors", "en") == [
        ("e", 0, 0, 1),
        ("std::vectors", 1, 2, 14),
        ("std", 1, 2, 5),
        ("vector", 2, 7, 14),
    ]
    assert [word.term for word in crivello.analyze("C++, C#, don't, 3.14, 10.0.0.1")] == [
        *("c++", "c#", "don't", "3.14", "10.0.0.1")
    ]


def test_scripts_without_spaces_give_pairs() -> None:
    assert crivello.analyze("東京都 人", "ja") == [("東京", 0, 0, 2), ("京都", 1, 1, 3), ("人", 3, 4, 5)]
    assert [word.term for word in crivello.analyze("ที่นี่ดี", "th")] == ["ที่นี่", "นี่ดี"]


@given(
    st.text(st.sampled_from("ab1_.:@&+#'’ -é東京คำ한국\u0301\n") | st.characters(codec="utf-8")),
    st.sampled_from([None, "it", "ja", "xx"]),
)
def test_words_are_where_they_say(text: str, language: str | None) -> None:
    words = crivello.analyze(text, language)
    assert count_tokens([text], language) == count_tokens([text], language, terms=True) == len(words)
    assert all(0 <= word.start < word.end <= len(text) for word in words)
    assert [word.start for word in words] == sorted(word.start for word in words)
    assert [word.position for word in words] == sorted(word.position for word in words)
    # A token by itself means what it means in the text.
    for word in words:
        alone = crivello.analyze(text[word.start : word.end], language)
        assert alone and alone[0].term == word.term


PAGES = [
    Document("https://a.example/", "", "Use std::vector in C++, not a plain array.", "en"),
    Document("https://b.example/", "", "The vector space of C. Standard vectors.", "en"),
    Document("https://c.example/", "", "東京都庁は新宿にある。", "ja"),
    Document("https://d.example/", "", "京都と東京", "ja"),
    Document("https://e.example/", "", "Call foo_bar() or mail me@git-scm.com with --no-verify", "en"),
]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Search:
    folder = tmp_path_factory.mktemp("index")
    return opened(folder, Index(folder).add(PAGES))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("vector", "ab"),
        ("std::vector", "a"),
        ("STD::Vector", "a"),
        ('"std vector"', "a"),
        ("C++", "a"),
        ("c", "b"),
        ("東京", "cd"),
        ("東京都", "c"),
        ("京都", "cd"),
        ("foo_bar", "e"),
        ("bar", "e"),
        ("git-scm.com", "e"),
        ("--no-verify", "e"),
        ("the plain of", "a"),
        ("the", "b"),
    ],
)
def test_searches(searcher: Search, query: str, found: str) -> None:
    hits = searcher.search(query)
    assert {hit.url for hit in hits} == {f"https://{name}.example/" for name in found}


def test_snippets_mark_what_overlaps_once(searcher: Search) -> None:
    japanese = SearchSettings(language="ja")
    hit = searcher.search("東京都庁", settings=japanese).hits[0]
    assert hit.snippet.marked("[", "]") == "[東京都庁]は新宿にある。"
    hit = searcher.search("std::vector vector").hits[0]
    assert "Use [std::vector] in" in hit.snippet.marked("[", "]")


def test_the_command_prints_a_table() -> None:
    done = lab_words("The std::vectors 東京")
    assert done.returncode == 0
    assert done.stdout.decode().splitlines() == [
        "surface       term          position  stop word",
        "The           the           0         yes",
        "std::vectors  std::vectors  1",
        "std           std           1",
        "vectors       vector        2",
        "東京          東京          3",
    ]


def test_the_command_reads_standard_input_and_prints_json() -> None:
    done = lab_words("-", "--language", "it", "--json", stdin="L’acqua".encode())
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"surface": "L", "term": "l", "position": 0, "start": 0, "end": 1, "parts": 0, "stop_word": True},
        {
            "surface": "acqua",
            "term": "acqua",
            "position": 1,
            "start": 2,
            "end": 7,
            "parts": 0,
            "stop_word": False,
        },
    ]
    assert lab_words("x" * 65).stdout.decode().splitlines()[1].split()[1] == "-"


def test_the_command_ends_with_1_without_words_and_with_2_without_text() -> None:
    assert (lab_words("?!").returncode, lab_words("?!").stdout) == (1, b"")
    assert lab_words("-", stdin=b"\xff").returncode == 2
    assert lab_words().returncode == 2
