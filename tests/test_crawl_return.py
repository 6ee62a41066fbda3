"""Stopping and going on: signals end a crawl within three seconds, and the next run takes it from there."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from crivello import Collection
from crivello.lab.web.pdf import write_pdf
from crivello.store import Outcome
from tests.crawling import CONTACT, command, kill
from tests.small_web import Answer, Page, SmallWeb, links, rules, words

PATHS = [f"/{number}" for number in range(40)]
ENOUGH = 3.0


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert process.poll() is None and time.monotonic() < deadline, "it ended, or did not get there"
        time.sleep(0.01)


def interrupted(
    arguments: list[str], ready: Callable[[], bool], number: signal.Signals, settle: float = 0.0
) -> tuple[int, float, str]:
    """Runs a command until something has happened and sends it a signal: its exit code, how long it took, its words."""
    process = subprocess.Popen(
        arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        wait_for(ready, process)
        time.sleep(settle)
        sent = time.monotonic()
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        return process.returncode, time.monotonic() - sent, said.decode()
    finally:
        kill(process)


def flags(web: SmallWeb, tmp_path: Path, *more: object) -> tuple[object, ...]:
    return ("--hosts-file", web.write_hosts_file(tmp_path / "hosts"), *more)


def check_interrupted(ended: tuple[int, float, str], folder: Path) -> None:
    code, seconds, said = ended
    assert (code, "Traceback" in said) == (130, False), said
    assert f"`crivello crawl --into {folder}` goes on" in said
    assert seconds < ENOUGH


@pytest.mark.alone
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_ends_a_slow_crawl_and_it_goes_on(number: signal.Signals, tmp_path: Path) -> None:
    waits = [0.02]

    def slow(path: str) -> Page:
        return lambda _: Answer(f"<p>{words(9, path)}", wait=waits[0])

    hosts: dict[str, dict[str, Page]] = {
        "a.test": {"/": links(*PATHS), **{path: slow(path) for path in PATHS}},
        # An answer that is still to come when the signal does.
        "b.test": {"/": lambda _: Answer("<p>Late.", wait=20 * waits[0])},
        "c.test": {"/": lambda _: Answer("<p>Never.", wait=30 if waits[0] else 0)},
    }
    with SmallWeb(hosts) as web:
        folder = tmp_path / "c"
        arguments = command(folder, [web.url(host) for host in hosts], *flags(web, tmp_path, "--delay", 0.05))
        ended = interrupted(arguments, lambda: len(web.paths("a.test")) > 5, number)
        check_interrupted(ended, folder)
        stopped = {row.url for row in Collection(folder).pages()}
        assert 5 <= len(stopped) < len(PATHS)
        waits[0] = 0.0
        before = len(web.log)
        crawled = web.crawl(folder)
        assert crawled.report.waiting == 0
        rows = [row.url for row in crawled.rows()]
        assert len(rows) == len(set(rows)) == len(PATHS) + 3 and stopped <= set(rows)
        again = {web.url(each.host, each.path) for each in web.log[before:]} & stopped
        assert again == set(), "what was stored is not asked for again"


@pytest.mark.alone
def test_ctrl_c_while_every_host_rests(tmp_path: Path) -> None:
    robots = rules("User-agent: *", "Crawl-delay: 60")
    with SmallWeb({"a.test": {"/robots.txt": robots, "/": links(*PATHS)}}) as web:
        arguments = command(tmp_path / "c", [web.url("a.test")], *flags(web, tmp_path))
        ended = interrupted(arguments, lambda: len(web.log) == 1, signal.SIGINT, settle=0.3)
        check_interrupted(ended, tmp_path / "c")
        assert len(web.log) == 1
        # The rest holds for the next run, too.
        crawled = web.crawl(tmp_path / "c", delay=None, max_time=0.5)
        assert len(web.log) == 1 and crawled.report.stopped_by == "max_time"


@pytest.mark.alone
def test_ctrl_c_before_any_answer(tmp_path: Path) -> None:
    began: list[float] = []

    def never(_: object) -> Answer:
        began.append(time.monotonic())
        return Answer(wait=30)

    with SmallWeb({"a.test": {"/robots.txt": never, "/": "<p>"}}) as web:
        arguments = command(tmp_path / "c", [web.url("a.test")], *flags(web, tmp_path))
        check_interrupted(interrupted(arguments, lambda: bool(began), signal.SIGINT), tmp_path / "c")


CONVERTING = """
import sys
from crivello.crawl import crawler
from crivello.cli import main
script = sys.argv.pop(1)
assert crawler.command
crawler.command = lambda *_: [sys.executable, "-c", script]
main()
"""


@pytest.mark.alone
@pytest.mark.parametrize(
    ("converter", "documents"),
    [
        pytest.param(
            "import time; time.sleep(4.5)",
            1,
            id="one that hangs",
        ),
        pytest.param("import time; time.sleep(0.8)", 6, id="many that take a while"),
    ],
)
def test_ctrl_c_while_documents_are_converted(converter: str, documents: int, tmp_path: Path) -> None:
    names = [f"/{number}.pdf" for number in range(documents)]
    document = Answer(write_pdf("A document", ["Words."]), kind="application/pdf")
    with SmallWeb({"a.test": {"/": links(*names), **dict.fromkeys(names, document)}}) as web:
        crawling = ["crawl", web.url("a.test"), "--into", str(tmp_path / "c"), *CONTACT]
        crawling += map(str, flags(web, tmp_path, "--delay", 0))
        arguments = [sys.executable, "-c", CONVERTING, converter, *crawling]
        ended = interrupted(
            arguments, lambda: len(web.paths("a.test")) > documents, signal.SIGINT, settle=0.1
        )
        check_interrupted(ended, tmp_path / "c")
        # Those that had not become text come with the next run.
        crawled = web.crawl(tmp_path / "c")
        assert crawled.report.waiting == 0
        rows = [crawled.row(web.url("a.test", name)) for name in names]
        assert all(row.outcome is Outcome.FETCHED for row in rows)


def test_settings_change_between_runs(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {
        "a.test": {"/": links("/1", "/2", "/3"), "/1": "", "/2": "", "/3": "<p>Three."},
        "b.test": {"/": links("/deep", text="Another host."), "/deep": "<p>Deep."},
    }
    with SmallWeb(hosts) as web:
        hosts["a.test"]["/1"] = links(web.url("b.test", "/first"), text="One.")
        hosts["a.test"]["/2"] = links(web.url("b.test"), text="Two.")
        first = web.crawl(tmp_path / "c", "a.test", max_pages=2, user_agent="first")
        assert web.paths("a.test") == ["/", "/1"] and first.report.waiting == 2
        before = len(web.log)
        second = web.crawl(tmp_path / "c", delay=0.15, scope="any", user_agent="second")
        assert web.paths("a.test", before) == ["/2", "/3"]
        # The link to /first was out of scope when its page was fetched, and comes back.
        assert sorted(web.paths("b.test")) == ["/", "/deep", "/first"]
        assert second.report.waiting == 0
        for host in hosts:
            hits = sorted(each for each in web.log[before:] if each.host == host)
            assert all(late.start - early.end >= 0.15 for early, late in pairwise(hits))
            assert all(each.headers["user-agent"].startswith("second/") for each in hits)


def test_more_seeds_join_a_crawl(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {"a.test": {"/": "<p>a"}, "b.test": {"/": links("/1"), "/1": "<p>b"}}
    with SmallWeb(hosts) as web:
        web.crawl(tmp_path / "c", "a.test")
        crawled = web.crawl(tmp_path / "c", "a.test", "b.test")
        assert crawled.fetched() == {web.url("a.test"), web.url("b.test"), web.url("b.test", "/1")}
        assert web.paths("a.test") == ["/"]
        seeds = [each["url"] for each in crawled.decisions() if each["event"] == "seed"]
        assert set(seeds) == {web.url("a.test"), web.url("b.test")}


def test_a_stricter_rule_holds_for_what_waits(tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/": links("/1", "/2"), "/1": "<p>1", "/2": "<p>2"}}) as web:
        web.crawl(tmp_path / "c", "a.test", max_pages=1)
        crawled = web.crawl(tmp_path / "c", max_per_host=2)
        assert web.paths("a.test") == ["/", "/1"]
        assert crawled.row(web.url("a.test", "/2")).outcome is Outcome.LIMIT
