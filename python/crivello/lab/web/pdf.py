"""A writer of small PDF 1.4 files with selectable text: A4 pages, Helvetica, Latin-1."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping

_LINE_HEIGHT = 15
_LINE_LENGTH = 84
_LINES = 48
_LEFT, _TOP, _RIGHT = 56, 780, 539
_FIXED = 4  # The catalog, the page tree, the font and the information come before the pages.


def write_pdf(
    title: str,
    paragraphs: Iterable[str],
    *,
    headings: Collection[str] = (),
    links: Mapping[str, str] | None = None,
    language: str = "",
    date: str = "",
) -> bytes:
    """The text on as many pages as it needs.

    The outline names the lines that are ``headings``; lines that are keys of ``links`` lead to those URLs. The date is that of
    the last change, as in ``20240506``.
    """
    lines = [title, ""]
    for paragraph in paragraphs:
        lines += [*textwrap.wrap(paragraph, _LINE_LENGTH), ""]
    pages = [lines[start : start + _LINES] for start in range(0, len(lines), _LINES)]
    found = [(line, number) for number, page in enumerate(pages) for line in page if line in headings]
    outline = _FIXED + 2 * len(pages) + 1
    entries = b" /Outlines %d 0 R" % outline if found else b""
    entries += b" /Lang %s" % _literal(language) if language else b""
    about = b" /ModDate %s" % _literal(f"D:{date}") if date else b""
    kids = b" ".join(b"%d 0 R" % _page_object(number) for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R%s >>" % entries,
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title %s%s >>" % (_literal(title), about),
    ]
    for number, page in enumerate(pages):
        objects += _page(page, 11 if number else 16, _page_object(number) + 1, links or {})
    return _assemble([*objects, *_outline(found, outline)])


def _page_object(number: int) -> int:
    return _FIXED + 1 + 2 * number


def _page(lines: list[str], size: int, content: int, links: Mapping[str, str]) -> Iterator[bytes]:
    """A page whose first line is of that size, and its content, which is the object after it."""
    shown = b"\n".join(b"%s Tj T* /F1 11 Tf" % _literal(line) for line in lines)
    operators = b"BT /F1 %d Tf %d TL %d %d Td\n%s\nET" % (size, _LINE_HEIGHT, _LEFT, _TOP, shown)
    yield (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Annots [%s]"
        b" /Resources << /Font << /F1 3 0 R >> >> >>"
    ) % (content, b" ".join(_links(lines, links)))
    yield b"<< /Length %d >>\nstream\n%s\nendstream" % (len(operators), operators)


def _links(lines: list[str], links: Mapping[str, str]) -> Iterator[bytes]:
    for number, line in enumerate(lines):
        if line in links:
            bottom = _TOP - number * _LINE_HEIGHT - 4
            yield b"<< /Subtype /Link /Rect [%d %d %d %d] /A << /S /URI /URI %s >> >>" % (
                _LEFT - 2,
                bottom,
                _RIGHT,
                bottom + _LINE_HEIGHT - 1,
                _literal(links[line]),
            )


def _outline(headings: list[tuple[str, int]], first: int) -> Iterator[bytes]:
    """The outline, which is the object ``first``, and its entries, which are those after it."""
    if not headings:
        return
    last = first + len(headings)
    yield b"<< /Type /Outlines /First %d 0 R /Last %d 0 R /Count %d >>" % (first + 1, last, len(headings))
    for number, (title, page) in enumerate(headings, first + 1):
        after = b" /Next %d 0 R" % (number + 1) if number < last else b""
        yield b"<< /Title %s /Parent %d 0 R /Dest [%d 0 R /Fit]%s >>" % (
            _literal(title),
            first,
            _page_object(page),
            after,
        )


def _literal(text: str) -> bytes:
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return b"(%s)" % escaped.encode("latin-1", "replace")


def _assemble(objects: list[bytes]) -> bytes:
    """The file: header, numbered objects, cross-reference table of their offsets, and trailer."""
    file = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    file += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    file += b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        table,
    )
    return bytes(file)
