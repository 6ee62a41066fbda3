"""crivello lab sieve: each URL once, in the order of its first appearance, through any of the sieves."""

from __future__ import annotations

import gzip
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from crivello import settings
from crivello.cli.output import say
from crivello.errors import InvalidArgument, StorageError

_BATCH = 10_000
_GZIP = b"\x1f\x8b"


def sieve(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="URLs, one a line, plain or gzip", show_default=False),
    ] = None,
    kind: Annotated[str, typer.Option("--kind", help="which sieve")] = "mercator",
    memory: Annotated[
        str, typer.Option("--memory", help="bytes that mercator, offline and lsm may use")
    ] = "64M",
    cache: Annotated[
        str, typer.Option("--cache", help="how many recent URLs are known without asking the sieve")
    ] = "65536",
    capacity: Annotated[
        str, typer.Option("--capacity", help="how many URLs the Bloom filters are made for")
    ] = "10000000",
    error: Annotated[
        str, typer.Option("--error", help="how often those err when they have so many")
    ] = "1e-4",
    stats: Annotated[
        bool, typer.Option("--stats", help="say how the sieve stands, as JSON on standard error")
    ] = False,
) -> None:
    """Print each URL of files or standard input once, in first-seen order.

    \b
    Examples:
      crivello lab sieve < urls.txt > different.txt
      crivello lab sieve --kind offline --memory 256M --stats urls-*.txt.gz
    """
    import msgspec

    from crivello.sieve import open_sieve

    options = {
        name: settings.checked("crawl", f"sieve_{name}", value, f"--{name}")
        for name, value in {"memory": memory, "cache": cache, "capacity": capacity, "error": error}.items()
    }
    kind = settings.checked("crawl", "sieve", kind, "--kind")
    with tempfile.TemporaryDirectory(prefix="crivello-sieve-") as folder:
        (Path(folder) / "frontier").mkdir()
        opened = open_sieve(kind, folder, **options)
        lines = _lines(files or ["-"])
        while batch := list(islice(lines, _BATCH)):
            opened.add(batch)
        while entries := opened.take(_BATCH):
            sys.stdout.write("".join(f"{url}\n" for _, _, url in entries))
        sys.stdout.flush()
        if stats:
            say(msgspec.json.encode(opened.stats()).decode())
        opened.close()


def _lines(names: list[str]) -> Iterator[str]:
    """The lines of files that are not empty; ``-`` is standard input."""
    for name in names:
        try:
            with _opened(name) as file:
                for number, line in enumerate(file, 1):
                    try:
                        url = line.decode().strip()
                    except UnicodeDecodeError:
                        raise InvalidArgument(f"line {number} of {name} is not UTF-8") from None
                    if url:
                        yield url
        except EOFError:
            raise StorageError(f"{name} is cut off: its compressed data does not end", name) from None
        except OSError as error:
            raise StorageError.of(error, name) from None


@contextmanager
def _opened(name: str) -> Iterator[Iterable[bytes]]:
    with Path("/dev/stdin" if name == "-" else name).open("rb") as file:
        if file.peek(2)[:2] != _GZIP:
            yield file
            return
        with gzip.open(file) as unpacked:
            yield unpacked
