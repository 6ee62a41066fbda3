"""A writer of small PDF 1.4 files with selectable text: one page, Helvetica, Latin-1."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

_LINE_HEIGHT = 15
_LINE_LENGTH = 84
_TOP_LEFT = "56 780"


def write_pdf(title: str, paragraphs: Iterable[str]) -> bytes:
    """The text on an A4 page; text that does not fit is off the page, but still in the file."""
    lines = [title, ""]
    for paragraph in paragraphs:
        lines += [*textwrap.wrap(paragraph, _LINE_LENGTH), ""]
    content = _text_operators(lines)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R"
        b" /Resources << /Font << /F1 4 0 R >> >> >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Title %s >>" % _literal(title),
    ]
    return _assemble(objects)


def _text_operators(lines: Iterable[str]) -> bytes:
    shown = b"\n".join(b"%s Tj T*" % _literal(line) for line in lines)
    return b"BT /F1 11 Tf %d TL %s Td\n%s\nET" % (_LINE_HEIGHT, _TOP_LEFT.encode(), shown)


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
    file += b"trailer\n<< /Size %d /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        table,
    )
    return bytes(file)
