"""Documents of other formats in the archive: the HTML they were converted to, and how long they are."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crivello._core import Row

if TYPE_CHECKING:
    from crivello.collection import Collection

_PAGE = re.compile(r'^<div id="page=\d+">$', re.MULTILINE)
_PAGES = re.compile(rb"<Pages>(\d{1,6})</Pages>")
_PARTS = {
    "slide": re.compile(r"ppt/slides/slide\d+\.xml"),
    "sheet": re.compile(r"xl/worksheets/sheet\d+\.xml"),
}
_PROPERTIES = "docProps/app.xml"
_LONGEST_PROPERTIES = 1 << 16


def converted(collection: Collection, row: Row) -> str:
    """The HTML that a document was converted to; empty if it was not."""
    if not row.text_length:
        return ""
    for record in collection.captures([row]):
        if record.kind == "conversion":
            _, _, block = zlib.decompress(record.member, wbits=31).partition(b"\r\n\r\n")
            return block.decode("utf-8", "replace")
    return ""


def extent(collection: Collection, row: Row) -> str:
    """How long a document is, as in "12 pages" or "30 slides"; empty if it does not say."""
    if row.content_type == "application/pdf":
        return _counted(len(_PAGE.findall(converted(collection, row))), "page")
    if row.content_type and "openxmlformats" in row.content_type:
        return _office_extent(collection.record(row).decoded(collection.settings.crawl.max_bytes))
    return ""


def _office_extent(body: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as package:
            names: Sequence[str] = package.namelist()
            for unit, part in _PARTS.items():
                if found := sum(part.fullmatch(name) is not None for name in names):
                    return _counted(found, unit)
            if _PROPERTIES in names:
                with package.open(_PROPERTIES) as properties:
                    pages = _PAGES.search(properties.read(_LONGEST_PROPERTIES))
                return _counted(int(pages[1]), "page") if pages else ""
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError):
        pass  # a damaged document is of unknown length
    return ""


def _counted(number: int, unit: str) -> str:
    return "" if not number else f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"
