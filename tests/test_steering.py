"""A crawl that is told what to do while it runs: by commands in a log, as the dashboard gives them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from crivello import Collection, settings
from crivello.crawl.crawler import Crawler
from crivello.crawl.now import read_now
from crivello.crawl.report import Report
from crivello.crawl.steering import Answer as Said
from crivello.crawl.steering import CommandLog, answers_of, command, set_in_file, waiting_commands
from crivello.errors import InvalidArgument, InvalidSetting
from crivello.store import Outcome
from tests.small_web import Answer, Crawled, SmallWeb, links, words

T = TypeVar("T")
PAGES = 120
SLOW = 0.02


def page(number: int, *targets: str) -> Answer:
    return Answer(links(*targets, text=words(30, f"p{number}x")), wait=SLOW)


def slow_site(*others: str, pages: int = PAGES) -> dict[str, Answer]:
    """A site whose pages take a while: a crawl of it can be told something."""
    paths = [f"/{number}" for number in range(pages)]
    return {"/": page(-1, *paths, *others), **{path: page(place) for place, path in enumerate(paths)}}


class Running:
    """A crawl in a thread."""

    def __init__(self, web: SmallWeb, folder: Path, collection: Collection, *seeds: str) -> None:
        self.web, self.folder = web, folder
        self.collection = collection
        self.report: Report | None = None
        self._log = CommandLog(folder)
        self._crawler = Crawler(collection, [web.url(seed) for seed in seeds])
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        self.report = self._crawler.run()
        self.collection.close()

    def tell(self, kind: str, value: str = "") -> Said:
        """Tells the crawl something, and waits until it has answered."""
        told = command(kind, value, by="a test")
        self._log.add(told)
        return self.wait_for(lambda: next((each for each in self.answers() if each.id == told.id), None))

    def answers(self) -> list[Said]:
        return answers_of(Collection(self.folder))

    def end(self) -> Crawled:
        self.thread.join(60)
        assert not self.thread.is_alive() and self.report is not None
        return Crawled(Collection(self.folder), self.report)

    def wait_for(self, what: Callable[[], T | None], seconds: float = 20) -> T:
        deadline = time.monotonic() + seconds
        while (found := what()) is None or found is False:
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.02)
        return found


@contextmanager
def crawling(web: SmallWeb, folder: Path, *seeds: str, **chosen: object) -> Iterator[Running]:
    hosts_file = web.write_hosts_file(folder.with_suffix(".hosts"))
    flags = {"delay": 0.0, "sitemaps": False, "feeds": False, "hosts_file": str(hosts_file)} | chosen
    loaded = settings.load(flags={"crawl": flags}, environment={})
    with Collection.write(folder, settings=loaded, create=True) as collection:
        running = Running(web, folder, collection, *seeds)
        running.thread.start()
        try:
            if seeds:
                running.wait_for(lambda: len(web.log) > 10)
            yield running
        finally:
            running._crawler.stop()
            running.thread.join(30)


def test_a_pause_stops_requests_until_the_crawl_is_resumed(tmp_path: Path) -> None:
    with SmallWeb({"a.test": slow_site()}) as web, crawling(web, tmp_path / "c", "a.test") as running:
        said = running.tell("pause")
        assert said.is_done and said.text == "paused"
        # What was on its way then may still arrive.
        began = time.time() + 0.1
        now = running.wait_for(lambda: read_now(Collection(running.folder)))
        assert now["state"] == "paused" and now["report"]["pages"] > 0
        time.sleep(0.6)
        assert not [each.path for each in web.log if each.start > began], "a request was made in the pause"
        assert len(web.log) < PAGES
        running.tell("resume")
        crawled = running.end()
        # Nothing is lost, and nothing is asked for twice but what was on its way when the pause began.
        assert len(crawled.fetched()) == PAGES + 1
        assert len(web.paths("a.test")) <= PAGES + 1 + 2
        steered = [each["detail"] for each in crawled.decisions() if each["event"] == "steered"]
        assert steered == ["paused, as a test said", "resumed, as a test said"]
        assert crawled.report.pages == PAGES + 1 and crawled.report.pages_of_run == PAGES + 1
        assert read_now(Collection(running.folder)) is None, "the figures outlive the crawl"


def test_a_stop_is_a_checkpoint_from_which_a_crawl_goes_on(tmp_path: Path) -> None:
    with SmallWeb({"a.test": slow_site()}) as web:
        with crawling(web, tmp_path / "c", "a.test") as running:
            assert running.tell("stop").text == "stopped"
            crawled = running.end()
            assert crawled.report.is_stopped and 0 < len(crawled.fetched()) < PAGES
        crawled = web.crawl(tmp_path / "c")
        assert len(crawled.fetched()) == PAGES + 1 and not crawled.report.is_stopped


def test_a_stop_for_an_earlier_run_does_not_end_the_next(tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/": links("/b"), "/b": "b"}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")
        late = command("stop")
        CommandLog(tmp_path / "c").add(late)
        assert waiting_commands(crawled.collection) == [late]
        web.hosts["a.test"]["/"] = links("/b", "/c")  # type: ignore[index]
        crawled = web.crawl(tmp_path / "c", web.url("a.test", "/c"))
        assert not crawled.report.is_stopped and crawled.row(web.url("a.test", "/c"))
        [said] = answers_of(crawled.collection)
        assert (said.id, said.is_done, said.text) == (late.id, False, "no crawl was running")
        assert waiting_commands(crawled.collection) == []


def test_seeds_scope_and_delay_change_within_a_run(tmp_path: Path) -> None:
    slow = slow_site("http://c.test/")
    with SmallWeb({"a.test": slow, "b.test": {"/": "bees"}, "c.test": {"/": "seas"}}) as web:
        slow["/"] = page(-1, *(f"/{number}" for number in range(PAGES)), web.url("c.test"))
        with crawling(web, tmp_path / "c", "a.test") as running:
            assert running.tell("seeds", web.url("b.test")).text == f"{web.url('b.test')} was added"
            again = running.tell("seeds", web.url("b.test"))
            assert again.is_done and again.text == "0 seeds were added"
            assert running.tell("scope", "any").text == "the scope is any"
            assert running.tell("delay", "0.15").text == "the delay is 0.15 s"
            before = len(web.log)
            running.wait_for(lambda: len(web.log) > before + 8)
            running.tell("delay", "0")
            crawled = running.end()
        assert {web.url("b.test"), web.url("c.test")} <= crawled.fetched()
        assert len(crawled.fetched()) == PAGES + 3
        gaps = sorted(web.gaps("a.test"))
        assert sum(gap >= 0.15 for gap in gaps) >= 5, gaps[-10:]
        # The next run has the scope and the delay, too.
        kept = settings.load(tmp_path / "c" / "crivello.toml", environment={}).crawl
        assert (kept.scope, kept.delay) == ("any", 0.0)


def test_a_page_and_a_host_are_visited_again(tmp_path: Path) -> None:
    with (
        SmallWeb({"a.test": slow_site(), "b.test": {"/": links("/x"), "/x": "x"}}) as web,
        crawling(web, tmp_path / "c", "a.test", "b.test") as running,
    ):
        running.wait_for(lambda: "/x" in web.paths("b.test"))
        running.tell("pause")
        assert (
            running.tell("refresh", web.url("b.test", "/x")).text
            == f"{web.url('b.test', '/x')} is visited again"
        )
        unknown = running.tell("refresh", web.url("b.test", "/unknown"))
        assert not unknown.is_done and "was not visited yet" in unknown.text
        running.tell("resume")
        running.wait_for(lambda: web.paths("b.test").count("/x") == 2)
        asked = web.paths("b.test").count("/")
        said = running.tell("refresh-host", web.url("b.test"))
        assert said.text == f"2 pages of {web.url('b.test')[:-1]} are visited again"
        running.wait_for(lambda: web.paths("b.test").count("/") == asked + 1)
        crawled = running.end()
        assert len(crawled.rows()) == len(crawled.fetched() | {web.url("b.test"), web.url("b.test", "/x")})
        assert len(crawled.rows()) == PAGES + 3
        assert web.paths("b.test").count("/x") == 3


def test_nothing_is_fetched_from_a_blocked_host_until_it_is_let_in_again(tmp_path: Path) -> None:
    sites = {"a.test": slow_site(), "b.test": slow_site()}
    with SmallWeb(sites) as web, crawling(web, tmp_path / "c", "a.test", "b.test") as running:
        assert running.tell("block", "a.test").text == "a.test is blocked"
        asked = len(web.paths("a.test"))
        running.wait_for(lambda: len(web.paths("b.test")) > PAGES)
        crawled = running.end()
        assert len(web.paths("a.test")) == asked < PAGES
        refused = [row for row in crawled.rows() if row.detail == "its host is blocked"]
        assert refused and {row.outcome for row in refused} == {Outcome.LIMIT}
        assert {row.url for row in refused}.isdisjoint(crawled.fetched())
        assert len(refused) + len(crawled.fetched()) == 2 * (PAGES + 1)
        kept = settings.load(tmp_path / "c" / "crivello.toml", environment={}).crawl
        assert kept.block == "a.test"
        for host in (web.url("a.test"), "never.test"):
            CommandLog(tmp_path / "c").add(command("unblock", host))
        crawled = web.crawl(tmp_path / "c", block="a.test")
        unblocked, unknown = answers_of(crawled.collection)[-2:]
        again = f"{len(refused):,} URLs are visited after all"
        assert unblocked.text == f"a.test:{web.port} is not blocked any more; {again}"
        assert not unknown.is_done and unknown.text == "never.test is not blocked"
        assert len(crawled.fetched()) == 2 * (PAGES + 1)


def test_a_private_seed_needs_the_command_line(tmp_path: Path) -> None:
    with SmallWeb({"a.test": slow_site()}) as web, crawling(web, tmp_path / "c", "a.test") as running:
        running._crawler._private = False
        said = running.tell("seeds", "http://127.0.0.1:9/")
        assert not said.is_done and "private network" in said.text


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("explode", "", "is not something a crawl can be told"),
        ("seeds", "", "there is no URL"),
        ("seeds", "ftp://a.example/", "is not a URL that can be crawled"),
        ("seeds", "https://a.example/ " * 1001, "at most 1,000 seeds"),
        ("scope", "galaxy", "scope"),
        ("delay", "-1", "delay"),
        ("delay", "soon", "delay"),
        ("block", "a b", "is not a host"),
        ("refresh", "a.example", "is not a URL that can be crawled"),
    ],
)
def test_what_makes_no_sense_is_refused_before_it_is_logged(kind: str, value: str, reason: str) -> None:
    with pytest.raises((InvalidArgument, InvalidSetting), match=reason):
        command(kind, value)


def test_a_command_that_a_crash_cut_off_is_passed_over(tmp_path: Path) -> None:
    log = CommandLog(tmp_path)
    first, second = command("pause"), command("block", "HTTP://A.example:80/x")
    assert second.value == "a.example"
    log.add(first)
    with (tmp_path / "commands.jsonl").open("ab") as file:
        file.write(b'\n{"id": "torn", "ti')
    assert log.read()[0] == [first]
    log.add(second)
    found, end = log.read()
    assert found == [first, second] and log.read(end) == ([], end)
    assert log.read(end + 1000)[0] == found, "a log that was emptied is read from its start"


def test_a_setting_is_changed_in_its_line_alone(tmp_path: Path) -> None:
    file = tmp_path / "crivello.toml"
    before = "# mine\n[crawl]\n# delay =\nscope = 'host' # why\n\n[index]\nscope = 1\n"
    file.write_text(before)
    set_in_file(tmp_path, {"scope": "any", "delay": 2.5})
    expected = '# mine\n[crawl]\ndelay = 2.5\nscope = "any"\n\n[index]\nscope = 1\n'
    assert file.read_text() == expected
    set_in_file(tmp_path, {"delay": None, "retries": 7})
    assert file.read_text() == expected.replace("delay = 2.5", "# delay =").replace(
        "[crawl]\n", "[crawl]\nretries = 7\n"
    )
    file.unlink()
    set_in_file(tmp_path, {"scope": "any"})
    assert settings.load(file, environment={}).crawl.scope == "any"
