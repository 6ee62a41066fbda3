"""The live view of a crawl, as a terminal shows it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from crivello import Collection, settings
from crivello.cli.live import CrawlProgress
from crivello.cli.units import duration, rate, volume
from crivello.crawl import Report, crawl
from crivello.lab.web import SampleWeb
from tests.shell import CRIVELLO
from tests.terminal import Terminal
from tests.test_shell import crivello

_NATIVE = {
    "outcomes": {
        "fetched": 12_345_678,
        "redirected": 1,
        "timeout": 3,
        "connection refused": 20_000,
        "over a limit": 5,
    },
    "statuses": {"200": 12_345_678},
    "duplicates": 4_321,
    "near_duplicates": 765,
    "saved": {"links": 0, "pages": 0, "bytes": 0},
    "links": 9,
    "failures": {},
    "unconverted": {},
    "revisits": {},
    "seen": 98_765_432,
    "waiting": 86_419_753,
    "gauges": {
        "requests": 9,
        "bytes": 3 * 2**40,
        "active": 64,
        "hosts_in_workbench": 50_000,
        "hosts_waiting": 151_234,
        "queued": 86_000_111,
        "parse_queue": 17,
        "write_queue": 23,
        "busy_micros": 75,
        "slot_micros": 100,
    },
    "slowest": [["https://slow.example.org", 12.3456, 7], ["https://" + "long" * 40 + ".example", 1.5, 1]],
}


def report() -> Report:
    made = Report()
    made.update(_NATIVE)
    return made


def lines(console: Console, progress: CrawlProgress) -> list[str]:
    with console.capture() as captured:
        console.print(progress.render())
    return captured.get().splitlines()


@pytest.mark.parametrize("width", [80, 120])
def test_everything_is_there_at_any_width_and_without_colour(width: int) -> None:
    console = Console(force_terminal=True, width=width, color_system=None)
    limits = settings.load(flags={"crawl": {"max_time": 7200.0, "max_pages": 20_000_000}}, environment={})
    progress = CrawlProgress(console, limits.crawl)
    progress(report())
    shown = lines(console, progress)
    assert all(len(line) == width - 2 for line in shown) and len(shown) <= 12
    text = "\n".join(shown)
    for part in (
        "12,345,679",
        "/s now",
        "/s mean",
        "3.0 TiB",
        "64 active",
        "50,000 in the workbench",
        "151,234 waiting",
        "98,765,432 seen",
        "86,000,111 queued",
        "86,419,753",
        "17 to parse",
        "23 to write",
        "25% idle",
        "4,321 exact",
        "765 near",
        "connection refused 20,000, timeout 3",
        "12.346 s  https://slow.example.org",
        "ends at 20,000,000 pages (62% done)",
    ):
        assert part in text, part
    assert "over a limit" not in text


def test_a_crawl_is_shown_on_a_terminal(tmp_path: Path) -> None:
    console = Console(force_terminal=True, width=80, record=True, file=io.StringIO())
    chosen = settings.load(flags={"crawl": {"delay": 0.02, "scope": "any", "max_pages": 60}}, environment={})
    progress = CrawlProgress(console, chosen.crawl)
    with (
        SampleWeb(hosts=3, pages_per_host=10, slow=0.02) as web,
        Collection.write(tmp_path / "c", settings=chosen, create=True) as collection,
        progress.shown(),
    ):
        done = crawl(collection, web.seeds, on_progress=progress)
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert "crawling for" in said and "in the workbench" in said and "ends at 60 pages" in said
    assert f"pages       {done.pages}" in "\n".join(
        lines(Console(force_terminal=True, width=80, color_system=None), progress)
    )


@pytest.mark.alone
def test_ctrl_c_takes_the_view_away_and_leaves_the_counts(tmp_path: Path) -> None:
    with SampleWeb(hosts=3, pages_per_host=10, slow=0.02) as web:
        terminal = Terminal(
            [CRIVELLO, "crawl", *web.seeds, "--into", tmp_path / "c", "--delay", "0.3"], width=100
        )
        terminal.wait_for("crawling for 2.")
        terminal.type("\x03")
        code, screen = terminal.end()
    text = "\n".join(screen)
    assert code == 130 and not set("╭│╰") & set(text), text
    assert re.search(r"pages fetched +[1-9]", text) and "goes on" in "".join(screen)


def test_a_crawl_that_goes_on_counts_its_own_pages(tmp_path: Path) -> None:
    console = Console(force_terminal=True, width=80, color_system=None)
    chosen = settings.load(flags={"crawl": {"delay": 0.0, "scope": "any", "max_pages": 10}}, environment={})
    with SampleWeb(hosts=3, pages_per_host=10, slow=0) as web:
        for run in range(2):
            progress = CrawlProgress(console, chosen.crawl)
            with Collection.write(tmp_path / "c", settings=chosen, create=True) as collection:
                done = crawl(collection, web.seeds, on_progress=progress)
            text = "\n".join(lines(console, progress))
            assert f"pages       {done.pages_of_run} " in text and "(100% done)" in text
            assert ("after 10 pages of earlier runs" in text) == bool(run)
    assert done.pages == 2 * done.pages_of_run == 20


def test_results_on_a_terminal_break_between_words(tmp_path: Path) -> None:
    words = [f"lava{'x' * (number % 9)}{number}" for number in range(60)]
    url = f"https://a.example/{'long/' * 20}"
    (tmp_path / "d.jsonl").write_text(json.dumps({"url": url, "title": "Title", "body": " ".join(words)}))
    assert crivello("index", tmp_path / "c", "--from", tmp_path / "d.jsonl").returncode == 0
    code, screen = Terminal([CRIVELLO, "search", tmp_path / "c", "lava*"], width=60).end()
    assert code == 0
    shown = {word.strip("…") for line in screen if "lava" in line for word in line.split()}
    assert shown and shown <= {*words}
    # The address is one piece, which terminals find again.
    assert url in "".join(screen)


def test_it_is_silent_elsewhere(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as out:
        progress = CrawlProgress(Console(file=out))
        with progress.shown():
            progress(report())
    assert (tmp_path / "out").read_text() == ""


def test_numbers_read_well() -> None:
    assert [volume(count) for count in (0, 999, 1000, 2**20, 3 * 2**40)] == [
        "0 bytes",
        "999 bytes",
        "1.0 KiB",
        "1.0 MiB",
        "3.0 TiB",
    ]
    assert [duration(seconds) for seconds in (4.52, 60, 3599, 3723)] == ["4.5 s", "1:00", "59:59", "1:02:03"]
    assert [rate(speed) for speed in (0.25, 9.96, 12.3, 1234)] == ["0.2", "10.0", "12", "1,234"]
