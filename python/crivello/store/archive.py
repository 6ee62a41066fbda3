"""The archive: pages as they were sent, in WARC files.

Each record is a gzip member of its own (ISO 28500), so a page is read from its offset alone, and any
WARC tool reads the files. What was converted to text (a PDF, say) has the text in a ``conversion``
record behind its ``response``. A file is closed at one gigabyte and the next one begun.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from crivello import _core
from crivello.errors import CorruptFile, StorageError

FILE_SIZE = 10**9


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


def response_record(
    url: str, when: float, address: str, status: str, headers: Iterable[tuple[str, str]], body: bytes
) -> bytes:
    """A response as a compressed record; the body as it was sent, less the chunks of HTTP/1.1."""
    lines = [f"HTTP/1.1 {status}"]
    for name, value in headers:
        # The chunks are gone, and who reads the record must not look for them.
        kept = f"X-Archive-{name}" if name.lower() == "transfer-encoding" else name
        lines.append(f"{kept}: {value}")
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")
    fields = _fields(url, when)
    fields += [("WARC-IP-Address", address), ("Content-Type", "application/http; msgtype=response")]
    return _core.warc_record("response", fields, head, body)


def conversion_record(url: str, when: float, text: str) -> bytes:
    """The text of a document of another format, as a compressed record."""
    fields = [*_fields(url, when), ("Content-Type", "text/plain; charset=utf-8")]
    return _core.warc_record("conversion", fields, b"", text.encode())


def _fields(url: str, when: float) -> list[tuple[str, str]]:
    moment = datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return [("WARC-Target-URI", url), ("WARC-Date", moment)]


class ArchiveWriter:
    """Appends records to the newest file of an archive."""

    def __init__(self, folder: Path, files: dict[str, int], software: str) -> None:
        self._folder = folder
        self._software = software
        numbers = [number for number in range(1, len(files) + 2) if file_name(number) in files]
        self.number = max(numbers, default=0)
        self._lengths = {file_name(number): files[file_name(number)] for number in numbers}
        self._out: BinaryIO | None = None
        if self.number:
            self._open()
        else:
            self._next_file()

    def append(self, member: bytes) -> tuple[int, int]:
        """Appends a compressed record; gives its file's number and its offset there."""
        if self._length >= FILE_SIZE:
            self._next_file()
        return self.number, self._write(member)

    def sync(self) -> dict[str, int]:
        """Makes everything durable; gives the files with the lengths to commit."""
        assert self._out is not None
        try:
            self._out.flush()
            os.fsync(self._out.fileno())
        except OSError as error:
            raise StorageError.of(error, self._file) from None
        return dict(self._lengths)

    def close(self) -> None:
        """Lets go of the file."""
        if self._out is not None:
            try:
                self._out.close()
            except OSError as error:
                raise StorageError.of(error, self._file) from None

    @property
    def _file(self) -> Path:
        return self._folder / file_name(self.number)

    @property
    def _length(self) -> int:
        return self._lengths[file_name(self.number)]

    def _next_file(self) -> None:
        if self._out is not None:
            self.sync()
            self._out.close()
        self.number += 1
        self._lengths[file_name(self.number)] = 0
        self._open()
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        fields = [
            ("WARC-Date", now),
            ("WARC-Filename", self._file.name),
            ("Content-Type", "application/warc-fields"),
        ]
        described = f"software: {self._software}\r\nformat: WARC File Format 1.1\r\n".encode()
        self._write(_core.warc_record("warcinfo", fields, b"", described))

    def _open(self) -> None:
        try:
            self._out = self._file.open("ab", buffering=1 << 18)
        except OSError as error:
            raise StorageError.of(error, self._file) from None

    def _write(self, member: bytes) -> int:
        assert self._out is not None
        offset = self._length
        try:
            self._out.write(member)
        except OSError as error:
            raise StorageError.of(error, self._file) from None
        self._lengths[file_name(self.number)] = offset + len(member)
        return offset


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
