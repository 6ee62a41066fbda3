"""XML of any vocabulary: its character data, an element a line, and what common vocabularies call things."""

from __future__ import annotations

from crivello.convert import Converted, Markup
from crivello.convert.package import parse

# Elements inside a line of text, in DocBook, TEI, JATS and the like.
_INLINE = frozenset(
    [
        "a",
        "b",
        "i",
        "em",
        "strong",
        "emphasis",
        "code",
        "literal",
        "command",
        "option",
        "replaceable",
        "filename",
        "link",
        "ulink",
        "xref",
        "quote",
        "span",
        "italic",
        "bold",
        "sub",
        "sup",
        "systemitem",
        "function",
        "parameter",
        "varname",
        "userinput",
        "citetitle",
        "abbrev",
        "acronym",
        "email",
        "firstterm",
        "foreignphrase",
        "hi",
        "term",
        "uri",
        "ext-link",
        "tt",
        "u",
        "s",
        "small",
        "big",
    ]
)
_HEADINGS = frozenset({"title", "head", "subtitle"})
_DATES = frozenset({"date", "pubdate", "published", "updated", "modified", "lastmod"})
_URLS = ("href", "url", "target")


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """The text of a document, its first title, and its links."""
    del url, media_type
    reader = _Reader()
    parse([body], reader.start, reader.end, reader.text, charset)
    reader.end_line()
    return Converted(reader.title, str(reader.markup), reader.language, reader.date)


class _Reader:
    def __init__(self) -> None:
        self.markup = Markup()
        self.title = self.language = self.date = ""
        self._line: list[str] = []
        self._link = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag not in _INLINE:
            self.end_line()
        if not self.language:
            self.language = attributes.get("lang", "")
        url = next((attributes[name] for name in _URLS if "://" in attributes.get(name, "")), "")
        if url and not self._link:
            self._flush()
            self._link = url

    def end(self, tag: str) -> None:
        said = "".join(self._line).strip()
        if tag in _HEADINGS and said:
            self.title = self.title or " ".join(said.split())
            self._flush()
            self.markup.line(2)
        elif tag in _DATES and not self.date and said[:4].isdigit():
            self.date = said[:40]
        if self._link:
            self._flush()
        if tag not in _INLINE:
            self.end_line()

    def text(self, characters: str) -> None:
        self._line.append(characters)

    def _flush(self) -> None:
        said = "".join(self._line)
        self._line.clear()
        if self._link:
            self.markup.link(self._link, said)
            self._link = ""
        elif said:
            self.markup.text(said)

    def end_line(self) -> None:
        """Ends a line of text."""
        self._flush()
        self.markup.line()
