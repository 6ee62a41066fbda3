"""crivello lab near: edits are as large as they say, and precision and recall are those of the planted pairs."""

from __future__ import annotations

import codecs
import gzip
import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
import zstandard

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.lab.near import KINDS, METHODS, SHARES, Editor, Study, sample, study
from crivello.lab.near.plot import draw
from tests.shell import says

_ALL = {"exact", "simhash", "fingerprint", "minhash"}


def texts_of(count: int, seed: int = 0, words: int = 120) -> list[str]:
    """Texts of sentences and paragraphs in which every word is drawn from a large vocabulary."""
    drawn = random.Random(seed)
    made = []
    for _ in range(count):
        parts = []
        for place in range(drawn.randint(words // 2, words)):
            end = ".\n\n" if place % 30 == 29 else ". " if place % 10 == 9 else " "
            parts.append("".join(drawn.choices("aeioulmnrst", k=5)) + end)
        made.append("".join(parts))
    return made


def crivello(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return says(*arguments)


@pytest.fixture(scope="module")
def found() -> Study:
    return study(texts_of(48))


@pytest.mark.parametrize("share", SHARES)
def test_an_edit_changes_its_share_of_the_words(share: float) -> None:
    texts = texts_of(20, words=300)
    editor = Editor(texts, seed=1)
    for text in texts:
        before = text.replace(".", "").split()
        count = max(1, round(share * len(before)))
        replaced = editor.edit(text, "words", share).replace(".", "").split()
        changed = sum(one != other for one, other in zip(before, replaced, strict=True))
        assert count - 2 <= changed <= count, "a word may be replaced by itself"
        moved = editor.edit(text, "sentences", share).replace(".", "").split()
        assert sorted(moved) == sorted(before)
        dropped = editor.edit(text, "paragraphs", share).replace(".", "").split()
        assert len(before) - count <= len(dropped) < len(before)
        assert not set(dropped) - set(before)
        framed = editor.edit(text, "boilerplate", share).replace(".", "").split()
        start = (count + 1) // 2
        assert len(framed) == len(before) + count and framed[start : start + len(before)] == before


def test_boilerplate_is_the_same_everywhere() -> None:
    texts = texts_of(5)
    editor = Editor(texts)
    starts = {editor.edit(text, "boilerplate", 0.2).split()[0] for text in texts}
    assert len(starts) == 1


def test_the_figures_are_those_of_the_planted_pairs(found: Study) -> None:
    assert (found.documents, found.copies, found.left_out) == (48, 48, 0)
    assert {family for family, _ in found.methods()} == _ALL
    assert [point.threshold for point in found.of("simhash", "words, set")] == list(range(13))
    for point in found.points:
        assert 0 <= point.precision <= 1 and 0 <= point.recall <= 1
        assert point.found * point.precision == pytest.approx(point.recall * found.copies) or not point.found
        by_kind = sum(point.recall_by_kind[kind] for kind in KINDS) / len(KINDS)
        by_share = sum(point.recall_by_share.values()) / len(SHARES)
        assert by_kind == pytest.approx(point.recall) == by_share
        assert point.seconds > 0 and point.bytes_per_document > 0
    for family, method in found.methods():
        recalls = [point.recall for point in found.of(family, method)]
        if family in ("simhash", "fingerprint"):
            assert recalls == sorted(recalls, reverse=family == "fingerprint")


def test_random_texts_are_told_apart_and_small_edits_found(found: Study) -> None:
    assert found.best("exact").recall == 0
    best = found.best("minhash")
    assert best.precision == 1 and best.recall_by_share["2%"] == best.recall_by_share["5%"] == 1


def test_recall_is_that_of_the_true_similarities() -> None:
    texts = texts_of(32, seed=3)
    (method,) = [method for method in METHODS if method.name == "word triples, 128 bins"]
    points = study(texts, methods=[method], seed=5).points
    copies = Editor(texts, 5).copies(texts)
    pairs = [(texts[copy.original], copy.text) for copy in copies]
    true = memoryview(_core.similarities(pairs, "word", 3, "jaccard")).tolist()  # type: ignore[arg-type]
    for point in points:
        expected = sum(similarity >= point.threshold for similarity in true) / len(true)
        assert expected - 0.1 <= point.recall <= expected, "banding loses one in a hundred at the threshold"


def test_near_duplicates_of_the_corpus_itself_are_left_out() -> None:
    texts = texts_of(10)
    texts += [text + " and more" for text in texts[:4]]
    found = study(texts, methods=METHODS[:2])
    assert (found.documents, found.left_out) == (10, 4)
    with pytest.raises(InvalidArgument, match="near-duplicates of each other"):
        study(texts[:1] * 3, methods=METHODS[:2])


def test_a_sample_of_every_kind_of_corpus(tmp_path: Path) -> None:
    texts = texts_of(40)
    lines = "".join(json.dumps({"text": text, "id": number}) + "\n" for number, text in enumerate(texts))
    (tmp_path / "texts.jsonl").write_text(lines)
    (tmp_path / "texts.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "texts.jsonl.zst").write_bytes(zstandard.compress(codecs.BOM_UTF8 + lines.encode()))
    folder = tmp_path / "texts" / "more"
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text)
    (folder / "short.txt").write_text("too short")
    for corpus in ("texts.jsonl", "texts.jsonl.gz", "texts.jsonl.zst", "texts"):
        everything = sample(str(tmp_path / corpus))
        assert sorted(everything) == sorted(texts) and everything != texts
        some = sample(str(tmp_path / corpus), documents=7, seed=2)
        assert len(set(some)) == 7 and set(some) <= set(texts)
        assert some == sample(str(tmp_path / corpus), documents=7, seed=2)


def test_a_sample_takes_the_lines_that_dedup_takes(tmp_path: Path) -> None:
    texts = texts_of(4)
    odd = [f'{{"text": "{texts[0]} \\ud800"}}'.replace("\n", " "), json.dumps({"text": None}), ""]
    lines = [*odd, *(json.dumps({"text": text, "x": 1}) for text in texts[1:])]
    (tmp_path / "a.jsonl").write_bytes("\n".join(lines).encode().replace(b"1}", b'"\xff"}'))
    found = sample(str(tmp_path / "a.jsonl"))
    assert len(found) == 4 and set(texts[1:]) < set(found)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "fewer than two texts"),
        ("no json\n", "line 1"),
        ('{"body": "x"}\n', "--field names the field with the text: body"),
        ("[1, 2]\n", "line 1"),
        ('{"text": 3}\n', "line 1: expected `str"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad.jsonl").write_text(content)
    done = crivello("lab", "near", tmp_path / "bad.jsonl")
    assert done.returncode == 2 and message in done.stderr, done.stderr


def test_the_command(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"body": text}) + "\n" for text in texts_of(20))
    corpus = tmp_path / "texts.jsonl"
    corpus.write_text(lines)
    plot = tmp_path / "near.svg"
    done = crivello(
        "lab", "near", corpus, "--field", "body", "--method", "exact,minhash", "--plot", plot, "--json"
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    assert answer["documents"] == 20 and {point["family"] for point in answer["points"]} == {
        "exact",
        "minhash",
    }
    assert plot.read_text().startswith("<?xml")
    done = crivello("lab", "near", corpus, "--field", "body", "--method", "fingerprint")
    assert "winnowing" in done.stdout and "every threshold" in done.stdout
    refused = crivello("lab", "near", corpus, "--method", "guess")
    assert refused.returncode == 2 and "exact, simhash, fingerprint, minhash" in refused.stderr


def test_the_plot_of_every_method(tmp_path: Path, found: Study) -> None:
    draw(found, tmp_path / "near.png")
    assert (tmp_path / "near.png").read_bytes().startswith(b"\x89PNG")
