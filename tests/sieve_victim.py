"""A process that works with a sieve and is killed: what it does follows from a seed, so that whoever finds
its folder can tell what must be in it.

A *history* is a list of steps. The manifest of the folder says after how many of them it was committed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crivello import _core
from crivello.sieve import Sieve, open_sieve

STEPS = 120
DIFFERENT = 1500
BATCH = 40
# So few slots that a flush comes every few steps.
MEMORY = 5_000
CACHE = 64


@dataclass
class Model:
    """What a sieve has to do, said slowly: a list of the URLs in first-seen order."""

    order: dict[str, int] = field(default_factory=dict)
    taken: int = 0

    def add(self, urls: list[str], tags: list[int]) -> None:
        for url, tag in zip(urls, tags, strict=True):
            self.order.setdefault(url, tag)

    def waiting(self) -> list[tuple[str, int]]:
        return list(self.order.items())[self.taken :]

    def check_taken(self, entries: list[tuple[int, int, str]]) -> None:
        given = [(url, tag) for _, tag, url in entries]
        assert given == self.waiting()[: len(given)]
        self.taken += len(given)


def drain(sieve: Sieve) -> list[tuple[int, int, str]]:
    """Everything that is left."""
    entries = []
    while some := sieve.take(1000):
        entries += some
    return entries


def batch_of(seed: int, step: int) -> tuple[list[str], list[int]]:
    """The URLs and tags that a step adds."""
    chance = random.Random(seed * STEPS + step)
    numbers = [chance.randrange(DIFFERENT) for _ in range(BATCH)]
    return [f"https://a.example/{number}" for number in numbers], [step] * BATCH


class Folder:
    """A collection's folder with nothing but a sieve in it."""

    def __init__(self, path: Path, kind: str, **options: Any) -> None:
        self.path = path
        self._kind = kind
        self._options = {"memory": MEMORY, "cache": CACHE, "error": 1e-8, "capacity": 10_000, **options}
        if not (path / _core.Layout.MANIFEST).exists():
            _core.Collection.create(path, "")
        self._collection = _core.Collection(path)

    @property
    def files(self) -> dict[str, int]:
        """The committed files with their lengths."""
        return self._collection.files

    def state(self, part: str) -> dict[str, Any]:
        """What was committed of a part."""
        state: dict[str, Any] = json.loads(self._collection.state(part) or "{}")
        return state

    def open(self, start: int | None = None) -> Sieve:
        """Opens the sieve as it was committed."""
        _core.Collection.write(self.path).close()
        self._collection.refresh()
        return open_sieve(
            self._kind, self.path, self.files, self.state("sieve"), start=start, **self._options
        )

    def commit(self, sieve: Sieve, progress: Mapping[str, Any] | None = None) -> None:
        """Commits a checkpoint of the sieve."""
        checkpoint = sieve.checkpoint()
        state = {"sieve": checkpoint.state, "progress": dict(progress or {})}
        self._collection.commit(checkpoint.files, json.dumps(state))

    def model(self, seed: int) -> tuple[Model, int]:
        """What must be in the folder, and after how many steps it was committed."""
        progress = self.state("progress") or {"steps": 0, "taken": 0}
        model = Model(taken=progress["taken"])
        for step in range(progress["steps"]):
            model.add(*batch_of(seed, step))
        return model, progress["steps"]


def work(path: Path, kind: str, seed: int, chances: int, fault: str = "", hits: int = 1) -> None:
    """Goes on with the history in a folder to its end, or until somebody kills this process."""
    folder = Folder(path, kind)
    if fault:
        _core.arm_fault(fault, hits)
    sieve = folder.open()
    model, done = folder.model(seed)
    chance = random.Random(chances)
    for step in range(done, STEPS):
        urls, tags = batch_of(seed, step)
        sieve.add(urls, tags)
        model.add(urls, tags)
        if chance.random() < 0.5:
            model.check_taken(sieve.take(chance.randrange(60)))
        if chance.random() < 0.05:
            sieve.flush()
        if chance.random() < 0.15 or step == STEPS - 1:
            folder.commit(sieve, {"steps": step + 1, "taken": model.taken})
    sieve.close()
