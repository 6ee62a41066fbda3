"""What the manifest remembers of the graph of a collection and of its ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from crivello._core import Layout

GIVEN = "given"
"""The name of ranks that were given, in place of a measure's."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The state of the graph: its base (a number, and the bytes of table and links that it covers), and the
    measures whose ranks are kept, the one that searches use first. A base that is merged from the collections of agents
    covers none of the cluster's own; ``covered`` has the bytes of each agent's table instead."""

    base: tuple[int, int, int] | None = None
    number: int = 0
    measures: tuple[str, ...] = ()
    gifts: int = 0
    is_given: bool = False
    covered: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Self:
        """The state, as the manifest has it; collections made before there were bases had PageRank alone."""
        number = state.get("number", 0)
        measures = state.get("measures", ["pagerank"] if number else [])
        base = state.get("base")
        return cls(
            tuple(base) if base else None,
            number,
            tuple(measures),
            state.get("gifts", 0),
            state.get("given", False),
            state.get("covered", {}),
        )

    def state(self) -> dict[str, Any]:
        """The state for the manifest."""
        return {
            "base": self.base,
            "number": self.number,
            "measures": list(self.measures),
            "gifts": self.gifts,
            "given": self.is_given,
            **({"covered": dict(self.covered)} if self.covered else {}),
        }

    def read_from(self, files: Mapping[str, int]) -> dict[str, int]:
        """Those of the committed files from which the graph is read, with their lengths."""
        logs = (Layout.ROWS, Layout.LINKS) if self.covered else ()
        return {name: length for name, length in files.items() if name not in logs}

    @property
    def measure(self) -> str | None:
        """What searches rank by; None if there are no ranks."""
        return GIVEN if self.is_given else self.measures[0] if self.measures else None

    def ranks(self) -> Iterator[tuple[str, str]]:
        """The name of each measure with the file of its ranks, the one that searches use first."""
        if self.is_given:
            yield GIVEN, Layout.given_ranks(self.gifts)
        for measure in self.measures:
            yield measure, Layout.ranks(measure, self.number)

    def ranks_in_use(self) -> str | None:
        """The file of ranks that searches read; None if there is none."""
        return next((file for _, file in self.ranks()), None)
