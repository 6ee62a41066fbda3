"""A process that changes an index and is killed: what it does follows from a seed, and it says which step it
begins and which it has committed, so that whoever finds its folder can tell what must be in it.
"""

from __future__ import annotations

import random
from pathlib import Path

from crivello import _core, settings
from crivello.collection import Collection
from crivello.index import Document
from crivello.index.update import Indexer

STEPS = 45
DIFFERENT = 200
BEGUN, DONE = "begun", "done"

Model = dict[str, str]
"""The title of every document that must be found, by its URL."""


def make(folder: Path) -> None:
    """Makes an empty collection whose index merges early and goes to disk early."""
    flags = {"index": {"fan_in": 3, "memory": 2**20, "threads": 2}}
    Collection.write(folder, settings=settings.load(flags=flags, environment={}), create=True).close()
    note(folder, 0, BEGUN, DONE)


class Step:
    """One change of the history."""

    def __init__(self, seed: int, number: int) -> None:
        chance = random.Random(seed * STEPS + number)
        kinds = ["add", "delete", "merge_some", "merge", "merge_in_background"]
        self._kind = chance.choices(kinds, [6, 3, 2, 1, 2])[0]
        numbers = [chance.randrange(DIFFERENT) for _ in range(chance.randrange(1, 60))]
        self._urls = [f"https://a.example/{number}" for number in numbers]
        self._title = f"Written in step {number}"
        self._seed = seed

    def do(self, indexer: Indexer) -> None:
        """Changes the index, and commits."""
        if self._kind == "add":
            indexer.add(Document(url, self._title, self._body(url)) for url in self._urls)
        elif self._kind == "delete":
            indexer.delete(self._urls)
        else:
            getattr(indexer, self._kind)()

    def change(self, model: Model) -> None:
        """Changes the model in the same way."""
        if self._kind == "add":
            model.update(dict.fromkeys(self._urls, self._title))
        elif self._kind == "delete":
            for url in self._urls:
                model.pop(url, None)

    def _body(self, url: str) -> str:
        chance = random.Random(f"{self._seed} {url}")
        return " ".join(f"word{int(chance.paretovariate(0.5)) % 5000}" for _ in range(200))


def model_after(seed: int, steps: int) -> Model:
    """What must be found after the given number of steps."""
    model: Model = {}
    for number in range(steps):
        Step(seed, number).change(model)
    return model


def note(folder: Path, steps: int, *names: str) -> None:
    """Says how many steps were begun, or done."""
    for name in names:
        # One write of few bytes: a kill leaves all of it or nothing.
        with (folder.parent / f"{folder.name}.{name}").open("a") as file:
            file.write(f"{steps}\n")


def written(folder: Path, name: str) -> int:
    """How many steps were begun, or done."""
    steps = (folder.parent / f"{folder.name}.{name}").read_text().split()
    return int(steps[-1])


def work(folder: Path, seed: int, first: int, fault: str = "", hits: int = 1) -> None:
    """Goes on with the history in a folder from a step to its end, or until somebody kills this process."""
    if fault:
        _core.arm_fault(fault, hits)
    with Collection.write(folder) as collection:
        indexer = Indexer(collection)
        for number in range(first, STEPS):
            note(folder, number + 1, BEGUN)
            Step(seed, number).do(indexer)
            note(folder, number + 1, DONE)
        indexer.close()
