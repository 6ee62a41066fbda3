"""Open Document: ODT, ODP, ODS (ISO/IEC 26300)."""

from __future__ import annotations

from crivello.convert import Converted, Markup, Unreadable
from crivello.convert.package import Package, metadata, parse

_PARAGRAPHS = frozenset({"p", "h", "header-decl", "footer-decl"})
# Deleted text, and the names of what is not text.
_SKIPPED = frozenset({"tracked-changes", "scripts", "font-face-decls", "automatic-styles", "forms"})

# The most equal cells in a row that are shown.
_REPEATED = 256


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """A text, a presentation or a spreadsheet: all have the same elements."""
    del url, charset
    package = Package(body)
    if b"encryption-data" in package.file("META-INF/manifest.xml"):
        raise Unreadable("it is encrypted")
    markup = Markup()
    _Content(markup, is_sheet="spreadsheet" in media_type).read(package, "")
    about = metadata(package.pieces("meta.xml"))
    date = about.get("date") or about.get("creation-date", "")
    return Converted(about.get("title", ""), str(markup), about.get("language", ""), date)


class _Content:
    def __init__(self, markup: Markup, *, is_sheet: bool) -> None:
        self._markup, self._is_sheet = markup, is_sheet
        self._skipped = self._level = self._depth = 0
        self._frames: list[bool] = []
        self._url = ""
        self._anchor: list[str] = []
        self._cell: list[str] = []
        self._repeated = 1
        self._objects: list[str] = []

    def read(self, package: Package, folder: str) -> None:
        """Reads a document, and then the tables and charts embedded in it."""
        if f"{folder}content.xml" not in package.names:
            raise Unreadable("it is damaged (there is no content.xml)")
        parse(package.pieces(f"{folder}content.xml"), self._start, self._end, self._characters)
        for name in self._objects:
            if not folder and f"{name}/content.xml" in package.names:
                self._markup.line()
                _Content(self._markup, is_sheet=True).read(package, f"{name}/")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._skipped or tag in _SKIPPED:
            self._skipped += 1
        elif tag in _PARAGRAPHS:
            # A note is inside a paragraph, and has paragraphs of its own.
            if not self._is_sheet:
                self._end_line()
            self._depth += 1
            self._level = min(int(attributes.get("outline-level", "1") or 1), 6) if tag == "h" else 0
        elif tag == "a":
            self._end_link()
            self._url = attributes.get("href", "")
        elif tag in ("s", "tab", "line-break"):
            self._put(" ")
        elif tag == "table" and self._is_sheet:
            self._markup.heading(attributes.get("name", ""))
        elif tag == "table-cell":
            repeated = attributes.get("number-columns-repeated", "1")
            self._repeated = min(int(repeated), _REPEATED) if repeated.isdigit() else 1
            self._cell.clear()
        elif tag == "object":
            self._objects.append(attributes.get("href", "").removeprefix("./"))
        elif tag == "frame":
            self._frames.append(attributes.get("class") in ("title", "subtitle"))

    def _end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif tag in _PARAGRAPHS:
            self._depth -= 1
            self._end_link()
            if self._is_sheet:
                self._markup.text(" ")
            else:
                self._end_line()
        elif tag == "table-cell" and self._is_sheet and self._cell:
            self._markup.text((" ".join(self._cell) + " ") * (self._repeated - 1))
        elif tag == "table-row" and self._is_sheet:
            self._end_line()
        elif tag == "a":
            self._end_link()
        elif tag == "frame":
            self._frames.pop()

    def _characters(self, text: str) -> None:
        if self._depth and not self._skipped:
            self._put(text)

    def _put(self, text: str) -> None:
        if self._repeated > 1:
            self._cell.append(text)
        if self._url:
            self._anchor.append(text)
        else:
            self._markup.text(text)

    def _end_link(self) -> None:
        if not self._url:
            return
        anchor = "".join(self._anchor)
        if "://" in self._url:
            self._markup.link(self._url, anchor)
        else:
            self._markup.text(anchor)
        self._anchor.clear()
        self._url = ""

    def _end_line(self) -> None:
        self._end_link()
        level = self._level or (2 if self._frames and self._frames[-1] else 0)
        self._markup.line(level)
        self._level = 0
