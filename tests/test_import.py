"""Archives in: every kind of file, whole, damaged and interrupted, becomes pages like crawled ones."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import signal
import subprocess
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
import zstandard

from crivello import Collection
from crivello.archives import Imported, read
from crivello.errors import InvalidArgument
from crivello.lab.web.pdf import write_pdf
from crivello.store import Outcome
from tests.archived import other, plain, real, response, revisit
from tests.shell import CRIVELLO
from tests.small_web import words
from tests.test_shell import complaint, crivello

URL = "http://a.example/"


def page(title: str, *links: str, text: str = "") -> str:
    anchors = "".join(f'<a href="{link}">to {link}</a>' for link in links)
    return f"<title>{title}</title><p>{text or words(50, ''.join(filter(str.isalnum, title.lower())))}</p>{anchors}"


def import_into(folder: Path, *files: Path | str, **options: Any) -> Imported:
    with Collection.write(folder, create=True) as collection:
        return collection.import_(files, progress=False, **options)


def write(path: Path, *members: bytes) -> Path:
    path.write_bytes(b"".join(members))
    return path


def test_an_imported_page_is_like_a_crawled_one(tmp_path: Path) -> None:
    same = page("Same", text=words(80))
    file = write(
        tmp_path / "a.warc.gz",
        other("warcinfo", "", b"software: x\r\n"),
        response(URL, page("First", "/b", "https://elsewhere.example/")),
        other("request", URL, b"GET / HTTP/1.1\r\n\r\n"),
        response(f"{URL}b", same),
        response(f"{URL}c", same),
        response(f"{URL}d", "", status=301, head="Location: /b\r\n"),
        response(f"{URL}e", "gone", status=404),
        response(f"{URL}robots.txt", "User-agent: *", head="Content-Type: text/plain\r\n"),
        other("response", "dns:a.example", b"x", {"Content-Type": "text/dns"}),
        other("metadata", URL, b"via: x"),
    )
    folder = tmp_path / "c"
    imported = import_into(folder, file)
    assert dict(imported.tally) == {
        "records": 10,
        "pages": 3,
        "redirects": 1,
        "other statuses": 1,
        "requests": 1,
        "descriptions": 2,
        "not on the web": 1,
        "robots.txt": 1,
    }
    with Collection.write(folder) as collection:
        first = collection.page(URL)
        assert first and (first.title, first.status, first.outcome) == ("First", 200, Outcome.FETCHED)
        assert first.fetched_at == 1714564800.0 and first.address is None
        copy = collection.page(f"{URL}c")
        assert copy and copy.duplicate_of == f"{URL}b"
        moved = collection.page(f"{URL}d")
        assert moved and (moved.outcome, moved.redirect) == (Outcome.REDIRECTED, f"{URL}b")
        collection.index(progress=False)
        [hit] = collection.search("to /b", top=5).hits[:1]
        assert hit.url == f"{URL}b", "anchor texts count"
        collection.rank(progress=False)
        graph = collection.graph()
        assert graph.indegree()[graph.node(f"{URL}b")] >= 1
        status = collection.status()
        assert status and status.report.pages == 5 and status.hosts == 1
        assert collection.why(f"{URL}d").row == moved
    again = import_into(folder, file)
    assert (again.files, again.before, again.pages) == (0, 1, 0)


def test_an_import_counts_on_from_what_was_there(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    import_into(
        folder,
        write(tmp_path / "a.warc.gz", response(URL, page("First")), response(f"{URL}b", page("Second"))),
    )
    import_into(folder, write(tmp_path / "b.warc.gz", response(f"{URL}c", page("Third"))))
    with Collection(folder) as collection:
        status = collection.status()
    assert status and (status.report.pages, status.report.seen, status.report.statuses["200"]) == (3, 3, 3)


def forms(members: list[bytes]) -> dict[str, bytes]:
    whole = [plain(member) for member in members]
    dictionary = zstandard.train_dictionary(1024, [*whole * 20])
    encoded = dictionary.as_bytes()
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    header = b"\x5d\x2a\x4d\x18" + len(encoded).to_bytes(4, "little") + encoded
    shrunk = zstandard.compress(encoded)
    packed_header = b"\x5d\x2a\x4d\x18" + len(shrunk).to_bytes(4, "little") + shrunk
    frames = b"".join(map(packer.compress, whole))
    return {
        "a gzip member each": b"".join(members),
        "plain": b"".join(whole),
        "one gzip member": gzip.compress(b"".join(whole)),
        "a frame each": b"".join(map(zstandard.compress, whole)),
        "frames with a dictionary": header + frames,
        "frames with a compressed dictionary": packed_header + frames,
    }


def test_the_compression_makes_no_difference(tmp_path: Path) -> None:
    members = [response(f"{URL}{number}", page(f"Page {number}")) for number in range(8)]
    for form, content in forms(members).items():
        records = list(read(write(tmp_path / "file", content)))
        assert [record.url for record in records] == [f"{URL}{number}" for number in range(8)], form
        imported = import_into(tmp_path / form.replace(" ", "-"), tmp_path / "file")
        assert (imported.pages, imported.damage) == (8, []), form


def test_damage_is_told_with_its_offset_and_costs_one_record(tmp_path: Path) -> None:
    members = [response(f"{URL}{number}", page(f"Page {number}")) for number in range(5)]
    offset = len(members[0]) + len(members[1])
    broken = bytearray(members[2])
    broken[len(broken) // 2] ^= 0xFF
    for name, content in (
        ("flipped", [*members[:2], bytes(broken), *members[3:]]),
        ("cut", [*members[:2], members[2][:-40], *members[3:]]),
        ("garbage", [*members[:2], b"\x1f\x8b\x08 no gzip at all", *members[3:]]),
    ):
        file = write(tmp_path / f"{name}.warc.gz", *content)
        done = crivello("import", tmp_path / name, file, "--json")
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert (told["pages"], told["records"]["damaged"]) == (4, 1), name
        [damage] = told["damage"]
        assert (damage["file"], damage["offset"]) == (str(file), offset), name
        assert f"{file}, offset {offset:,}: {damage['reason']}" in done.stderr
        kept = {row.url for row in Collection(tmp_path / name).pages()}
        assert kept == {f"{URL}{number}" for number in (0, 1, 3, 4)}


def test_a_revisit_has_the_content_of_what_it_found_again(tmp_path: Path) -> None:
    file = write(
        tmp_path / "a.warc.gz",
        response(URL, page("First")),
        revisit(URL, URL, "2024-05-02T12:00:00Z"),
        revisit(f"{URL}copy", URL, "2024-05-03T12:00:00Z"),
        revisit(f"{URL}lost", "http://b.example/", "2024-05-03T12:00:00Z"),
    )
    done = crivello("import", tmp_path / "c", file, "--json")
    told = json.loads(done.stdout)
    assert told["records"]["revisits"] == 2 and told["records"]["revisits of what is not here"] == 1
    assert told["unresolved"] == [{"url": f"{URL}lost", "refers_to": "http://b.example/"}]
    assert (
        f"warning: {URL}lost is a revisit of http://b.example/, which was not imported before it"
        in done.stderr
    )
    collection = Collection(tmp_path / "c")
    again, copy = collection.page(URL), collection.page(f"{URL}copy")
    assert again and (again.outcome, again.title) == (Outcome.NOT_MODIFIED, "First")
    assert again.fetched_at == 1714651200.0
    assert copy and (copy.title, copy.etag, copy.duplicate_of) == ("First", "x", URL)
    assert collection.record(copy).body == collection.record(again).body


def test_a_revisit_is_resolved_by_date_and_by_payload(tmp_path: Path) -> None:
    def sha1(body: str) -> bytes:
        return hashlib.sha1(body.encode()).digest()

    first, second = page("First"), page("Second")
    digest = f"sha1:{base64.b32encode(sha1(first)).decode()}"
    chunked = f"{len(second):x}\r\n{second}\r\n0\r\n\r\n"
    nowhere = {"WARC_Refers_To_Date": "", "WARC_Refers_To_Target_URI": ""}
    stated = {"WARC-Payload-Digest": f"sha1:{base64.b32encode(sha1(chunked)).decode()}"}
    http = {"Content-Type": "application/http; msgtype=response"}
    in_chunks = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"
    members = {
        # Not the newest version, but the one of that date.
        "dated": revisit(f"{URL}dated", URL, "2024-05-04T12:00:00Z"),
        # The identical payload of another URL, which is not named.
        "same": revisit(f"{URL}same", "", "2024-05-04T12:00:00Z", WARC_Payload_Digest=digest, **nowhere),
        "hexadecimal": revisit(
            f"{URL}hexadecimal",
            "",
            "2024-05-04T12:00:00Z",
            WARC_Payload_Digest=f"sha1:{sha1(first).hex()}",
            **nowhere,
        ),
        # Some writers digest the chunks, too.
        "chunks": revisit(
            f"{URL}chunks",
            "",
            "2024-05-04T12:00:00Z",
            WARC_Payload_Digest=stated["WARC-Payload-Digest"],
            **nowhere,
        ),
        # The URL is known, and had something else.
        "other": revisit(
            f"{URL}other",
            URL,
            "2024-05-04T12:00:00Z",
            WARC_Payload_Digest=f"sha1:{'A' * 32}",
            WARC_Refers_To_Date="",
        ),
    }
    file = write(
        tmp_path / "a.warc.gz",
        response(URL, first),
        response(URL, page("Newer"), date="2024-05-03T12:00:00Z"),
        other("response", f"{URL}second", in_chunks.encode(), {**http, **stated}),
        *members.values(),
    )
    imported = import_into(tmp_path / "c", file)
    assert (imported.pages, imported.tally["revisits"]) == (7, 4)
    assert imported.unresolved == [(f"{URL}other", URL)]
    collection = Collection(tmp_path / "c")
    rows = {name: collection.page(f"{URL}{name}") for name in members}
    titles = {name: row.title for name, row in rows.items() if row}
    assert titles == {"dated": "First", "same": "First", "hexadecimal": "First", "chunks": "Second"}
    for name, row in rows.items():
        if row:
            assert collection.record(row).body.decode() == (second if name == "chunks" else first)
    assert not list((tmp_path / "c").rglob("payloads-*"))


def test_documents_and_texts_without_a_response(tmp_path: Path) -> None:
    file = write(
        tmp_path / "a.warc.gz",
        other("resource", URL, page("A file", "/b").encode(), {"Content-Type": "text/html"}),
        other("conversion", f"{URL}text", b"Only the text\nof a page", {"Content-Type": "text/plain"}),
    )
    with Collection.write(tmp_path / "c", create=True) as collection:
        assert collection.import_(file, progress=False).pages == 2
        row, text = collection.page(URL), collection.page(f"{URL}text")
        assert row and row.title == "A file" and "A file" in collection.record(row).body.decode()
        assert text and collection.text(text) == "Only the text\nof a page"
        collection.index(progress=False)
        assert [hit.url for hit in collection.search("only text")] == [f"{URL}text"]


def test_a_wacz_is_read_where_it_lies(tmp_path: Path) -> None:
    members = [response(f"{URL}{number}", page(f"Page {number}")) for number in range(4)]
    for name, how in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(tmp_path / f"{name}.wacz", "w", how) as zipped:
            zipped.writestr("datapackage.json", "{}")
            zipped.writestr("archive/a.warc.gz", b"".join(members[:2]))
            zipped.writestr("archive/b.warc", b"".join(map(plain, members[2:])))
        assert import_into(tmp_path / name, tmp_path / f"{name}.wacz").pages == 4


def test_an_index_chooses_records(tmp_path: Path) -> None:
    members = [response(f"{URL}{number}", page(f"Page {number}")) for number in range(4)]
    write(tmp_path / "a.warc.gz", *members)
    offset = len(members[0]) + len(members[1])
    told = json.dumps({"url": f"{URL}2", "offset": str(offset), "filename": "a.warc.gz"})
    index = tmp_path / "index.cdxj"
    index.write_text(f"example,a)/2 20240501120000 {told}\n")
    assert import_into(tmp_path / "c", index).pages == 1
    assert [row.url for row in Collection(tmp_path / "c").pages()] == [f"{URL}2"]
    index.write_text(index.read_text().replace("a.warc.gz", "b.warc.gz"))
    with pytest.raises(InvalidArgument, match=r"b\.warc\.gz, which the index names, is not beside it"):
        import_into(tmp_path / "d", index)


def test_mirrors_tell_the_urls_of_their_files(tmp_path: Path) -> None:
    wget = tmp_path / "wget" / "www.example.org"
    (wget / "docs").mkdir(parents=True)
    (wget / "index.html").write_text(page("Home"))
    (wget / "docs" / "a b?x=1").write_text(page("Query"))
    import_into(tmp_path / "c", tmp_path / "wget")
    rows = {row.url: row for row in Collection(tmp_path / "c").pages()}
    assert set(rows) == {"http://www.example.org/", "http://www.example.org/docs/a%20b?x=1"}
    assert rows["http://www.example.org/"].title == "Home"
    httrack = tmp_path / "httrack"
    (httrack / "site").mkdir(parents=True)
    (httrack / "hts-log.txt").write_text("mirror of https://b.example/ started")
    comment = "<!-- Mirrored from b.example/x.php?id=3 by HTTrack Website Copier/3.x [XR&CO'2014], Mon -->"
    (httrack / "site" / "x3.html").write_text(comment + page("Mirrored"))
    import_into(tmp_path / "d", httrack)
    assert [row.url for row in Collection(tmp_path / "d").pages()] == ["https://b.example/x.php?id=3"]
    plain_folder = tmp_path / "files"
    plain_folder.mkdir()
    (plain_folder / "a.html").write_text(page("Based"))
    (plain_folder / "b.pdf.gz").write_bytes(gzip.compress(write_pdf("Packed", ["Lava."])))
    with pytest.raises(InvalidArgument, match="cannot be told from its path"):
        import_into(tmp_path / "e", plain_folder)
    import_into(tmp_path / "f", plain_folder, base="https://c.example/docs")
    assert {row.url: row.title for row in Collection(tmp_path / "f").pages()} == {
        "https://c.example/docs/a.html": "Based",
        "https://c.example/docs/b.pdf.gz": "Packed",
    }


PAGES: list[dict[str, Any]] = [
    {
        "url": f"{URL}1",
        "html": page("One"),
        "date": "2024-05-01T12:00:00Z",
        "status": 200,
        "headers": {"ETag": "e"},
    },
    {"url": f"{URL}2", "text": "Only a text", "date": "2024-05-02"},
    {"url": f"{URL}3", "html": page("Thrée"), "date": 1714564800},
]


def check_pages(folder: Path) -> None:
    collection = Collection(folder)
    one, two, three = (collection.page(f"{URL}{number}") for number in (1, 2, 3))
    assert one and (one.title, one.etag, one.fetched_at) == ("One", "e", 1714564800.0)
    assert two and collection.text(two) == "Only a text"
    assert three and (three.title, three.fetched_at) == ("Thrée", 1714564800.0)


def test_pages_come_as_json_lines_and_as_parquet(tmp_path: Path) -> None:
    lines = tmp_path / "pages.jsonl"
    lines.write_text("\n".join(map(json.dumps, PAGES)) + "\n")
    assert import_into(tmp_path / "c", lines).pages == 3
    check_pages(tmp_path / "c")
    (tmp_path / "pages.jsonl.gz").write_bytes(gzip.compress(lines.read_bytes()))
    assert import_into(tmp_path / "d", tmp_path / "pages.jsonl.gz").pages == 3
    with duckdb.connect() as database:
        columns = "{url: 'VARCHAR', html: 'VARCHAR', text: 'VARCHAR', date: 'VARCHAR', status: 'INT', headers: 'MAP(VARCHAR, VARCHAR)'}"
        database.execute(
            f"COPY (SELECT * FROM read_json('{lines}', columns={columns})) TO '{tmp_path}/pages.parquet'"
        )
        database.execute(f"COPY (SELECT 1 AS x) TO '{tmp_path}/other.parquet'")
    with pytest.raises(InvalidArgument, match="is not a date"):
        import_into(tmp_path / "e", tmp_path / "pages.parquet")
    lines.write_text("\n".join(map(json.dumps, [{**PAGES[2], "date": "2024-05-01T12:00:00"}, *PAGES[:2]])))
    with duckdb.connect() as database:
        database.execute(
            f"COPY (SELECT * FROM read_json('{lines}', columns={columns})) TO '{tmp_path}/pages.parquet'"
        )
    assert import_into(tmp_path / "f", tmp_path / "pages.parquet").pages == 3
    check_pages(tmp_path / "f")


def test_a_sitemap_gives_seeds(tmp_path: Path) -> None:
    sitemap = tmp_path / "sitemap.xml"
    sitemap.write_text(f"<urlset><url><loc>{URL}?a&amp;b</loc></url><url><loc> {URL}c </loc></url></urlset>")
    urls = tmp_path / "urls.txt"
    urls.write_text(f"{URL}c\n{URL}d\n")
    assert import_into(tmp_path / "c", sitemap, urls).seeds == 3
    assert Collection(tmp_path / "c").state("crawl")["seeds"] == [f"{URL}?a&b", f"{URL}c", f"{URL}d"]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.txt", b"just some text\n", "is none of the files that can be imported"),
        ("a.zip", b"PK\x03\x04 no zip", "is a ZIP file that is not whole"),
        ("a.zim", b"ZIM\x04", "is a ZIM file, which is not read"),
        ("a.jsonl", b'{"url": 3}\n', "line 1 has no url"),
        ("b.jsonl", b'{"url": "http://a.example/"}\n', "has neither html nor text"),
        ("c.jsonl", b'{"url": \n', "line 1 is not JSON"),
        ("a.cdxj", b"example,a)/ 2024 {}\n", "line 1: there is no file name and offset"),
        ("a.parquet", b"PAR1 no parquet", "is not a Parquet file of pages"),
    ],
)
def test_what_cannot_be_imported_says_why(tmp_path: Path, name: str, content: bytes, complaint: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidArgument, match=complaint):
        import_into(tmp_path / "c", tmp_path / name)


def interrupted(*arguments: str | Path, folder: Path, when: str) -> str:
    """Runs a command, and sends Ctrl-C as soon as a file in a folder matches a pattern: what it said, which is a sentence."""
    process = subprocess.Popen(
        [str(CRIVELLO), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not any(folder.glob(when)):
        assert process.poll() is None
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    written, said = process.communicate(timeout=60)
    assert (process.returncode, written) == (130, ""), said
    [sentence] = said.splitlines()
    return sentence


@pytest.mark.alone
def test_an_interrupted_import_goes_on(tmp_path: Path) -> None:
    pages = 6000
    members = [
        response(f"{URL}{number}", page(f"Page {number}", text=words(100, f"w{number}x")))
        for number in range(pages)
    ]
    file = write(tmp_path / "a.warc.gz", *members)
    folder = tmp_path / "c"
    said = interrupted("import", folder, file, folder=folder, when="archive/crivello-00001.warc.gz")
    assert said.endswith("stopped; the same command goes on")
    before = [row.url for row in Collection(folder).pages()]
    imported = import_into(folder, file)
    rows = [row.url for row in Collection(folder).pages()]
    assert len(before) < len(rows) == len(set(rows)) == pages and rows[: len(before)] == before
    assert imported.tally["stored before"] + imported.pages <= pages


def test_standard_input_and_patterns(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / f"{number}.warc.gz", response(f"{URL}{number}", page(f"Page {number}")))
    done = crivello("import", tmp_path / "c", tmp_path / "*.warc.gz", "--json")
    assert json.loads(done.stdout)["files"] == 3
    with (tmp_path / "0.warc.gz").open("rb") as stdin:
        command = [str(CRIVELLO), "import", str(tmp_path / "d"), "-", "--json"]
        piped = subprocess.run(command, stdin=stdin, capture_output=True, check=True)
    assert json.loads(piped.stdout)["pages"] == 1
    assert "there is no file" in complaint("import", tmp_path / "e", tmp_path / "missing*.warc", code=2)
    assert not (tmp_path / "e").exists()


def test_real_archives(tmp_path: Path) -> None:
    files = [real(name) for name in ("iana.warc.gz", "dupes.warc.gz", "whirlwind.warc.gz")]
    bad = real("example-bad.warc.gz.bad")
    with Collection.write(tmp_path / "c", create=True) as collection:
        imported = collection.import_([*files, bad], progress=False)
        assert imported.files == 4 and not imported.damage and not imported.unresolved
        [note] = imported.notes
        assert (note.file, note.offset) == (str(bad), 0) and "has several records" in note.reason
        assert imported.tally["revisits"] > 20
        collection.index(progress=False)
        assert collection.search("root zone database").hits[0].url.startswith("http://www.iana.org/")
        assert (
            collection.search("Escopete Guadalachara").hits[0].url == "https://an.wikipedia.org/wiki/Escopete"
        )
        assert collection.page("http://example.com/?example=1")
        urls = {row.url for row in collection.pages()}
        assert [str(finding) for finding in collection.check(progress=False)] == []
    chosen = import_into(tmp_path / "d", real("iana.cdxj"))
    assert chosen.pages and {row.url for row in Collection(tmp_path / "d").pages()} <= urls


def kept(folder: Path) -> set[tuple[str, float]]:
    return {(row.url, row.fetched_at) for rows, _ in Collection(folder).table.batches() for row in rows}


def test_damage_to_a_real_archive_costs_what_is_damaged(tmp_path: Path) -> None:
    whole = real("iana.warc.gz")
    import_into(tmp_path / "whole", whole)
    hurt = [record for record in read(whole) if record.kind == "response" and len(record.block) > 3000]
    first, second = hurt[len(hurt) // 3], hurt[len(hurt) // 2]
    content = bytearray(whole.read_bytes())
    for offset in (first.offset + 900, second.offset + 1200):
        content[offset : offset + 40] = b"\0" * 40
    file = write(tmp_path / "damaged.warc.gz", bytes(content))
    imported = import_into(tmp_path / "damaged", file)
    assert [one.offset for one in imported.damage] == [first.offset, second.offset]
    lost = kept(tmp_path / "whole") - kept(tmp_path / "damaged")
    assert {(first.url, first.date), (second.url, second.date)} <= {
        (url, f"{datetime.fromtimestamp(when, UTC):%Y-%m-%dT%H:%M:%SZ}") for url, when in lost
    }
    # The others are revisits of these two.
    assert len(lost) == 2 + imported.tally["revisits of what is not here"]
    assert {url for url, _ in lost} == {first.url, second.url}
    with Collection.write(tmp_path / "damaged") as collection:
        collection.index(progress=False)
        assert collection.search("root zone database").hits
