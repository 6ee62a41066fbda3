"""crivello lab url: canonicalises a URL, and checks it for traps."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any

import typer

from crivello.cli import NOTHING
from crivello.cli.lines import lines_of, utf8
from crivello.cli.options import Json
from crivello.cli.output import emit, print_json, say
from crivello.settings import Crawl

_BATCH = 10_000
_USUAL = Crawl()


def url(
    url: Annotated[
        str | None,
        typer.Argument(metavar="URL", help="a URL; without it, URLs from standard input", show_default=False),
    ] = None,
    base: Annotated[str | None, typer.Option("--base", help="base URL for relative URLs")] = None,
    session_ids: Annotated[
        bool, typer.Option("--session-ids/--no-session-ids", help="remove session ids")
    ] = _USUAL.clean_session_ids,
    tracking: Annotated[
        bool, typer.Option("--tracking/--no-tracking", help="remove parameters such as utm_source and fbclid")
    ] = _USUAL.clean_tracking,
    sort_query: Annotated[
        bool, typer.Option("--sort-query/--no-sort-query", help="sort the parameters by name")
    ] = _USUAL.sort_queries,
    index_pages: Annotated[
        bool, typer.Option("--index-pages/--no-index-pages", help="remove index.html and the like")
    ] = _USUAL.clean_index_pages,
    json: Json = False,
) -> None:
    """Print the canonical form of a URL, its signature, its domain, and whether it looks like a trap.

    The exit code is 1 if it is not an HTTP URL. URLs from standard input yield one line each, separated by
    tabs.

    \b
    Examples:
      crivello lab url 'HTTP://Example.COM:80/a/../b?utm_source=x#top'
      crivello lab url ../c --base https://example.com/a/b
      crivello lab url --json < urls.txt
    """
    from crivello import _core

    if base is not None:
        utf8(base, "--base")
    texts = iter([utf8(url, "the URL")]) if url is not None else lines_of(["-"])
    failed = False
    while batch := list(islice(texts, _BATCH)):
        found = _core.canonical_urls(
            batch,
            base,
            session_ids=session_ids,
            tracking=tracking,
            sort_query=sort_query,
            index_pages=index_pages,
        )
        for text, canonical in zip(batch, found, strict=True):
            failed |= canonical is None
            facts = _facts(text, canonical)
            if json:
                print_json(facts)
            elif canonical is None:
                say(f"{text} is not a URL of the web, or longer than 2,048 bytes")
            elif url is not None:
                for name in ("canonical", "signature", "domain", "trap"):
                    emit(f"{name:<10} {facts[name] or 'no'}")
            else:
                emit("\t".join([canonical, facts["signature"], facts["domain"], facts["trap"] or ""]))
    if failed:
        raise typer.Exit(NOTHING)


def _facts(text: str, canonical: str | None) -> dict[str, Any]:
    from crivello import _core

    if canonical is None:
        return {"input": text, "canonical": None, "signature": None, "domain": None, "trap": None}
    return {
        "input": text,
        "canonical": canonical,
        "signature": f"{_core.signature(canonical):016x}",
        "domain": _core.url_domain(canonical),
        "trap": _core.url_trap(
            canonical,
            repeats=_USUAL.max_repeats,
            segments=_USUAL.max_segments,
            parameters=_USUAL.max_parameters,
        ),
    }
