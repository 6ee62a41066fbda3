"""How good the answers are, with the settings as they come: mean measures over collections with judgments."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from crivello.evaluate import Judgments, evaluate, read_judgments
from crivello.index import Document
from crivello.search.runs import read_run
from crivello.search.topics import Topic
from tests import cacm, cranfield
from tests.test_shell import crivello


def measured(
    folder: Path, documents: Iterable[Document], topics: Iterable[Topic], judgments: Judgments
) -> tuple[float, float]:
    """The means of AP and nDCG@10 of a run that ``search --batch`` writes."""
    lines = ({"id": one.url, "title": one.title, "body": one.body, "language": "en"} for one in documents)
    (folder / "documents.jsonl").write_text("\n".join(map(json.dumps, lines)))
    asked = (f"{topic.id}\t{' '.join(topic.text.split())}\n" for topic in topics if topic.id in judgments)
    (folder / "topics.tsv").write_text("".join(asked))
    collection, run = folder / "collection", folder / "run"
    assert crivello("index", collection, "--from", folder / "documents.jsonl").returncode == 0
    done = crivello("search", collection, "--batch", folder / "topics.tsv", "--run", run)
    assert done.returncode == 0, done.stderr
    means = evaluate(judgments, read_run(str(run)), ["AP", "nDCG@10"]).means
    print(f"AP {means['AP']:.4f}, nDCG@10 {means['nDCG@10']:.4f}")
    return means["AP"], means["nDCG@10"]


def test_answers_are_good_on_cranfield(tmp_path: Path) -> None:
    documents, queries = cranfield.documents(), cranfield.queries()
    judgments = read_judgments(str(cranfield.folder() / "cranqrel"))
    assert (len(documents), len(queries), len(judgments)) == (1400, 225, 225)
    topics = [Topic(str(number), query) for number, query in enumerate(queries, 1)]
    precision, gain = measured(tmp_path, documents, topics, judgments)
    assert precision >= 0.32 and gain >= 0.40


def test_answers_are_good_on_cacm(tmp_path: Path) -> None:
    documents, topics, judgments = cacm.documents(), cacm.topics(), cacm.judgments()
    assert (len(documents), len(topics), len(judgments)) == (3204, 64, 52)
    precision, gain = measured(tmp_path, documents, topics, judgments)
    assert precision >= 0.33 and gain >= 0.48
