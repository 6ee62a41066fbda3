"""What a deduplication came to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from crivello._figures import Figures
from crivello.archives.reading import Damage

BINS = 20


@dataclass(frozen=True, slots=True)
class Example:
    """Two documents of a cluster: the one that stays, and one that goes."""

    kept: str
    dropped: str
    similarity: float
    kept_text: str
    dropped_text: str


@dataclass(slots=True, repr=False)
class Report(Figures):
    """Counts of documents and clusters. With paragraphs or lines as units, ``units`` are these, and clusters are of them.

    ``against`` is the number of documents or units that are in the other corpus. ``similarities`` counts the pairs by their
    similarity, in steps of 0.05; ``sizes`` counts the clusters by their number of members. ``examples`` are chosen only if a report is
    written. ``damage`` is what could not be read of archives, and is left out.
    """

    method: str
    unit: str
    documents: int = 0
    kept: int = 0
    clusters: int = 0
    largest: int = 0
    pairs: int = 0
    against: int = 0
    units: int = 0
    units_kept: int = 0
    characters: int = 0
    characters_kept: int = 0
    seconds: float = 0.0
    similarities: list[int] = field(default_factory=lambda: [0] * BINS)
    sizes: dict[int, int] = field(default_factory=dict)
    examples: list[Example] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)

    def add_damage(self, file: str, places: Mapping[int, str]) -> None:
        """Adds the damaged places of a file, by offset."""
        self.damage += [Damage(file, offset, places[offset]) for offset in sorted(places)]

    @property
    def dropped(self) -> int:
        """The number of documents that go."""
        return self.documents - self.kept

    def _headline(self) -> str:
        return (
            f"{self.documents:,} documents, {self.kept:,} kept, {self.dropped:,} dropped in "
            f"{self.clusters:,} clusters, {self.seconds:,.1f} s"
        )

    def _figures(self) -> Iterator[tuple[str, str]]:
        yield "documents", f"{self.documents:,}"
        yield "  kept", f"{self.kept:,}"
        yield "  dropped", f"{self.dropped:,}"
        if self.unit != "document":
            yield f"{self.unit}s", f"{self.units:,}"
            yield "  kept", f"{self.units_kept:,}"
            yield "  dropped", f"{self.units - self.units_kept:,}"
        yield "clusters", f"{self.clusters:,}"
        yield "largest cluster", f"{self.largest:,}"
        yield "pairs", f"{self.pairs:,}"
        if self.against:
            yield "in the other corpus", f"{self.against:,}"
        share = self.characters_kept / self.characters if self.characters else 1.0
        yield "text kept", f"{share:.1%}"
        yield "seconds", f"{self.seconds:,.2f}"

    def to_dict(self) -> dict[str, Any]:
        """The dictionary printed by ``--json``."""
        return {
            "method": self.method,
            "unit": self.unit,
            "documents": self.documents,
            "kept": self.kept,
            "dropped": self.dropped,
            "clusters": self.clusters,
            "largest": self.largest,
            "pairs": self.pairs,
            "against": self.against,
            **({"units": self.units, "units_kept": self.units_kept} if self.unit != "document" else {}),
            "characters": self.characters,
            "characters_kept": self.characters_kept,
            "seconds": round(self.seconds, 3),
        }
