"""Sitemaps in a crawl: found by robots.txt or at their usual place, and followed."""

from __future__ import annotations

import gzip
import os
import re
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import crivello
from crivello.collection import Collection

Answer = tuple[int, str, bytes]
PAGES = int(os.environ.get("CRIVELLO_TEST_SITEMAP_URLS", "50000"))


@contextmanager
def site(answers: Callable[[str, str], Answer | None]) -> Iterator[tuple[str, list[str]]]:
    """A server on loopback; yields its URL and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            status, kind, body = answers(self.path, home) or (404, "text/plain", b"")
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    home = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield home, asked
    finally:
        server.shutdown()
        server.server_close()


def urlset(*entries: str) -> bytes:
    return f"<urlset>{''.join(f'<url>{entry}</url>' for entry in entries)}</urlset>".encode()


@pytest.fixture(autouse=True)
def by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRIVELLO_CRAWL_SITEMAPS", raising=False)


def crawled(folder: Path, *seeds: str, **settings: object) -> Collection:
    collection = crivello.create(folder)
    collection.crawl(seeds, progress=False, delay=0, address_delay=0, **settings)
    return collection


def outcomes(collection: Collection) -> dict[str, tuple[str, int | None, str]]:
    return {row.url: (row.outcome, row.status, row.detail) for row in collection.pages()}


def page(text: str) -> Answer:
    return 200, "text/html", f"<title>{text}</title><p>{text}".encode()


def test_robots_names_an_index_of_compressed_sitemaps(tmp_path: Path) -> None:
    def answers(path: str, home: str) -> Answer | None:
        match path:
            case "/robots.txt":
                return 200, "text/plain", b"Sitemap: /maps/index.xml\nUser-agent: *\nDisallow: /private\n"
            case "/maps/index.xml":
                index = f"<sitemapindex><sitemap><loc>{home}/maps/1.xml.gz</loc></sitemap><sitemap><loc>{home}/maps/list.txt</loc></sitemap></sitemapindex>"
                return 200, "application/xml", index.encode()
            case "/maps/1.xml.gz":
                entries = (
                    f"<loc>{home}/hidden</loc><lastmod>2026-01-02</lastmod>",
                    f"<loc>{home}/private</loc>",
                    "<loc>http://elsewhere.example/</loc>",
                )
                return 200, "application/gzip", gzip.compress(urlset(*entries))
            case "/maps/list.txt":
                return 200, "text/plain", f"{home}/listed\n".encode()
            case "/" | "/hidden" | "/listed":
                return page(f"This is {path}")
        return None

    with site(answers) as (home, asked), crawled(tmp_path / "c", home) as collection:
        found = outcomes(collection)
        assert found[f"{home}/hidden"][:2] == ("fetched", 200)
        assert found[f"{home}/listed"][:2] == ("fetched", 200)
        assert found[f"{home}/private"][0] == "refused by robots.txt"
        assert found[f"{home}/maps/index.xml"] == (
            "sitemap",
            200,
            "it names 2 sitemaps, 2 of them followed, 0 with a date",
        )
        assert found[f"{home}/maps/1.xml.gz"][2] == "it names 3 URLs, 2 of them followed, 1 with a date"
        assert "/sitemap.xml" not in asked
        collection.index(progress=False)
        assert {hit.url for hit in collection.search("this")} == {
            f"{home}/",
            f"{home}/hidden",
            f"{home}/listed",
        }


def test_the_usual_place_is_asked_once_and_counts_as_no_page(tmp_path: Path) -> None:
    with site(lambda path, _: page("home") if path == "/" else None) as (home, asked):
        with crawled(tmp_path / "c", home, max_pages=1) as collection:
            collection.crawl(progress=False, delay=0)
            assert asked.count("/sitemap.xml") == 1
            assert outcomes(collection)[f"{home}/sitemap.xml"] == ("sitemap", 404, "there is none")
            assert collection.status().report.pages == 1  # type: ignore[union-attr]
        asked.clear()
        with crawled(tmp_path / "d", home, sitemaps=False):
            assert "/sitemap.xml" not in asked


def test_a_page_at_the_usual_place_is_no_sitemap(tmp_path: Path) -> None:
    with site(lambda path, _: page(path)) as (home, _), crawled(tmp_path / "c", home) as collection:
        assert outcomes(collection)[f"{home}/sitemap.xml"] == ("sitemap", 200, "there is none")


def test_limits_hold(tmp_path: Path) -> None:
    def answers(path: str, home: str) -> Answer | None:
        if path == "/sitemap.xml":
            return 200, "text/xml", urlset(*(f"<loc>{home}/{number}</loc>" for number in range(10)))
        return page(path) if re.fullmatch(r"/\d*", path) else None

    with site(answers) as (home, asked):
        with crawled(tmp_path / "few", home, sitemap_urls=3) as collection:
            assert "3 and more URLs" in outcomes(collection)[f"{home}/sitemap.xml"][2]
            assert sum(path[1:].isdigit() for path in asked) == 3
        asked.clear()
        with crawled(tmp_path / "flat", home, max_depth=1):
            assert asked.count("/sitemap.xml") == 0
        with crawled(tmp_path / "deep", home, max_depth=2):
            assert "/9" in asked


def test_a_sitemap_may_be_outside_the_folder_of_the_seed(tmp_path: Path) -> None:
    def answers(path: str, home: str) -> Answer | None:
        match path:
            case "/robots.txt":
                return 200, "text/plain", b"Sitemap: /maps.xml"
            case "/maps.xml":
                return 200, "text/xml", urlset(f"<loc>{home}/docs/hidden</loc>", f"<loc>{home}/other</loc>")
            case "/docs/" | "/docs/hidden":
                return page(path)
        return None

    with (
        site(answers) as (home, asked),
        crawled(tmp_path / "c", f"{home}/docs/", scope="prefix") as collection,
    ):
        assert outcomes(collection)[f"{home}/docs/hidden"][0] == "fetched"
        assert "/other" not in asked


def test_a_sitemap_index_takes_bounded_memory(tmp_path: Path) -> None:
    """As many compressed sitemaps of 50,000 URLs as it takes; the crawl stops after a few pages, and all URLs are queued."""
    each = 50_000
    files = max(PAGES // each, 1)

    def answers(path: str, home: str) -> Answer | None:
        if path == "/robots.txt":
            return 200, "text/plain", b"Sitemap: /sitemap.xml"
        if path == "/sitemap.xml":
            entries = "".join(
                f"<sitemap><loc>{home}/sitemap-{n}.xml.gz</loc></sitemap>" for n in range(files)
            )
            return 200, "text/xml", f"<sitemapindex>{entries}</sitemapindex>".encode()
        if number := re.fullmatch(r"/sitemap-(\d+)\.xml\.gz", path):
            start = int(number[1]) * each
            pages = (
                f"<loc>{home}/page/{n}</loc><lastmod>2026-01-02</lastmod>" for n in range(start, start + each)
            )
            return 200, "application/x-gzip", gzip.compress(urlset(*pages), 1)
        return page("home") if path == "/" else None

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with (
        site(answers) as (home, asked),
        crawled(tmp_path / "c", home, max_pages=3) as collection,
    ):
        sitemaps = [path for path in asked if path.startswith("/sitemap-")]
        assert len(sitemaps) == len(set(sitemaps)) == files
        report = collection.status().report  # type: ignore[union-attr]
        assert report.waiting + report.pages >= files * each
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 400, f"{grown:.0f} MiB"
