"""Builds an index in a process of its own: prints its seconds, its peak memory and the lengths of its files.

    python -m bench._shards_build DOCUMENTS FOLDER COUNT [SETTING=VALUE ...]

COUNT documents are passages of about a thousand characters of the pages in DOCUMENTS, a file of JSON lines.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from crivello.index import Document, Index
from crivello.index.jsonl import JsonLines
from crivello.settings import load

PASSAGE = 1000


def passages(file: Path) -> Iterator[Document]:
    """The passages of all pages; in later rounds they are cut elsewhere."""
    for turn in count():
        offset = turn * 137 % PASSAGE
        for page in JsonLines(str(file)):
            for number, start in enumerate(range(offset, max(len(page.body) - 200, offset + 1), PASSAGE)):
                if body := page.body[start : start + PASSAGE]:
                    yield page._replace(url=f"{page.url}?{turn}.{number}", body=body, id="")


def main() -> None:
    """Builds it."""
    file, folder, wanted, *given = sys.argv[1:]
    flags = dict(setting.split("=", 1) for setting in given)
    settings = load(flags={"index": {**flags}}, environment={})
    Path(folder).mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    segments = Index(folder, settings=settings).add(islice(passages(Path(file)), int(wanted)))
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "peak": peak, "segments": segments}))


if __name__ == "__main__":
    main()
