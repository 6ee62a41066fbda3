"""Simple HTML, written piece by piece."""

from __future__ import annotations

from html import escape


class Markup:
    """Collects headings, paragraphs and links as HTML. Text is escaped, and needs no care.

    >>> markup = Markup()
    >>> markup.heading("Lava")
    >>> markup.text("It ")
    >>> markup.link("https://a.example/", "flows")
    >>> markup.line()
    >>> str(markup)
    '<h2>Lava</h2>\\n<p>It <a href="https://a.example/">flows</a></p>\\n'
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []

    def heading(self, text: str, level: int = 2) -> None:
        """A heading, on a line of its own."""
        self.line()
        if text.strip():
            self._lines.append(f"<h{level}>{escape(text.strip(), quote=False)}</h{level}>\n")

    def paragraph(self, text: str) -> None:
        """A paragraph; its line breaks are spaces."""
        self.line()
        self.text(text)
        self.line()

    def lines(self, text: str) -> None:
        """Plain text, a paragraph per line."""
        for line in text.splitlines():
            self.paragraph(line)

    def text(self, text: str) -> None:
        """Text inside the current paragraph."""
        is_plain = "&" not in text and "<" not in text and ">" not in text
        self._line.append(text if is_plain else escape(text, quote=False))

    def link(self, url: str, text: str) -> None:
        """A link inside the current paragraph."""
        self._line.append(f'<a href="{escape(url)}">{escape(text, quote=False)}</a>')

    def line(self, heading: int = 0) -> None:
        """Ends the current paragraph, which becomes a heading of that level if one is given."""
        line = "".join(self._line).strip()
        self._line.clear()
        if line:
            tag = f"h{heading}" if heading else "p"
            self._lines.append(f"<{tag}>{line}</{tag}>\n")

    def html(self, html: str) -> None:
        """HTML as it is, on lines of its own."""
        self.line()
        self._lines.append(html)

    def __str__(self) -> str:
        self.line()
        return "".join(self._lines)
