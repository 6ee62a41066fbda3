"""What single readers make of the particulars of their format."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from html import unescape

import pytest

from crivello.convert import Converted, read
from tests.documents import (
    ANCHOR,
    HEADING,
    LINK,
    OFFICE,
    OPEN,
    TITLE,
    docx,
    epub,
    mail,
    ods,
    odt,
    pdf,
    pptx,
    relations,
    xlsx,
    zipped,
)


def _read(body: str | bytes, media_type: str) -> Converted:
    data = body.encode() if isinstance(body, str) else body
    found = read(data, "http://a.test/x", media_type, "utf-8")
    assert found.failure == ""
    return found


def _text(found: Converted) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", found.body)).split())


# --- PDF ----------------------------------------------------------------------------------------------------

PDF = "application/pdf"


def test_pages_of_a_pdf() -> None:
    found = _read(pdf(), PDF)
    first, second = re.findall(r'<div id="page=(\d)">(.*?)</div>', found.body, re.DOTALL)
    assert (first[0], second[0]) == ("1", "2")
    assert "Ash." in first[1] and f"<h1>{HEADING}</h1>" in second[1]
    assert f'<a href="{LINK}">{ANCHOR}</a>' in second[1]


@pytest.mark.parametrize(
    ("declared", "title"),
    [
        ("", TITLE),
        ("Untitled", TITLE),
        ("Microsoft Word - lava.doc", TITLE),
        ("fig/lava.fig", TITLE),
        ("Microsoft Word - Of rock", "Of rock"),
        ("Basalt 1.2", "Basalt 1.2"),
    ],
)
def test_a_title_of_a_pdf_that_is_none(declared: str, title: str) -> None:
    declares = f"/Title ({TITLE})".encode()
    assert _read(pdf().replace(declares, f"/Title ({declared})".encode()), PDF).title == title


def test_a_pdf_whose_text_has_one_size_has_no_title() -> None:
    assert _read(pdf().replace(b"/Title (Of lava)", b"").replace(b"/F1 16 Tf", b"/F1 11 Tf"), PDF).title == ""


# --- manual pages -------------------------------------------------------------------------------------------

MANUAL = "application/x-troff-man"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ('.ie n .IP """basalt""" 4\n.el .IP "\\f(CWgabbro\\fR" 4\nflows', '"basalt" flows'),
        (".if t printed\n.if !t shown", "shown"),
        (".ie t \\{\\\n.B printed\n.\\}\n.el \\{\\\n.B shown\n.\\}\nafter", "shown after"),
        (".if \\n(.g groff\n.if \\nF>0 never\n.if '\\*x'' empty", "groff empty"),
        (".ds lava hot \\fIrock\\fP\n\\*[lava] and \\*[lava]", "hot rock and hot rock"),
        (".ds a \\*a\nx \\*a y", "x y"),
        (".de Two\n.B \\\\$2\nis \\\\$*\n..\n.Two one two", "two is one two"),
        (".de Loop\n.Loop\n..\nx\n.Loop\ny", "x y"),
        ("output\\(ulfile \\(*a\\(*W", "output_file αΩ"),
        (".TS\ntab(@);\nl l.\none@T{\n.B two\nthree\nT}\n.TE\nfour", "one two three four"),
        (".Dt X 1\n.Sh NAME\n.Ar A and B of\n.Fx 4 .\n.%A Ada", "NAME A and B of FreeBSD 4 . Ada"),
    ],
)  # fmt: skip
def test_a_manual_page_is_what_a_terminal_shows(source: str, shown: str) -> None:
    assert _text(_read(f"{source}\n", MANUAL)).removeprefix("X ") == shown


def test_links_of_a_manual_page() -> None:
    found = _read(
        ".UR https://b.test/gpl\nthe\nlicence\n.UE .\n.MT ada@b.test\nAda\n.ME\n.URL https://b.test/ home .\n",
        MANUAL,
    )
    assert re.findall(r'href="([^"]*)">([^<]*)<', found.body) == [
        ("https://b.test/gpl", "the licence"),
        ("https://b.test/", "home"),
    ]
    assert _text(found) == "the licence ⟨https://b.test/gpl⟩ . Ada ⟨ada@b.test⟩ home ⟨https://b.test/⟩ ."


# --- LaTeX --------------------------------------------------------------------------------------------------

LATEX = "application/x-tex"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"\newcommand{\lava}{hot \textbf{rock}}\begin{document}\lava{} and \lava", "hot rock and hot rock"),
        (r"\newcommand\of[2][red]{#2 is #1}\begin{document}\of{lava}, \of[grey]{basalt}", "lava is red, basalt is grey"),
        (r"\begin{document}\def\twice#1{#1 #1}\twice{lava} \twice x", "lava lava x x"),
        (r"\begin{document}\def\until#1;{never}\section{\emph{S}}x", "S x"),
        (r"\begin{document}\unknown{lava}% c"+"\n  {ash}{rock}s", "lava ash rocks"),
        (r"\newcommand\a{\a\a}\begin{document}x \a y", "x y"),
        (r"\begin{document}$\varphi + \Omega \le \lambda$", "φ + Ω λ"),
    ],
)  # fmt: skip
def test_definitions_of_latex_are_expanded(source: str, shown: str) -> None:
    assert _text(_read(source, LATEX)) == shown


# --- office documents ---------------------------------------------------------------------------------------


def _replaced(document: bytes, name: str, old: str, new: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        files: dict[str, str | bytes] = {entry: archive.read(entry) for entry in archive.namelist()}
    text = files[name]
    assert isinstance(text, bytes) and old in text.decode()
    return zipped({**files, name: text.decode().replace(old, new)})


def test_a_symbol_separates_words() -> None:
    document = docx("lava</w:t></w:r><w:r><w:sym/></w:r><w:r><w:t>rock")
    assert "lava rock" in _text(_read(document, f"{OFFICE}wordprocessingml.document"))


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("yyyy\\-mm", "45418", "2024-05-06"),
        ("d/m/yy h:mm", "45418.5", "2024-05-06 12:00:00"),
        ("h:mm AM/PM", "45418.25", "06:00:00"),
        ("[h]:mm", "1.5", "36:00:00"),
        ('0.00 "days"', "1.5", "1.5"),
        ("[Red]0;yyyy", "7", "7"),
        ("yyyy", "-1", "-1"),
    ],
)
def test_numbers_of_a_sheet_are_shown_as_dates_and_times(code: str, value: str, shown: str) -> None:
    document = _replaced(xlsx(), "xl/styles.xml", "yyyy\\-mm", code.replace('"', "&quot;"))
    document = _replaced(document, "xl/worksheets/sheet1.xml", "<v>45418</v>", f"<v>{value}</v>")
    assert f" {shown} inline" in _text(_read(document, f"{OFFICE}spreadsheetml.sheet"))


def test_days_of_a_sheet_from_1904() -> None:
    document = _replaced(xlsx(), "xl/workbook.xml", "<sheets>", '<workbookPr date1904="1"/><sheets>')
    assert "2028-05-07" in _text(_read(document, f"{OFFICE}spreadsheetml.sheet"))


def test_a_diagram_on_a_slide() -> None:
    diagram = "<x><a:p><a:t>Basalt ring</a:t></a:p></x>".replace("<x>", '<x xmlns:a="a">')
    with zipfile.ZipFile(io.BytesIO(pptx())) as archive:
        files: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    files["ppt/slides/_rels/slide1.xml.rels"] = relations(r1=LINK, r2="../diagrams/data1.xml")
    found = _read(
        zipped({**files, "ppt/diagrams/data1.xml": diagram}), f"{OFFICE}presentationml.presentation"
    )
    assert "Basalt ring" in _text(found)


def test_cells_and_objects_of_open_document() -> None:
    cell = '<table:table-cell table:number-columns-repeated="3"><text:p>ash</text:p></table:table-cell>'
    sheet = _replaced(ods(), "content.xml", "<table:table-row>", f"<table:table-row>{cell}")
    assert "ash ash ash Basalt" in _text(_read(sheet, f"{OPEN}spreadsheet"))
    text = _replaced(
        odt(), "content.xml", "</office:body>", '<draw:object xlink:href="./One"/></office:body>'
    )
    with zipfile.ZipFile(io.BytesIO(text)) as archive:
        files: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    row = '<r xmlns:text="t"><text:p>embedded</text:p></r>'
    assert _text(_read(zipped({**files, "One/content.xml": row}), f"{OPEN}text")).endswith("embedded")


# --- books and mail -----------------------------------------------------------------------------------------


def test_a_book_in_a_folder() -> None:
    with zipfile.ZipFile(io.BytesIO(epub())) as archive:
        files: dict[str, str | bytes] = {f"book/{name}": archive.read(name) for name in archive.namelist()}
    found = _read(zipped(files), "application/epub+zip")
    assert (found.title, HEADING in found.body) == (TITLE, True)


def test_a_message_named_as_a_mailbox() -> None:
    assert _read(mail(), "application/mbox").title == TITLE
    assert read(b"Dear Ada,\n", media_type="application/mbox").failure == "it is not a mailbox"


def test_a_compressed_file_of_any_name() -> None:
    def unpacked(name: str, body: bytes) -> Converted:
        return read(gzip.compress(body), f"http://a.test/{name}.gz", "application/gzip")

    assert (unpacked("CHANGES", b"Lava & ash").title, unpacked("CHANGES", b"Lava & ash").body) == (
        "CHANGES",
        "<p>Lava &amp; ash</p>\n",
    )
    assert HEADING in unpacked("x.pdf", pdf()).body
    assert unpacked("x.png", b"\x89PNG\r\n\x1a\n\0").failure == "there is no reader for it (x.png)"
