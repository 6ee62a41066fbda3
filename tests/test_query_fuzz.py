"""Whatever is typed is searched for, or refused with the place where it went wrong: nothing else ever happens."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from crivello.collection import Collection
from crivello.errors import InvalidArgument, QuerySyntaxError
from crivello.index import Document
from crivello.index.update import Indexer

STRINGS = 10_000
VALID = (
    "solar wind",
    "solar AND wind OR NOT sail",
    "+solar -wind sail",
    '"solar wind"',
    '"solar wind sail"~8',
    "(solar OR wind) AND (sail -storm)",
    "solar < wind < (sail OR storm)",
    '"solar wind" CONTAINING[1,2] solar',
    "solar NOT CONTAINING wind",
    '(solar < wind) INSIDE "solar wind storm"~9',
    "solar NOT INSIDE[0,3] wind",
    "solar ALIGNED (solar OR wind)",
    'title:solar body:(wind sail) url:"a b"~4',
    "headings:wind* anchors:solar~1",
    "win* sola~1 solra~2 storm~",
    "solar^2 (wind sail)^0.5 title:storm^3 wind~1^2",
    "site:a.example lang:en type:pdf before:2024-05-01 after:2023-02",
    "wind -site:https://b.example/docs NOT lang:it",
    "*",
    "C++ --force well-known a/b x<y 50% e.g. foo:bar what? rock'n'roll 100^ ~/.bashrc *nix a * b",
    "città l'acqua 東京都 std::vector",
)
SIGNS = '"()+-<>~^*:[],. \t\n\0\x1b'
ODD = (
    "\u202e",  # from right to left
    "\u05d0\u0628",
    "\u200b\u200d",
    "\ufeff",
    "\U0001f30d\U0001f3fd",
    "\ud800",
    "\U0010ffff",
    "e\u0301\u0327",
    "İıß",
    "99999999999999999999",
    "AND",
    "NOT",
    "CONTAINING",
    "INSIDE[",
    "ALIGNED",
    "site:",
    "before:",
)


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    folder: Path = tmp_path_factory.mktemp("fuzz") / "collection"
    pages = [
        Document("https://a.example/wind", "Solar wind", "The wind of the Sun, and a sail.", "en"),
        Document("https://b.example/città", "La città", "L'acqua della città; std::vector, 東京都.", "it"),
    ]
    with Collection.write(folder, create=True) as written:
        Indexer(written).add(pages)
    return Collection(folder)


def ask(collection: Collection, query: str) -> None:
    try:
        found = collection.search(query, top=2)
    except QuerySyntaxError as error:
        assert 0 <= error.position <= len(query), repr(query)
        assert str(error) and "\n" not in str(error), repr(query)
    except InvalidArgument as error:
        assert str(error), repr(query)
    else:
        assert 0 <= found.matches <= 2 and len(found) <= found.matches, repr(query)


def test_random_bytes_are_words_or_a_clear_error(collection: Collection) -> None:
    random = Random(1)
    for _ in range(STRINGS):
        text = random.randbytes(random.choice((1, 3, 10, 40))).decode(
            random.choice(("utf-8", "utf-16")), "replace"
        )
        pieces = [text, *random.choices((*SIGNS, *ODD), k=random.randrange(4))]
        random.shuffle(pieces)
        ask(collection, "".join(pieces))


def test_mutated_queries_are_words_or_a_clear_error(collection: Collection) -> None:
    random = Random(2)
    for query in VALID:
        ask(collection, query)
    for _ in range(STRINGS):
        query = random.choice(VALID)
        for _ in range(random.randint(1, 4)):
            query = mutated(random, query)
        ask(collection, query)


def mutated(random: Random, query: str) -> str:
    """The query with a piece deleted, doubled, swapped with its neighbour or put in."""
    start = random.randrange(len(query) + 1)
    end = min(len(query), start + random.choice((1, 1, 1, 2, 5)))
    piece, following = query[start:end], query[end : end + 1]
    changed = random.choice(
        (
            following,
            piece + piece + following,
            following + piece,
            random.choice((*SIGNS, *ODD)) + piece + following,
            random.choice(VALID),
        )
    )
    return query[:start] + changed + query[end + 1 :]


def test_every_length_and_depth_has_its_limit(collection: Collection) -> None:
    for sign in ("(", "-+", "NOT ", "title:(", '"', "a < ", "a CONTAINING ", "^", "~", "a AND ", "*", "\0"):
        for count in (49, 50, 51, 5_000, 100_000):
            ask(collection, sign * count + "a" + ")" * (sign.count("(") * count))
