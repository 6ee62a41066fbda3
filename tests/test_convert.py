"""Documents of every format: what is found in them, what is wrong with them, and a crawl beside them."""

from __future__ import annotations

import gzip
import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello import Collection, _core
from crivello.convert import READERS, read
from crivello.convert.members import TYPES
from crivello.convert.package import UNPACKED
from crivello.lab.web.pdf import write_pdf
from crivello.store import Outcome
from tests.documents import (
    ANCHOR,
    DATE,
    DOCUMENTS,
    HEADING,
    LINK,
    OFFICE,
    TEXT,
    TITLE,
    docx,
    encrypted_zip,
    epub,
    odt,
    pdf,
    zipped,
)
from tests.small_web import Answer, Page, SmallWeb, links
from tests.worker import Worker

DOCX = f"{OFFICE}wordprocessingml.document"
ODT = "application/vnd.oasis.opendocument.text"
EPUB = "application/epub+zip"
UTF_8 = ("text/markdown", "application/x-tex", "application/x-troff-man")


def test_every_converted_type_has_a_reader_and_the_same_extensions() -> None:
    assert set(_core.CONVERTED_TYPES) == set(READERS)
    archives = {name for name, module in READERS.items() if module in ("archives", "feeds")}
    for name in set(READERS) - archives:
        assert TYPES[name].split() == _core.CONVERTED_TYPES[name]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_structure_of_a_document(name: str) -> None:
    media_type, body = DOCUMENTS[name]
    found = read(body, f"http://a.test/x.{name}", media_type, "utf-8" if media_type in UTF_8 else None)
    assert found.failure == ""
    page = _core.parse_html(
        f"<html><body>{found.body}".encode(), "http://a.test/x", "text/html; charset=utf-8"
    )
    assert HEADING in page.headings
    assert TEXT in page.text.replace("\n", " ") and "never" not in page.text
    assert dict(zip(page.links, page.anchors, strict=True))[LINK] == ANCHOR
    assert {url for url in page.links if not url.startswith("https://b.test/")} == set()
    if name not in ("mbox", "zip", "tar"):
        assert found.title in (TITLE, f"{TITLE}(7)")
    if name not in ("tex", "zip", "tar"):
        assert found.date.startswith(DATE)
    if name in ("pdf", "docx", "odt", "odp", "ods", "epub", "md", "tex", "xml", "md.gz"):
        assert found.language in ("it", "it-IT")


@pytest.mark.parametrize("name", ["pdf", "rtf", "docx", "pptx", "xlsx", "odt", "epub"])
@pytest.mark.parametrize("declared", ["application/pdf", "application/rtf", DOCX])
def test_a_document_under_a_wrong_name(name: str, declared: str) -> None:
    found = read(DOCUMENTS[name][1], media_type=declared)
    assert found.failure == "" and HEADING in found.body


# --- what is wrong with a document --------------------------------------------------------------------------

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(10))
    + "]><x>&k;</x>"
).encode()


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.txt", "w") as file:
        for _ in range((UNPACKED >> 20) + 1):
            file.write(bytes(2**20))
    return out.getvalue()


def encrypted_pdf() -> bytes:
    """A PDF whose trailer names a standard security handler with a user password."""
    pdf = write_pdf(TITLE, [TEXT])
    key = b"<28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A>"
    entry = b"/Encrypt << /Filter /Standard /V 1 /R 2 /O %s /U %s /P -4 >> /ID [%s %s] /Root" % (
        key,
        key,
        key,
        key,
    )
    return pdf.replace(b"/Root", entry)


COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
WRONG = {
    "truncated.docx": (DOCX, docx()[:700], "it is damaged"),
    "truncated.pdf": ("application/pdf", write_pdf(TITLE, [TEXT])[:200], "it is damaged"),
    "truncated.gz": ("application/gzip", gzip.compress(b"x" * 5000)[:-12], "it is damaged"),
    "encrypted.pdf": ("application/pdf", encrypted_pdf(), "it is encrypted"),
    "password.docx": (DOCX, COMPOUND + "EncryptedPackage".encode("utf-16-le"), "it is encrypted"),
    "binary.docx": (DOCX, COMPOUND, "it is in the binary format of an older office suite"),
    "password.odt": (ODT, odt(manifest="<m><encryption-data/></m>"), "it is encrypted"),
    "protected.epub": (
        EPUB,
        epub(**{"META-INF/encryption.xml": '<e><CipherReference URI="a/one%20.xhtml"/></e>'}),
        "it is encrypted",
    ),
    "encrypted.zip": ("application/zip", encrypted_zip(), "it is encrypted"),
    "bomb.zip": ("application/zip", bomb(), "it unpacks to more than 256 MiB"),
    "laughs.xml": ("application/xml", LAUGHS, "it declares XML entities that may expand without end"),
    "laughs.docx": (
        DOCX,
        zipped({"[Content_Types].xml": "", "word/document.xml": LAUGHS}),
        "it declares XML entities that may expand without end",
    ),
    "pictures.zip": ("application/zip", zipped({"a.png": b"x"}), "none of its files has text"),
    "empty.docx": (DOCX, zipped({"[Content_Types].xml": "", "a.txt": "x"}), "it is damaged"),
    "unknown.xyz": ("x/y", b"x", "there is no reader for x/y"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_document_that_cannot_be_read_says_why(name: str) -> None:
    media_type, body, reason = WRONG[name]
    found = read(body, f"http://a.test/{name}", media_type)
    assert found.failure.partition(" (")[0] == reason
    assert found.body == "" and "\n" not in found.failure


@given(st.sampled_from(list(DOCUMENTS)), st.data())
def test_damage_never_raises(name: str, data: st.DataObject) -> None:
    media_type, body = DOCUMENTS[name]
    at = data.draw(st.integers(0, len(body) - 1))
    damaged = body[:at] + data.draw(st.binary(max_size=4)) + body[data.draw(st.integers(at, len(body))) :]
    found = read(damaged, "http://a.test/", media_type, "utf-8" if media_type in UTF_8 else None)
    assert "\n" not in found.failure


@pytest.mark.parametrize("name", ["rtf", "tex", "7", "md"])
@given(text=st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=60))
def test_words_survive_markup(name: str, text: str) -> None:
    written = "".join(f"\\u{ord(c) if ord(c) < 32768 else ord(c) - 65536}?" for c in text if ord(c) < 65536)
    if name == "rtf":
        text = "".join(character for character in text if ord(character) < 65536)
    source = {"rtf": f"{{\\rtf1\\uc1 {written}}}", "7": f".TH a 1\n.PP\n{text}\n"}.get(name, f"x {text} y\n")
    found = read(source.encode(), "", DOCUMENTS[name][0], "utf-8")
    assert text.split() == [] or text in unescape(re.sub("<[^>]*>", "", found.body))


# --- worker processes ---------------------------------------------------------------------------------------


def test_a_worker_reads_one_document_after_another_and_ends_with_its_socket() -> None:
    with Worker() as worker:
        for name in ("docx", "md", "rtf"):
            told, html = worker.ask(*DOCUMENTS[name])
            assert told["title"] == TITLE and HEADING in html
        assert worker.ask("application/zip", b"PK\x03\x04nonsense")[0]["failure"].startswith("it is damaged")
    assert worker.process.returncode == 0


def test_a_worker_keeps_to_its_limits() -> None:
    with Worker(convert_output=1024) as worker:
        told, html = worker.ask("text/markdown", b"word\n\n" * 1000)
        assert len(html) <= 1024 and told["failure"] == "only the first 1,024 bytes of its text were kept"
    with Worker(convert_memory=2**27) as worker:
        told, _ = worker.ask("application/gzip", gzip.compress(bytes(200 * 2**20)))
        assert told["failure"] == "it takes more memory than allowed"


FORBIDDEN = """
import os, socket, subprocess
class Tries:
    def convert(self, body, media_type):
        said = []
        for name, act in {
            "socket": lambda: socket.socket(),
            "write": lambda: open(body.decode(), "w"),
            "program": lambda: os.execv("/bin/true", ["true"]),
            "signal": lambda: os.kill(os.getppid(), 0),
        }.items():
            try:
                act()
                said.append(name)
            except OSError as error:
                pass
        return "x", " ".join(said) or "nothing"
class Loops:
    def convert(self, body, media_type):
        while True: pass
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "forbidden.py").write_text(FORBIDDEN)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_converter_of_yours_has_no_network(modules: Path) -> None:
    # Its own files and programs are its own affair; here the program replaces the worker.
    with Worker({"x/y": "forbidden:Tries"}) as worker, pytest.raises(EOFError):
        worker.ask("x/y", str(modules / "file").encode())
    assert (modules / "file").exists()
    script = (
        "import sys; sys.path[:0] = [sys.argv[1], *sys.argv[2].split(chr(10))]\n"
        "from crivello.convert import sandbox\nimport forbidden\n"
        "sandbox.enter(2**30, 2**20, own=sys.argv[3] == 'own')\n"
        "class NoProgram(forbidden.Tries): pass\n"
        "print(forbidden.Tries().convert(sys.argv[4].encode(), '')[1])"
    )
    paths = "\n".join(sys.path)
    said = subprocess.run(
        [sys.executable, "-c", script, str(modules), paths, "strict", str(modules / "other")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "nothing" and not (modules / "other").exists()


def test_a_crawl_goes_on_beside_documents_that_cannot_be_read(modules: Path) -> None:
    names = [name for name in WRONG if name != "unknown.xyz"]
    pages: dict[str, Page] = {
        "/": links(*(f"/{name}" for name in names), "/loops", "/good.docx", "/page"),
        "/page": "<p>Beside it.",
        "/loops": Answer(b"x", kind="x/y"),
        "/good.docx": Answer(docx(), kind=DOCX),
        **{f"/{name}": Answer(WRONG[name][1], kind=WRONG[name][0]) for name in names},
    }
    with SmallWeb({"a.test": pages}) as web:
        crawled = web.crawl(modules / "c", "a.test", converters="x/y=forbidden:Loops", convert_time=6.0)
        rows = {row.url.rpartition("/")[2]: row for row in crawled.rows()}
        for name in names:
            assert rows[name].outcome is Outcome.FETCHED and rows[name].digest is None
            assert rows[name].detail.partition(" (")[0] == WRONG[name][2], name
            assert WRONG[name][2] in str(crawled.collection.why(web.url("a.test", f"/{name}")))
        assert rows["loops"].detail == "it took longer than 6s"
        assert rows["good.docx"].title == TITLE and rows["good.docx"].text_length
        assert rows["page"].status == 200
        counted = crawled.report.unconverted
        assert counted["it is encrypted"] == 5 and sum(counted.values()) == len(names) + 1


# --- what becomes of the structure --------------------------------------------------------------------------


def test_a_type_is_seen_through(tmp_path: Path) -> None:
    kinds = dict.fromkeys(DOCUMENTS, "application/octet-stream")
    kinds |= {"docx": "application/zip", "tex": "text/plain", "7": "text/plain; charset=utf-8"}
    pages: dict[str, Page] = {
        "/": links(*(f"/x.{name}" for name in DOCUMENTS)),
        **{f"/x.{name}": Answer(body, kind=kinds[name]) for name, (_, body) in DOCUMENTS.items()},
    }
    with SmallWeb({"a.test": pages}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")
    rows = {row.url.rpartition("/x.")[2]: row for row in crawled.rows() if "/x." in row.url}
    assert {name: row.content_type for name, row in rows.items()} == {
        name: media_type for name, (media_type, _) in DOCUMENTS.items()
    }
    assert [name for name, row in rows.items() if not row.text_length] == []


@pytest.mark.parametrize(("make", "kind"), [(docx, DOCX), (pdf, "application/pdf")], ids=["docx", "pdf"])
def test_a_document_is_a_page(make: Callable[[str, str], bytes], kind: str, tmp_path: Path) -> None:
    pages: dict[str, Page] = {"/": links("/x"), "/behind": "<p>Obsidian."}
    with SmallWeb({"a.test": pages}) as web:
        document = make("Il basalto è sottile e scorre veloce, zyx.", web.url("a.test", "/behind"))
        pages["/x"] = Answer(document, kind=kind)
        crawled = web.crawl(tmp_path / "c", "a.test")
        row, behind = (crawled.row(web.url("a.test", path)) for path in ("/x", "/behind"))
        assert behind.status == 200 and behind.depth == 2
        assert (row.title, row.language) == (TITLE, "it")
    with Collection.write(tmp_path / "c") as collection:
        collection.index()
        for query in (
            f"headings:{HEADING.split()[0]}",
            "zyx",
            "after:2024-05-05 before:2024-05-07 zyx",
        ):
            assert [hit.url for hit in collection.search(query)] == [row.url], query
        assert [hit.url for hit in collection.search("anchors:obsidian")] == [behind.url]


def test_a_charset_is_guessed_and_declared(tmp_path: Path) -> None:
    said = "Perché la città è così bella, e l'università più giù?"
    pages: dict[str, Page] = {
        "/": links("/a.md", "/b.txt", "/c.csv", "/d.xml", "/e.md"),
        "/a.md": Answer(f"# {said}".encode("cp1252"), kind="text/markdown"),
        "/b.txt": Answer(said.encode("cp1252"), kind="text/plain"),
        "/c.csv": Answer(f"1,{said}".encode("cp1252"), kind="text/csv"),
        "/d.xml": Answer(
            f'<?xml version="1.0" encoding="utf-16"?><a>{said}</a>'.encode("utf-16"), kind="text/xml"
        ),
        "/e.md": Answer(said.encode("utf-16-le"), kind="text/markdown; charset=utf-16le"),
    }
    with SmallWeb({"a.test": pages}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")
        for path in list(pages)[1:]:
            assert said in crawled.collection.text(crawled.row(web.url("a.test", path))), path
