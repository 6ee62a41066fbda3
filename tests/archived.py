"""What the tests of archives share: real files, and pages as records."""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from crivello._core import warc_record

_ROOT = Path(__file__).parents[1]


def real(name: str) -> Path:
    """A real archive file; skips the test where it is absent."""
    data = Path(os.environ.get("CRIVELLO_DATA", _ROOT.parent / "shared" / "data"))
    path = data / "warc" / name
    if not path.exists():
        pytest.skip(f"{name} is not in {data}: set CRIVELLO_DATA to the folder with the real data")
    return path


def response(
    url: str, body: str | bytes, *, date: str = "2024-05-01T12:00:00Z", status: int = 200, head: str = ""
) -> bytes:
    """A response as a gzip member."""
    encoded = body.encode() if isinstance(body, str) else body
    fields = [
        ("WARC-Target-URI", url),
        ("WARC-Date", date),
        ("Content-Type", "application/http; msgtype=response"),
    ]
    kind = "" if "content-type" in head.lower() else "Content-Type: text/html; charset=utf-8\r\n"
    return warc_record("response", fields, f"HTTP/1.1 {status} Status\r\n{kind}{head}\r\n".encode(), encoded)


def other(kind: str, url: str, block: bytes, fields: Mapping[str, str] | None = None) -> bytes:
    """A record of another type as a gzip member."""
    told = {"WARC-Target-URI": url, "WARC-Date": "2024-05-01T12:00:00Z", **(fields or {})}
    return warc_record(kind, list(told.items()), b"", block)


def revisit(url: str, of: str, date: str, **fields: str) -> bytes:
    """A visit that found what another URL, or the same one, had before, as a gzip member; ``fields`` of the record have
    underscores for hyphens, and one that is empty is left out."""
    told = {
        "WARC-Date": date,
        "Content-Type": "application/http; msgtype=response",
        "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
        "WARC-Refers-To-Target-URI": of,
        "WARC-Refers-To-Date": "2024-05-01T12:00:00Z",
        **{name.replace("_", "-"): value for name, value in fields.items()},
    }
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: x\r\n\r\n"
    return other("revisit", url, head, {name: value for name, value in told.items() if value})


def plain(members: bytes) -> bytes:
    """Records without their compression."""
    return gzip.decompress(members)
