"""The worker process of the crawl: reads documents one after another, within limits, and may die at any.

The core starts it (``crates/core/src/crawl/parsing/worker.rs``) with one argument, a JSON object: the module
search path, the user-defined converters by media type, and the limits. Requests and replies go over its standard
input, which is a socket: two frames each, a JSON object and bytes, preceded by their lengths in four bytes.
The end of the socket ends the process.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crivello.convert import Converted


def main() -> None:
    """The entry point of the process."""
    told = json.loads(sys.argv[1])
    sys.path[:] = told["path"]
    from crivello.convert import sandbox

    sandbox.enter(told["memory"], told["output"], own=bool(told["converters"]))
    while (head := _frame()) is not None and (body := _frame()) is not None:
        request = json.loads(head)
        # A document that loops is ended by the core; this limit holds even if the core is gone.
        sandbox.limit_processor(told["time"])
        found = _convert(request, body, told["converters"])
        html = found.body.encode(errors="replace")
        if len(html) > told["output"]:
            html = html[: html.rfind(b"<", 0, told["output"])]
            found.failure = f"only the first {told['output']:,} bytes of its text were kept"
        about = {
            "title": found.title,
            "language": found.language,
            "date": found.date,
            "failure": found.failure,
        }
        reply = {name: _valid(text) for name, text in about.items()} | {"feed": found.feed}
        _send(json.dumps(reply).encode(), html)


def _convert(request: dict[str, Any], body: bytes, converters: dict[str, str]) -> Converted:
    from crivello.convert import Converted, Markup, read

    media_type = request["media_type"]
    if media_type not in converters:
        return read(body, request["url"], media_type, request["charset"])
    from crivello.extend import load

    def checked(said: Converted | tuple[str, str]) -> Converted:
        if isinstance(said, Converted):
            return said
        title, text = said
        markup = Markup()
        markup.lines(text)
        return Converted(_valid(title), str(markup))

    try:
        converter = load("crawl.converters", converters[media_type])
        return converter.call(body, media_type, check=checked, about=f"a document of type {media_type}")
    except Exception as error:
        return Converted(failure=" ".join(str(error).split()))


def _valid(text: str) -> str:
    # A lone surrogate is not a character, and cannot be encoded.
    return text.encode(errors="replace").decode()


def _frame() -> bytes | None:
    length = _exactly(4)
    return None if length is None else _exactly(int.from_bytes(length))


def _exactly(length: int) -> bytes | None:
    data = bytearray(length)
    view = memoryview(data)
    while view:
        got = os.readv(0, [view])
        if not got:
            return None
        view = view[got:]
    return bytes(data)


def _send(*frames: bytes) -> None:
    data = memoryview(b"".join(len(frame).to_bytes(4) + frame for frame in frames))
    while data:
        data = data[os.write(0, data) :]


if __name__ == "__main__":
    main()
