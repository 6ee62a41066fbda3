"""Search results for people: hits on standard output, the rest on standard error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from crivello.cli.output import emit, say, stdout_console

if TYPE_CHECKING:
    from rich.console import Console

    from crivello.search import FacetValue, Hit, Results


def print_results(results: Results) -> None:
    """Prints hits with explanations and facets, if requested, and a summary of the search."""
    if results.corrected:
        say(
            f"nothing matches {results.query!r}; showing {results.corrected!r} (--no-correct: only what was typed)\n"
        )
    elif results.suggestion:
        say(f"did you mean: {results.suggestion}\n")
    console = stdout_console() if sys.stdout.isatty() else None
    for hit in results:
        if console:
            print_hit(console, hit)
        else:
            emit(str(hit))
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
    if results.missing_shards:
        missing = ", ".join(map(str, results.missing_shards))
        say(f"a part of the index did not answer, and its pages are missing: shard {missing}")


def print_hit(console: Console, hit: Hit) -> None:
    """Prints a hit on a terminal: lines wrap between words, and the URL is never wrapped."""
    from rich.padding import Padding
    from rich.text import Text

    snippet = Text.assemble(*((text, "bold" if match else "") for text, match in hit.snippet.fragments))
    console.print(Text(f"{hit.rank:>3}. {hit.title or hit.url}", "bold"))
    console.print(Text(f"     {hit.url}", "dim"), soft_wrap=True)
    for line in (Text(" · ".join(hit.notes), "dim"), snippet):
        if line:
            console.print(Padding(line, (0, 0, 0, 5)))


def _print_facet(name: str, values: tuple[FacetValue, ...]) -> None:
    if not values:
        return
    widest = max(len(f"{value.count:,}") for value in values)
    emit(name)
    for value in values:
        emit(f"  {value.count:>{widest},}  {value.value}")
    emit("")
