"""Private: the register of a cluster, where agents renew their right to fetch.

An agent beats once a second. The answer to a beat grants it the right to fetch for ``lease`` seconds *from when the
beat was sent*, by its own clock; without an answer its permit lapses, and the core aborts what is in flight. The
register notes a beat when it arrives, which is later. So an agent that has been silent here for ``lease`` seconds and a
margin for clocks that run at different rates makes no request, whether it is dead, cut off, or too slow.

**Fencing.** Hosts move when an epoch begins. Nobody is granted anything in an epoch before everybody of the earlier
ones, who may still be fetching, has said that it stopped, or has been silent for that long. With this, two agents are
never allowed to speak to one address at once; the core adds the rest that the address is owed.

The register decides nothing: the next epoch is proposed by the living member with the smallest number, by
compare-and-set, from what :func:`crivello.cluster.supervise.decide` makes of what is registered here. It runs as a
named actor without a CPU of its own, on the machine of the driver; what must outlive it is in ``cluster.json``, which
only it writes. While it is away, permits lapse and the crawl pauses. When Ray has restarted it, it counts silence from
then on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from crivello.cluster import roster as rosters
from crivello.cluster.roster import Roster

MARGIN = 1.0
"""Seconds beyond the lease after which a silent agent counts as stopped."""
BETWEEN_BEATS = 1.0


class Beat(msgspec.Struct, frozen=True):
    """What an agent says of itself: a number that grows while its process lives (``life``), the epoch under which it
    fetches, whether it is fetching at all, its report, why it cannot crawl, if it cannot, and the number of its collection,
    once that has a checkpoint."""

    agent: int
    life: str
    number: int
    epoch: int
    is_running: bool
    pid: int = 0
    report: dict[str, Any] = {}
    failure: str = ""
    incarnation: int = 0

    @property
    def exchange(self) -> dict[str, Any]:
        """What the report says of the exchange."""
        exchange: dict[str, Any] = self.report.get("exchange") or {}
        return exchange


class Answer(msgspec.Struct, frozen=True):
    """What an agent learns: the roster, if its epoch is another one; whether it may fetch; whether it supervises; why the
    crawl is over, if it is; whether the epoch is to end, so that it stops fetching and goes on exchanging; and whether it
    has left."""

    epoch: int
    roster: Roster | None
    is_granted: bool
    is_leader: bool
    over: str
    is_draining: bool = False
    is_dismissed: bool = False


class Limits(msgspec.Struct, frozen=True):
    """When a run of all agents together ends, and how long a silent agent is waited for; 0: no limit."""

    lease: float = 5.0
    grace: float = 0.0
    max_pages: int = 0
    max_volume: int = 0
    deadline: float = 0.0


class View(msgspec.Struct, frozen=True):
    """All that is registered: the newest beat of each agent, and how long ago it came."""

    roster: Roster
    limits: Limits
    beats: dict[int, Beat]
    ages: dict[int, float]
    over: str
    time: float

    @property
    def fence(self) -> float:
        """The silence after which an agent is known to make no request."""
        return self.limits.lease + MARGIN

    @property
    def living(self) -> list[int]:
        """The agents that beat, and have nothing that keeps them from crawling."""
        return [
            number
            for number, age in self.ages.items()
            if age <= self.fence and number in self.beats and not self.beats[number].failure
        ]


class Register:
    """The actor; also usable without Ray. Any thread may call it."""

    def __init__(
        self,
        folder: str,
        limits: bytes | Limits,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._folder = Path(folder)
        self._limits = msgspec.msgpack.decode(limits, type=Limits) if isinstance(limits, bytes) else limits
        self._clock, self._wall = clock, wall
        self._lock = threading.Lock()
        self._roster = rosters.read(folder)
        self._started = clock()
        self._seen: dict[int, float] = {}
        self._beats: dict[int, Beat] = {}
        self._over = ""

    def beat(self, encoded: bytes) -> bytes:
        """Notes a beat, and answers it."""
        beat = msgspec.msgpack.decode(encoded, type=Beat)
        with self._lock:
            last = self._beats.get(beat.agent)
            if last is None or last.life != beat.life or last.number < beat.number:
                self._note(beat)
            roster = self._roster
            living = [number for number in self._view().living if number in roster.members]
            return msgspec.msgpack.encode(
                Answer(
                    roster.epoch,
                    None if beat.epoch == roster.epoch else roster,
                    self._is_granted(beat),
                    bool(living) and min(living) == beat.agent,
                    self._over,
                    bool(roster.wanted),
                    beat.agent not in roster.taking_part,
                )
            )

    def view(self) -> bytes:
        """Everything, as a `View`."""
        with self._lock:
            return msgspec.msgpack.encode(self._view())

    def scale(self, count: int, machines: Sequence[str]) -> bytes:
        """Announces a change to ``count`` members; returns the roster."""
        with self._lock:
            self._write(self._roster.of(count, machines))
            return msgspec.msgpack.encode(self._roster)

    def announce(self, members: Sequence[int], missing: Sequence[int], epoch: int) -> None:
        """Announces a change of members, unless another epoch than ``epoch`` has begun."""
        with self._lock:
            if epoch == self._roster.epoch:
                self._write(self._roster.announced(members, missing))

    def begin(self, members: Sequence[int], missing: Sequence[int], epoch: int) -> None:
        """Begins the epoch after ``epoch``, if it is still the one that was announced."""
        with self._lock:
            roster = self._roster
            if (epoch, tuple(members), tuple(missing)) == (roster.epoch, roster.wanted, roster.missing):
                self._write(roster.next())

    def dismiss(self, numbers: Sequence[int], epoch: int) -> None:
        """Lets agents go that have handed over everything, unless another epoch than ``epoch`` has begun."""
        with self._lock:
            if epoch == self._roster.epoch:
                self._write(self._roster.without(numbers))

    def finish(self, reason: str, epoch: int | None = None) -> None:
        """Ends the run, or does nothing if another epoch than ``epoch`` has begun."""
        with self._lock:
            if epoch is None or epoch == self._roster.epoch:
                self._over = self._over or reason

    def _note(self, beat: Beat) -> None:
        self._beats[beat.agent] = beat
        self._seen[beat.agent] = self._clock()
        roster = self._roster
        if beat.report and not roster.agent(beat.agent).has_begun:
            roster = roster.begun(beat.agent)
        if beat.incarnation and beat.incarnation != roster.agent(beat.agent).incarnation:
            roster = roster.found(beat.agent, beat.incarnation)
        if beat.report and beat.agent not in roster.counted:
            counted = {**roster.counted, beat.agent: (beat.report["pages"], beat.report["bytes"])}
            roster = msgspec.structs.replace(roster, counted=counted)
        if (rest := beat.exchange.get("longest_rest", 0.0)) > roster.rest:
            roster = msgspec.structs.replace(roster, rest=rest)
        if roster.before and all(map(self._has_stopped, roster.before)):
            roster = roster.settled()
        if roster is not self._roster:
            self._write(roster)

    def _has_stopped(self, number: int) -> bool:
        """Whether an agent of an earlier epoch is known to make no request under it any more."""
        beat = self._beats.get(number)
        if self._clock() - self._seen.get(number, self._started) > self._limits.lease + MARGIN:
            return True
        return beat is not None and (beat.epoch == self._roster.epoch or not beat.is_running)

    def _is_granted(self, beat: Beat) -> bool:
        roster = self._roster
        is_current = beat.is_running and beat.epoch == roster.epoch and beat.agent in roster.taking_part
        return is_current and not roster.before and not roster.wanted and not self._over

    def _view(self) -> View:
        now = self._clock()
        ages = {agent.id: now - self._seen.get(agent.id, self._started) for agent in self._roster.agents}
        return View(self._roster, self._limits, self._beats, ages, self._over, self._wall())

    def _write(self, roster: Roster) -> None:
        rosters.write(self._folder, roster)
        self._roster = roster
