"""The archive: pages as they were sent, in WARC files.

Each record is a gzip member of its own (ISO 28500), so a page is read from its offset alone, and any
WARC tool reads the files. What was converted to text (a PDF, say) has the text in a ``conversion``
record behind its ``response``. A file is closed at one gigabyte and the next one begun.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from crivello import _core
from crivello.errors import CorruptFile, StorageError


def file_name(number: int) -> str:
    """The name of an archive's file in the collection."""
    return f"archive/crivello-{number:05}.warc.gz"


@dataclass(frozen=True)
class Record:
    """A record as it lies in the archive: for a response, what the server sent."""

    url: str
    headers: dict[str, str]
    body: bytes

    def decoded(self, limit: int) -> bytes:
        """The body without its content encoding."""
        return _core.decode_body(self.body, self.headers.get("content-encoding", ""), limit)


class Archive:
    """Reads records by where they lie."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, number: int, offset: int, length: int) -> Record:
        """The record at a place; damage is an error, never a page."""
        from fastwarc.warc import ArchiveIterator

        file = self._folder / file_name(number)
        try:
            with file.open("rb") as source:
                source.seek(offset)
                member = source.read(length)
        except OSError as error:
            raise StorageError.of(error, file) from None
        try:
            for record in ArchiveIterator(BytesIO(member), parse_http=False):
                if not record.verify_block_digest(consume=False):
                    reason = "a record does not match its digest"
                    raise CorruptFile(f"{file} is damaged at byte {offset}: {reason}", file, offset)
                headers: dict[str, str] = {}
                if record.is_http:
                    record.parse_http(auto_decode="none")
                    headers = {name.lower(): value for name, value in record.http_headers.asdict().items()}
                return Record(record.headers["WARC-Target-URI"], headers, record.reader.read())
        except (OSError, ValueError, KeyError) as error:
            raise CorruptFile(f"{file} is damaged at byte {offset}: {error}", file, offset) from None
        raise CorruptFile(f"{file} is damaged at byte {offset}: there is no record", file, offset)
