"""A collection's index, opened for searching: one snapshot."""

from __future__ import annotations

from pathlib import Path

from crivello._core import Ranks, Searcher
from crivello.index import Segment
from crivello.search.operators import Query
from crivello.search.operators.text import sound
from crivello.search.results import Results, results
from crivello.settings import Search as SearchSettings


class Search:
    """Answers queries over the segments and ranks of one commit."""

    def __init__(
        self, folder: Path, segments: list[Segment], ranks: tuple[Path, int] | None, settings: SearchSettings
    ) -> None:
        self.snapshot = (segments, ranks)
        self._settings = settings
        self._searcher = Searcher(folder, segments, Ranks(*ranks) if ranks else None)

    @property
    def documents(self) -> int:
        """How many pages can be found."""
        return self._searcher.documents

    @property
    def terms(self) -> int:
        """How many different terms they have; a term counts once for each segment."""
        return self._searcher.terms

    @property
    def postings(self) -> int:
        """How many pairs of term and page there are."""
        return self._searcher.postings

    @property
    def bytes(self) -> int:
        """How large the index is."""
        return self._searcher.bytes

    def stale_anchors(self, path: Path, committed: int) -> list[int]:
        """The signatures of pages for which there is twice as much text of links as they are indexed with."""
        return self._searcher.stale_anchors(path, committed)

    def search(self, query: Query, *, top: int = 10, offset: int = 0) -> Results:
        """The best pages for a query, as a text in the query language or as operators."""
        settings = self._settings
        text = sound(str(query))
        answer = self._searcher.search(
            text, top, offset, settings.k1, settings.b, settings.rank_weight, settings.language
        )
        return results(text, answer, offset)

    def verify(self) -> None:
        """Reads everything and checks every checksum."""
        self._searcher.verify()
