"""The sieves of the native core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from crivello import _core
from crivello.sieve import Checkpoint


class NativeSieve:
    """See ``crivello.sieve.Sieve``."""

    def __init__(
        self,
        kind: str,
        folder: Path,
        files: dict[str, int],
        state: dict[str, int],
        *,
        start: int | None,
        memory: int,
        cache: int,
        capacity: int,
        error: float,
        signature_bits: int = 64,
    ) -> None:
        self.kind = kind
        settings = {
            "sieve_memory": memory,
            "sieve_cache": cache,
            "sieve_capacity": capacity,
            "sieve_error": error,
            "sieve_signature_bits": signature_bits,
        }
        self._core = _core.Sieve(
            kind,
            folder,
            files,
            state,
            msgspec.json.encode(settings),
            start,
        )

    def add(self, urls: list[str], tags: list[int] | None = None) -> None:
        self._core.add(urls, tags)

    def add_signatures(self, signatures: Any) -> None:
        """Adds bare 64-bit signatures from a buffer, with empty URLs: for benchmarks."""
        self._core.add_signatures(signatures)

    def take(self, n: int) -> list[tuple[int, int, str]]:
        return self._core.take(n)

    def take_ready(self, n: int) -> list[tuple[int, int, str]]:
        return self._core.take_ready(n)

    def flush(self) -> None:
        self._core.flush()

    @property
    def native(self) -> _core.Sieve:
        """The native object, which a crawl takes over."""
        return self._core

    def checkpoint(self) -> Checkpoint:
        files, state = self._core.checkpoint()
        return Checkpoint(files, {"kind": self.kind, **state})

    def stats(self) -> dict[str, Any]:
        stats: dict[str, Any] = msgspec.json.decode(self._core.stats())
        return stats

    def close(self) -> None:
        del self._core

    @property
    def next(self) -> int:
        return self._core.next

    @property
    def waiting(self) -> int:
        return self._core.waiting

    def __len__(self) -> int:
        return len(self._core)
