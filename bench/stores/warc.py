"""WARC writing and reading beside FastWARC, on pages of the collection that ``bench.stores.pages`` reads."""

from __future__ import annotations

from collections.abc import Iterator

from bench import Measurement
from bench._warc import measure_warc
from bench.sieve import new_folder
from bench.stores.pages import collection
from crivello import Collection

PAGES = 10_000


def measure() -> Iterator[Measurement]:
    with collection() as folder, Collection(folder) as opened, new_folder() as written:
        rows = [row for row in opened.pages() if row.length][:PAGES]
        records = [opened.record(row) for row in rows]
        pages = [(record.url, head(record.headers), record.body) for record in records]
        yield from measure_warc(pages, written)


def head(headers: dict[str, str]) -> bytes:
    fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 200 OK\r\n{fields}\r\n".encode()
