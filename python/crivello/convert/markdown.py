"""Markdown (CommonMark with tables), by markdown-it-py."""

from __future__ import annotations

import itertools
import re
from functools import cache
from typing import TYPE_CHECKING

from crivello.convert import Converted

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*\n", re.DOTALL)
_FIELD = re.compile(r"^(title|date|lang|language):\s*(.+?)\s*$", re.MULTILINE)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # HTML inside is kept, because the page parser reads it as any other.
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """The page; its title is its front matter's, or its first heading."""
    del url, media_type
    text = body.decode(charset or "utf-8", errors="replace")
    fields: dict[str, str] = {}
    if front := _FRONT.match(text):
        fields = {name: value.strip("\"'") for name, value in _FIELD.findall(front[1])}
        text = text[front.end() :]
    parser = _parser()
    tokens = parser.parse(text)
    title = fields.get("title", "")
    for opening, content in itertools.pairwise(tokens):
        if title:
            break
        if opening.type == "heading_open":
            title = "".join(
                part.content for part in content.children or [] if part.type in ("text", "code_inline")
            )
    html = parser.renderer.render(tokens, parser.options, {})
    return Converted(
        title, html, fields.get("lang", "") or fields.get("language", ""), fields.get("date", "")
    )
