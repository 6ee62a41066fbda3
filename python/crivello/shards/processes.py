"""The processes of the shards on this machine: started, watched, restarted, and asked all at once.

A message goes to one replica of each shard, in turn. If its connection breaks, the next replica is asked; if none
answers in time, the shard is left out of the answer. A process that ends is started again after a moment, and
answers as soon as it has opened its segments.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path

import msgspec

from crivello._core import Broker, Ranking, Ranks, SearchOptions, TermBroker
from crivello.errors import CollectionError
from crivello.settings import Search
from crivello.shards.frames import receive, send
from crivello.shards.process import Plan
from crivello.shards.server import Segment

_log = logging.getLogger("crivello.shards")

_SERVE = "import sys; from crivello.shards.process import main; sys.exit(main())"
"""What a process runs; ``-m`` would import the module twice, and warn."""
_WATCHED = 0.1
"""Seconds between two looks at the processes."""
_PAUSE = 0.5
"""Seconds before a process that ended is started again."""
_OPENING = 600.0
"""Seconds that opening the segments may take at first."""

_Shown = tuple[float, str, str, str, list[tuple[str, bool]], str, str, str, int, int, int]
_Explained = tuple[str, float, str, "list[_Explained]"]


class _Replica:
    """A process that serves a shard."""

    def __init__(self, plan: Plan, name: str) -> None:
        self._plan = plan
        self.name = name
        self._free: list[socket.socket] = []
        self._lock = threading.Lock()
        self._ended_at = 0.0
        self.ready = threading.Event()
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        Path(self._plan.address).unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(msgspec.json.encode(self._plan) + b"\n")
            process.stdin.flush()
        threading.Thread(target=self._wait, args=(process,), daemon=True).start()
        return process

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        if process.stdout.readline() == b"ready\n":
            self.ready.set()

    def look(self) -> None:
        """Starts the process again if it ended."""
        if (code := self.process.poll()) is None:
            return
        if not self._ended_at:
            self._ended_at = time.monotonic()
            self.ready.clear()
            self._forget()
            _log.warning("%s ended with %d, and is started again", self.name, code)
        elif time.monotonic() >= self._ended_at + _PAUSE:
            self._close_pipes()
            self._ended_at = 0.0
            self.process = self._start()

    def send(self, message: bytes, deadline: float) -> socket.socket | None:
        """Sends a message; returns the connection on which the answer comes, or ``None`` if there is none."""
        while self.ready.is_set():
            stream = self._taken()
            try:
                if is_new := stream is None:
                    stream = socket.socket(socket.AF_UNIX)
                    stream.settimeout(_left(deadline))
                    stream.connect(self._plan.address)
                assert stream is not None
                stream.settimeout(_left(deadline))
                send(stream, message)
            except OSError:
                if stream is not None:
                    stream.close()
                if is_new:
                    return None
            else:
                return stream
        return None

    def receive(self, stream: socket.socket, deadline: float) -> bytes | None:
        """The answer to a message; ``None`` if it does not come in time."""
        try:
            stream.settimeout(_left(deadline))
            answer = receive(stream)
        except OSError:
            answer = None
        if answer is None:
            stream.close()
            return None
        with self._lock:
            self._free.append(stream)
        return answer

    def _taken(self) -> socket.socket | None:
        with self._lock:
            return self._free.pop() if self._free else None

    def _forget(self) -> None:
        with self._lock:
            free, self._free = self._free, []
        for stream in free:
            stream.close()

    def _close_pipes(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def stop(self) -> None:
        """Ends the process."""
        self.ready.clear()
        self._forget()
        self.process.kill()
        self.process.wait()
        self._close_pipes()


class ShardProcesses:
    """An index in shards, each in its own processes, searched as one; any number of threads may use it.

    ``documents`` are the files of the documents of an index that is divided by terms: the broker has them, in this
    process.
    """

    def __init__(
        self,
        folder: Path,
        shards: Sequence[Sequence[Segment]],
        ranks: tuple[Path, int, str] | None,
        settings: Search,
        documents: Sequence[Segment] | None = None,
    ) -> None:
        self._timeout = settings.shard_timeout
        self._addresses = tempfile.TemporaryDirectory(prefix="crivello-", ignore_cleanup_errors=True)
        self._turn = itertools.count()
        self.missing: tuple[int, ...] = ()
        of_ranks = (str(ranks[0]), ranks[1]) if ranks else None
        self._shards: list[list[_Replica]] = []
        stopping = threading.Event()
        self._finalizer = weakref.finalize(self, _stop, self._shards, stopping, self._addresses)
        for shard, segments in enumerate(shards):
            self._shards.append([])
            for replica in range(settings.replicas):
                address = str(Path(self._addresses.name) / f"{shard}-{replica}")
                plan = Plan(str(folder), list(segments), of_ranks, address, documents is not None)
                self._shards[-1].append(_Replica(plan, f"the process of shard {shard}"))
        try:
            self._await()
            self._broker = self._brokered(folder, documents, ranks, settings)
        except BaseException:
            self._finalizer()
            raise
        threading.Thread(target=_watch, args=(self._shards, stopping), name="shards", daemon=True).start()

    def _brokered(
        self,
        folder: Path,
        documents: Sequence[Segment] | None,
        ranks: tuple[Path, int, str] | None,
        settings: Search,
    ) -> Broker | TermBroker:
        # The broker must not keep this alive, so that its processes end with it.
        own = weakref.ref(self)

        def exchange(messages: list[tuple[int, bytes]]) -> list[bytes | None]:
            alive = own()
            return alive._exchange(messages) if alive is not None else [None] * len(messages)

        if documents is None:
            return Broker(exchange, len(self._shards))
        return TermBroker(
            folder,
            list(documents),
            Ranks(ranks[0], ranks[1]) if ranks else None,
            exchange,
            len(self._shards),
            settings.dictionary_bits,
            settings.hot_terms,
            settings.term_lists == "pipelined",
        )

    def _await(self) -> None:
        """Waits until every process has opened its segments."""
        deadline = time.monotonic() + _OPENING
        for replica in itertools.chain.from_iterable(self._shards):
            while not replica.ready.wait(0.05):
                if replica.process.poll() is not None or time.monotonic() > deadline:
                    raise CollectionError(
                        f"{replica.name} does not start",
                        hint="its reason is above; `crivello doctor DIR` examines the index",
                    )

    def close(self) -> None:
        """Ends the processes."""
        self._finalizer()

    @property
    def processes(self) -> list[list[int]]:
        """The process ids of each shard's replicas."""
        return [[replica.process.pid for replica in replicas] for replicas in self._shards]

    def _exchange(self, messages: list[tuple[int, bytes]]) -> list[bytes | None]:
        deadline = time.monotonic() + self._timeout
        turn = next(self._turn)
        asked: list[tuple[_Replica, socket.socket] | None] = []
        for shard, message in messages:
            asked.append(self._sent(shard, message, turn, deadline))
        answers: list[bytes | None] = []
        for (shard, message), sent in zip(messages, asked, strict=True):
            answer = sent[0].receive(sent[1], deadline) if sent else None
            if answer is None and sent and len(self._shards[shard]) > 1 and time.monotonic() < deadline:
                again = self._sent(shard, message, turn + 1, deadline)
                answer = again[0].receive(again[1], deadline) if again else None
            answers.append(answer)
        self.missing = tuple(
            shard for (shard, _), answer in zip(messages, answers, strict=True) if answer is None
        )
        return answers

    def _sent(
        self, shard: int, message: bytes, turn: int, deadline: float
    ) -> tuple[_Replica, socket.socket] | None:
        replicas = self._shards[shard]
        for place in range(len(replicas)):
            replica = replicas[(turn + place) % len(replicas)]
            if (stream := replica.send(message, deadline)) is not None:
                return replica, stream
        return None

    # What a searcher offers.

    def rank(
        self, query: str, options: SearchOptions, depth: int = 10, count: int = 0, facets: int = 0
    ) -> Ranking:
        """The top documents of all shards."""
        return self._broker.rank(query, options, depth, count, facets)

    def show(self, ranking: Ranking, start: int, end: int, passages: bool = True) -> Sequence[_Shown | None]:
        """Hits of a ranking by their places; ``None`` for one whose shard does not answer."""
        return self._broker.show(ranking, start, end, passages)

    def explain(self, query: str, options: SearchOptions, ranking: Ranking, place: int) -> _Explained:
        """The explanation of a hit's score."""
        return self._broker.explain(query, options, ranking, place)

    def suggest(self, query: str, options: SearchOptions) -> str | None:
        """The query with its misspelt words corrected, if there are any."""
        return self._broker.suggest(query, options)

    @property
    def documents(self) -> int:
        """The number of documents of the shards that answer."""
        return self._broker.documents if isinstance(self._broker, TermBroker) else self._sum(0)

    @property
    def terms(self) -> int:
        """The number of terms; a term counts once for each segment."""
        return self._sum(2)

    @property
    def postings(self) -> int:
        """The number of postings."""
        return self._sum(3)

    @property
    def bytes(self) -> int:
        """The size of the segments."""
        return self._sum(4) + (self._broker.bytes if isinstance(self._broker, TermBroker) else 0)

    def _sum(self, figure: int) -> int:
        return sum(shard[figure] for shard in self._broker.describe() if shard is not None)


def _left(deadline: float) -> float:
    """The seconds until a deadline; a moment if it has passed, because 0 would mean not to wait at all."""
    return max(deadline - time.monotonic(), 0.001)


def _watch(shards: list[list[_Replica]], stopping: threading.Event) -> None:
    while not stopping.wait(_WATCHED):
        for replica in itertools.chain.from_iterable(shards):
            replica.look()


def _stop(
    shards: list[list[_Replica]],
    stopping: threading.Event,
    addresses: tempfile.TemporaryDirectory[str],
) -> None:
    stopping.set()
    for replica in itertools.chain.from_iterable(shards):
        replica.stop()
    addresses.cleanup()
