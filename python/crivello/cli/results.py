"""The results of a search as a person reads them: hits on standard output, the rest on standard error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from crivello.cli.output import emit, say

if TYPE_CHECKING:
    from crivello.search import FacetValue, Results


def print_results(results: Results) -> None:
    """Prints hits with their explanations and facets, where there are any, and says how the search went."""
    if results.suggestion:
        say(f"did you mean: {results.suggestion}\n")
    bold = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("*", "*")
    for hit in results:
        for line in hit.lines(*bold):
            emit(line)
        for line in str(hit.explanation).splitlines() if hit.explanation else ():
            emit(f"     {line}")
        emit("")
    for name, values in (results.facets or {}).items():
        _print_facet(name, values)
    sys.stdout.flush()
    if results.hits:
        say(f"{results.counted} in {results.microseconds / 1000:.1f} ms")
    else:
        say(f"nothing matches {results.query!r}" if not results.matches else "there are no further results")
    if results.partial:
        say("stopped after the time limit: these are the best of what was seen")


def _print_facet(name: str, values: tuple[FacetValue, ...]) -> None:
    if not values:
        return
    widest = max(len(f"{value.count:,}") for value in values)
    emit(name)
    for value in values:
        emit(f"  {value.count:>{widest},}  {value.value}")
    emit("")
