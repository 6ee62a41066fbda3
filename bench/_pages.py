"""Real pages to index: the HTML files of sites, unpacked in a folder with one subfolder per site.

``CRIVELLO_BENCH_SITES`` names the folder; the default is that of a real web on loopback (``REALWEB_HOME``, or
``realweb`` in the temporary folder). The pages are parsed once and cached as JSON lines next to it.

A crawl is measured on real sites: ``CRIVELLO_BENCH_CRAWL`` names a collection; if it is not set,
``CRIVELLO_BENCH_SEEDS`` (as for ``bench.crawl``) are crawled once and cached next to it.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TextIO

from crivello import Collection, _core
from crivello._core import Layout
from crivello.index import Document, Index, options_of
from crivello.index.jsonl import JsonLines

_EPOCH = datetime.date(1970, 1, 1)


def sites() -> Path:
    """The folder of the sites."""
    home = os.environ.get("REALWEB_HOME") or Path(tempfile.gettempdir(), "realweb")
    return Path(os.environ.get("CRIVELLO_BENCH_SITES") or Path(home, "sites"))


def documents() -> list[Document]:
    """The pages of all sites, ordered by URL."""
    return list(JsonLines(str(kept())))


def kept() -> Path:
    """The file with the pages of all sites."""
    folder = sites()
    if not folder.is_dir():
        sys.exit(f"bench: there are no sites in {folder}; name a folder of them with CRIVELLO_BENCH_SITES")
    kept = folder.parent / "pages.jsonl"
    if not kept.exists():
        temporary = kept.with_suffix(".tmp")
        with temporary.open("w") as lines:
            for site in sorted(folder.iterdir()):
                _write_site(site, lines)
        temporary.rename(kept)
    return kept


def crawled() -> Path:
    """A collection of crawled pages."""
    given = os.environ.get("CRIVELLO_BENCH_CRAWL")
    if given:
        return Path(given)
    from bench.crawl import CRIVELLO, SEEDS

    folder = sites().parent / "crawl"
    if not Path(folder, Layout.MANIFEST).exists():
        command = [str(CRIVELLO), "crawl", *SEEDS, "--into", str(folder), "--delay", "0", "--allow-private"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder


def write_crawled(crawl: Path, file: Path) -> None:
    """Writes the documents of a crawl as JSON lines, exactly as they are indexed from its archive."""
    collection = Collection(crawl)

    def keep(documents: list[Document]) -> list[Document]:
        for document in documents:
            date = (_EPOCH + datetime.timedelta(days=document.day)).isoformat() if document.day else None
            fields = {**document._asdict(), "type": document.kind, "date": date}
            del fields["kind"], fields["day"], fields["id"]
            lines.write(json.dumps(fields) + "\n")
        return documents

    with tempfile.TemporaryDirectory() as folder, file.open("w") as lines:
        options = options_of(collection.settings)
        Index(folder).add_pages(collection.documents(options, extractor=keep))


def _write_site(site: Path, lines: TextIO) -> None:
    root = site / "usr/share" if (site / "usr/share").is_dir() else site
    for file in sorted(root.rglob("*.html")):
        if not file.is_file():
            continue
        url = f"http://{site.name}.test:8080/{file.relative_to(root)}"
        page = _core.parse_html(file.read_bytes(), url, "text/html; charset=utf-8")
        if page.text:
            _write(lines, url, page)


def _write(lines: TextIO, url: str, page: _core.ParsedPage) -> None:
    fields = {
        "url": url,
        "title": page.title,
        "headings": page.headings,
        "body": page.text,
        "language": page.language,
    }
    print(json.dumps(fields, ensure_ascii=False), file=lines)
