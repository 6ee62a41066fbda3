"""From a query to ranked answers."""

from crivello.search.results import Hit, Results, Snippet, results

__all__ = ["Hit", "Results", "Snippet", "results"]
