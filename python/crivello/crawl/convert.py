"""Documents of other formats to text, in a process of its own that may die without harm.

The crawl runs this file with the media type as its argument; it reads the document from its standard input
and writes title and text as JSON. It may use a gigabyte, and whatever it does when it meets a broken
document stays with it. It imports nothing of Crivello, so that it starts quickly.
"""

from __future__ import annotations

import json
import resource
import sys

_MEMORY = 2**30


def _pdf(body: bytes) -> tuple[str, str]:
    import pypdfium2

    document = pypdfium2.PdfDocument(body)
    pages = [page.get_textpage().get_text_bounded() for page in document]
    return document.get_metadata_dict().get("Title", ""), "\n".join(pages)


def main() -> None:
    """What the process does."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    converters = {"application/pdf": _pdf}
    title, text = converters[sys.argv[1]](sys.stdin.buffer.read())
    json.dump({"title": title, "text": text}, sys.stdout)


if __name__ == "__main__":
    main()
