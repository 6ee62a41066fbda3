"""crivello lab robots: tests URLs against a robots.txt."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from crivello.cli import NOTHING
from crivello.cli.lines import lines_of, utf8
from crivello.cli.options import Json
from crivello.cli.output import emit, print_json
from crivello.errors import InvalidArgument, StorageError

_BATCH = 10_000
# More than the part of a robots.txt that is interpreted; the core truncates it.
_READ = 1 << 20
# Rules do not depend on the host, so a bare path is accepted.
_ANY_HOST = "http://any.invalid"


def robots(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="a robots.txt; -: standard input", show_default=False)
    ],
    agent: Annotated[
        str, typer.Option("--agent", help="the crawler's name, or the User-Agent that begins with it")
    ] = "crivello",
    url: Annotated[
        str | None,
        typer.Option(
            "--url", help="a URL or a path; without it, URLs from standard input", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Print whether a robots.txt allows a crawler to fetch a URL, and the line that decides.

    The exit code is 0 if all URLs are allowed, 1 if any is not.

    \b
    Examples:
      crivello lab robots robots.txt --agent crivello --url https://example.com/private/
      crivello lab robots robots.txt --url /private/ --json
      crivello lab robots robots.txt < urls.txt
    """
    from crivello import _core

    if file == "-" and url is None:
        raise InvalidArgument(
            "standard input cannot be both the robots.txt and the URLs", hint="name a URL with --url"
        )
    rules = _core.Robots(_read(file), utf8(agent, "--agent"))
    texts = iter([utf8(url, "--url")]) if url is not None else lines_of(["-"])
    refused = False
    while batch := list(islice(texts, _BATCH)):
        urls = _core.canonical_urls(
            [f"{_ANY_HOST}{text}" if text.startswith("/") else text for text in batch]
        )
        if url is not None and urls == [None]:
            raise InvalidArgument(f"{url} is not a URL of the web", hint="give https://… or a path: /…")
        verdicts = iter(rules.allows([canonical for canonical in urls if canonical is not None]))
        for text, canonical in zip(batch, urls, strict=True):
            allowed, line, rule = (False, None, None) if canonical is None else next(verdicts)
            refused |= not allowed
            if json:
                print_json(
                    {
                        "url": text,
                        "valid": canonical is not None,
                        "allowed": allowed,
                        "line": line,
                        "rule": rule,
                        "crawl_delay": rules.crawl_delay,
                    }
                )
                continue
            reason = "no rule matches" if rule is None else f"line {line}: {rule}"
            if canonical is None:
                reason = "not a URL of the web"
            emit(f"{'allowed' if allowed else 'refused'}\t{text}\t{reason}")
    if refused:
        raise typer.Exit(NOTHING)


def _read(name: str) -> bytes:
    try:
        with Path("/dev/stdin" if name == "-" else name).open("rb") as file:
            return file.read(_READ)
    except OSError as error:
        raise StorageError.of(error, name) from None
