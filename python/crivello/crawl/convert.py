"""Converts documents of other formats to text, in a separate process whose crash does no harm.

The crawl runs this file with the user-defined classes (``crivello.crawl.converters``) and the media type as
arguments; it reads the document from standard input and writes title and text as JSON. Its memory is limited
to a gigabyte, and whatever a broken document does to it stays in this process. It imports nothing of Crivello
except, for such a class, ``crivello.extend``, so that it starts quickly.
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


# The core's table of formats (crates/core/src/media.rs) has the same types.
CONVERTERS = {"application/pdf": _pdf}


def _by_class(name: str, media_type: str, body: bytes) -> tuple[str, str]:
    from crivello.extend import load

    def checked(said: tuple[str, str]) -> tuple[str, str]:
        title, text = said
        # A lone surrogate is not a character, and cannot be encoded in JSON.
        return title.encode(errors="replace").decode(), text.encode(errors="replace").decode()

    converter = load("crawl.converters", name)
    return converter.call(body, media_type, check=checked, about=f"a document of type {media_type}")


def main() -> None:
    """The entry point of the conversion process."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    told, media_type = json.loads(sys.argv[1]), sys.argv[2]
    sys.path[:] = told["path"]
    out, sys.stdout = sys.stdout, sys.stderr  # for a class that prints
    body = sys.stdin.buffer.read()
    name = told["converters"].get(media_type)
    try:
        title, text = _by_class(name, media_type, body) if name else CONVERTERS[media_type](body)
    except Exception as error:
        if not name:
            raise
        json.dump({"failure": str(error)}, out)
    else:
        json.dump({"title": title, "text": text}, out)


if __name__ == "__main__":
    main()
