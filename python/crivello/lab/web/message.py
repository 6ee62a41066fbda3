"""HTTP messages: parses the head of a request, and serialises a resource as a response."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from http import HTTPStatus

from crivello.lab.web.resource import Resource


class Answer:
    """A resource as the bytes of a response."""

    def __init__(self, resource: Resource, *, compresses: bool) -> None:
        self._resource = resource
        self.compresses = compresses
        self.status: int = resource.status
        self.tag: bytes = b'"%s"' % blake2b(resource.body, digest_size=8).hexdigest().encode()

    @cached_property
    def plain(self) -> tuple[bytes, bytes]:
        """Head and body."""
        return self._head(len(self._resource.body)), self._resource.body

    @cached_property
    def compressed(self) -> tuple[bytes, bytes]:
        """Head and body, compressed."""
        body = gzip.compress(self._resource.body, mtime=0)
        return self._head(len(body), b"Content-Encoding: gzip\r\n"), body

    @cached_property
    def unchanged(self) -> bytes:
        """The head of a 304: the client's copy is still valid."""
        return b"HTTP/1.1 304 Not Modified\r\nETag: %s\r\n" % self.tag

    def _head(self, length: int, encoding: bytes = b"") -> bytes:
        resource = self._resource
        lines = [
            f"HTTP/1.1 {resource.status} {HTTPStatus(resource.status).phrase}",
            f"Content-Type: {resource.content_type}",
            f"Content-Length: {length}",
        ]
        if resource.location is not None:
            lines.append(f"Location: {resource.location}")
        head = "".join(f"{line}\r\n" for line in lines).encode() + encoding
        if resource.status == HTTPStatus.OK:
            head += b"ETag: %s\r\n" % self.tag
        if self.compresses:
            head += b"Vary: Accept-Encoding\r\n"
        return head


class MalformedRequestError(Exception):
    """The bytes of a client are not a valid request."""


@dataclass(frozen=True, slots=True)
class Head:
    """The request line and the headers."""

    method: bytes
    target: str
    headers: Mapping[bytes, bytes]
    keeps_alive: bool

    @classmethod
    def parse(cls, head: bytes) -> Head:
        """Parses the head of a request, without the blank line that ends it."""
        first, *lines = head.split(b"\r\n")
        try:
            method, target, version = first.split(b" ")
            headers = {name.lower(): value.strip() for name, value in (line.split(b":", 1) for line in lines)}
            path = target.decode("ascii")
        except ValueError as error:
            raise MalformedRequestError("neither a request line nor headers") from error
        if version not in (b"HTTP/1.1", b"HTTP/1.0") or not path.startswith("/"):
            raise MalformedRequestError("the request line is wrong")
        if any(not name or b" " in name for name in headers):
            raise MalformedRequestError("a header has no name")
        if version == b"HTTP/1.1" and b"host" not in headers:
            raise MalformedRequestError("there is no Host header")
        connection = headers.get(b"connection", b"").lower()
        keeps_alive = connection != b"close" if version == b"HTTP/1.1" else connection == b"keep-alive"
        return cls(method, path, headers, keeps_alive)


@lru_cache(maxsize=256)
def accepts_gzip(accept_encoding: bytes) -> bool:
    """Whether a client with this header accepts compressed responses."""
    for choice in accept_encoding.lower().split(b","):
        coding, _, weight = choice.partition(b";")
        if coding.strip() in (b"gzip", b"*"):
            return weight.replace(b" ", b"") not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000")
    return False
