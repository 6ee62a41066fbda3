"""Completion of queries over a million titles, compared with SQLite's FTS5 and its prefix indexes.

CRIVELLO_BENCH_TITLES is the number of titles (default: a million), of three to eight words of a Zipf distribution. Texts to
complete are cut off from titles, from any of their words on; one in ten has a letter changed, which FTS5 does not mend. FTS5
returns titles by its rank (BM25). The memory is what completing adds to the resident set of a process that has opened the index.
"""

from __future__ import annotations

import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

import crivello
from bench import Measurement

_TITLES = int(os.environ.get("CRIVELLO_BENCH_TITLES", "1000000"))
_WORDS = 60_000
_TEXTS = 2_000
_BATCH = 10_000
_TOP = 8


def measure() -> Iterator[Measurement]:
    chance = random.Random(7)
    titles = _titles(chance)
    texts = _texts(chance, titles)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with crivello.create(folder / "titles") as collection:
            for start in range(0, len(titles), _BATCH * 10):
                collection.add(
                    {"id": start + number, "title": title, "body": ""}
                    for number, title in enumerate(titles[start : start + _BATCH * 10])
                )
            collection.index(merge=True, progress=False)
        peer = _fts(folder / "titles.sqlite", titles)
        opened = crivello.open(folder / "titles")
        opened.search("solar", top=1)
        before = _resident()
        ours = _times(lambda text: opened.complete(text, top=_TOP), texts)
        memory = _resident() - before
        theirs = _times(lambda text: _matches(peer, text), texts[: _TEXTS // 10])
    for name, share in (("median", 0.5), ("99th percentile", 0.99)):
        yield Measurement(
            f"completing, {name} of {len(titles):,} titles",
            _at(ours, share),
            "SQLite FTS5",
            _at(theirs, share),
            "ms",
            smaller_is_better=True,
        )
    yield Measurement("memory of completing", memory / 2**20, "a MiB", 1.0, "MiB", smaller_is_better=True)


def _titles(chance: random.Random) -> list[str]:
    syllables = [
        first + second for first in "bcdfglmnprstv" for second in ("a", "e", "i", "o", "u", "an", "or")
    ]
    words = list(
        dict.fromkeys("".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(2 * _WORDS))
    )
    weights = list(accumulate(1 / (place + 3) for place in range(len(words))))
    return [
        " ".join(chance.choices(words, cum_weights=weights, k=chance.randint(3, 8))) for _ in range(_TITLES)
    ]


def _texts(chance: random.Random, titles: list[str]) -> list[str]:
    texts = []
    for title in chance.sample(titles, _TEXTS):
        words = title.split()
        text = " ".join(words[chance.randrange(len(words)) :])
        text = text[: chance.randint(1, max(1, len(text) - 1))].rstrip() or text
        if chance.random() < 0.1 and len(text) > 4:
            place = chance.randrange(1, len(text))
            text = text[:place] + chance.choice("aeiou") + text[place + 1 :]
        texts.append(text)
    return texts


def _fts(path: Path, titles: list[str]) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("CREATE VIRTUAL TABLE titles USING fts5(title, prefix='1 2 3')")
    connection.executemany("INSERT INTO titles VALUES (?)", ((title,) for title in titles))
    connection.commit()
    return connection


def _matches(connection: sqlite3.Connection, text: str) -> list[str]:
    quoted = '"' + text.replace('"', "") + '"*'
    rows = connection.execute(
        "SELECT title FROM titles WHERE titles MATCH ? ORDER BY rank LIMIT ?", (quoted, _TOP)
    )
    return [title for (title,) in rows]


def _times(work: Callable[[str], object], texts: list[str]) -> list[float]:
    work(texts[0])
    taken = []
    for text in texts:
        began = time.perf_counter()
        work(text)
        taken.append((time.perf_counter() - began) * 1000)
    return sorted(taken)


def _at(taken: list[float], share: float) -> float:
    return taken[min(len(taken) - 1, int(share * len(taken)))]


def _resident() -> int:
    with Path("/proc/self/status").open() as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))
