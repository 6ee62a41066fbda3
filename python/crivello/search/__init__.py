"""From a query to ranked answers."""

from crivello.search.results import Hit, Results, Snippet

__all__ = ["Hit", "Results", "Snippet"]
