"""What is kept of the documents of a run, in a folder: the files of the native engine, and the ledger of ids and lengths.

Both are committed together, with where the input stands, so that reading goes on there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from crivello import _core
from crivello.dedup.boilerplate import Boilerplate
from crivello.dedup.ledger import Ledger
from crivello.dedup.options import Options, Unit
from crivello.dedup.source import Batch, Source, readable, shown
from crivello.dedup.units import split

ENGINE = "engine"


class State(msgspec.Struct, array_like=True):
    """Where the input stands at a commit."""

    source: int = 0
    position: Any = None
    documents: int = 0
    references: int = 0
    ledger: list[int] | None = None
    damage: dict[str, dict[int, str]] = {}


class Sketches:
    """The documents that were read."""

    def __init__(self, folder: Path, options: Options) -> None:
        """Opens what was committed in a folder."""
        (folder / ENGINE).mkdir(exist_ok=True)
        self.engine = _core.Discovery(folder / ENGINE, options.native(), options.budget, options.threads)
        at = self.engine.position
        self.state = msgspec.msgpack.decode(at, type=State) if at else State()
        self.ledger = Ledger(folder, self.state.ledger)
        self._unit = Unit(options.unit)

    def add(self, batch: Batch, boilerplate: Boilerplate, *, is_reference: bool) -> None:
        """Adds documents, or what they consist of."""
        ids, texts, units = batch.ids, batch.texts, []
        self.state.documents += 0 if is_reference else len(ids)
        if self._unit is not Unit.DOCUMENT:
            parts = [[unit.strip() for unit in split(text, self._unit)] for text in texts]
            ids = [
                f"{shown(name)}#{place}"
                for name, found in zip(ids, parts, strict=True)
                for place in range(1, len(found) + 1)
            ]
            texts = [unit for found in parts for unit in found]
            units = [] if is_reference else [len(found) for found in parts]
        self.state.references += len(ids) if is_reference else 0
        self.engine.add(boilerplate.without(ids, texts), is_reference)
        self.ledger.add(ids, map(len, texts), units)

    def note_damage(self, source: Source) -> None:
        """Takes down what was left out of an input."""
        if source.damage:
            self.state.damage.setdefault(readable(source.name), {}).update(source.damage)

    def commit(self, source: int, position: Any) -> None:
        """Makes durable what was added, with the number of the source and the position in it."""
        self.state.source, self.state.position = source, position
        self.state.ledger = self.ledger.checkpoint()
        self.engine.commit(msgspec.msgpack.encode(self.state))

    def close(self) -> None:
        """Closes the files."""
        self.ledger.close()
