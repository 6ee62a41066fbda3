"""crivello lab sieve: deduplicates URLs in first-seen order, with any of the sieves."""

from __future__ import annotations

import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from crivello import settings
from crivello.cli.lines import lines_of
from crivello.cli.output import say

_BATCH = 10_000
_USUAL = {setting.name: setting.shown_default for setting in settings.settings_of("crawl")}


def sieve(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="URLs, one per line, plain or gzip", show_default=False),
    ] = None,
    kind: Annotated[str, typer.Option("--kind", help="kind of sieve")] = _USUAL["sieve"],
    memory: Annotated[
        str, typer.Option("--memory", help="memory budget in bytes of mercator, offline and lsm")
    ] = _USUAL["sieve_memory"],
    cache: Annotated[
        str, typer.Option("--cache", help="number of recent URLs cached in front of the sieve; 0: no cache")
    ] = _USUAL["sieve_cache"],
    capacity: Annotated[
        str, typer.Option("--capacity", help="number of URLs for which the Bloom filters are sized")
    ] = _USUAL["sieve_capacity"],
    error: Annotated[
        str, typer.Option("--error", help="their false-positive rate at that capacity")
    ] = _USUAL["sieve_error"],
    signature_bits: Annotated[
        str,
        typer.Option(
            "--signature-bits", help="bits of the signature that stands for a URL, 16 to 64; lsm: only 64"
        ),
    ] = _USUAL["sieve_signature_bits"],
    stats: Annotated[
        bool, typer.Option("--stats", help="print statistics of the sieve, as JSON on standard error")
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
    options["signature_bits"] = settings.checked(
        "crawl", "sieve_signature_bits", signature_bits, "--signature-bits"
    )
    kind = settings.checked("crawl", "sieve", kind, "--kind")
    with tempfile.TemporaryDirectory(prefix="crivello-sieve-") as folder:
        (Path(folder) / "frontier").mkdir()
        opened = open_sieve(kind, folder, **options)
        lines = lines_of(files or ["-"])
        while batch := list(islice(lines, _BATCH)):
            opened.add(batch)
        while entries := opened.take(_BATCH):
            sys.stdout.write("".join(f"{url}\n" for _, _, url in entries))
        sys.stdout.flush()
        if stats:
            say(msgspec.json.encode(opened.stats()).decode())
        opened.close()
