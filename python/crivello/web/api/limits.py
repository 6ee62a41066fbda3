"""Rate limits: a token bucket for each client, which refills continuously.

A bucket holds as many requests as are allowed a minute, so that a burst of that many passes. Memory is bounded:
beyond ``MOST_CLIENTS`` the bucket used longest ago is forgotten. Each process of a server counts for itself.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

MOST_CLIENTS = 10_000
_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Left:
    """What is left to a client: whether this request passes, how many more do, and the seconds until the next."""

    allowed: bool
    remaining: int
    seconds: int


class Limits:
    """The buckets of all clients. Thread-safe. ``a_minute`` is 0 for no limit."""

    def __init__(self, a_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.a_minute = a_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> Left:
        """Counts a request of a client."""
        with self._lock:
            now = self._clock()
            level, since = self._buckets.pop(client, (float(self.a_minute), now))
            level = min(self.a_minute, level + (now - since) * self.a_minute / _MINUTE)
            allowed = level >= 1
            level -= allowed
            self._buckets[client] = (level, now)
            if len(self._buckets) > MOST_CLIENTS:
                self._buckets.popitem(last=False)
        wait = 0 if level >= 1 else math.ceil((1 - level) * _MINUTE / self.a_minute)
        return Left(allowed, int(level), wait)

    def headers(self, left: Left) -> dict[str, str]:
        """What is said of the limit in each response (draft-ietf-httpapi-ratelimit-headers)."""
        said = {
            "RateLimit-Policy": f'"minute";q={self.a_minute};w={int(_MINUTE)}',
            "RateLimit": f'"minute";r={left.remaining};t={left.seconds}',
        }
        return said if left.allowed else said | {"Retry-After": str(max(1, left.seconds))}
