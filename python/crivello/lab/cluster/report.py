"""The report of a model: Markdown with tables and plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from crivello.cli.units import duration, volume
from crivello.errors import StorageError
from crivello.lab.cluster.model import Model
from crivello.lab.cluster.plots import draw_all

REPORT = "report.md"
NUMBERS = "model.json"


def write(found: Model, folder: Path) -> Path:
    """Draws the plots and writes ``report.md`` and ``model.json`` into a folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError.of(error, folder) from None
    plots = draw_all(found, folder)
    text = "\n".join(sections(found)) + "\n"
    for plot in plots:
        text += f"\n## {plot.title}\n\n![{plot.title}]({plot.file})\n\n{plot.caption}\n"
    try:
        (folder / NUMBERS).write_bytes(msgspec.json.format(msgspec.json.encode(found.to_dict())) + b"\n")
        (folder / REPORT).write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError.of(error, folder) from None
    return folder / REPORT


def sections(found: Model) -> Iterator[str]:
    """The lines of the report, without the plots."""
    scenario, costs = found.scenario, found.costs
    yield f"# A crawl of {scenario.pages:,} pages by {scenario.agents:,} agents\n"
    yield f"- {found.hosts:,} hosts of at most {scenario.most_per_host:,} pages (Zipf's law, exponent {scenario.zipf:g}) on"
    yield f"  {found.addresses:,} addresses, {found.shared_addresses:.0%} of which have hosts of several agents."
    yield f"- Method {scenario.method}, {scenario.replicas} replicas; {scenario.slots} slots; a request takes {scenario.fetch:g} s, a host"
    yield f"  rests for {scenario.delay:g} s, an address for {scenario.address_delay:g} s."
    yield f"- {found.simulated} agents were simulated page by page, {found.events:,} events in all; loads are those of all agents."
    yield f"- The model ran for {found.seconds:.0f} s. What it assumes is in docs/cluster-model.md.\n"
    for title, rows in tables(found):
        yield f"## {title}\n"
        yield from _markdown(("", ""), rows)
        yield ""
    yield "## Unit costs\n"
    yield from _markdown(
        ("", ""),
        [
            ("assigning a URL, hashing included", f"{1e9 * costs.assign:,.0f} ns"),
            ("parsing a page of 30 kB", f"{1e6 * costs.parse:,.0f} µs"),
            ("a URL through the sieve", f"{1e9 * costs.sieve:,.0f} ns"),
            ("the processor for a page", f"{1e6 * costs.process(scenario):,.0f} µs"),
            ("a URL in a message, compressed", f"{costs.url_bytes:.1f} bytes"),
            ("a message, beside its URLs", f"{costs.message_bytes} bytes"),
        ],
    )


def tables(found: Model) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The results, as tables of two columns with their titles."""
    load, speed, exchange, state = found.load, found.speed, found.exchange, found.state
    yield (
        "Load",
        [
            (
                "deviation of an agent's hosts",
                f"{load.hosts_deviation:.2%} (expected {load.expected_hosts_deviation:.2%})",
            ),
            (
                "deviation of its pages",
                f"{load.pages_deviation:.2%} (expected {load.expected_pages_deviation:.2%})",
            ),
            ("the largest load beside the mean", f"{load.largest:.2f}"),
        ],
    )
    yield (
        "Speed",
        [
            ("pages per second, all agents", f"{speed.pages_per_second:,.0f}"),
            ("pages per second and agent", f"{speed.pages_per_second / found.scenario.agents:,.1f}"),
            *((f"{share} of the pages after", duration(seconds)) for share, seconds in speed.seconds.items()),
            ("slots in use, until 90 %", f"{speed.slot_use:.0%}"),
        ],
    )
    yield (
        "Exchange",
        [
            ("URLs handed over per page", f"{exchange.urls_per_page:.2f}"),
            ("URLs per message", f"{exchange.urls_per_message:.2f}"),
            ("bytes per page", f"{exchange.bytes_per_page:,.0f}"),
            ("bytes per second and agent", f"{exchange.bytes_per_second:,.0f}"),
            ("messages per second and agent", f"{exchange.messages_per_second:,.1f}"),
        ],
    )
    yield (
        "State of an agent",
        [
            ("memory, mean", volume(state.memory)),
            ("memory, the most", volume(state.most_memory)),
            ("disk, mean", volume(state.disk)),
            ("disk, the most", volume(state.most_disk)),
        ],
    )
    if found.loss is not None:
        loss = found.loss
        yield (
            f"Loss of {loss.agents:,} agents after {duration(loss.at)}",
            [
                ("hosts that move", f"{loss.hosts_moved:,} ({loss.hosts_moved / found.hosts:.2%})"),
                (
                    "pages lost with the disks",
                    f"{loss.pages_lost:,.0f} ({loss.pages_lost / found.scenario.pages:.2%})",
                ),
                ("until the next agents fetch from them", duration(loss.takeover_seconds)),
                *(
                    (f"until {share} of the lost pages are back", duration(at))
                    for share, at in loss.redone_seconds.items()
                ),
                ("deviation of an agent's pages afterwards", f"{loss.pages_deviation:.2%}"),
                ("the most that an agent inherits, beside its own", f"{loss.extra:.2%}"),
            ],
        )
    saturation = found.saturation
    yield (
        "Saturation",
        [
            *((f"{slots} slots", f"{rate:,.1f} pages/s and agent") for slots, rate in saturation.rates),
            ("more slots help by less than 5 % from", f"{saturation.slots} on"),
            ("politeness allows at first", f"{saturation.bound:,.1f} pages/s and agent"),
            ("which would fill", f"{saturation.bound_slots:,.0f} slots"),
        ],
    )


def _markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{' --- |' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"
