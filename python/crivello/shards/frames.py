"""Messages on a stream: eight bytes of length, the lowest first, then the message."""

from __future__ import annotations

import socket
import struct

_LENGTH = struct.Struct("<Q")
_LONGEST = 1 << 32


def send(stream: socket.socket, message: bytes) -> None:
    """Sends a message."""
    if len(message) < 1 << 16:
        stream.sendall(_LENGTH.pack(len(message)) + message)
    else:
        stream.sendall(_LENGTH.pack(len(message)))
        stream.sendall(message)


def receive(stream: socket.socket) -> bytes | None:
    """The next message; ``None`` if the stream ended."""
    head = _exactly(stream, _LENGTH.size)
    if head is None:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > _LONGEST:
        raise ConnectionError(f"a message of {length:,} bytes is none")
    return _exactly(stream, length)


def _exactly(stream: socket.socket, length: int) -> bytes | None:
    first = stream.recv(length) if length else b""
    if len(first) == length:
        return first
    received = bytearray(first)
    while len(received) < length:
        more = stream.recv(min(length - len(received), 1 << 20))
        if not more:
            return None
        received += more
    return bytes(received)
