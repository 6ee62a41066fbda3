"""The Cranfield II collection: 1,400 abstracts, 225 queries, and which abstracts answer each."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from crivello.index import Document

_ROOT = Path(__file__).resolve().parent.parent


def folder() -> Path:
    """Where the collection is; skips the test where it is not."""
    data = Path(os.environ.get("CRIVELLO_DATA", _ROOT.parent / "shared" / "data"))
    if not (data / "cranfield" / "cran.all.1400").exists():
        pytest.skip(f"Cranfield is not in {data}: set CRIVELLO_DATA to the folder with the real data")
    return data / "cranfield"


def documents() -> list[Document]:
    """The abstracts; a URL is the abstract's number."""
    text = (folder() / "cran.all.1400").read_text()
    pattern = re.compile(r"^\.I (\d+)\n\.T\n(.*?)^\.A\n.*?^\.W\n(.*?)(?=^\.I|\Z)", re.MULTILINE | re.DOTALL)
    return [
        Document(number, title.strip(), body.strip(), "en") for number, title, body in pattern.findall(text)
    ]


def queries() -> list[str]:
    """The queries, in the order by which the judgments number them; without what would be an operator."""
    text = (folder() / "cran.qry").read_text()
    return [
        re.sub(r"[()\"]", " ", query) for query in re.findall(r"^\.W\n(.*?)(?=^\.I|\Z)", text, re.M | re.S)
    ]


def judgments() -> dict[int, set[str]]:
    """The relevant abstracts of each query, by its place from 1.

    The grades 1 (the best) to 4 count as relevant; the 225 rows with -1, which is no grade, do not.
    """
    relevant: dict[int, set[str]] = {}
    for line in (folder() / "cranqrel").read_text().splitlines():
        query, document, grade = line.split()
        if 1 <= int(grade) <= 4:
            relevant.setdefault(int(query), set()).add(document)
    return relevant
