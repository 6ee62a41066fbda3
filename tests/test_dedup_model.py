"""The command held to the definitions in docs/duplicates.md, written out the slow way: signals, leaders, boilerplate."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello import dedup
from crivello.dedup.boilerplate import LEAST, SHARE, Lines
from crivello.errors import InvalidArgument
from tests.corpora import read_json_lines, write_json_lines
from tests.crawling import CRIVELLO

# Letters and digits; an ideograph is a word of its own.
WORD = re.compile(r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+")
SURELY = ("--bins", "1024", "--recall", "0.9999999")


def signals(text: str) -> set[tuple[str, ...]]:
    words = WORD.findall(text.lower())
    return {tuple(words[start : start + 3]) for start in range(max(bool(words), len(words) - 2))}


def similarity(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


def led(texts: Sequence[str], threshold: float) -> list[int]:
    """Of each document the leader that it is most similar to, the first of equal ones; itself, if it leads. One with the
    same words as another follows that."""
    sets = [signals(text) for text in texts]
    leaders: list[int] = []
    first: dict[tuple[str, ...], int] = {}
    for number, mine in enumerate(sets):
        same = first.setdefault(tuple(WORD.findall(texts[number].lower())), number)
        if same < number:
            leaders.append(leaders[same])
            continue
        before = [one for one in range(number) if leaders[one] == one]
        close = [(np.float32(similarity(sets[one], mine)), -one) for one in before]
        close = [found for found in close if found[0] >= np.float32(threshold)]
        leaders.append(-max(close)[1] if close else number)
    return leaders


def edited(count: int, seed: int) -> list[str]:
    """Sentences with case, punctuation, digits, accents and ideographs; many are edited copies of others."""
    draw = random.Random(seed)
    vocabulary = [
        f"{stem}{ending}" for stem in ("Crawl", "né", "Straße", "x1", "web", "ÉTÉ") for ending in range(60)
    ]
    vocabulary += list("網頁搜尋引擎資料庫")
    texts: list[str] = []
    for _ in range(count):
        if texts and draw.random() < 0.6:
            words = draw.choice(texts).split(" ")
            for _ in range(draw.choice([0, 1, 1, 2, 5])):
                place = draw.randrange(len(words))
                words[place : place + draw.randrange(2)] = [draw.choice(vocabulary)]
        else:
            words = [
                draw.choice(vocabulary) + draw.choice(["", "", ",", ".", " –"])
                for _ in range(draw.randrange(1, 60))
            ]
        texts.append(" ".join(words) if draw.random() < 0.9 else " ".join(words).upper())
    return texts


@pytest.mark.parametrize("threshold", [0.6, 0.8])
def test_the_clusters_are_those_of_the_definition(tmp_path: Path, threshold: float) -> None:
    texts = edited(300, seed=int(10 * threshold))
    source = write_json_lines(
        tmp_path / "in.jsonl", ({"id": n, "text": text} for n, text in enumerate(texts))
    )
    command = [
        str(CRIVELLO),
        "dedup",
        str(source),
        "--method",
        "minhash",
        "--threshold",
        str(threshold),
        *SURELY,
    ]
    command += ["--field", "text", "--out", "CLEAN.jsonl", "--clusters", "CLUSTERS.jsonl", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    leaders = led(texts, threshold)
    kept = [number for number, leader in enumerate(leaders) if number == leader]
    assert [row["id"] for row in read_json_lines(tmp_path / "CLEAN.jsonl")] == kept
    clusters = [
        {"keep": leader, "drop": [one for one in range(leader + 1, 300) if leaders[one] == leader]}
        for leader in kept
        if leaders.count(leader) > 1
    ]
    assert read_json_lines(tmp_path / "CLUSTERS.jsonl") == clusters and len(clusters) > 20
    told = json.loads(done.stdout)
    assert (told["documents"], told["kept"], told["clusters"]) == (300, len(kept), len(clusters))
    assert told["dropped"] == 300 - len(kept) and told["seconds"] > 0


def test_words_confirm_what_n_grams_find(tmp_path: Path) -> None:
    texts = edited(300, seed=3)
    source = write_json_lines(
        tmp_path / "in.jsonl", ({"id": n, "text": text} for n, text in enumerate(texts))
    )
    report = dedup.run(source, method="fingerprint", modulus=1, confirm="words", pairs=tmp_path / "pairs")
    words = [tuple(WORD.findall(text.lower())) for text in texts]
    triples = [signals(text) for text in texts]
    expected = {}
    for other in range(300):
        first = words.index(words[other])
        if first < other:
            expected[first, other] = 1.0
            continue
        for one in range(other):
            mine, before = set(words[other]), set(words[one])
            share = len(mine & before) / len(mine | before)
            if words.index(words[one]) == one and triples[one] & triples[other] and share >= 0.9:
                expected[one, other] = share
    found = {(pair["a"], pair["b"]): pair["similarity"] for pair in read_json_lines(tmp_path / "pairs")}
    assert found == pytest.approx(expected, abs=1e-6) and report.pairs == len(expected) > 100
    # The same sets of triples are less similar.
    alike = [pair for pair in expected if similarity(*(triples[one] for one in pair)) >= 0.9]
    assert len(alike) < len(expected)


def without_boilerplate(sites: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The definition of boilerplate, line by line."""
    left = []
    for site, text in zip(sites, texts, strict=True):
        others = [other for other, place in zip(texts, sites, strict=True) if place == site]

        def is_common(line: str, others: list[str] = others) -> bool:
            having = sum(line.strip() in map(str.strip, other.split("\n")) for other in others)
            return bool(line.strip()) and having >= max(LEAST, SHARE * len(others))

        kept = [line for line in text.split("\n") if not is_common(line)]
        is_enough = 2 * len(" ".join(kept).split()) >= len(text.split())
        left.append("\n".join(kept) if is_enough else text)
    return left


_LINES = st.sampled_from(
    ["menu", " menu ", "home  page", "", "the same footer of this site", *map(str, range(30))]
)
SITES = {
    "https://a.example/x": "a",
    "https://u@A.example": "a",
    "http://b.example:8080/": "b",
    "7": "",
    "id": "",
}
_DOCUMENTS = st.lists(
    st.tuples(st.sampled_from(sorted(SITES)), st.lists(_LINES, max_size=6)),
    min_size=10,
    max_size=60,
)


@given(documents=_DOCUMENTS, batch=st.integers(1, 60), memory=st.sampled_from([100, 1 << 20]))
def test_boilerplate_is_what_many_documents_of_a_site_share(
    tmp_path_factory: pytest.TempPathFactory, documents: list[tuple[str, list[str]]], batch: int, memory: int
) -> None:
    ids, texts = [name for name, _ in documents], ["\n".join(lines) for _, lines in documents]
    folder = tmp_path_factory.mktemp("lines")
    for start in range(0, len(ids), batch):
        with Lines(folder) as lines:
            assert lines.position == (0, start or None)
            lines.add(ids[start : start + batch], texts[start : start + batch])
            lines.commit(0, min(start + batch, len(ids)))
            found = lines.count(memory)
    sites = [SITES[name] for name in ids]
    assert found.without(ids, texts) == without_boilerplate(sites, texts)


def test_pages_of_a_template_are_told_apart_without_it(tmp_path: Path) -> None:
    draw = random.Random(1)
    menu = "\n".join(f"menu {number} leads to the section about topic {number}" for number in range(20))
    bodies = [" ".join(f"w{draw.randrange(10_000)}" for _ in range(180)) for _ in range(40)]
    bodies[31] = bodies[7] + " more"
    rows = [{"url": f"https://a.example/{n}", "text": f"{menu}\n{body}"} for n, body in enumerate(bodies)]
    source = write_json_lines(tmp_path / "in.jsonl", rows)
    kept = dedup.run(source, threshold=0.2)
    assert kept.kept == 1
    report = dedup.run(
        source, threshold=0.3, boilerplate="drop", clusters=tmp_path / "c", out=tmp_path / "out.jsonl"
    )
    assert (report.kept, report.clusters) == (39, 1)
    assert read_json_lines(tmp_path / "c") == [
        {"keep": "https://a.example/7", "drop": ["https://a.example/31"]}
    ]
    assert read_json_lines(tmp_path / "out.jsonl") == rows[:31] + rows[32:]


def test_boilerplate_is_of_documents(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a\n")
    with pytest.raises(InvalidArgument, match="where whole documents are compared"):
        dedup.run(tmp_path / "in.txt", boilerplate="drop", unit="line")
    with pytest.raises(InvalidArgument, match="is known after all of them only"):
        dedup.Deduplicator(boilerplate="drop")
