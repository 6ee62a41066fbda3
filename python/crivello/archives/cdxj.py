"""Indexes of captures (CDXJ): a line for each record, sorted by the reversed host of its URL and by time.

``key timestamp {"url": …, "mime": …, "status": …, "digest": …, "length": …, "offset": …, "filename": …}``, as
pywb and the Wayback Machine read them.

Source: https://specs.webrecorder.net/cdxj/0.1.0/.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from crivello._core import ArchivedRecord
from crivello.errors import InvalidArgument

LINE = re.compile(rb"[^ \r\n]+ \d{4,17} \{.*\}\s*")


def line(record: ArchivedRecord, filename: str, offset: int, length: int) -> str:
    """The line of a record."""
    told = {
        "url": record.url,
        "mime": record.mime,
        **({"status": str(record.status)} if record.status else {}),
        **({"digest": record.digest} if record.digest else {}),
        "length": str(length),
        "offset": str(offset),
        "filename": filename,
    }
    return f"{record.key} {record.timestamp} {msgspec.json.encode(told).decode()}"


class _Told(msgspec.Struct):
    filename: str
    offset: str | int


def place(text: bytes, name: str, number: int) -> tuple[str, int]:
    """The file and the offset that a line of an index says."""
    try:
        told = msgspec.json.decode(text[text.index(b"{") :], type=_Told)
        return told.filename, int(told.offset)
    except (ValueError, msgspec.DecodeError):
        raise InvalidArgument(
            f"{name}, line {number}: there is no file name and offset of a record",
            hint="an index line ends with a JSON object that has them",
        ) from None


def find_file(filename: str, beside: Path) -> Path:
    """The archive file that an index names: beside the index, or in the folders where tools put it."""
    folders = (beside, beside / "archive", beside.parent, beside.parent / "archive", beside.parent / "warcs")
    for folder in folders:
        for name in (filename, Path(filename).name):
            if (found := folder / name).is_file():
                return found
    raise InvalidArgument(
        f"{filename}, which the index names, is not beside it", hint=f"put it into {beside}"
    )
