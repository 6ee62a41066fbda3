"""The CACM collection: 3,204 titles and abstracts, 64 topics, and which abstracts answer 52 of them."""

from __future__ import annotations

import html
import os
import re
import tarfile
from pathlib import Path

import pytest

from crivello.evaluate import Judgments, read_judgments
from crivello.index import Document
from crivello.search.topics import Topic, read_topics

_ROOT = Path(__file__).resolve().parent.parent
_TAG = re.compile(r"</?(?:html|pre)>")


def folder() -> Path:
    """Where the collection is; skips the test where it is not."""
    data = Path(os.environ.get("CRIVELLO_DATA", _ROOT.parent / "shared" / "data"))
    if not (data / "cacm" / "cacm.tar.gz").exists():
        pytest.skip(f"CACM is not in {data}: set CRIVELLO_DATA to the folder with the real data")
    return data / "cacm"


def documents() -> list[Document]:
    """The abstracts; a URL is the abstract's name, the title is its first line, and the body is the rest."""
    found = []
    with tarfile.open(folder() / "cacm.tar.gz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                text = html.unescape(_TAG.sub("", file.read().decode("latin-1"))).strip()
                title, _, body = text.partition("\n")
                found.append(Document(Path(member.name).stem, title.strip(), body.strip(), "en"))
    return found


def topics() -> list[Topic]:
    """The topics, with those that nobody judged."""
    return read_topics(str(folder() / "topics.cacm.txt"))


def judgments() -> Judgments:
    """The relevant abstracts of each topic."""
    return read_judgments(str(folder() / "qrels.cacm.txt"))
