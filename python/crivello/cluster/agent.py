"""Private: an agent, which is the crawler of one machine that shares the web with others.

Three threads: one beats and follows the epochs, one runs the crawl of the current epoch, one pushes batches of URLs to
their owners. All state is on disk, in the agent's collection: the constructor can be run again at any time, as Ray does
when it restarts an actor.

**Exchange.** There is one batch in flight to each peer, so a slow one slows down nobody else; what it has not yet
committed waits in the outbox on disk. A call that fails is repeated from where the peer says; a batch that arrives twice
is recognised by its position. Every batch has the epoch of its sender, and one of another epoch is refused.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from contextlib import suppress
from typing import Any

import msgspec

from crivello.cluster import engine
from crivello.cluster.register import BETWEEN_BEATS, Answer, Beat, View
from crivello.cluster.roster import Roster, folder_of
from crivello.cluster.supervise import Announce, Begin, Dismiss, Look, decide
from crivello.collection import Collection
from crivello.crawl.crawler import Crawler
from crivello.crawl.exchange import Membership
from crivello.crawl.report import Report
from crivello.errors import CollectionInUse, CrawlError, CrivelloError, InvalidArgument
from crivello.settings import Settings

_BATCH = 1 << 20
_PATIENCE = 10.0
_BETWEEN_PUSHES = 0.05
_BEFORE_QUESTION, _BEFORE_QUESTION_BUSY = 0.1, 3.0
_BETWEEN_ATTEMPTS = 0.25
_BETWEEN_TRIES = 0.5
_PENALTY = 10.0


class Agent:
    """The actor."""

    def __init__(self, number: int, folder: str, cluster: str, settings: bytes, lease: float) -> None:
        self._number, self._cluster = number, cluster
        self._folder = folder_of(folder, number)
        self._settings = msgspec.msgpack.decode(settings, type=Settings)
        self._lease = lease
        self._life, self._beats = uuid.uuid4().hex, 0
        self._ray = engine.require()
        self._register: Any = None
        self._target: Roster | None = None
        self._changed = threading.Condition()
        self._crawler: Crawler | None = None
        self._report: Report | None = None
        self._epoch = 0
        self._incarnation = 0
        self._failure = ""
        self._over = threading.Event()
        self._committed = threading.Event()
        self._look: Look | None = None
        self._is_granted = False
        for loop in (self._live, self._crawl, self._push):
            threading.Thread(target=loop, name=loop.__name__.strip("_"), daemon=True).start()

    def receive(self, sender: int, epoch: int, start: int, batch: bytes) -> tuple[int, int] | None:
        """Takes a batch of URLs: up to where it is accepted, and up to where it is committed; ``None``: not now."""
        crawler = self._crawler
        if crawler is None or epoch != self._epoch:
            return None
        try:
            return crawler.receive(sender, epoch, start, batch)
        except (CrawlError, InvalidArgument):
            return None

    def status(self) -> dict[str, Any]:
        """The newest beat, and whether the agent may fetch."""
        return {**msgspec.to_builtins(self._beat()), "is_granted": self._is_granted}

    # The thread that beats.

    def _live(self) -> None:
        is_told = False
        while not is_told:
            begun = time.monotonic()
            beat = self._beat()
            answer = self._renew(beat, begun)
            if answer is not None:
                self._follow(answer)
                if answer.is_leader:
                    self._supervise()
                # The last beat has the report of the last checkpoint.
                is_told = self._over.is_set() and self._crawler is None and not beat.is_running
            time.sleep(max(0.0, min(BETWEEN_BEATS, self._lease / 3) - (time.monotonic() - begun)))

    def _renew(self, beat: Beat, begun: float) -> Answer | None:
        """Beats, and renews the right to fetch from when the beat was begun."""
        try:
            if self._register is None:
                self._register = self._ray.get_actor(
                    engine.register_name(self._cluster), namespace=engine.NAMESPACE
                )
            answered = self._ray.get(
                self._register.beat.remote(msgspec.msgpack.encode(beat)), timeout=self._lease
            )
        except (self._ray.exceptions.RayError, ValueError, OSError):
            self._register = None
            self._is_granted = False
            return None
        answer = msgspec.msgpack.decode(answered, type=Answer)
        left = self._lease - (time.monotonic() - begun)
        crawler = self._crawler
        self._is_granted = answer.is_granted and left > 0
        if self._is_granted and crawler is not None and self._epoch == answer.epoch:
            try:
                crawler.permit(left)
            except CrawlError:
                self._is_granted = False  # it has just ended
        return answer

    def _follow(self, answer: Answer) -> None:
        with self._changed:
            if answer.roster is not None:
                self._target = answer.roster
            if answer.over:
                self._over.set()
            is_other = self._target is not None and self._target.epoch != self._epoch
            crawler = self._crawler
            if crawler is not None and (is_other or answer.over or answer.is_dismissed):
                crawler.stop()
            elif crawler is not None and answer.is_draining and crawler.is_running:
                with suppress(CrawlError):  # it has just ended
                    crawler.drain()
            self._changed.notify_all()

    def _supervise(self) -> None:
        try:
            view = msgspec.msgpack.decode(
                self._ray.get(self._register.view.remote(), timeout=self._lease), type=View
            )
            decision, self._look = decide(view, self._look)
            register, epoch = self._register, view.roster.epoch
            match decision:
                case None:
                    return
                case Announce(members, missing):
                    told = register.announce.remote(members, missing, epoch)
                case Begin(members, missing):
                    told = register.begin.remote(members, missing, epoch)
                case Dismiss(numbers):
                    told = register.dismiss.remote(numbers, epoch)
                case _:
                    told = register.finish.remote(decision.over, epoch)
            self._ray.get(told, timeout=self._lease)
        except (self._ray.exceptions.RayError, OSError):
            self._look = None

    def _beat(self) -> Beat:
        self._beats += 1
        crawler = self._crawler
        is_running = crawler is not None and crawler.is_running
        if crawler is not None:
            self._incarnation = crawler.incarnation
        report = self._report.to_dict() if self._report is not None else {}
        report.pop("failures", None)
        report.pop("sieve", None)
        return Beat(
            self._number,
            self._life,
            self._beats,
            self._epoch,
            is_running,
            os.getpid(),
            report,
            self._failure,
            self._incarnation,
        )

    # The thread that crawls.

    def _crawl(self) -> None:
        while (roster := self._next_roster()) is not None:
            try:
                self._crawl_epoch(roster)
            except CollectionInUse:
                time.sleep(_BETWEEN_TRIES)  # what is left of an earlier process is about to end
            except CrivelloError as error:
                # Its hosts wait, and it tries again; the others go on.
                self._failure = f"{error}{f' ({error.hint})' if error.hint else ''}"
                self._over.wait(_PENALTY)
                self._failure = ""
            finally:
                self._crawler = None

    def _next_roster(self) -> Roster | None:
        """The epoch to crawl in, as soon as there is one in which this agent has a part; ``None``: the crawl is over."""

        def is_known() -> bool:
            roster = self._target
            has_part = roster is not None and self._number in roster.taking_part
            return has_part or self._over.is_set()

        with self._changed:
            self._changed.wait_for(is_known)
            return None if self._over.is_set() else self._target

    def _crawl_epoch(self, roster: Roster) -> None:
        settings = self._settings
        cluster = settings.cluster
        membership = Membership(
            self._number,
            roster.epoch,
            {number: roster.agent(number).weight for number in roster.members},
            method=cluster.method,
            replicas=cluster.replicas,
            by="domain" if cluster.by == "domain" else "host",
            leaving=roster.leaving,
            reset=roster.reset,
            lost=roster.lost_in,
            rest=roster.rest,
        )
        with Collection.write(self._folder, settings=settings, create=True) as collection:
            crawler = Crawler(
                collection,
                roster.seeds,
                settings=msgspec.structs.replace(settings.crawl, max_time=0),
                exchange=membership,
                on_checkpoint=self._committed.set,
            )
            with self._changed:
                if self._target is not roster or self._over.is_set():
                    return
                self._epoch = roster.epoch
                self._crawler = crawler
                self._report = crawler.report
            crawler.run()
        with self._changed:
            # A limit of its own: it waits for what all agree on.
            self._changed.wait_for(
                lambda: (
                    self._over.is_set() or (self._target is not None and self._target.epoch != self._epoch)
                )
            )

    # The thread that pushes.

    def _push(self) -> None:
        pushed: dict[int, _Pushed] = {}
        while not self._over.is_set():
            crawler, epoch, roster = self._crawler, self._epoch, self._target
            if crawler is None or roster is None or roster.epoch != epoch or not crawler.is_running:
                pushed.clear()
                time.sleep(_BETWEEN_PUSHES)
                continue
            try:
                self._push_some(crawler, epoch, roster, pushed)
            except CrawlError:
                pushed.clear()  # the epoch has just ended

    def _push_some(self, crawler: Crawler, epoch: int, roster: Roster, pushed: dict[int, _Pushed]) -> None:
        """Sends what can be sent, waits a little, and takes in the answers."""
        now = time.monotonic()
        for peer in roster.taking_part:
            if peer == self._number:
                continue
            state = pushed.setdefault(peer, _Pushed())
            if state.call is not None or now < state.not_before:
                continue
            batch = crawler.outgoing(peer, _BATCH)
            if batch is None:
                continue
            state.start, state.end, sent = batch
            state.is_question = state.start == state.end
            if state.is_question and now < state.ask_at:
                continue
            state.sent_at = now
            state.call = self._call(state, peer, epoch, sent)
            if state.call is None:
                self._failed(crawler, peer, state)
        calls = {state.call: peer for peer, state in pushed.items() if state.call is not None}
        if not calls:
            self._committed.wait(_BETWEEN_PUSHES)
            self._committed.clear()
            return
        done, _ = self._ray.wait(list(calls), num_returns=1, timeout=_BETWEEN_PUSHES)
        for call in done:
            self._answered(crawler, calls[call], pushed[calls[call]])
        for peer, state in pushed.items():
            if state.call is not None and time.monotonic() - state.sent_at > _PATIENCE:
                self._failed(crawler, peer, state)

    def _call(self, state: _Pushed, peer: int, epoch: int, batch: bytes) -> Any:
        try:
            if state.handle is None:
                state.handle = self._ray.get_actor(
                    engine.agent_name(self._cluster, peer), namespace=engine.NAMESPACE
                )
            return state.handle.receive.remote(self._number, epoch, state.start, batch)
        except (self._ray.exceptions.RayError, ValueError):
            return None

    def _answered(self, crawler: Crawler, peer: int, state: _Pushed) -> None:
        try:
            answer = self._ray.get(state.call)
        except self._ray.exceptions.RayError:
            answer = None
        if answer is None:
            self._failed(crawler, peer, state)
            return
        accepted, committed = answer
        if accepted != state.end:
            crawler.rewind(peer, accepted)
        crawler.acknowledge(peer, committed)
        state.call = None
        # What a busy peer has committed is learned with the next batch; a question is for those who wait for it.
        is_waiting = (crawler.report.exchange or {}).get("is_waiting", True)
        state.ask_at = time.monotonic() + (_BEFORE_QUESTION if is_waiting else _BEFORE_QUESTION_BUSY)

    def _failed(self, crawler: Crawler, peer: int, state: _Pushed) -> None:
        """The peer is away, or in another epoch: the batch is sent again, a little later."""
        if not state.is_question:
            crawler.rewind(peer, state.start)
        state.call = state.handle = None
        state.not_before = time.monotonic() + _BETWEEN_ATTEMPTS


class _Pushed:
    """How far a peer was sent its URLs."""

    call: Any = None
    handle: Any = None
    start: int = 0
    end: int = 0
    is_question: bool = False
    sent_at: float = 0.0
    not_before: float = 0.0
    ask_at: float = 0.0
