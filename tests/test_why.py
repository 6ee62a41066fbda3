"""crivello why: the story of each kind of URL on the sample web, told by the real command."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from crivello import Collection
from crivello.crawl.decisions import decision_files, decisions_naming
from crivello.crawl.seen import depths_in_frontier
from crivello.lab.web import Feature, SampleWeb
from crivello.store import Outcome
from tests.test_shell import complaint, crivello


@pytest.fixture(scope="module")
def web() -> Iterator[SampleWeb]:
    with SampleWeb(hosts=8, pages_per_host=12, slow=0.005) as web:
        yield web


@pytest.fixture(scope="module")
def folder(web: SampleWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("why") / "collection"
    done = crivello("crawl", *web.seeds, "--into", folder, "--delay", "0", "--max-chain", "5")
    assert done.returncode == 0, done.stderr
    assert crivello("index", folder).returncode == 0
    return folder


def told(folder: Path, url: str, code: int = 0) -> tuple[str, dict[str, Any]]:
    """The story as text, on one line so that nothing depends on its width, and as an object."""
    said, described = crivello("why", folder, url), crivello("why", folder, url, "--json")
    assert said.returncode == described.returncode == code, said
    assert said.stderr == ""
    return " ".join(said.stdout.split()), json.loads(described.stdout)


def test_a_page_has_its_whole_story(web: SampleWeb, folder: Path) -> None:
    page = web.features[Feature.MANY_SPELLINGS]
    text, story = told(folder, page)
    row = Collection(folder).page(page)
    assert row is not None
    assert "It was fetched." in text and "fetched: status 200, text/html" in text
    assert f'first on {web.seeds[1]} as "Opening hours of the café' in text
    assert f"archive/crivello-00001.warc.gz, offset {row.offset:,}, {row.length:,} bytes" in text
    assert "it is in the index" in text
    assert story["state"] == "done" and story["depth"] == 1 and not story["seed"]
    assert story["found"]["url"] == web.seeds[1] and story["linking_pages"] >= 1
    assert story["record"] == {
        "file": "archive/crivello-00001.warc.gz",
        "offset": row.offset,
        "length": row.length,
    }
    assert story["robots"][0]["status"] == 404
    assert [decision["event"] for decision in story["decisions"]] == ["fetched"]


def test_a_seed_says_that_it_is_one_in_any_spelling(web: SampleWeb, folder: Path) -> None:
    spelling = web.seeds[0].replace("http", "HTTP") + "x/../#top"
    text, story = told(folder, spelling)
    assert "it is a seed" in text and story["seed"] and story["depth"] == 0
    assert story["given"] == spelling
    text, story = told(folder, web.seeds[0] + "?utm_source=mail")
    assert story["url"] == web.seeds[0]
    assert f"canonical form {web.seeds[0]} (tracking parameters were taken out)" in text


def test_robots_txt_is_named_with_its_line(web: SampleWeb, folder: Path) -> None:
    text, story = told(folder, web.features[Feature.FORBIDDEN])
    host = web.seeds[0].rstrip("/")
    assert f"It was not asked for: the robots.txt of {host} forbids it (line 3: Disallow: /private/)." in text
    assert "robots.txt answered 200" in text
    assert story["page"]["outcome"] == Outcome.ROBOTS and story["record"] is None and not story["indexed"]


def test_a_closed_host_is_named(web: SampleWeb, tmp_path: Path) -> None:
    closed = web.features[Feature.CLOSED_HOST]
    complaint("crawl", closed, "--into", tmp_path / "c", "--delay", "0", "--retries", "0", code=3)
    text, _ = told(tmp_path / "c", closed)
    assert "could not be had, which forbids everything: robots.txt answers 503" in text
    assert "robots.txt answered 503, and the host was given up" in text


def test_a_trap_is_named(web: SampleWeb, folder: Path) -> None:
    [cut, *_] = [row.url for row in Collection(folder).pages() if row.outcome is Outcome.TRAP]
    text, story = told(folder, cut)
    assert web.is_trap(cut)
    assert "It was cut off as a trap: 6 links in a row led to URLs that differ only in numbers." in text
    assert web.is_trap(story["found"]["url"])


def test_redirects_are_told_from_both_ends(web: SampleWeb, folder: Path) -> None:
    start = web.features[Feature.REDIRECT_TO_FORBIDDEN]
    target = web.redirects[start]
    text, _ = told(folder, start)
    assert f"It redirects with status 302 to {target}." in text
    assert f"redirects to {target} (refused by robots.txt)" in text
    text, story = told(folder, target)
    assert story["redirected_from"] == [start] and f"redirected from {start}" in text


def test_a_redirect_out_of_scope_says_so(web: SampleWeb, tmp_path: Path) -> None:
    home, leaving = web.seeds[1], web.features[Feature.REDIRECT_ACROSS_HOSTS]
    assert crivello("crawl", home, "--into", tmp_path / "c", "--delay", "0").returncode == 0
    text, _ = told(tmp_path / "c", leaving)
    assert "which is not followed: it is on another host than the seeds" in text
    text, story = told(tmp_path / "c", web.redirects[leaving], code=1)
    assert story["state"] == "left out" and story["found"]["redirect"]
    assert "the crawl did not take it in: it is on another host than the seeds." in text
    assert story["scope_refusal"] == "it is on another host than the seeds"


def test_what_lies_too_deep_says_so(web: SampleWeb, tmp_path: Path) -> None:
    done = crivello("crawl", web.seeds[0], "--into", tmp_path / "c", "--delay", "0", "--max-depth", "1")
    assert done.returncode == 0
    collection = Collection(tmp_path / "c")
    [deep, *_] = sorted(
        url
        for url in web.pages
        if url.startswith(web.seeds[0]) and collection.page(url) is None and not web.is_trap(url)
    )
    text, story = told(tmp_path / "c", deep, code=1)
    assert story["state"] == "left out" and story["scope_refusal"] is None
    assert "it is farther from the seeds than max_depth (1)." in text


def test_duplicates_are_told_from_both_ends(folder: Path) -> None:
    copy = next(row for row in Collection(folder).pages() if row.duplicate_of)
    original = copy.duplicate_of
    assert original is not None
    text, story = told(folder, copy.url)
    assert f"and is a duplicate of {original}." in text and not story["indexed"]
    assert "not in the index: it has the words of another page" in text
    text, story = told(folder, original)
    assert story["copies"] == [copy.url] and f"is copied by {copy.url}" in text and story["indexed"]


@pytest.mark.parametrize(
    ("feature", "reason"),
    [
        (Feature.NOINDEX, "it asks not to be indexed (noindex)"),
        (Feature.NOT_FOUND, "its status is 404"),
        (Feature.IMAGE, "image/png is not text"),
    ],
)
def test_what_is_not_indexed_says_why(web: SampleWeb, folder: Path, feature: Feature, reason: str) -> None:
    text, story = told(folder, web.features[feature])
    assert f"not in the index: {reason}" in text and story["index_reason"] == reason


def test_a_failure_tells_each_try(tmp_path: Path) -> None:
    nobody = "http://127.0.0.1:1/"
    complaint(
        "crawl",
        nobody,
        "--into",
        tmp_path / "c",
        "--retries",
        "1",
        "--delay",
        "0",
        "--no-obey-robots",
        code=3,
    )
    text, story = told(tmp_path / "c", nobody)
    assert "It could not be fetched after 2 tries: connection refused" in text
    assert "try 1 failed: " in text and "; again after " in text
    assert [decision["event"] for decision in story["decisions"]] == ["tried again", "connection refused"]


def test_a_url_that_waits_is_known(web: SampleWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    assert (
        crivello("crawl", web.seeds[0], "--into", folder, "--delay", "0", "--max-pages", "1").returncode == 0
    )
    collection = Collection(folder)
    waiting = web.features[Feature.REDIRECT_CHAIN]
    assert collection.page(waiting) is None
    text, story = told(folder, waiting)
    assert "It is known and waits in the frontier for its turn." in text
    assert story["state"] == "waits" and story["depth"] == 1 and story["found"]["url"] == web.seeds[0]


def test_what_was_never_seen_exits_with_one(web: SampleWeb, folder: Path) -> None:
    never = "It was never seen: it is no seed, and no page that was fetched links to it"
    for url, reason in (
        (web.features[Feature.ONLY_IN_SITEMAP], "."),
        ("http://a.example/", ", and it would not be followed: it is on another host than the seeds."),
    ):
        text, story = told(folder, url, code=1)
        assert never + reason in text
        assert story["state"] == "unknown" and story["decisions"] == []
    assert "is not a URL" in complaint("why", folder, "nonsense", code=2)
    assert "is not a collection" in complaint("why", folder / "missing", "http://a.example/", code=3)


def test_every_url_is_found_in_the_log_and_in_the_frontier(folder: Path) -> None:
    """Against the obvious way: to read every line."""
    collection = Collection(folder)
    lines = [line for file, _ in decision_files(collection) for line in file.read_bytes().splitlines()]
    everything = [msgspec.json.decode(line) for line in lines]
    for row in list(collection.pages())[::7]:
        expected = [each for each in everything if row.url in (each["url"], each.get("other"))]
        assert [decision.to_dict() for decision in decisions_naming(collection, row.url)] == expected
        depths = depths_in_frontier(collection, row.url)
        assert depths is not None and depths[0] == row.depth
    assert depths_in_frontier(collection, "http://a.example/") is None


def test_only_what_was_committed_counts(web: SampleWeb, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", folder, copy], check=True)
    before = told(copy, web.seeds[0])
    with (copy / "log/decisions-00001.jsonl").open("ab") as log:
        log.write(b'{"time":1,"url":"' + web.seeds[0].encode() + b'","event":"fetched","deta')
    assert told(copy, web.seeds[0]) == before
