"""The process of a shard: ``python -m crivello.shards.process``, started by :class:`ShardProcesses`.

It reads its plan from the standard input, opens its segments, listens at a Unix socket, and says so on the standard
output. Each connection has a thread. When the standard input ends, because whoever started it is gone, it ends.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading

import msgspec

from crivello.errors import CrivelloError
from crivello.shards.frames import receive, send
from crivello.shards.server import ShardServer, TermServer


class Plan(msgspec.Struct, frozen=True):
    """What a process serves, and where it listens."""

    folder: str
    segments: list[tuple[str, int]]
    ranks: tuple[str, int] | None
    address: str
    of_terms: bool = False


def main() -> int:
    """Serves until the standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    plan = msgspec.json.decode(sys.stdin.buffer.readline(), type=Plan)
    try:
        server = _server(plan)
    except CrivelloError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(plan.address)
    listener.listen(128)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    print("ready", flush=True)
    while True:
        stream, _ = listener.accept()
        threading.Thread(target=_serve, args=(server, stream), daemon=True).start()


def _server(plan: Plan) -> ShardServer | TermServer:
    if plan.of_terms:
        return TermServer(plan.folder, plan.segments)
    return ShardServer(plan.folder, plan.segments, plan.ranks)


def _serve(server: ShardServer | TermServer, stream: socket.socket) -> None:
    with stream:
        try:
            while (message := receive(stream)) is not None:
                send(stream, server.call(message))
        except OSError:
            pass  # the broker gave up on this answer


def _end_with_parent() -> None:
    while sys.stdin.buffer.read(1 << 10):
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
