"""The crawl, on the sample web: every page once, politely, through crashes; the server's log is the witness."""

from __future__ import annotations

import multiprocessing
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from warcio.archiveiterator import ArchiveIterator

from crivello import Collection, settings
from crivello.crawl import Report, crawl
from crivello.crawl.crawler import starts_on_private
from crivello.errors import CrawlError, InvalidArgument
from crivello.lab.web import Feature, SampleWeb
from crivello.settings import Crawl, Settings
from crivello.sieve import KINDS
from crivello.store import Outcome, Row


def quick(**crawl_settings: object) -> Settings:
    """Settings for a crawl of the sample web: no waiting, all hosts."""
    return settings.load(
        flags={"crawl": {"delay": 0.0, "scope": "any", "sitemaps": False, **crawl_settings}}, environment={}
    )


@pytest.fixture(scope="module")
def web() -> Iterator[SampleWeb]:
    with SampleWeb(hosts=8, pages_per_host=12, slow=0.005) as web:
        yield web


@pytest.fixture(scope="module")
def crawled(web: SampleWeb, tmp_path_factory: pytest.TempPathFactory) -> tuple[Collection, Report]:
    folder = tmp_path_factory.mktemp("crawl") / "collection"
    with Collection.write(folder, settings=quick(), create=True) as collection:
        report = crawl(collection, web.seeds)
    return Collection(folder), report


def fetched(collection: Collection) -> list[str]:
    return [row.url for row in collection.pages() if row.outcome is Outcome.FETCHED and row.status == 200]


def requested(web: SampleWeb, since: int = 0) -> Counter[str]:
    """How often each page was asked for, from a place in the server's log on."""
    asked = Counter(f"http://{request.host}:{web.port}{request.path}" for request in web.log[since:])
    return Counter({url: count for url, count in asked.items() if not url.endswith("/robots.txt")})


def row_of(collection: Collection, url: str) -> Row:
    row = collection.page(url)
    assert row is not None, url
    return row


def test_every_page_is_fetched_exactly_once(web: SampleWeb, crawled: tuple[Collection, Report]) -> None:
    pages = fetched(crawled[0])
    assert len(pages) == len(set(pages))
    assert web.pages <= set(pages)
    assert {url for url, count in requested(web).items() if count > 1} == set()


def test_nothing_forbidden_is_requested(web: SampleWeb, crawled: tuple[Collection, Report]) -> None:
    assert web.forbidden
    assert not web.forbidden & set(requested(web))
    refused = {row.url for row in crawled[0].pages() if row.outcome is Outcome.ROBOTS}
    assert refused and refused <= web.forbidden


def test_the_trap_is_cut_off(web: SampleWeb, crawled: tuple[Collection, Report]) -> None:
    collection, report = crawled
    inside = [url for url in requested(web) if web.is_trap(url)]
    assert 0 < len(inside) <= 2 * quick().crawl.max_chain + 1
    assert report.outcomes[Outcome.TRAP] == sum(row.outcome is Outcome.TRAP for row in collection.pages()) > 0


def test_every_url_has_its_row(web: SampleWeb, crawled: tuple[Collection, Report]) -> None:
    collection, report = crawled
    rows = list(collection.pages())
    assert len(rows) == len({row.url for row in rows}) == report.seen
    assert report.waiting == 0
    for url in web.broken:
        assert row_of(collection, url).status in (404, 410)
    for url, target in web.redirects.items():
        row = row_of(collection, url)
        assert (row.outcome, row.redirect) == (Outcome.REDIRECTED, target)


def test_duplicates_are_recognised(web: SampleWeb, crawled: tuple[Collection, Report]) -> None:
    collection, report = crawled
    for pair in web.duplicates:
        first, second = sorted(
            (row_of(collection, url) for url in pair), key=lambda row: row.duplicate_of or ""
        )
        assert first.digest == second.digest
        assert second.duplicate_of == first.url
    assert report.duplicates >= len(web.duplicates)
    near = {
        frozenset((row.url, row.near_duplicate_of)) for row in collection.pages() if row.near_duplicate_of
    }
    assert near == {frozenset(pair) for pair in web.near_duplicates}


def test_what_pages_say_of_themselves_is_kept(web: SampleWeb, crawled: tuple[Collection, Report]) -> None:
    collection, _ = crawled
    latin = row_of(collection, web.features[Feature.UNDECLARED_LATIN1])
    assert any(accented in collection.text(latin) for accented in "àèéìòù")
    assert row_of(collection, web.features[Feature.NOINDEX]).noindex
    assert row_of(collection, web.features[Feature.SCRIPT_TITLE]).title == "<script>alert(1)</script>"
    pdf = row_of(collection, web.features[Feature.PDF])
    assert pdf.content_type == "application/pdf" and pdf.indexable
    assert len(collection.text(pdf).split()) > 20
    assert {"it", "fr", "de", "en"} <= {row.language for row in collection.pages()}


def test_the_archive_is_valid_warc(web: SampleWeb, crawled: tuple[Collection, Report]) -> None:
    from fastwarc.warc import ArchiveIterator as FastIterator

    collection, _ = crawled
    [file] = (collection.folder / "archive").iterdir()
    with file.open("rb") as stream:
        records = [
            (
                record.rec_type,
                record.rec_headers.get_header("WARC-Target-URI"),
                record.content_stream().read(),
            )
            for record in ArchiveIterator(stream, check_digests="raise")
        ]
    bodies = {url: body for kind, url, body in records if kind == "response"}
    assert records[0][0] == "warcinfo"
    for url in web.pages:
        assert bodies[url] == web.resources[url].body, url
    with file.open("rb") as stream:
        verified = [record.verify_block_digest() for record in FastIterator(stream, parse_http=False)]
    assert len(verified) == len(records) and all(verified)


def test_the_record_of_a_page_is_what_was_sent(web: SampleWeb, crawled: tuple[Collection, Report]) -> None:
    collection, _ = crawled
    record = collection.record(row_of(collection, web.seeds[0]))
    assert record.url == web.seeds[0]
    assert record.decoded(10**6) == web.resources[web.seeds[0]].body


def test_requests_to_a_host_wait_for_the_delay(tmp_path: Path) -> None:
    delay = 0.05
    with SampleWeb(hosts=3, pages_per_host=4, slow=0.01) as web:
        with Collection.write(
            tmp_path / "c", settings=quick(delay=delay, max_time=4.0), create=True
        ) as collection:
            crawl(collection, web.seeds)
        by_host: dict[str, list[tuple[float, float]]] = {}
        for request in web.log:
            by_host.setdefault(request.host, []).append((request.time_start, request.time_end))
        assert sum(map(len, by_host.values())) > 40
        for times in by_host.values():
            for (_, ended), (began, _) in pairwise(times):
                # The server sees a request end a moment before the client does, never after it.
                assert began - ended >= delay - 0.005


def test_ctrl_c_works_again_after_a_crawl(crawled: tuple[Collection, Report]) -> None:
    del crawled
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_connections_are_kept_alive(web: SampleWeb, crawled: tuple[Collection, Report]) -> None:
    del crawled
    connections = {(request.host, request.connection_id) for request in web.log}
    assert len(connections) < len(web.log) / 5


def test_limits_end_a_crawl_and_it_goes_on(web: SampleWeb, tmp_path: Path) -> None:
    since = len(web.log)
    with Collection.write(tmp_path / "c", settings=quick(max_pages=20), create=True) as collection:
        first = crawl(collection, web.seeds)
    assert first.pages == 20 and first.waiting > 0
    with Collection.write(tmp_path / "c", settings=quick()) as collection:
        second = crawl(collection)
    assert second.waiting == 0
    assert web.pages <= set(fetched(Collection(tmp_path / "c")))
    assert set(requested(web, since).values()) == {1}


def test_scope_depth_and_pages_per_host(web: SampleWeb, tmp_path: Path) -> None:
    chosen = quick(scope="host", max_depth=1, max_per_host=5)
    with Collection.write(tmp_path / "c", settings=chosen, create=True) as collection:
        crawl(collection, web.seeds[:1])
    rows = list(Collection(tmp_path / "c").pages())
    assert all(row.url.startswith(web.seeds[0]) and row.depth <= 1 for row in rows)
    assert sum(row.status is not None for row in rows) == 5
    assert any(row.outcome is Outcome.LIMIT for row in rows)


def test_where_a_seed_leads_is_in_scope(web: SampleWeb, tmp_path: Path) -> None:
    seed = web.features[Feature.REDIRECT_ACROSS_HOSTS]
    with Collection.write(
        tmp_path / "c", settings=quick(scope="host", max_pages=3), create=True
    ) as collection:
        assert crawl(collection, [seed]).pages == 3
    with Collection.write(tmp_path / "c", settings=quick(scope="host")) as collection:
        crawl(collection)
    target = web.redirects[seed]
    hosts = {urlsplit(row.url).netloc for row in Collection(tmp_path / "c").pages() if row.status}
    assert hosts == {urlsplit(seed).netloc, urlsplit(target).netloc}
    assert Collection(tmp_path / "c").state("crawl")["hosts"] == 2


def test_private_addresses_are_refused_when_no_seed_is_on_one() -> None:
    for address in ("127.0.0.1", "10.0.0.1", "[::1]", "169.254.1.1", "[::ffff:10.0.0.1]", "100.64.0.1"):
        assert starts_on_private(Crawl(), [f"http://{address}/"]), address
    for address in ("9.9.9.9", "[2620:fe::fe]"):
        assert not starts_on_private(Crawl(), [f"http://{address}/"]), address


def test_bad_seeds_are_one_sentence(tmp_path: Path) -> None:
    with Collection.write(tmp_path / "c", settings=quick(), create=True) as collection:
        for url in ("not a url", "ftp://a.example/", "http://", "//a.example/"):
            with pytest.raises(InvalidArgument, match="is not a URL that can be crawled"):
                crawl(collection, [url])
        with pytest.raises(CrawlError, match="has no seeds"):
            crawl(collection)
        with pytest.raises(CrawlError, match="does not resolve"):
            crawl(collection, ["http://no-such-host.invalid/"])


def _crawl_until_killed(folder: Path, seeds: list[str]) -> None:
    chosen = quick(checkpoint=0.1)
    with Collection.write(folder, settings=chosen, create=True) as collection:
        crawl(collection, seeds)


def test_a_killed_crawl_comes_back_and_stores_each_page_once(web: SampleWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    since = len(web.log)
    context = multiprocessing.get_context("spawn")
    moments = random.Random(5)
    kills = 0
    for _ in range(8):
        process = context.Process(target=_crawl_until_killed, args=(folder, web.seeds))
        process.start()
        while not (folder / "manifest.json").exists() and process.is_alive():
            time.sleep(0.01)
        process.join(moments.uniform(0.05, 0.5))
        if not process.is_alive():
            break
        process.kill()
        process.join()
        kills += 1
    assert kills >= 3
    with Collection.write(folder, settings=quick()) as collection:
        report = crawl(collection, web.seeds)
    collection = Collection(folder)
    pages = fetched(collection)
    assert len(pages) == len(set(pages)) and web.pages <= set(pages)
    assert report.waiting == 0
    with (collection.folder / "archive/crivello-00001.warc.gz").open("rb") as stream:
        stored = [
            record.rec_headers.get_header("WARC-Target-URI")
            for record in ArchiveIterator(stream, check_digests="raise")
            if record.rec_type == "response"
        ]
    assert len(stored) == len(set(stored)) == report.pages
    assert sum(count - 1 for count in requested(web, since).values()) < len(pages)


@pytest.mark.parametrize("kind", KINDS)
def test_every_sieve_serves_the_crawl(kind: str, web: SampleWeb, tmp_path: Path) -> None:
    chosen = quick(sieve=kind, max_pages=40)
    with Collection.write(tmp_path / "c", settings=chosen, create=True) as collection:
        crawl(collection, web.seeds)
    with Collection.write(tmp_path / "c", settings=quick(sieve=kind)) as collection:
        report = crawl(collection)
    assert report.waiting == 0 and report.sieve is not None and report.sieve["kind"] == kind
    assert web.pages <= set(fetched(Collection(tmp_path / "c")))
    other = "memory" if kind != "memory" else "mercator"
    with (
        Collection.write(tmp_path / "c", settings=quick(sieve=other)) as collection,
        pytest.raises(InvalidArgument, match=f"was made as {kind} and cannot be opened as {other}"),
    ):
        crawl(collection)
