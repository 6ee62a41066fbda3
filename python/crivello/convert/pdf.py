"""PDF, by pdfium: the lines of each page, headings by the outline, links by the annotations.

Each page is a ``div`` whose id is ``page=7``: with that fragment, readers open a PDF at the page (RFC 8118). Of ten
documents four declare no title, and others the name of a file; theirs is what the first page shows in the largest type.
"""

from __future__ import annotations

import ctypes
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from crivello._extras import MissingPackage, optional
from crivello.convert import Converted, Markup, Unreadable

_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?")
_URL = re.compile(r"https?://[^\s<>\"']*[^\s<>\"'.,;:!?)\]}]")
_WORD_BREAK = re.compile("[\ufffe\x02]\\s*")
_PASSWORD = 4
_PROGRAM = re.compile(r"^Microsoft \w+ - ")
_NO_TITLE = re.compile(r"(?i)untitled\S*|[^\s]*[\w-]+\.[a-z]{2,4}[x\d]?|")
# A title is so much larger than the text, found within so many characters, and of at least so many.
_LARGER, _LOOKED_AT, _SHORTEST, _LONGEST = 1.15, 1500, 4, 200


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """The text of all pages."""
    del url, media_type, charset
    try:
        with optional():
            import pypdfium2
    except MissingPackage as error:
        raise Unreadable(f"{error}: {error.hint}") from None

    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD or "password" in str(error).lower():
            raise Unreadable("it is encrypted") from None
        raise Unreadable(f"it is damaged ({error})") from None
    headings = _outline(document)
    markup = Markup()
    for number in range(len(document)):
        _page(document, number, headings[number], markup)
    about = document.get_metadata_dict()
    date = _DATE.match(about.get("ModDate", "") or about.get("CreationDate", ""))
    title = _PROGRAM.sub("", about.get("Title", "").strip())
    return Converted(
        _largest(document) if _NO_TITLE.fullmatch(title) else title,
        str(markup),
        _language(document),
        "-".join(part for part in date.groups() if part) if date else "",
    )


def _outline(document: Any) -> dict[int, dict[str, int]]:
    """The titles of the outline and their levels, by page."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for bookmark in document.get_toc():
        target = bookmark.get_dest()
        page = target.get_index() if target else None
        if page is not None:
            found[page][_key(bookmark.get_title())] = min(bookmark.level + 1, 6)
    return found


def _key(text: str) -> str:
    """A heading without its number, its case and its spaces."""
    return re.sub(r"\W+", "", re.sub(r"^\W*(?:[A-Za-z]?[\d.]+\s)?", "", text.strip())).casefold()


def _page(document: Any, number: int, headings: dict[str, int], markup: Markup) -> None:
    page = document[number]
    text_page = page.get_textpage()
    lines = _WORD_BREAK.sub("", text_page.get_text_bounded()).splitlines()
    links = list(_links(document, page, text_page))
    markup.html(f'<div id="page={number + 1}">\n')
    for line in lines:
        level = headings.get(_key(line), 0) if headings else 0
        _line(line, links, markup)
        markup.line(level)
    for url, _ in links:
        # Its words were not found in one line.
        markup.link(url, "")
    markup.html("</div>\n")
    text_page.close()
    page.close()


def _line(line: str, links: list[tuple[str, str]], markup: Markup) -> None:
    """A line, with the links whose words are in it; each is used once, in order."""
    at = 0
    while links and (start := line.find(links[0][1], at)) >= 0 and links[0][1]:
        url, anchor = links.pop(0)
        markup.text(line[at:start])
        markup.link(url, anchor)
        at = start + len(anchor)
    for found in _URL.finditer(line, at):
        markup.text(line[at : found.start()])
        markup.link(found[0], found[0])
        at = found.end()
    markup.text(line[at:])


def _links(document: Any, page: Any, text_page: Any) -> Iterator[tuple[str, str]]:
    """The URLs of the annotations of a page, and the words under them."""
    import pypdfium2.raw as pdfium

    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    while pdfium.FPDFLink_Enumerate(page, position, link):
        action = pdfium.FPDFLink_GetAction(link)
        if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
            continue
        length = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
        buffer = ctypes.create_string_buffer(length)
        pdfium.FPDFAction_GetURIPath(document, action, buffer, length)
        url = buffer.value.decode("utf-8", errors="replace")
        area = pdfium.FS_RECTF()
        if not url.startswith(("http://", "https://")):
            continue
        anchor = ""
        if pdfium.FPDFLink_GetAnnotRect(link, area):
            anchor = text_page.get_text_bounded(area.left, area.bottom, area.right, area.top)
        yield url, " ".join(_WORD_BREAK.sub("", anchor).split())


def _largest(document: Any) -> str:
    """The words in the largest type at the beginning of a document; empty if they are not larger than the rest."""
    import pypdfium2.raw as pdfium

    if not len(document):
        return ""
    page = document[0]
    text_page = page.get_textpage()
    text = text_page.get_text_range(0, min(_LOOKED_AT, text_page.count_chars()))
    matrix = pdfium.FS_MATRIX()
    heights: list[float] = []
    for at, character in enumerate(text):
        height = 0.0
        if not character.isspace() and pdfium.FPDFText_GetMatrix(text_page, at, matrix) and not matrix.b:
            height = round(abs(matrix.d) * pdfium.FPDFText_GetFontSize(text_page, at), 1)
        heights.append(height)
    text_page.close()
    page.close()
    letters = sorted(height for height, character in zip(heights, text, strict=True) if character.isalpha())
    for height in sorted(set(letters), reverse=True):
        if height < _LARGER * letters[len(letters) // 2]:
            break
        run = _run(text, heights, height)
        if _SHORTEST <= len(run) <= _LONGEST:
            return run
    return ""


def _run(text: str, heights: list[float], height: float) -> str:
    """The first words of that height that follow each other."""
    at = next(place for place, found in enumerate(heights) if found == height)
    end = at
    while end < len(text) and heights[end] in (0, height):
        end += 1
    return " ".join(_WORD_BREAK.sub("", text[at:end]).split())


def _language(document: Any) -> str:
    import pypdfium2.raw as pdfium

    ask = getattr(pdfium, "FPDFCatalog_GetLanguage", None)
    if ask is None:
        return ""
    length = ask(document, None, 0)
    buffer = ctypes.create_string_buffer(length)
    ask(document, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), length)
    return buffer.raw[: max(length - 2, 0)].decode("utf-16-le", errors="replace")
