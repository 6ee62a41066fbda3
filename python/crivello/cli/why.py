"""crivello why: the history of a URL."""

from __future__ import annotations

import shutil
import textwrap
from typing import Annotated

import typer

from crivello.cli import NOTHING
from crivello.cli.options import Folder, Json
from crivello.cli.output import emit, print_json

_HEADING = 21
_WIDEST = 110


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("why")(why)


def why(
    folder: Folder,
    url: Annotated[
        str, typer.Argument(metavar="URL", help="the URL; need not be canonical", show_default=False)
    ],
    json: Json = False,
) -> None:
    """Show the history of a URL: where it was found, when it was tried, and what became of it.

    Times are UTC. The exit code is 1 if the crawl never added the URL.

    \b
    Examples:
      crivello why example https://www.example.org/missing.html
      crivello why example 'https://www.example.org/?utm_source=mail' --json
    """
    from crivello.collection import Collection
    from crivello.crawl.story import tell

    story = Collection(folder).why(url)
    if json:
        print_json(story.to_dict())
    else:
        emit(story.given)
        width = min(_WIDEST, shutil.get_terminal_size().columns)
        for heading, text in tell(story):
            emit(_line("" if heading == "verdict" else heading, text, width))
    if story.state in ("left out", "unknown"):
        raise typer.Exit(NOTHING)


def _line(heading: str, text: str, width: int) -> str:
    """A heading followed by its wrapped text; URLs are never broken."""
    indent = " " * (_HEADING + 2 if heading else 2)
    first = f"  {heading:<{_HEADING}}" if heading else indent
    return textwrap.fill(
        text,
        width,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
