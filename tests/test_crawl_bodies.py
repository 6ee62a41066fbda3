"""Bodies from the server to the store: encodings are undone to be read and kept as they were sent."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path

import brotli
import pytest
import zstandard

from crivello.crawl import crawler
from crivello.lab.web.pdf import write_pdf
from crivello.store import Outcome
from tests.small_web import Answer, Page, SmallWeb, links, words

PAGE = links("/behind", text=f"Ùnicode. {words(200)}", head="<title>Packed</title>").encode()


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


ENCODINGS = {
    "gzip": gzip.compress(PAGE),
    "x-gzip": gzip.compress(PAGE),
    "deflate": zlib.compress(PAGE),
    "Deflate": raw_deflate(PAGE),
    "br": brotli.compress(PAGE),
    "zstd": zstandard.ZstdCompressor().compress(PAGE),
    "gzip, br": brotli.compress(gzip.compress(PAGE)),
    "identity": PAGE,
}


def test_encodings_are_undone_and_kept(tmp_path: Path) -> None:
    paths = {f"/{number}": encoding for number, encoding in enumerate(ENCODINGS)}
    pages: dict[str, Page] = {
        path: Answer(ENCODINGS[name], headers={"Content-Encoding": name}, kind="text/html; charset=utf-8")
        for path, name in paths.items()
    }
    with SmallWeb({"a.test": {"/": links(*paths), "/behind": "<p>Behind.", **pages}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")
        offered = web.log[-1].headers["accept-encoding"].replace(" ", "").split(",")
        assert {"gzip", "deflate", "br", "zstd"} <= set(offered)
        for path, name in paths.items():
            row = crawled.row(web.url("a.test", path))
            record = crawled.collection.record(row)
            assert (row.title, row.outcome) == ("Packed", Outcome.FETCHED), name
            assert record.body == ENCODINGS[name] and record.headers["content-encoding"] == name
            assert record.decoded(10**6) == PAGE
            assert "Ùnicode. word0" in crawled.collection.text(row)
        assert crawled.row(web.url("a.test", "/behind")).status == 200
        originals = [row for row in crawled.rows() if row.title == "Packed" and row.duplicate_of is None]
        assert len(originals) == 1, "the words are the same, however they were sent"


def test_headers_are_kept_as_they_were_sent(tmp_path: Path) -> None:
    sent = {"ETag": '"v1"', "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "X-Odd": "a  b"}
    with SmallWeb({"a.test": {"/": Answer("<p>Hello", headers=sent)}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")
        row = crawled.row(web.url("a.test"))
        assert (row.etag, row.last_modified) == (sent["ETag"], sent["Last-Modified"])
        headers = crawled.collection.record(row).headers
        assert {name: headers[name.lower()] for name in sent} == sent


# --- conversions --------------------------------------------------------------------------------------------

DOCUMENT = write_pdf("A document", ["It says something."])
CONVERTERS = {
    "crashes": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "its reader crashed (signal 11)"),
    "fails": ("raise SystemExit(3)", "its reader failed (exit code 3)"),
    "hangs": ("import time; time.sleep(60)", "it took longer than 1s"),
    "talks nonsense": (
        "import os; os.write(0, b'\\0\\0\\0\\1x' * 2); os.read(0, 1)",
        "its reader made no sense",
    ),
    "reads nothing and writes much": (
        "import os; os.write(0, b'x' * 10**7)",
        "its text is larger than allowed",
    ),
}


@pytest.mark.parametrize(("script", "reason"), CONVERTERS.values(), ids=list(CONVERTERS))
def test_a_converter_that_misbehaves_costs_the_text_alone(
    script: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawler, "command", lambda *_: [sys.executable, "-c", script])
    pages: dict[str, Page] = {"/": links("/a.pdf", "/page"), "/page": "<p>Beside it."}
    with SmallWeb({"a.test": {**pages, "/a.pdf": Answer(DOCUMENT, kind="application/pdf")}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", convert_time=1.0, max_time=20.0)
        assert crawled.report.stopped_by is None and crawled.row(web.url("a.test", "/page")).status == 200
        row = crawled.row(web.url("a.test", "/a.pdf"))
        assert (row.outcome, row.status, row.digest, row.text_length) == (Outcome.FETCHED, 200, None, 0)
        assert not row.indexable and row.detail == reason
        assert crawled.collection.record(row).body == DOCUMENT


def test_documents_become_text(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        "/": links("/good.pdf", "/bad.pdf", "/packed.pdf"),
        "/good.pdf": Answer(DOCUMENT, kind="application/pdf"),
        "/bad.pdf": Answer(DOCUMENT[:100] + b"\0" * 1000, kind="application/pdf"),
        "/packed.pdf": Answer(
            gzip.compress(write_pdf("", ["Packed words."])),
            headers={"Content-Encoding": "gzip"},
            kind="Application/PDF; q=1",
        ),
    }
    with SmallWeb({"a.test": pages}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")
        good, bad, packed = (
            crawled.row(web.url("a.test", f"/{name}.pdf")) for name in ("good", "bad", "packed")
        )
        assert (good.title, packed.title) == ("A document", "packed.pdf")
        assert "It says something." in crawled.collection.text(good)
        assert "Packed words." in crawled.collection.text(packed)
        assert (bad.status, bad.digest, bad.text_length) == (200, None, 0) and bad.length > 0


def test_a_wrong_type_is_seen_through(tmp_path: Path) -> None:
    answers: dict[str, Page] = {
        "/html": Answer(DOCUMENT, kind="text/html"),
        "/packed": Answer(
            gzip.compress(DOCUMENT), headers={"Content-Encoding": "gzip"}, kind="text/html; charset=utf-8"
        ),
        "/bytes": Answer(DOCUMENT, kind="application/octet-stream"),
        "/notes.txt": Answer("Words <b>and</b> marks.", kind="binary/octet-stream"),
        "/page": Answer("<title>Title</title><p>Words.", kind="text/plain"),
        "/image": Answer(b"\x89PNG\r\n\x1a\n\0words", kind="text/plain"),
    }
    with SmallWeb({"a.test": {"/": links(*answers), **answers}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")
        rows = {path: crawled.row(web.url("a.test", path)) for path in answers}
        texts = {path: crawled.collection.text(row) for path, row in rows.items()}
    assert {path: row.content_type for path, row in rows.items()} == {
        "/html": "application/pdf",
        "/packed": "application/pdf",
        "/bytes": "application/pdf",
        "/notes.txt": "text/plain",
        "/page": "text/plain",
        "/image": "application/octet-stream",
    }
    assert all("It says something." in texts[path] for path in ("/html", "/packed", "/bytes"))
    assert (texts["/notes.txt"], texts["/page"]) == (
        "Words <b>and</b> marks.",
        "<title>Title</title><p>Words.",
    )
    assert (texts["/image"], rows["/image"].indexable) == ("", False)
