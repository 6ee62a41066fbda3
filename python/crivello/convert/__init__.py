"""Private: documents of any format as simple HTML: title, headings, paragraphs, links, for the page parser.

    >>> from crivello.convert import read
    >>> document = read(b"# Lava\\n\\nIt [flows](https://a.example/).", media_type="text/markdown")
    >>> document.title, document.body
    ('Lava', '<h1>Lava</h1>\\n<p>It <a href="https://a.example/">flows</a>.</p>\\n')

``READERS`` says which module of this folder reads which media type. A reader is a function ``read`` of the
bytes, the URL, the media type and the charset (``None`` if the document declares its own); it returns a
``Converted``, or raises ``Unreadable`` with the reason in one sentence. Modules are imported when the first document of
their kind arrives, so that a worker process starts quickly. The crawl runs readers in worker processes with
limits (``crivello.convert.worker``), so a reader need not defend itself against what takes long; it must
only bound what it unpacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from crivello.convert.content import true_type
from crivello.convert.markup import Markup

__all__ = ["READERS", "Converted", "Markup", "Unreadable", "read"]

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."

# The module that reads each media type. The core's table of formats (crates/core/src/media/formats.rs) has the
# same types, with their aliases, extensions and first bytes.
READERS = {
    "application/pdf": "pdf",
    f"{_OFFICE}wordprocessingml.document": "office",
    f"{_OFFICE}presentationml.presentation": "office",
    f"{_OFFICE}spreadsheetml.sheet": "office",
    f"{_OPEN}text": "opendocument",
    f"{_OPEN}presentation": "opendocument",
    f"{_OPEN}spreadsheet": "opendocument",
    "application/rtf": "rich_text",
    "application/epub+zip": "epub",
    "text/markdown": "markdown",
    "application/x-tex": "latex",
    "application/x-troff-man": "manual",
    "message/rfc822": "mail",
    "application/mbox": "mail",
    "application/xml": "generic_xml",
    "application/zip": "archives",
    "application/x-tar": "archives",
    "application/gzip": "archives",
    "application/x-bzip2": "archives",
    "application/x-xz": "archives",
    "application/rss+xml": "feeds",
    "application/atom+xml": "feeds",
    "application/rdf+xml": "feeds",
    "application/feed+json": "feeds",
}


@dataclass(slots=True)
class Converted:
    """What a reader found in a document."""

    title: str = ""
    """Its title, as plain text; empty if it has none."""
    body: str = ""
    """Its content as simple HTML, usually from ``Markup``; relative links are relative to its URL."""
    language: str = ""
    """The language that it declares, as a tag such as ``en-GB``."""
    date: str = ""
    """When it was last changed or else written, in ISO 8601."""
    failure: str = ""
    """Why it has no content, or not all of it, in one sentence without a full stop."""
    feed: dict[str, Any] | None = field(default=None)
    """What only a news feed has, as JSON values; see ``crivello.convert.feeds``."""


class Unreadable(Exception):
    """Raised by a reader; the message is the reason, in one sentence without a full stop."""


Reader = Callable[[bytes, str, str, str | None], Converted]


def read(body: bytes, url: str = "", media_type: str = "", charset: str | None = None) -> Converted:
    """Reads a document. Whatever is wrong with it is in ``failure``; nothing is raised."""
    media_type = true_type(body, media_type)
    module = READERS.get(media_type)
    if module is None:
        return Converted(failure=f"there is no reader for {media_type or 'documents without a media type'}")
    try:
        reader: Reader = import_module(f"crivello.convert.{module}").read
        return reader(body, url, media_type, charset)
    except Unreadable as reason:
        return Converted(failure=str(reason))
    except MemoryError:
        return Converted(failure="it takes more memory than allowed")
    except Exception as error:
        # Libraries raise anything on a damaged document.
        said = " ".join(str(error).split())[:200]
        return Converted(failure=f"it is damaged ({type(error).__name__}{': ' if said else ''}{said})")
