"""Statistics of an index and the size of its parts, as tables or JSON."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from crivello.cli.output import print_json, say, stdout_console, table_of
from crivello.collection import Collection


def show(collection: Collection, folder: str, json: bool) -> None:
    """Prints the statistics of a collection's index."""
    from crivello.index.stats import stats

    found = stats(collection)
    if json:
        print_json({"collection": folder, **found})
        return
    console = stdout_console()
    console.print(table_of(f"index of {folder}", _overview(found)))
    console.print(_sections(found))
    console.print(_codes(found))
    say(
        "bits an integer on a sample of the lists, and nanoseconds to decode one, by which auto chooses; "
        "* marks the code of the newest segment"
    )


def _overview(found: dict[str, Any]) -> list[tuple[str, str]]:
    function, signatures = found["rank_bits"]
    rows = [
        (name.replace("_", " "), f"{found[name]:,}")
        for name in ("documents", "gone", "terms", "once", "postings", "occurrences", "bytes")
    ]
    for zone, of_zone in found["zones"].items():
        rows.append((f"words in {zone}", f"{of_zone['words']:,}"))
    rows.append(("lists with skips", f"{found['skipped_lists']:,}, {found['skipped_blocks']:,} blocks"))
    rows.append(("ranks of terms", f"{function:.2f} bits a term, and {signatures:.2f} for the signature"))
    for segment in found["segments"]:
        codes = ", ".join(dict.fromkeys(segment["codes"]))
        rows.append(
            (segment["name"], f"{segment['documents']:,} documents, {segment['bytes']:,} bytes, {codes}")
        )
    return rows


def _sections(found: dict[str, Any]) -> Table:
    table = Table(title="bytes", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column in ("section", "bytes", "share", "bits"):
        table.add_column(column, justify="left" if column == "section" else "right")
    of_what = {
        "pointers": ("postings", "a posting"),
        "counts": ("postings", "a posting"),
        "skips": ("postings", "a posting"),
        "positions": ("occurrences", "an occurrence"),
        "terms": ("terms", "a term"),
        "ranks": ("terms", "a term"),
    }
    for name, size in sorted(found["sections"].items(), key=lambda item: -item[1]):
        bits = ""
        if name in of_what and found[of_what[name][0]]:
            number, each = of_what[name]
            bits = f"{size * 8 / found[number]:.2f} {each}"
        table.add_row(name, f"{size:,}", f"{size / max(found['bytes'], 1):.1%}", bits)
    return table


def _codes(found: dict[str, Any]) -> Table:
    table = Table(title="codes", title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column("code")
    table.add_column("ns", justify="right")
    for component in found["components"]:
        table.add_column(component["name"], justify="right")
    used = found["segments"][-1]["codes"] if found["segments"] else []
    table.add_row("entropy", "", *(f"{component['entropy']:.2f}" for component in found["components"]))
    for row, (name, nanoseconds) in enumerate(found["nanoseconds"]):
        cells = []
        for column, component in enumerate(found["components"]):
            bits = component["codes"][row][1]
            mark = "*" if column < len(used) and used[column] == name else ""
            cells.append("refused" if bits is None else f"{mark}{bits:.2f}")
        table.add_row(name, f"{nanoseconds:.1f}", *cells)
    return table
