"""Documents of other formats to text, each in a process of its own that may die without harm.

The process reads the document from its standard input and writes title and text as JSON; it may use a
gigabyte and a limited time, and whatever it does when it meets a broken document stays with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from dataclasses import dataclass

import msgspec

CONVERTIBLE = frozenset({"application/pdf"})
_MEMORY = 2**30


@dataclass(frozen=True)
class Converted:
    """The text of a document."""

    title: str
    text: str


async def convert(body: bytes, content_type: str, timeout: float) -> Converted | None:
    """The text of a document; None where it cannot be had."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "crivello.crawl.convert",
        content_type,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(body), timeout)
        return msgspec.json.decode(output, type=Converted) if process.returncode == 0 else None
    except (TimeoutError, msgspec.DecodeError):
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()


def _pdf(body: bytes) -> Converted:
    import pypdfium2

    document = pypdfium2.PdfDocument(body)
    pages = [page.get_textpage().get_text_bounded() for page in document]
    title = document.get_metadata_dict().get("Title", "")
    return Converted(title, "\n".join(pages))


def main() -> None:
    """What the process does."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    converters = {"application/pdf": _pdf}
    converted = converters[sys.argv[1]](sys.stdin.buffer.read())
    sys.stdout.buffer.write(msgspec.json.encode(converted))


if __name__ == "__main__":
    main()
