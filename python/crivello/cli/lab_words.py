"""crivello lab words: shows the text analysis."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from crivello.cli import NOTHING
from crivello.cli.lines import utf8
from crivello.cli.options import Json
from crivello.cli.output import emit, print_json, say
from crivello.errors import InvalidArgument, StorageError

_COLUMNS = ("surface", "term", "position", "stop word")


def words(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="a text; -: standard input", show_default=False)
    ],
    language: Annotated[
        str | None,
        typer.Option(
            "--language", metavar="TAG", help="its language, as it or pt-BR [default: en]", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Print the words of a text, with the term and the position of each.

    An identifier is followed by its parts, starting at the same position. The term - marks a word that is too
    long to be indexed. The exit code is 1 if there is no word.

    \b
    Examples:
      crivello lab words 'The std::vectors of C++'
      crivello lab words "L'acqua delle città" --language it
      crivello lab words --json - < page.txt
    """
    from crivello import _core

    text = _standard_input() if text == "-" else utf8(text, "the text")
    found = _core.analyze(text, utf8(language or "", "--language"))
    if json:
        for term, position, start, end, parts, is_stop_word in found:
            print_json(
                {
                    "surface": text[start:end],
                    "term": term,
                    "position": position,
                    "start": start,
                    "end": end,
                    "parts": parts,
                    "stop_word": is_stop_word,
                }
            )
    else:
        _print_table(text, found)
    if not found:
        say("there is no word in it")
        raise typer.Exit(NOTHING)


def _print_table(text: str, found: list[tuple[str, int, int, int, int, bool]]) -> None:
    # Wide characters take two cells.
    from rich.cells import cell_len

    rows = [
        (text[start:end], term or "-", str(position), "yes" if is_stop_word else "")
        for term, position, start, end, _, is_stop_word in found
    ]
    if not rows:
        return
    widths = [max(map(cell_len, column)) for column in zip(_COLUMNS, *rows, strict=True)]
    for row in (_COLUMNS, *rows):
        cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
        emit("  ".join(cells).rstrip())


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise InvalidArgument("standard input is not UTF-8") from None
    except OSError as error:
        raise StorageError.of(error, "-") from None
