"""From a query to ranked answers."""

from crivello.search.results import FacetValue, Hit, Results, Snippet, results

__all__ = ["FacetValue", "Hit", "Results", "Snippet", "results"]
