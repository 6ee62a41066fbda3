"""The sieve: URLs go in as often as they turn up, and each comes out exactly once, in first-seen order.

``open_sieve`` opens one of the ``KINDS``, all behind the same contract, ``Sieve``; docs/sieve.md tells
what each costs. Opening, and ``checkpoint()``, follow the rule of ``crivello.collection``: what a commit
names is what comes back after any crash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from crivello._core import Layout
from crivello.errors import InvalidArgument
from crivello.settings import Crawl
from crivello.settings.fields import SIEVES

KINDS: tuple[str, ...] = tuple(SIEVES)

__all__ = ["Checkpoint", "Sieve", "open_sieve"]

QUEUE = Layout.URLS
_USUAL = Crawl()


@dataclass(frozen=True)
class Checkpoint:
    """What to commit: files that are durable with their lengths (None: to be dropped), and a state."""

    files: dict[str, int | None]
    state: dict[str, Any] = field(default_factory=dict)


class Sieve(Protocol):
    """Of the URLs added, with their tags, each is given out once, in the order of its first addition and
    with the tag of that one."""

    @property
    def kind(self) -> str:
        """Which of the kinds it is; module:Class where it is none of them."""

    def add(self, urls: list[str], tags: list[int] | None = None) -> None:
        """Adds URLs, each with a 32-bit number that comes out with it (0 where there are none)."""

    def take(self, n: int) -> list[tuple[int, int, str]]:
        """At most ``n`` entries (offset, tag, URL); none only when nothing that was added is left."""

    def take_ready(self, n: int) -> list[tuple[int, int, str]]:
        """At most ``n`` entries of those that were decided about already; it never waits for a flush."""

    def flush(self) -> None:
        """Decides about everything that was added."""

    def checkpoint(self) -> Checkpoint:
        """Makes everything durable, and tells what to commit."""

    def stats(self) -> dict[str, Any]:
        """How the sieve stands: see docs/sieve.md."""

    def close(self) -> None:
        """Lets go of the files; what was not committed is lost."""

    @property
    def next(self) -> int:
        """The offset of the entry that comes out next."""

    @property
    def waiting(self) -> int:
        """How many URLs were not given out; those that were not yet decided about count too."""

    def __len__(self) -> int:
        """How many different URLs were found so far."""


def open_sieve(
    kind: object,
    folder: str | Path,
    files: Mapping[str, int] | None = None,
    state: Mapping[str, Any] | None = None,
    *,
    start: int | None = None,
    memory: int = _USUAL.sieve_memory,
    cache: int = _USUAL.sieve_cache,
    capacity: int = _USUAL.sieve_capacity,
    error: float = _USUAL.sieve_error,
) -> Sieve:
    """Opens a sieve in a collection's folder with what was last committed of it (nothing: a new one).

    ``kind`` is one of the ``KINDS``, or a class of your own or its name as ``module:Class``
    (``crivello.extend.Sieve``). Giving out goes on at ``start``, an offset that an entry carried (None: where the commit left off).
    ``memory`` is for mercator, offline and lsm, ``capacity`` and ``error`` are for the filters; all of them
    may be others whenever the sieve is opened.
    """
    from crivello.extend import label_of
    from crivello.sieve.lsm import LsmSieve
    from crivello.sieve.native import NativeSieve
    from crivello.sieve.stored import open_own

    folder, files = Path(folder), dict(files or {})
    state = state_of_kind(label_of(kind), folder, state)
    if not isinstance(kind, str) or ":" in kind:
        return open_own(kind, folder, files, state, start=start, cache=cache)
    if kind not in KINDS:
        raise InvalidArgument(
            f"there is no sieve of the kind {kind}", hint=f"there are {', '.join(KINDS)}, or module:Class"
        )
    if kind == "lsm":
        return LsmSieve(folder, files, state, start=start, memory=memory, cache=cache)
    return NativeSieve(
        kind,
        folder,
        files,
        state,
        start=start,
        memory=memory,
        cache=cache,
        capacity=capacity,
        error=error,
    )


def state_of_kind(kind: str, folder: Path, state: Mapping[str, Any] | None) -> dict[str, Any]:
    """A sieve's own part of its state; a sieve that was made as another kind is an error."""
    own = dict(state or {})
    made_as = own.pop("kind", kind)
    if made_as != kind:
        raise InvalidArgument(
            f"the sieve in {folder} was made as {made_as} and cannot be opened as {kind}",
            hint=f"leave the setting out, or say --sieve {made_as}",
        )
    return own
