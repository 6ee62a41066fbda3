"""The format of a document by its content, where its name or its server says another one: a DOCX named ``.rtf``."""

from __future__ import annotations

import io
import zipfile

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
_EPUB = "application/epub+zip"
_BEGINNINGS = {b"%PDF-": "application/pdf", b"{\\rtf": "application/rtf"}
_PARTS = {
    "word/document.xml": f"{_OFFICE}wordprocessingml.document",
    "ppt/presentation.xml": f"{_OFFICE}presentationml.presentation",
    "xl/workbook.xml": f"{_OFFICE}spreadsheetml.sheet",
}
_ZIP = b"PK\x03\x04"


def true_type(body: bytes, media_type: str) -> str:
    """The media type of a PDF, RTF, office document or book: the declared one, or what the first bytes show."""
    if (
        media_type != _EPUB
        and media_type not in _BEGINNINGS.values()
        and not media_type.startswith((_OFFICE, _OPEN))
    ):
        return media_type
    for beginning, found in _BEGINNINGS.items():
        if body.startswith(beginning):
            return found
    return (_package_type(body) if body.startswith(_ZIP) else "") or media_type


def _package_type(body: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as package:
            names = set(package.namelist())
            start = package.open("mimetype").read(100) if "mimetype" in names else b""
    except Exception:
        # A damaged package raises anything here; its reader says what is wrong with it.
        return ""
    declared = start.decode("ascii", "replace").strip()
    if declared == _EPUB or declared.startswith(_OPEN):
        return declared
    return next((found for part, found in _PARTS.items() if part in names), "")
