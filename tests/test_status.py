"""crivello status, by the real command, on crawls of the sample web: ended, stopped, and going on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from docs.generate import ROOT
from hypothesis import given
from hypothesis import strategies as st

from crivello import Collection
from crivello.cli.blocks import axis, bars
from crivello.crawl.decisions import Decision
from crivello.crawl.status import read_status
from crivello.crawl.timeline import Timeline
from crivello.lab.web import Feature, SampleWeb
from tests.shell import CRIVELLO
from tests.test_shell import complaint, crivello, start

PAGE = ROOT / "docs" / "crawl.md"
_QUICK = ("--delay", "0", "--scope", "any", "--checkpoint", "0.2")


@pytest.fixture(scope="module")
def web() -> Iterator[SampleWeb]:
    with SampleWeb(hosts=8, pages_per_host=12, slow=0.01) as web:
        yield web


@pytest.fixture(scope="module")
def folder(web: SampleWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection that was crawled in two runs, the first of which a limit ended."""
    folder = tmp_path_factory.mktemp("status") / "collection"
    first = crivello("crawl", *web.seeds, "--into", folder, *_QUICK, "--max-pages", "40")
    assert first.returncode == 0, first.stderr
    assert "stopped at" in crivello("status", folder).stdout
    assert json.loads(crivello("status", folder, "--json").stdout)["state"] == "stopped"
    second = crivello("crawl", "--into", folder, *_QUICK, "--max-pages", "0")
    assert second.returncode == 0, second.stderr
    return folder


def described(folder: Path, *arguments: str) -> dict[str, Any]:
    done = crivello("status", folder, "--json", *arguments)
    assert done.returncode == 0 and done.stderr == "", done
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_object_agrees_with_the_collection(web: SampleWeb, folder: Path) -> None:
    status = described(folder)
    rows = list(Collection(folder).pages())
    assert status["state"] == "ended" and status["process"] is None and status["waiting"] == 0
    assert sum(status["outcomes"].values()) == len(rows) == status["seen"]
    assert len(status["runs"]) == 2 and status["runs"][0] == 0 < status["runs"][1] < status["seconds"]
    assert status["samples"][-1]["pages"] == status["pages"] > len(web.pages)
    assert set(status["sizes"]) >= {"archive", "frontier", "graph", "log", "table"}
    assert status["sizes"]["archive"] == sum(file.stat().st_size for file in (folder / "archive").iterdir())
    hosts = {host["host"]: host for host in status["busiest"]}
    assert set(hosts) == {seed.rstrip("/") for seed in web.seeds}
    for name, host in hosts.items():
        answered = [row for row in rows if row.url.startswith(f"{name}/") and row.status]
        assert host["pages"] == len(answered)
        assert (
            host["mean_seconds"]
            == pytest.approx(sum(row.seconds for row in answered) / len(answered), rel=1e-3)
            if answered
            else host["mean_seconds"] is None
        )
    closed = web.features[Feature.CLOSED_HOST].rstrip("/")
    assert [name for name, host in hosts.items() if host["given_up"]] == [closed]
    assert hosts[closed]["pages"] == 0
    assert sum(host["errors"] for host in hosts.values()) == sum(status["errors"].values())
    assert described(folder, "--top", "2")["busiest"] == status["busiest"][:2]


@pytest.mark.parametrize("columns", [80, 120])
def test_the_text_fits_and_says_everything(folder: Path, columns: int) -> None:
    done = crivello("status", folder, environment={"COLUMNS": str(columns)})
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    said = " ".join(done.stdout.split())
    assert "in 2 runs; no URL waits" in said
    for part in ("pages fetched", "on disk", "pages/s", "URLs waiting", "hosts active", "busiest hosts", "█"):
        assert part in done.stdout, part


def test_a_plot_is_a_picture(folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "crawl.png"
    assert "drew" in crivello("status", folder, "--plot", picture).stderr
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n") and len(content) > 20_000
    width, height = (int.from_bytes(content[place : place + 4], "big") for place in (16, 20))
    assert (width, height) == (1200, 750)
    drawing = tmp_path / "crawl.svg"
    assert crivello("status", folder, "--plot", drawing, "--json").returncode == 0
    assert "</svg>" in drawing.read_text()
    assert "crawl.png" in complaint("status", folder, "--plot", tmp_path / "crawl.doc", code=2)
    assert "No such file" in crivello("status", folder, "--plot", tmp_path / "no" / "crawl.png").stderr


def test_no_crawl_is_one_sentence(tmp_path: Path) -> None:
    Collection.write(tmp_path / "c", create=True).close()
    done = crivello("status", tmp_path / "c")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == f"{tmp_path / 'c'} has no crawl yet\n"
    assert "is not a collection" in complaint("status", tmp_path / "missing", code=3)


def test_both_tables_count_the_same_errors(web: SampleWeb, tmp_path: Path) -> None:
    nobody = "http://127.0.0.1:1"
    crivello("crawl", f"{nobody}/", web.seeds[0], "--into", tmp_path / "c", "--retries", "1", "--delay", "0")
    status = described(tmp_path / "c")
    assert status["errors"] == {"connection refused": 1}
    assert {host["host"]: host["errors"] for host in status["busiest"] if host["errors"]} == {nobody: 1}


def test_a_crawl_can_be_followed_from_another_process(web: SampleWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    crawling = start("crawl", *web.seeds, "--into", folder, "--delay", "0.3", "--checkpoint", "0.2")
    try:
        deadline = time.monotonic() + 30
        # The folder is in use before the crawl begins.
        while crivello("status", folder).returncode or (status := described(folder))["state"] != "crawling":
            assert crawling.poll() is None and time.monotonic() < deadline
            time.sleep(0.1)
        assert status["process"] == crawling.pid
        with start("status", folder, "--follow", "--json") as following:
            assert following.stdout is not None
            said = [following.stdout.readline() for _ in range(2)]
            crawling.send_signal(signal.SIGINT)
            said += following.stdout
    finally:
        crawling.kill()
        crawling.communicate(timeout=30)
    seen = [json.loads(line) for line in said]
    assert following.returncode == 0 and len(seen) >= 2
    assert seen[0]["state"] == "crawling" and seen[-1]["state"] == "stopped"
    assert [each["pages"] for each in seen] == sorted(each["pages"] for each in seen)
    assert all(each["busiest"] == [] for each in seen)


def test_only_what_was_committed_counts(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", folder, copy], check=True)
    for name in ("decisions-00001.jsonl", "progress.jsonl"):
        with (copy / "log" / name).open("ab") as log:
            log.write(b'{"url":"http://later.example/","event":"fetched"}\n{"url":"http://half')
    expected = {**described(folder), "collection": str(copy)}
    assert described(copy) == expected


def test_a_folder_in_use_for_something_else_is_not_crawling(folder: Path) -> None:
    with Collection.write(folder):
        status = read_status(Collection(folder))
        assert status is not None and (status.state, status.process) == ("in use", os.getpid())
        assert not status.is_going_on


def test_a_closed_pipe_is_no_error(folder: Path) -> None:
    command = f"set -o pipefail; {CRIVELLO} status {folder} | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


def queries() -> list[str]:
    """The queries in the page of the crawl."""
    return re.findall(r"^```sql\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def test_the_queries_in_the_docs_answer(web: SampleWeb, folder: Path) -> None:
    import duckdb

    outcomes, reasons, minutes = (
        duckdb.execute(query.replace("'example/", f"'{folder}/")).fetchall() for query in queries()
    )
    status = described(folder)
    counted = {event: count for event, count, _ in outcomes}
    assert status["outcomes"] == {event: counted[event] for event in status["outcomes"]}
    # Both runs write down where they begin.
    assert counted["seed"] == 2 * len(web.seeds)
    forbidden = web.seeds[0].rstrip("/"), "refused by robots.txt", "line 3: Disallow: /private/"
    assert forbidden in {reason[:3] for reason in reasons}
    assert sum(pages for _, pages, _ in minutes) == status["pages"]


def test_the_fields_of_the_logs_are_in_the_docs(folder: Path) -> None:
    documented = set(re.findall(r"`(\w+)`", PAGE.read_text().split("## Knowing what happens")[1]))
    assert {field.name for field in msgspec.structs.fields(Decision)} <= documented
    assert set(described(folder)["samples"][0]) <= documented


def sample(seconds: float, pages: int, **others: float) -> dict[str, Any]:
    return {"time": 1000 + seconds, "seconds": seconds, "pages": pages, "waiting": pages, **others}


@given(st.lists(st.tuples(st.floats(0.01, 100), st.integers(0, 1000)), max_size=30), st.integers(1, 100))
def test_rates_add_up_to_what_was_counted(steps: list[tuple[float, int]], stretches: int) -> None:
    seconds, pages, samples = 0.0, 0, []
    for took, came in steps:
        seconds, pages = seconds + took, pages + came
        samples.append(sample(seconds, pages))
    timeline = Timeline(samples)
    rates = timeline.rates("pages", stretches)
    assert sum(rates) * seconds / stretches == pytest.approx(pages)
    assert all(rate >= -1e-6 for rate in rates)
    levels = timeline.levels("waiting", stretches)
    assert len(levels) == len(rates) == (stretches if steps else 0)
    assert not levels or levels[-1] == pages
    assert len(timeline.runs) == min(1, len(steps))


def test_runs_are_told_apart() -> None:
    samples = [
        sample(1, 10, began=1000),
        sample(2, 20, began=1000),
        sample(3, 30, began=1002),
        sample(4, 70, began=1002),
        sample(5, 80, began=1064),
    ]
    timeline = Timeline(samples)
    assert timeline.runs == [0.0, 2, 4]
    assert timeline.rates("pages", 5) == [10, 10, 10, 40, 10]
    assert timeline.rate_of_late("pages", 60) == 10
    assert Timeline(samples[:4]).rate_of_late("pages", 60) == 25


@given(st.lists(st.floats(0, 1e12), max_size=50), st.integers(1, 3))
def test_bars_are_as_high_as_their_values(values: list[float], height: int) -> None:
    lines = bars(values, height)
    assert len(lines) == height and all(len(line) == len(values) for line in lines)
    heights = [sum(" ▁▂▃▄▅▆▇█".index(line[place]) for line in lines) for place in range(len(values))]
    assert [high > 0 for high in heights] == [value > 0 for value in values]
    assert sorted(heights) == [high for _, high in sorted(zip(values, heights, strict=True))]
    assert max(heights, default=0) in (0, 8 * height)


def test_the_axis_marks_the_runs() -> None:
    assert axis(10, 100.0, [0.0, 55.0], "1:40") == "┴────┴──── 1:40"
