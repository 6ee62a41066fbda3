"""A worker process that converts documents, spoken to as the core does."""

from __future__ import annotations

import json
import socket
import subprocess
from typing import Any

from crivello.crawl.converters import command
from crivello.settings import Crawl


class Worker:
    """A worker process; its socket is closed at the end."""

    def __init__(self, converters: dict[str, str] | None = None, **settings: Any) -> None:
        ours, theirs = socket.socketpair()
        self.process = subprocess.Popen(command(converters or {}, Crawl(**settings)), stdin=theirs.fileno())
        theirs.close()
        self.stream = ours

    def ask(self, media_type: str, body: bytes) -> tuple[dict[str, str], str]:
        head = json.dumps({"url": "http://a.test/", "media_type": media_type, "charset": None}).encode()
        for frame in (head, body):
            self.stream.sendall(len(frame).to_bytes(4, "big") + frame)
        return json.loads(self._frame()), self._frame().decode()

    def _frame(self) -> bytes:
        return self._exactly(int.from_bytes(self._exactly(4), "big"))

    def _exactly(self, length: int) -> bytes:
        data = self.stream.recv(length, socket.MSG_WAITALL) if length else b""
        if len(data) < length:
            raise EOFError
        return data

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        self.process.wait(30)
