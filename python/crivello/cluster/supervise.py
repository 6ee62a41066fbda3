"""Private: what should happen next in a cluster, as a function of what is registered.

Whoever supervises keeps nothing but its last look; another agent can go on at any time. An agent that dies is restarted by
Ray, and goes on where its last checkpoint left it, with the hosts that it had, which wait for it. One that is silent for
longer than the grace time is lost: its hosts go to others. When it is heard again it gets them back.

**A change of members** is announced, which keeps everybody from fetching. The next epoch begins when, in two successive
looks, every agent that is there had nothing in flight, everything that was written for another of them had been received
and committed there, and no counter had changed.

**The end** is detected in the same way (F. Mattern, Algorithms for distributed termination detection, 1987): the crawl is
over when in two successive looks every agent was idle and all that was written was committed. Looks are made of beats, which
are not taken at one moment; a message that slipped between two beats of the first look has changed a counter by the
second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crivello.cluster.register import Beat, View

ENDED = "ended"

Look = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """That the run is to end, and why."""

    over: str


@dataclass(frozen=True, slots=True)
class Announce:
    """That the next epoch is to have these members, and that these are lost."""

    members: tuple[int, ...]
    missing: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Begin:
    """That the epoch that was announced begins."""

    members: tuple[int, ...]
    missing: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dismiss:
    """That these agents have left."""

    numbers: tuple[int, ...]


Decision = Finish | Announce | Begin | Dismiss


def decide(view: View, last: Look | None) -> tuple[Decision | None, Look | None]:
    """The next step, if there is one, and the look to remember."""
    roster = view.roster
    if view.over:
        return None, None
    if limit := _limit(view):
        return Finish(limit), None
    if (change := _change(view)) is not None:
        return change, None
    if roster.wanted:
        look = _look(view, _is_drained)
        if look is not None and last is not None and _is_quiet(last, look):
            return Begin(roster.wanted, roster.missing), None
        return None, look
    gone = tuple(number for number in roster.leaving if _has_left(view, number))
    if gone:
        return Dismiss(gone), None
    look = _look(view, _is_idle)
    if look is not None and last is not None and _is_quiet(last, look):
        return Finish(ENDED), look
    return None, look


def _change(view: View) -> Announce | None:
    """A change of members because agents are silent, or are heard again; ``None`` if nothing is to be announced."""
    roster, grace = view.roster, view.limits.grace
    planned = set(roster.wanted or roster.members)
    silent = {number for number in roster.taking_part if view.ages[number] > max(grace, view.fence)}
    missing = silent if grace else set()
    if not set(roster.members) - silent:
        return None  # nobody is left to take anything over
    heard = {number for number in roster.lost if number in view.beats and view.ages[number] <= view.fence}
    restored = {number for number in roster.missing if number in roster.members} - missing
    members = (planned - missing) | heard | restored
    if members == planned and missing == set(roster.missing):
        return None
    return Announce(tuple(sorted(members)), tuple(sorted(missing)))


def _has_left(view: View, number: int) -> bool:
    beat = view.beats.get(number)
    is_there = beat is not None and beat.epoch == view.roster.epoch and beat.is_running
    return is_there and not view.roster.before and _is_idle(view, beat)


def _limit(view: View) -> str:
    limits, counted = view.limits, view.roster.counted
    if limits.deadline and view.time >= limits.deadline:
        return "max_time"
    pages = size = 0
    for number, beat in view.beats.items():
        if beat.report and number in counted:
            pages += beat.report["pages"] - counted[number][0]
            size += beat.report["bytes"] - counted[number][1]
    if limits.max_pages and pages >= limits.max_pages:
        return "max_pages"
    return "max_volume" if limits.max_volume and size >= limits.max_volume else ""


def _is_delivered(view: View, beat: Beat) -> bool:
    """Whether the agents that are there have committed everything that one wrote for them."""
    peers = beat.exchange.get("peers", {}).items()
    missing = view.roster.missing
    return all(told["acknowledged"] == told["written"] for peer, told in peers if int(peer) not in missing)


def _is_idle(view: View, beat: Beat | None) -> bool:
    if beat is None:
        return False
    told = beat.exchange
    return bool(told.get("is_idle")) and not told.get("handing_over") and _is_delivered(view, beat)


def _is_drained(view: View, beat: Beat | None) -> bool:
    return beat is not None and bool(beat.exchange.get("is_drained")) and _is_delivered(view, beat)


def _look(view: View, is_ready: Callable[[View, Beat | None], bool]) -> Look | None:
    """The counters of all agents that take part, if they are ready; ``None`` if not."""
    roster = view.roster
    if roster.before:
        return None
    if any(number not in view.beats or view.ages[number] > view.fence for number in roster.wanted):
        return None  # it is to be a member, and has not started
    here = {
        number for number, beat in view.beats.items() if beat.is_running and view.ages[number] <= view.fence
    }
    look = []
    for number in sorted((here | {*roster.taking_part}) - {*roster.missing}):
        beat = view.beats.get(number)
        if beat is None or view.ages[number] > view.fence:
            return None
        if beat.epoch != roster.epoch or not beat.is_running or not is_ready(view, beat):
            return None
        peers = sorted((beat.exchange.get("peers") or {}).items())
        counters = [(peer, told["written"], told["received_committed"]) for peer, told in peers]
        look.append((number, beat.life, beat.number, beat.report.get("requests"), counters))
    return tuple(look)


def _is_quiet(before: Look, now: Look) -> bool:
    """Whether all agents have beaten again since, and nothing changed."""
    if len(before) != len(now):
        return False
    return all(
        (one[0], one[1], one[3], one[4]) == (two[0], two[1], two[3], two[4]) and one[2] < two[2]
        for one, two in zip(before, now, strict=True)
    )
