"""The reach of a crawl, from run to run: which links are followed, and whether a run reaches further than the
one before it.

A link out of reach is not remembered, but the page that has it is stored. So a run whose reach is wider reads
the links of the stored pages again (``crates/core/src/crawl/writing/reread.rs``). So does the first run after another agent
was lost, which may have been the only one that knew what this one's pages link to. The state of the crawl has the reach of
the last run and, until everything is read, how far that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crivello import _core
from crivello.settings import Crawl

_NATIVE = ("scope", "include", "exclude", "max_depth", "max_site_depth", "max_links")
_SCOPES = ("prefix", "host", "domain", "any")
_DUPLICATES = ("exact_duplicates", "near_duplicates")
_FOLLOWING = ("keep", "mark")

Reach = dict[str, Any]


def reach_of(settings: Crawl, seeds: Sequence[str]) -> Reach:
    """The reach of a run, as it is kept; seeds are only ever added, so their number stands for them."""
    names = (*_NATIVE, *_DUPLICATES, "images", "follow")
    return {**{name: getattr(settings, name) for name in names}, "seeds": len(seeds)}


def is_wider(now: Reach, before: Reach, seeds: Sequence[str], led_to: Sequence[str]) -> bool:
    """Whether there may be links that are within reach now and were not before. ``seeds`` are those of now."""
    unlimited = {"max_depth": -1, "max_site_depth": -1, "max_links": 0}
    return (
        _SCOPES.index(now["scope"]) > _SCOPES.index(before["scope"])
        or (bool(before["include"]) and set(now["include"].split()) != set(before["include"].split()))
        or not set(before["exclude"].split()) <= set(now["exclude"].split())
        or any(_is_larger(now[name], before[name], none) for name, none in unlimited.items())
        or (now["images"] and not before["images"])
        or (bool(before["follow"]) and now["follow"] != before["follow"])
        or any(_skips(before, kind) and not _skips(now, kind) for kind in _DUPLICATES)
        or _has_new_places(before, seeds, led_to)
    )


def plan(state: dict[str, Any], seeds: Sequence[str]) -> dict[str, Any] | None:
    """What the native threads are told to read again, by the state of the crawl; ``None``: nothing."""
    reread: dict[str, Any] | None = state.get("reread")
    if reread is None:
        return None
    before: Reach | None = reread["before"]
    if before is not None:
        earlier = [*seeds[: before["seeds"]], *state.get("led_to", [])]
        before = {"seeds": earlier, "reach": {name: before[name] for name in _NATIVE}}
    return {
        "next": reread["next"],
        "end": reread["end"],
        "before": before,
        "all": bool(reread.get("all")),
    }


def states(
    state: dict[str, Any], settings: Crawl, seeds: Sequence[str], queued: int, *, has_lost: bool = False
) -> dict[str, Any]:
    """The reach of this run and what it reads again, to be kept in the state of the crawl; ``queued`` is the
    committed length of the queue, ``has_lost`` says whether another agent was lost since the last run."""
    now, before, pending = reach_of(settings, seeds), state.get("reach"), state.get("reread")
    if "report" not in state or not queued:
        return {"reach": now, "reread": None}
    reaches_further = before is None or is_wider(now, before, seeds, state.get("led_to", []))
    if reaches_further:
        # Images are not links without the setting, a rule of one's own is asked later, and links of duplicates may not
        # have been followed: then all links count.
        is_same = all(now[name] == before[name] for name in ("images", "follow")) if before else False
        skipped = any(_skips(before, kind) for kind in _DUPLICATES) if before else False
        if pending is not None or skipped or not is_same:
            before = None
    elif has_lost:
        before = pending["before"] if pending else now
    else:
        return {"reach": now, "reread": pending}
    is_all = has_lost or bool(pending and pending.get("all"))
    return {"reach": now, "reread": {"next": 0, "end": queued, "before": before, "all": is_all}}


def _is_larger(now: int, before: int, none: int) -> bool:
    return before != none and (now == none or now > before)


def _skips(reach: Reach, kind: str) -> bool:
    """Whether the links of such duplicates are not followed; they were before there was a choice."""
    return reach.get(kind, "mark") not in _FOLLOWING


def _has_new_places(before: Reach, seeds: Sequence[str], led_to: Sequence[str]) -> bool:
    if before["scope"] == "any":
        return False
    earlier, later = seeds[: before["seeds"]], seeds[before["seeds"] :]
    scope = _core.Scope(before["scope"], [*earlier, *led_to], [], [])
    return any(scope.refusal(seed) is not None for seed in later)
