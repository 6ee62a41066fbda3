"""From the archive of a crawl to its index: which pages, in which order, and whatever the threads do."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crivello import Collection, settings
from crivello._core import Layout
from crivello.errors import CorruptFile
from crivello.index.update import Indexer
from crivello.store import Outcome, Row
from tests.small_web import Answer, SmallWeb, links

PAGES = 150
HOST = "a.test"


def page(number: int) -> str | Answer:
    """A page of some kind: plain, with headings, of another address, or in plain text."""
    text = f"word{number} common " + f"tide{number % 7} " * (number % 40)
    if number % 5 == 0:
        return Answer(f"Text {number}\n{text}".encode(), kind="text/plain; charset=utf-8")
    head = f"<title>Page {number}</title><h2>heading{number}</h2>"
    if number % 3 == 0:
        head += f'<link rel="canonical" href="/p{number + (number % 2)}">'
    return links(f"/p{number + 1}", head=head, text=text)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("crawled") / "c"
    pages: dict[str, str | Answer] = {f"/p{number}": page(number) for number in range(PAGES)}
    with SmallWeb({HOST: {"/": links(*pages), **pages}}) as web:
        web.crawl(folder, HOST).collection.close()
        yield folder


def indexed(crawled: Path, target: Path, **options: int) -> Collection:
    """A copy of the crawl with an index of its own."""
    shutil.copytree(crawled, target)
    loaded = settings.load(crawled / Layout.SETTINGS, {"index": options})
    with Collection.write(target, settings=loaded) as collection:
        collection.index()
    return Collection(target)


def test_pages_that_name_another_address_are_indexed_there(crawled: Path, tmp_path: Path) -> None:
    collection = indexed(crawled, tmp_path / "c", threads=2)
    found = {hit.url for hit in collection.search("common", top=1000)}
    expected = set()
    for row in collection.pages():
        own = collection.page(row.canonical) if row.canonical else None
        if row.indexable and not (own and own.indexable and own.canonical is None):
            expected.add(row.url)
    assert any(row.canonical for row in collection.pages())
    assert found == {url for url in expected if not url.endswith("/")}
    assert len(found) < PAGES


def test_the_index_is_the_same_whatever_the_threads(crawled: Path, tmp_path: Path) -> None:
    orders = []
    for threads in (1, 2, 5):
        collection = indexed(crawled, tmp_path / str(threads), threads=threads)
        orders.append([(hit.url, hit.score) for hit in collection.search("common OR heading9", top=1000)])
    assert len(orders[0]) > PAGES / 2
    assert orders[1] == orders[0] and orders[2] == orders[0]


def test_headings_and_anchors_are_zones(crawled: Path, tmp_path: Path) -> None:
    collection = indexed(crawled, tmp_path / "c")
    assert [hit.title for hit in collection.search("headings:heading11", top=5)] == ["Page 11"]
    assert [hit.title for hit in collection.search("anchors:p11", top=5)] == ["Page 11"]


def test_a_damaged_record_is_named_and_nothing_is_committed(crawled: Path, tmp_path: Path) -> None:
    shutil.copytree(crawled, tmp_path / "c")
    [row] = [row for row in Collection(crawled).pages() if row.url.endswith("/p7")]
    archive = tmp_path / "c" / Layout.archive(row.file)
    content = bytearray(archive.read_bytes())
    content[row.offset + row.length // 2] ^= 1
    archive.write_bytes(content)
    with Collection.write(tmp_path / "c") as collection:
        for read in (collection.record, collection.text):
            with pytest.raises(CorruptFile) as damage:
                read(row)
            assert (damage.value.path, damage.value.offset) == (archive, row.offset)
        with pytest.raises(CorruptFile, match=f"damaged at byte {row.offset}"):
            Indexer(collection).update()
        assert collection.segments == [] and collection.state("index") == {}


def test_ctrl_c_ends_indexing_and_leaves_the_index_as_it_was(crawled: Path, tmp_path: Path) -> None:
    shutil.copytree(crawled, tmp_path / "c")
    with Collection.write(tmp_path / "c") as collection:
        indexer = Indexer(collection)
        with pytest.raises(KeyboardInterrupt):
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            for _ in range(1000):
                indexer.update(rebuild=True)
        indexer = Indexer(collection)
        assert indexer.update(rebuild=True) > PAGES / 2


def test_rows_may_be_asked_for_by_many_threads_at_once(crawled: Path) -> None:
    expected = {row.url: row.title for row in Collection(crawled).pages()}
    collection = Collection(crawled)

    def ask(_: int) -> dict[str, str]:
        found = {url: collection.page(url) for url in expected}
        assert collection.have_copies(list(expected)) == [True] * len(expected)
        assert len(collection.table) == len(expected)
        return {url: row.title for url, row in found.items() if row}

    with ThreadPoolExecutor(8) as threads:
        assert all(found == expected for found in threads.map(ask, range(32)))


def test_a_row_tells_what_it_is(crawled: Path) -> None:
    collection = Collection(crawled)
    row: Row = next(row for row in collection.pages() if row.url.endswith("/p8"))
    assert row.outcome is Outcome.FETCHED and row.status == 200 and row.indexable
    assert repr(row) == f"<Row {row.url}: fetched 200>"
    assert row == collection.page(row.url) and row != collection.page(row.url.replace("p8", "p7"))
    about = row.to_dict()
    assert about["outcome"] == "fetched" and about["fetched_at"].endswith("+00:00")
    record = collection.record(row)
    assert record.url == row.url and record.headers["content-type"].startswith("text/html")
    assert collection.text(row).startswith("heading8")
