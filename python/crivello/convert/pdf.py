"""PDF, by pdfium."""

from __future__ import annotations

from crivello.convert import Converted, Markup


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """The text of each page."""
    del url, media_type, charset
    import pypdfium2

    document = pypdfium2.PdfDocument(body)
    markup = Markup()
    for page in document:
        markup.lines(page.get_textpage().get_text_bounded())
    return Converted(document.get_metadata_dict().get("Title", ""), str(markup))
