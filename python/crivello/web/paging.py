"""Which page numbers to offer below the results."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

_NUMBERS_SHOWN = 7


def search_path(query: str, page: int = 1, *, correct: bool = True) -> str:
    """The path of a page of results; without ``correct``, those of the query exactly as typed."""
    fields: dict[str, str | int] = {"q": query}
    if page > 1:
        fields["page"] = page
    if not correct:
        fields["correct"] = 0
    return "/search?" + urlencode(fields)


@dataclass(frozen=True, slots=True)
class Paging:
    """One page among ``last``, counted from 1."""

    page: int
    last: int

    @property
    def previous(self) -> int | None:
        return self.page - 1 if self.page > 1 else None

    @property
    def next(self) -> int | None:
        return self.page + 1 if self.page < self.last else None

    @property
    def numbers(self) -> range:
        """The page numbers around this one, as many at the ends as in the middle."""
        first = max(1, min(self.page - _NUMBERS_SHOWN // 2, self.last - _NUMBERS_SHOWN + 1))
        return range(first, min(self.last, first + _NUMBERS_SHOWN - 1) + 1)
