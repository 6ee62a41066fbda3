"""The sieve, the crawler's URL-seen set and queue: URLs are added as often as they are found, and each is
dequeued exactly once, in first-seen order.

``open_sieve`` opens one of the ``KINDS``, which share one contract, ``Sieve``; docs/sieve.md compares their
costs. Opening and ``checkpoint()`` follow the commit rule of ``crivello.collection``: after a crash a sieve
is restored to the last commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from crivello._core import Layout
from crivello.errors import InvalidArgument
from crivello.settings import Crawl
from crivello.settings.fields.crawl import SIEVES
from crivello.sieve.job import Sieved, sieve_files

KINDS: tuple[str, ...] = tuple(SIEVES)

__all__ = ["Checkpoint", "Sieve", "Sieved", "open_sieve", "sieve_files"]

QUEUE = Layout.URLS
_USUAL = Crawl()


@dataclass(frozen=True)
class Checkpoint:
    """What to commit: durable files with their lengths (``None``: to be deleted), and a state."""

    files: dict[str, int | None]
    state: dict[str, Any] = field(default_factory=dict)


class Sieve(Protocol):
    """The contract of every kind: each added URL is dequeued once, in the order of first addition and with
    the tag of that addition."""

    @property
    def kind(self) -> str:
        """One of the ``KINDS``, or ``module:Class``."""

    def add(self, urls: list[str], tags: list[int] | None = None) -> None:
        """Adds URLs, each with a 32-bit tag that is returned with it (0 by default)."""

    def take(self, n: int) -> list[tuple[int, int, str]]:
        """Dequeues at most ``n`` entries (offset, tag, URL); returns none only if no added URL is left."""

    def take_ready(self, n: int) -> list[tuple[int, int, str]]:
        """Dequeues at most ``n`` entries that are known to be new already; never waits for a flush."""

    def flush(self) -> None:
        """Decides for every pending URL whether it is new."""

    def checkpoint(self) -> Checkpoint:
        """Makes everything durable, and returns what to commit."""

    def stats(self) -> dict[str, Any]:
        """Statistics: see docs/sieve.md."""

    def close(self) -> None:
        """Closes the files; uncommitted changes are lost."""

    @property
    def next(self) -> int:
        """The offset of the next entry to be dequeued."""

    @property
    def waiting(self) -> int:
        """The number of URLs not dequeued yet, including those pending a decision."""

    def __len__(self) -> int:
        """The number of distinct URLs so far."""


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
    signature_bits: int = _USUAL.sieve_signature_bits,
) -> Sieve:
    """Opens a sieve in a collection's folder from its last committed files and state (none: a new sieve).

    ``kind`` is one of the ``KINDS``, a user-defined class, or its name as ``module:Class``
    (``crivello.extend.Sieve``). Dequeuing resumes at ``start``, the offset of an earlier entry (``None``:
    where the commit left off). ``memory`` applies to mercator, offline and lsm, ``capacity`` and ``error`` to
    the Bloom filters; all of them may change each time the sieve is opened. ``signature_bits``, the width of the
    signatures of the native kinds, may not.
    """
    from crivello.extend import label_of
    from crivello.sieve.lsm import LsmSieve
    from crivello.sieve.native import NativeSieve
    from crivello.sieve.stored import open_own

    folder, files = Path(folder), dict(files or {})
    state = state_of_kind(label_of(kind), folder, state)
    if signature_bits != _USUAL.sieve_signature_bits and (kind == "lsm" or kind not in KINDS):
        raise InvalidArgument(
            f"the sieve {label_of(kind)} has signatures of {_USUAL.sieve_signature_bits} bits, not {signature_bits}",
            hint="leave the width out, or take another sieve",
        )
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
        signature_bits=signature_bits,
    )


def state_of_kind(kind: str, folder: Path, state: Mapping[str, Any] | None) -> dict[str, Any]:
    """The kind-specific part of a sieve's state; it is an error if the sieve was created as another kind."""
    own = dict(state or {})
    made_as = own.pop("kind", kind)
    if made_as != kind:
        raise InvalidArgument(
            f"the sieve in {folder} was made as {made_as} and cannot be opened as {kind}",
            hint=f"leave the setting out, or say --sieve {made_as}",
        )
    return own
