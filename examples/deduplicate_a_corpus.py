"""Remove near-duplicates from a corpus of JSON lines, and see which they were.

python examples/deduplicate_a_corpus.py pages.jsonl clean.jsonl

Without arguments the corpus is the sample web, some of whose articles are reprinted with changed words.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import crivello
from crivello import dedup
from crivello.lab.web import SampleWeb


def sample(folder: Path) -> Path:
    """The pages of the sample web as JSON lines."""
    corpus = folder / "pages.jsonl"
    with (
        SampleWeb(hosts=6, pages_per_host=12, slow=0) as web,
        crivello.create(folder / "crawl", crawl={"delay": 0, "scope": "any"}) as collection,
    ):
        collection.crawl(web.seeds, progress=False)
        with corpus.open("w") as lines:
            for page in collection.pages():
                if page.status == 200 and (text := collection.text(page)):
                    print(json.dumps({"id": page.url, "text": text}), file=lines)
    return corpus


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        source = Path(arguments[0]) if arguments else sample(folder)
        clean = Path(arguments[1]) if len(arguments) > 1 else folder / "clean.jsonl"
        clusters = folder / "clusters.jsonl"
        report = dedup.run(source, method="minhash", threshold=0.8, out=clean, clusters=clusters)
        print(report)
        for line in clusters.read_text().splitlines()[:5]:
            print(line[:200])


if __name__ == "__main__":
    main(sys.argv[1:])
