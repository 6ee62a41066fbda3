"""The protocol over standard input and output: a JSON message a line.

Requests are answered by a few threads, so that a long one does not hold up the others; an answer names its request.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import IO

import msgspec

from crivello.mcp.protocol import Server

_THREADS = 4


def run(server: Server, incoming: IO[bytes], outgoing: IO[bytes], *, may_crawl: bool) -> None:
    """Answers until the input ends, and what was asked until then."""
    writing = threading.Lock()

    def answer(line: bytes) -> None:
        said = server.answer_text(line, may_crawl=may_crawl)
        if said is not None:
            with writing:
                outgoing.write(msgspec.json.encode(said) + b"\n")
                outgoing.flush()

    with ThreadPoolExecutor(_THREADS, "crivello-mcp") as pool:
        for line in incoming:
            if line.strip():
                pool.submit(answer, line)
