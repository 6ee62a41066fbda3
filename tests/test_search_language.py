"""Every operator of the query language, from a file of documents through the shell to the hits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crivello.collection import Collection
from crivello.errors import QuerySyntaxError
from tests.test_shell import crivello

DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": "a",
        "url": "https://www.lamps.example/fresnel",
        "title": "The Fresnel lens",
        "headings": ["Rings of glass"],
        "body": "A lighthouse lens is cut into rings. Its flame is small, behind the glass, and seen for miles.",
        "language": "en",
        "type": "text/html",
        "date": "2021-03-04",
    },
    {
        "id": "b",
        "url": "https://lamps.example/docs/keepers",
        "title": "Lighthouse keepers",
        "body": "The flame was lit at dusk. A keeper with a well-known name wiped glass and lens until morning.",
        "language": "en",
        "type": "application/pdf",
        "date": "2022-05-06",
    },
    {
        "id": "c",
        "url": "https://bees.example/api",
        "title": "Honey bees",
        "body": "Bees keep honey for winter. Nobody stores it in a std::vector, says the lighting engineer.",
        "anchors": ["the lamp of the hive"],
        "language": "en",
        "type": "text/plain",
        "date": "2023-07-08",
    },
    {
        "id": "d",
        "url": "https://faro.example/",
        "title": "Il faro",
        "body": "La lente del faro ha una fiamma e anelli di vetro. 東京都",
        "language": "it",
        "type": "text/html",
        "date": "2024-01-01",
    },
]

CASES = [
    # Words
    ("lens", "ab"),
    ("lenses LIGHTHOUSES", "ab"),
    ("lens honey", "abc"),
    ("lens AND rings", "a"),
    ("rings OR honey", "ac"),
    ("lens NOT rings", "b"),
    ("lens -rings", "b"),
    ("+lens honey", "ab"),
    ("(rings OR honey) AND (lens OR winter)", "ac"),
    ("NOT lens", "cd"),
    ("*", "abcd"),
    ("well-known", "b"),
    ("std::vector", "c"),
    ("東京都", "d"),
    ("light*", "abc"),
    ("lighthoose~1", "ab"),
    ("lighthaose~", "ab"),
    ("lens^3 honey", "abc"),
    # Where the words stand
    ('"lighthouse lens"', "a"),
    ('"glass and lens"', "b"),
    ('"flame glass"~5', ""),
    ('"flame glass"~6', "a"),
    ('"glass lens"~3', "b"),
    ("lens < glass", "a"),
    ("glass < lens", "b"),
    ("(flame < lens)~6", ""),
    ("(flame < lens)~20", "b"),
    ('(flame < lens)~20 CONTAINING keeper', "b"),
    ('(lens < glass) CONTAINING flame', "a"),
    ('flame INSIDE (lens < glass)', "a"),
    ('(glass < lens) NOT CONTAINING flame', "b"),
    ("flame NOT INSIDE (lens < glass)", "b"),
    ("lens NOT INSIDE[2,2] glass", "a"),
    ("lens INSIDE[2,2] glass", "b"),
    ("(lens OR keeper) ALIGNED lens", "ab"),
    # Zones
    ("title:lens", "a"),
    ("body:lens", "ab"),
    ('headings:"rings of glass"', "a"),
    ("url:(docs OR api)", "bc"),
    ("anchors:lamp", "c"),
    # Filters
    ("lens site:lamps.example", "ab"),
    ("lens site:www.lamps.example", "a"),
    ("lens -site:www.lamps.example", "b"),
    ("site:lamps.example OR site:bees.example", "abc"),
    ("lang:it", "d"),
    ("lenti", "d"),
    ("lenti lang:it", "d"),
    ("type:pdf", "b"),
    ("lens before:2022", "a"),
    ("after:2022-05-06 before:2024", "bc"),
    ("lens NOT type:pdf lang:en", "a"),
    # Plain text
    ("C++ lens", "ab"),
    ("lens 10:30", "ab"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("language")
    (folder / "documents.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)))
    done = crivello("index", folder / "collection", "--from", folder / "documents.jsonl")
    assert done.returncode == 0, done.stderr
    return folder / "collection"


@pytest.fixture(scope="module")
def collection(folder: Path) -> Collection:
    return Collection(folder)


@pytest.mark.parametrize(("query", "found"), CASES)
def test_a_query_finds(collection: Collection, query: str, found: str) -> None:
    results = collection.search(query, explain=True)
    assert "".join(sorted(hit.id for hit in results)) == found
    assert results.matches == collection.searcher().count(query) == len(found)


def test_a_boost_changes_the_order_and_nothing_else(collection: Collection) -> None:
    assert collection.search("flame^9 winter").hits[0].id in "ab"
    assert collection.search("flame winter^9").hits[0].id == "c"


def test_hits_are_laid_out_for_people(folder: Path) -> None:
    done = crivello("search", folder, "glass", "-rings", "--explain", "--facets")
    assert done.returncode == 2 and "hint: quote a query" in done.stderr
    done = crivello("search", folder, "glass -rings", "--explain", "--facets")
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        "  1. Lighthouse keepers",
        "     https://lamps.example/docs/keepers",
        "     pdf · en · 2022-05-06",
    ]
    assert "wiped *glass*" in lines[3]
    score, word = (line.split() for line in lines[4:6])
    assert score[1:] == ["score"] and word[:2] == [score[0], "glass"]
    blank = lines.index("")
    assert lines[blank + 1 :] == [
        *("site", "  1  lamps.example", ""),
        *("language", "  1  en", ""),
        *("type", "  1  pdf", ""),
        *("year", "  1  2022", ""),
    ]
    assert done.stderr.startswith("1 page in ")


def test_json_has_explanations_and_facets_where_they_are_asked_for(folder: Path) -> None:
    answer = json.loads(crivello("search", folder, "lens", "--json", "--explain", "--facets").stdout)
    assert answer["facets"]["type"] == [
        {"value": "html", "count": 1, "query": "lens type:html"},
        {"value": "pdf", "count": 1, "query": "lens type:pdf"},
    ]
    for hit in answer["hits"]:
        assert sum(part["value"] for part in hit["explanation"]["parts"]) == pytest.approx(hit["score"])
    assert [(hit["date"], hit["kind"], hit["id"]) for hit in answer["hits"]] == [
        ("2021-03-04", "html", "a"),
        ("2022-05-06", "pdf", "b"),
    ]


def test_what_a_search_has_to_say_goes_to_standard_error(folder: Path) -> None:
    done = crivello("search", folder, "lens", "--count-limit", "1", "--top", "1", "--time-limit", "0")
    assert "1. The Fresnel lens" in done.stdout
    hurried = crivello("search", folder, "lens", "--time-limit", "1e-9")
    assert "stopped after the time limit: these are the best of what was seen" in hurried.stderr
    later = crivello("search", folder, "lens", "--offset", "50")
    assert later.returncode == 1 and later.stdout == "" and "no further results" in later.stderr


def test_a_suggestion_comes_before_the_hits(tmp_path: Path) -> None:
    lines = (json.dumps({"id": str(n), "body": f"the lighthouse of number{n}"}) for n in range(40))
    (tmp_path / "documents.jsonl").write_text("\n".join(lines))
    crivello("index", tmp_path / "collection", "--from", tmp_path / "documents.jsonl")
    done = crivello("search", tmp_path / "collection", "lighthuose number7")
    assert done.stderr.startswith("did you mean: lighthouse number7\n") and "number7" in done.stdout
    done = crivello("search", tmp_path / "collection", "lighthuose number7", "--no-suggest")
    assert "did you mean" not in done.stderr
    done = crivello("search", tmp_path / "collection", "lighthuose", "--top", "1")
    assert done.returncode == 0 and "*lighthouse*" in done.stdout
    told = "nothing matches 'lighthuose'; showing 'lighthouse' (--no-correct: only what was typed)\n"
    assert done.stderr.startswith(told)
    done = crivello("search", tmp_path / "collection", "lighthuose", "--no-correct")
    assert done.returncode == 1 and done.stdout == "" and "did you mean: lighthouse" in done.stderr


@pytest.mark.parametrize(
    ("query", "pointed"),
    [
        ('lens "open', '  lens "open\n       ^'),
        ("東京 (lens", "  東京 (lens\n       ^"),
        ("a\tb (", "  a b (\n      ^"),
        ("word " * 40 + "(", f"  …{('word ' * 40)[-50:]}(\n  {' ' * 51}^"),
    ],
)
def test_a_caret_points_at_what_does_not_parse(folder: Path, query: str, pointed: str) -> None:
    done = crivello("search", folder, query)
    assert done.returncode == 2 and done.stdout == ""
    first, *rest = done.stderr.splitlines()
    assert first.startswith("crivello: the query does not parse at character ")
    assert "\n".join(rest[:2]) == pointed and rest[2].startswith("hint: ")


def test_the_help_shows_an_operator_of_each_kind() -> None:
    printed = crivello("search", "--help").stdout
    for sign in ('"solar wind"', "+sun", "-storm", "AND", "OR", "magnet*", "corona~", '"~8', "<", "INSIDE",
                 "title:", "site:", "lang:", "type:", "after:", "before:", "^2", "docs/search.md"):  # fmt: skip
        assert sign in printed, sign


def test_queries_are_stemmed_in_the_language_of_the_pages_that_have_their_words(tmp_path: Path) -> None:
    pages = [
        ("a", "it", "La corrente del golfo"),
        ("b", "it", "Il mare mosso"),
        ("e", "it", "Un porto al sole"),
        ("c", "en", "The runner rests"),
        ("d", "", "Nothing is known of this one, which is stemmed as English"),
    ]
    for name, kept in (("italian", "abcde"), ("english", "acd")):
        path = tmp_path / f"{name}.jsonl"
        lines = [{"id": each, "body": body, "language": code} for each, code, body in pages if each in kept]
        path.write_text("\n".join(map(json.dumps, lines)))
        done = crivello("index", tmp_path / name, "--from", path)
        assert done.returncode == 0, done.stderr

    def found(name: str, query: str) -> str:
        return "".join(hit.id for hit in Collection(tmp_path / name).search(query, correct=False))

    assert found("italian", "correnti") == "a"
    assert found("english", "running") == ""
    assert found("english", "runners") == "c"
    assert found("italian", "runners") == "c", "no Italian page has it, and an English one does"
    assert found("english", "correnti del golfo") == "a"
    assert found("english", '"correnti del golfo"') == "a"
    assert found("english", "correnti AND golfo") == "a" == found("english", "+correnti")
    assert found("italian", "correnti rested") == "a", "no page has both: that of most pages"
    assert found("italian", "runners lang:en") == "c"
    collection = Collection(tmp_path / "english")
    assert collection.count("correnti") == 1 == collection.count("runners")
    with pytest.raises(QuerySyntaxError, match="at character 10: this parenthesis"):
        collection.search("correnti (golfo")
    meant = Collection(tmp_path / "english").search("corente lang:it")
    assert [hit.id for hit in meant] == ["a"] and "for 'corrente lang:it'" in str(meant)
    done = crivello("search", tmp_path / "italian", "runners", "--language", "en", "--json")
    assert '"id":"c"' in done.stdout
