"""Archives out: what is exported is valid for others, and comes back as it was."""

from __future__ import annotations

import gzip
import io
import json
import os
import struct
import subprocess
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import zstandard
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

from crivello import Collection
from crivello.archives import read
from crivello.errors import InvalidArgument
from tests.archived import real, response
from tests.small_web import words
from tests.test_import import import_into, interrupted, page, write
from tests.test_shell import complaint, crivello

URL = "http://www.a.example/"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with pages of two sites, a redirect and a document."""
    tmp_path = tmp_path_factory.mktemp("export")
    members = [
        response(f"{URL}{number}", page(f"Page {number}"), head="X-Odd-Case: yes\r\n") for number in range(30)
    ]
    members += [
        response("https://b.example/Path/?b=1&a=2", page("Other"), date="2024-05-03T12:00:00Z"),
        response(f"{URL}moved", "", status=302, head="Location: /1\r\n"),
        response(
            f"{URL}latin",
            "<title>Citt\xe0".encode("latin-1"),
            head="Content-Type: text/html; charset=latin-1\r\n",
        ),
        response(f"{URL}packed", gzip.compress(page("Packed").encode()), head="Content-Encoding: gzip\r\n"),
    ]
    import_into(tmp_path / "c", write(tmp_path / "a.warc.gz", *members))
    with Collection.write(tmp_path / "c") as collection:
        collection.index(progress=False)
    return tmp_path / "c"


def exported(folder: Path, out: Path, *flags: str) -> dict[str, Any]:
    done = crivello("export", folder, "--out", out, "--json", *flags)
    assert done.returncode == 0, done.stderr
    assert not list(out.parent.glob(".crivello-*"))
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def payloads(file: Path) -> dict[tuple[str, str], bytes]:
    """The body of each response by its URL and date."""
    found = {}
    for record in read(file):
        if parts := record.response():
            found[record.url, record.date or ""] = parts[2]
    return found


def test_other_readers_agree(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.warc.gz"
    assert exported(folder, out)["records"] == 34
    with out.open("rb") as file:
        theirs = {
            record.rec_headers["WARC-Target-URI"]: record.raw_stream.read()
            for record in ArchiveIterator(file, check_digests="raise")
            if record.rec_type == "response"
        }
    fast = {
        record.headers["WARC-Target-URI"]: record.reader.read()
        for record in FastIterator(str(out), verify_digests=True)
        if record.headers["WARC-Type"] == "response"
    }
    ours = {url: body for (url, _), body in payloads(out).items()}
    assert theirs == fast == ours and len(ours) == 34
    assert b"X-Odd-Case: yes" in b"".join(record.block for record in read(out))


@pytest.mark.parametrize("name", ["b.warc.gz", "b.warc.zst", "b.wacz"])
def test_what_comes_back_is_what_went_out(folder: Path, tmp_path: Path, name: str) -> None:
    first, second = tmp_path / "a.warc.gz", tmp_path / "c.warc.gz"
    exported(folder, first)
    exported(folder, tmp_path / name)
    import_into(tmp_path / "again", tmp_path / name)
    exported(tmp_path / "again", second)
    assert payloads(first) == payloads(second)
    facts = [
        {
            row.url: (row.status, row.title, row.digest, row.fetched_at, row.redirect)
            for row in Collection(one).pages()
        }
        for one in (folder, tmp_path / "again")
    ]
    assert facts[0] == facts[1]


def test_real_archives_come_back(tmp_path: Path) -> None:
    names = ("iana.warc.gz", "dupes.warc.gz", "whirlwind.warc.gz", "example-bad.warc.gz.bad")
    import_into(tmp_path / "c", *map(real, names))
    for flags in ((), ("--versions", "all")):
        again = tmp_path / "-".join(("d", *flags))
        exported(tmp_path / "c", tmp_path / "a.warc.gz", *flags)
        assert not import_into(again, tmp_path / "a.warc.gz").unresolved
        exported(again, tmp_path / "b.warc.gz", *flags)
        first = payloads(tmp_path / "a.warc.gz")
        assert first == payloads(tmp_path / "b.warc.gz") and len(first) > 30
        ids = [dict(record.fields)["warc-record-id"] for record in read(tmp_path / "b.warc.gz")]
        assert len(ids) == len(set(ids))


def test_an_interrupted_export_leaves_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    members = [
        response(f"{URL}{number}", page(f"Page {number}", text=words(60, f"w{number}x")))
        for number in range(2000)
    ]
    import_into(tmp_path / "c", write(tmp_path / "a.warc.gz", *members))
    for name in ("b.warc.gz", "b.warc.zst", "b.wacz"):
        out = tmp_path / name
        said = interrupted("export", tmp_path / "c", "--out", out, folder=tmp_path, when=".crivello-*")
        assert said.endswith("stopped; nothing was written")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.warc.gz", "c"]
    assert exported(tmp_path / "c", tmp_path / "b.warc.gz")["records"] == 2000


def test_zstandard_has_its_dictionary_first(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.warc.zst"
    exported(folder, out)
    content = out.read_bytes()
    assert content[:4] == b"\x5d\x2a\x4d\x18"
    length = struct.unpack("<I", content[4:8])[0]
    dictionary = zstandard.ZstdCompressionDict(content[8 : 8 + length])
    reader = zstandard.ZstdDecompressor(dict_data=dictionary).stream_reader(
        io.BytesIO(content[8 + length :]), read_across_frames=True
    )
    gzipped = tmp_path / "a.warc.gz"
    exported(folder, gzipped)
    texts = [text.split(b"\r\n\r\n", 1)[1] for text in (reader.read(), gzip.decompress(gzipped.read_bytes()))]
    assert texts[0].split(b"WARC/1.1")[1:] == texts[1].split(b"WARC/1.1")[1:]
    assert len(content) < gzipped.stat().st_size


def test_an_index_of_captures_points_to_records(folder: Path, tmp_path: Path) -> None:
    exported(folder, tmp_path / "a.cdxj")
    lines = (tmp_path / "a.cdxj").read_text().splitlines()
    assert lines == sorted(lines) and len(lines) == 34
    assert any(line.startswith("example,b)/path?a=2&b=1 20240503120000 ") for line in lines)
    for line in lines:
        told = json.loads(line.split(" ", 2)[2])
        with (folder / told["filename"]).open("rb") as file:
            file.seek(int(told["offset"]))
            member = gzip.decompress(file.read(int(told["length"])))
        assert f"WARC-Target-URI: {told['url']}\r\n".encode() in member
        assert f"WARC-Payload-Digest: {told['digest']}\r\n".encode() in member


def test_a_wacz_has_everything_and_its_digests(folder: Path, tmp_path: Path) -> None:
    from hashlib import sha256

    exported(folder, tmp_path / "a.wacz", "--site", "a.example")
    with zipfile.ZipFile(tmp_path / "a.wacz") as zipped:
        package = json.loads(zipped.read("datapackage.json"))
        names = {resource["path"] for resource in package["resources"]}
        assert names == {
            "archive/data.warc.gz",
            "indexes/index.cdx.gz",
            "indexes/index.idx",
            "pages/pages.jsonl",
        }
        for resource in package["resources"]:
            content = zipped.read(resource["path"])
            assert resource["hash"] == f"sha256:{sha256(content).hexdigest()}"
            assert resource["bytes"] == len(content)
        pages = [json.loads(line) for line in zipped.read("pages/pages.jsonl").splitlines()]
        assert pages[0]["format"] == "json-pages-1.0" and len(pages) == 33
        assert not any("b.example" in str(told) for told in pages)
        lines = gzip.decompress(zipped.read("indexes/index.cdx.gz")).decode().splitlines()
        told = json.loads(lines[-1].split(" ", 2)[2])
        archive = zipped.read(f"archive/{told['filename']}")
        start = int(told["offset"])
        member = gzip.decompress(archive[start : start + int(told["length"])])
        assert f"WARC-Target-URI: {told['url']}\r\n".encode() in member
    peer = os.environ.get("CRIVELLO_PYWB")
    if peer:
        valid = [peer, "-m", "wacz", "validate", "-f", str(tmp_path / "a.wacz")]
        assert "Valid" in (done := subprocess.run(valid, capture_output=True, text=True)).stdout, done


@pytest.mark.parametrize("name", ["a.warc.gz", "a.jsonl.gz", "a.parquet", "a.wacz", "a.cdxj"])
def test_a_link_stays_and_no_other_file_is_touched(folder: Path, tmp_path: Path, name: str) -> None:
    out, link, other = tmp_path / f"there-{name}", tmp_path / name, tmp_path / f"{name}.new"
    other.write_text("another file")
    link.symlink_to(out)
    exported_to = crivello("export", folder, "--out", link)
    assert exported_to.returncode == 0, exported_to.stderr
    assert link.is_symlink() and out.stat().st_size > 0 and other.read_text() == "another file"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([out.name, link.name, other.name])
    if name == "a.jsonl.gz":
        # No field of the header but the time, which is zero: no name of a file.
        assert out.read_bytes()[:8] == b"\x1f\x8b\x08\0\0\0\0\0"


def test_tables_have_a_row_a_page_and_can_be_imported(folder: Path, tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.jsonl.gz", "a.parquet"):
        assert exported(folder, tmp_path / name)["records"] == 34
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == (tmp_path / "a.jsonl").read_bytes()
    latin = next(line for line in lines if line["url"] == f"{URL}latin")
    assert (latin["title"], latin["html"]) == ("Città", "<title>Città")
    with duckdb.connect() as database:
        rows = database.execute(
            f"SELECT url, title, html, text, headers['x-odd-case'] FROM '{tmp_path}/a.parquet'"
        ).fetchall()
    assert [row[:4] for row in rows] == [
        (line["url"], line["title"], line["html"], line["text"]) for line in lines
    ]
    assert rows[0][4] == "yes"
    for name in ("a.jsonl", "a.parquet"):
        import_into(tmp_path / name.replace(".", "-"), tmp_path / name)
        titles = {
            row.url: row.title for row in Collection(tmp_path / name.replace(".", "-")).pages() if row.title
        }
        assert titles == {row.url: row.title for row in Collection(folder).pages() if row.title}


def messages(content: bytes) -> Iterator[dict[int, list[Any]]]:
    """Protocol Buffers messages after their lengths: their fields, decoded without a schema."""

    def varint(data: bytes, at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    def fields(data: bytes) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = {}
        at = 0
        while at < len(data):
            tag, at = varint(data, at)
            value: Any
            match tag & 7:
                case 0:
                    value, at = varint(data, at)
                case 1:
                    value, at = struct.unpack("<d", data[at : at + 8])[0], at + 8
                case _:
                    length, at = varint(data, at)
                    value, at = data[at : at + length], at + length
            found.setdefault(tag >> 3, []).append(value)
        return found

    at = 0
    while at < len(content):
        length, at = varint(content, at)
        told = fields(content[at : at + length])
        told[4] = [fields(value) if isinstance(value, bytes) else value for value in told.get(4, [])]
        yield told
        at += length


def test_the_index_goes_out_as_ciff(folder: Path, tmp_path: Path) -> None:
    exported(folder, tmp_path / "a.ciff")
    header, *rest = messages((tmp_path / "a.ciff").read_bytes())
    lists, documents = header[2][0], header[3][0]
    collection = Collection(folder)
    assert (
        header[1] == [1] and documents == collection.searcher().documents and len(rest) == lists + documents
    )
    records = [(told.get(1, [0])[0], told[2][0].decode(), told.get(3, [0])[0]) for told in rest[lists:]]
    assert [number for number, _, _ in records] == list(range(documents))
    assert header[6][0] == sum(length for _, _, length in records)
    assert header[7][0] == pytest.approx(header[6][0] / documents)
    terms = [told[1][0] for told in rest[:lists]]
    assert terms == sorted(terms)
    for told in rest[:lists]:
        postings = told[4]
        assert told[2][0] == len(postings)
        assert told[3][0] == sum(posting[2][0] for posting in postings)
    word = rest[terms.index(b"page3")][4] if b"page3" in terms else rest[0][4]
    assert word
    for number in (3, 17):
        told = next(told for told in rest[:lists] if told[1][0] == f"page{number}0".encode())
        [posting] = told[4]
        assert records[posting.get(1, [0])[0]][1] == f"{URL}{number}"


def test_choices_that_make_no_sense_are_refused(folder: Path, tmp_path: Path) -> None:
    for flags, said in (
        (("--format", "pdf"), "there is no format pdf"),
        (("--out", tmp_path / "a.wacz", "--format", "warc"), "is the name of a wacz file"),
        (("--format", "cdxj", "--compression", "zstd"), "is not compressed with zstd"),
        (("--format", "warc", "--compression", "lz4"), "there is no compression lz4"),
        (("--versions", "some"), "are no versions"),
        (("--since", "yesterday"), "is not a time"),
        (("--out", "-", "--format", "wacz"), "is not written to standard output"),
    ):
        assert said in complaint("export", folder, *flags, code=2)
    with pytest.raises(InvalidArgument, match="has no index"):
        import_into(tmp_path / "c", write(tmp_path / "a.warc.gz", response(URL, page("A"))))
        Collection(tmp_path / "c").export(tmp_path / "a.ciff", progress=False)
    assert (
        crivello("export", folder, "--since", "2024-05-02", "--format", "jsonl", "--out", "-").stdout.count(
            "\n"
        )
        == 1
    )


@pytest.mark.skipif(
    "CRIVELLO_PYWB" not in os.environ, reason="set CRIVELLO_PYWB to the Python of an environment with pywb"
)
def test_pywb_replays_a_page(folder: Path, tmp_path: Path) -> None:
    peer = os.environ["CRIVELLO_PYWB"]
    archive = tmp_path / "collections" / "c" / "archive"
    (archive.parent / "indexes").mkdir(parents=True)
    archive.mkdir()
    exported(folder, archive / "a.warc.gz")
    lines = []
    exported(folder, tmp_path / "a.wacz")
    with zipfile.ZipFile(tmp_path / "a.wacz") as zipped:
        for line in gzip.decompress(zipped.read("indexes/index.cdx.gz")).decode().splitlines():
            lines.append(line.replace("data.warc.gz", "a.warc.gz"))
        (archive / "a.warc.gz").write_bytes(zipped.read("archive/data.warc.gz"))
    (archive.parent / "indexes" / "index.cdxj").write_text("\n".join(lines) + "\n")
    server = subprocess.Popen(
        [peer, "-m", "pywb.apps.cli", "--port", "18917", "--bind", "127.0.0.1"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for url, expected in ((f"{URL}3", b"Page 3"), ("https://b.example/Path/?b=1&a=2", b"Other")):
            replayed = f"http://127.0.0.1:18917/c/20240501120000id_/{url}"
            for _ in range(100):
                try:
                    with urllib.request.urlopen(replayed, timeout=5) as answer:
                        assert expected in answer.read()
                    break
                except (ConnectionError, urllib.error.URLError):
                    time.sleep(0.2)
            else:
                pytest.fail("pywb did not answer")
    finally:
        server.terminate()
        server.wait(timeout=10)
