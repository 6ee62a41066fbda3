"""Files in archives, mailboxes and compressed files: each is converted by its name."""

from __future__ import annotations

import posixpath
import re

from crivello.convert import READERS, Converted, Markup, read

# The media types of files, by their extensions; the core (crates/core/src/media/formats.rs) has the same.
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
TYPES = {
    "application/pdf": "pdf",
    f"{_OFFICE}wordprocessingml.document": "docx docm dotx",
    f"{_OFFICE}presentationml.presentation": "pptx pptm ppsx potx",
    f"{_OFFICE}spreadsheetml.sheet": "xlsx xlsm xltx",
    f"{_OPEN}text": "odt ott",
    f"{_OPEN}presentation": "odp otp odg",
    f"{_OPEN}spreadsheet": "ods ots",
    "application/rtf": "rtf",
    "application/epub+zip": "epub",
    "text/markdown": "md markdown mdown",
    "application/x-tex": "tex latex ltx",
    "application/x-troff-man": "1 2 3 4 5 6 7 8 9 man roff",
    "message/rfc822": "eml",
    "application/mbox": "mbox",
    "application/xml": "xml",
    "text/html": "html htm xhtml xht",
    "text/plain": "txt text csv tsv rst org vtt",
}
EXTENSIONS = {extension: name for name, all_of_it in TYPES.items() for extension in all_of_it.split()}
_PLAIN = frozenset(
    {"readme", "changelog", "license", "copying", "authors", "news", "todo", "install", "copyright"}
)
# As the core tells text (crates/core/src/media/mod.rs).
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_LOOKED_AT = 1445
_BODY = re.compile(r"<body\b[^>]*>(.*?)(?:</body\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TITLE = re.compile(r"<title\b[^>]*>(.*?)</title\s*>", re.DOTALL | re.IGNORECASE)


def type_of(name: str) -> str:
    """The media type of a file by its name; empty if it is not one that is read."""
    name = posixpath.basename(name).lower()
    stem, _, extension = name.rpartition(".")
    if not stem:
        return "text/plain" if extension in _PLAIN else ""
    return EXTENSIONS.get(extension, "text/plain" if stem in _PLAIN else "")


def convert_file(name: str, body: bytes, url: str) -> Converted:
    """A file by its name, or as plain text if it has no control characters; in UTF-8, or else Windows-1252."""
    media_type = type_of(name) or ("" if _CONTROL.search(body, 0, _LOOKED_AT) else "text/plain")
    if not media_type:
        return Converted(failure=f"there is no reader for it ({posixpath.basename(name)})")
    if media_type in READERS:
        is_text = media_type in ("text/markdown", "application/x-tex", "application/x-troff-man")
        return read(_text(body).encode() if is_text else body, url, media_type, "utf-8" if is_text else None)
    text = _text(body)
    if media_type == "text/html":
        found, title = _BODY.search(text), _TITLE.search(text)
        return Converted(title[1] if title else "", found[1] if found else text)
    markup = Markup()
    markup.lines(text)
    return Converted("", str(markup))


def convert_member(name: str, body: bytes, url: str, markup: Markup) -> bool:
    """Appends a file to what contains it, under a heading with its name; False if it has no text."""
    converted = convert_file(name, body, url)
    if not converted.body:
        return False
    markup.heading(name)
    if converted.title:
        markup.paragraph(converted.title)
    markup.html(converted.body)
    return True


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("cp1252", errors="replace")
