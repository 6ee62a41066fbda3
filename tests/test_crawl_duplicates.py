"""Duplicates while crawling: what each treatment fetches, stores, indexes and tells, through the real command."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crivello import Collection
from crivello.archives import read
from crivello.lab.near import sample
from crivello.lab.web import SampleWeb
from crivello.store import Row
from tests.small_web import Answer, Page, SmallWeb, tagged, words
from tests.test_shell import crivello

A, B = "a.test", "b.test"
ARTICLE = random.Random(7).choices([f"term{number}" for number in range(300)], k=400)
REPRINT = [*ARTICLE[:200], "reworded", *ARTICLE[201:]]
BEHIND = {"/behind-copy", "/behind-reprint"}


def page(text: str, *targets: str) -> str:
    """A page whose links have no text, so that its words are those of the text."""
    anchors = "".join(f'<a href="{target}"></a>' for target in targets)
    return f"<html><body><p>{text}</p>{anchors}</body></html>"


def hosts(port: int) -> dict[str, dict[str, Page]]:
    """A host that is walked from page to page, so that its pages are the originals, and leads to another, which has a copy
    and a reprint, each with a link of its own."""
    return {
        A: {
            "/": page(words(60, "home"), "/text"),
            "/text": page(words(80, "text"), "/article"),
            "/article": page(" ".join(ARTICLE), f"http://{B}:{port}/"),
        },
        B: {
            "/": page(words(60, "elsewhere"), "/copy", "/reprint"),
            "/copy": page(words(80, "text"), "/behind-copy"),
            "/reprint": page(" ".join(REPRINT), "/behind-reprint"),
            "/behind-copy": page(words(60, "behind")),
            "/behind-reprint": page(words(60, "further")),
        },
    }


@pytest.fixture
def web() -> Iterator[SmallWeb]:
    pages: dict[str, dict[str, Page]] = {A: {}, B: {}}
    with SmallWeb(pages) as web:
        pages.update(hosts(web.port))
        yield web


def flags(web: SmallWeb, folder: Path) -> list[str]:
    names = web.write_hosts_file(folder.with_suffix(".hosts"))
    return ["--hosts-file", str(names), "--delay", "0", "--scope", "any", "--no-sitemaps", "--no-feeds"]


def crawl(web: SmallWeb, folder: Path, exact: str, near: str) -> dict[str, Any]:
    chosen = ["--exact-duplicates", exact, "--near-duplicates", near, *flags(web, folder)]
    done = crivello("crawl", web.url(A), "--into", folder, *chosen, "--json")
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def row(web: SmallWeb, folder: Path, path: str, host: str = B) -> Row:
    found = Collection(folder).page(web.url(host, path))
    assert found is not None
    return found


def indexed(web: SmallWeb, folder: Path) -> set[str]:
    """The paths of the other host that are in the index."""
    assert crivello("index", folder).returncode == 0
    collection = Collection(folder)
    return {path for path in web.hosts[B] if collection.why(web.url(B, path)).is_indexed}


@pytest.mark.parametrize(
    ("exact", "near", "fetched", "stored", "found"),
    [
        ("keep", "keep", BEHIND, {"/copy", "/reprint"}, {"/copy", "/reprint", *BEHIND}),
        ("mark", "mark", BEHIND, {"/copy", "/reprint"}, {"/reprint", *BEHIND}),
        ("skip-links", "mark", {"/behind-reprint"}, {"/copy", "/reprint"}, {"/reprint", "/behind-reprint"}),
        ("mark", "skip-links", {"/behind-copy"}, {"/copy", "/reprint"}, {"/reprint", "/behind-copy"}),
        ("drop", "drop", set(), set(), set()),
        ("keep", "drop", {"/behind-copy"}, {"/copy"}, {"/copy", "/behind-copy"}),
    ],
)
def test_each_treatment_does_what_it_says(
    web: SmallWeb, tmp_path: Path, exact: str, near: str, fetched: set[str], stored: set[str], found: set[str]
) -> None:
    folder = tmp_path / "c"
    report = crawl(web, folder, exact, near)
    assert BEHIND & set(web.paths(B)) == fetched
    copy, reprint = row(web, folder, "/copy"), row(web, folder, "/reprint")
    assert {path for path in ("/copy", "/reprint") if row(web, folder, path).length} == stored
    assert copy.duplicate_of == (None if exact == "keep" else web.url(A, "/text"))
    assert reprint.near_duplicate_of == (None if near == "keep" else web.url(A, "/article"))
    first = row(web, folder, "/article", A)
    assert first.simhash is not None and reprint.simhash is not None
    apart = (first.simhash ^ reprint.simhash).bit_count()
    assert reprint.near_bits == (None if near == "keep" else apart) and 0 < apart <= 8
    assert indexed(web, folder) == {"/", *found}
    assert report["duplicates"] == (exact != "keep") and report["near_duplicates"] == (near != "keep")
    dropped = (exact, near).count("drop")
    assert report["saved"]["links"] == len(BEHIND) - len(fetched)
    assert (report["saved"]["pages"], report["saved"]["bytes"] > 0) == (dropped, dropped > 0)
    shown = crivello("status", folder).stdout
    assert ("links not followed" in shown) == (len(fetched) < len(BEHIND))
    assert ("bytes not stored" in shown) == (dropped > 0)
    done = crivello("doctor", folder)
    assert done.returncode == 0, done.stdout


def test_what_became_of_duplicates_is_told(web: SmallWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    crawl(web, folder, "skip-links", "drop")
    said = " ".join(crivello("why", folder, web.url(B, "/reprint")).stdout.split())
    bits = row(web, folder, "/reprint").near_bits
    apart = f"a near-duplicate of {web.url(A, '/article')}, {bits} bit{'s' * (bits != 1)} apart"
    assert f"It was fetched, and is {apart}, so nothing else of it was stored." in said
    assert "not in the index: it has nearly the words of another page, and was not stored" in said
    listed = crivello("pages", folder).stdout
    assert f"{web.url(B, '/reprint')}  ({apart}, not stored)" in listed
    assert f"{web.url(B, '/copy')}  (a duplicate of {web.url(A, '/text')})" in listed
    shown = crivello("pages", folder, "--url", web.url(B, "/reprint"))
    assert shown.returncode == 1 and f"{apart}; nothing was stored" in shown.stderr
    # The settings are those of the command alone, so the reason is told by those of today.
    chosen = {"CRIVELLO_CRAWL_EXACT_DUPLICATES": "skip-links", "CRIVELLO_CRAWL_SCOPE": "any"}
    left = crivello("why", folder, web.url(B, "/behind-copy"), environment=chosen)
    assert "exact_duplicates (skip-links) does not follow its links" in " ".join(left.stdout.split())


@pytest.mark.parametrize(
    ("exact", "near", "count"), [("mark", "mark", 8), ("drop", "mark", 6), ("drop", "drop", 4)]
)
def test_what_was_dropped_is_no_document(
    web: SmallWeb, tmp_path: Path, exact: str, near: str, count: int
) -> None:
    folder = tmp_path / "c"
    crawl(web, folder, exact, near)
    done = crivello("dedup", folder, "--method", "exact", "--out", tmp_path / "out.warc.gz", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    stored = sum(1 for page in Collection(folder).pages() if page.length and page.status == 200)
    assert report["documents"] == stored == count
    urls = [record.url for record in read(tmp_path / "out.warc.gz") if record.kind == "response"]
    assert len(urls) == report["kept"] == count - (exact == "mark")
    assert len(sample(str(folder), documents=9)) == count


def test_links_that_were_not_followed_are_when_the_treatment_changes(web: SmallWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    crawl(web, folder, "skip-links", "skip-links")
    assert not BEHIND & set(web.paths(B))
    crawl(web, folder, "mark", "skip-links")
    assert BEHIND & set(web.paths(B)) == {"/behind-copy"}
    crawl(web, folder, "mark", "mark")
    assert BEHIND & set(web.paths(B)) == BEHIND


@pytest.mark.parametrize("treatment", ["mark", "drop"])
def test_a_copy_takes_the_place_of_an_original_that_is_gone(
    web: SmallWeb, tmp_path: Path, treatment: str
) -> None:
    folder = tmp_path / "c"
    crawl(web, folder, treatment, "keep")
    assert "/copy" not in indexed(web, folder)
    pages: dict[str, Page] = web.hosts[A]  # type: ignore[assignment]
    pages["/text"] = page(words(90, "other"), "/article")
    again: list[str | Path] = [
        "refresh",
        folder,
        "--all",
        *flags(web, folder),
        "--exact-duplicates",
        treatment,
    ]
    # The first time the original is found changed, possibly after the copy was visited.
    for _ in range(2):
        assert crivello(*again).returncode == 0
    found = row(web, folder, "/copy")
    assert found.duplicate_of is None and found.length
    assert "/copy" in indexed(web, folder)
    # It is the original of further copies now.
    pages["/late"] = page(words(80, "text"))
    done = crivello("crawl", web.url(A, "/late"), "--into", folder, *flags(web, folder))
    assert done.returncode == 0, done.stderr
    assert row(web, folder, "/late", A).duplicate_of == web.url(B, "/copy")


@pytest.mark.parametrize("treatment", ["mark", "skip-links"])
def test_a_reprint_is_judged_anew_when_its_original_has_changed(
    web: SmallWeb, tmp_path: Path, treatment: str
) -> None:
    folder = tmp_path / "c"
    pages: dict[str, dict[str, Page]] = web.hosts  # type: ignore[assignment]
    pages[B]["/reprint"] = tagged(page(" ".join(REPRINT), "/behind-reprint"))
    crawl(web, folder, "mark", treatment)
    again: list[str | Path] = ["refresh", folder, "--all", "--near-duplicates", treatment]
    again += flags(web, folder)
    assert crivello(*again).returncode == 0
    # What it is, is told after a visit that found it unchanged, too.
    bits = row(web, folder, "/reprint").near_bits
    told = f"a near-duplicate of {web.url(A, '/article')}, {bits} bit{'s' * (bits != 1)} apart"
    listed, said = crivello("pages", folder).stdout, crivello("why", folder, web.url(B, "/reprint")).stdout
    assert f"304  {web.url(B, '/reprint')}  (not modified, {told})" in listed
    assert f"It did not change since it was fetched, and is {told}." in " ".join(said.split())
    pages[A]["/article"] = page(words(400, "article"), f"http://{B}:{web.port}/")
    for _ in range(2):
        assert crivello(*again).returncode == 0
    found = row(web, folder, "/reprint")
    assert found.near_duplicate_of is None and found.status == 200
    assert "/behind-reprint" in web.paths(B)


def test_a_fingerprint_that_no_page_has_any_more_hides_no_other(web: SmallWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    pages: dict[str, dict[str, Page]] = web.hosts  # type: ignore[assignment]
    # Both are reprints of the article, and nearer to it than to each other.
    pages[B]["/reprint"] = page(" ".join([*ARTICLE, "once"]), "/again")
    pages[B]["/again"] = page(" ".join([*ARTICLE, "more"]))
    crawl(web, folder, "mark", "mark")
    reprints = [row(web, folder, path) for path in ("/reprint", "/again")]
    assert [reprint.near_duplicate_of for reprint in reprints] == [web.url(A, "/article")] * 2
    pages[A]["/article"] = page(words(400, "article"), f"http://{B}:{web.port}/")
    again: list[str | Path] = ["refresh", folder, "--all", *flags(web, folder)]
    for _ in range(3):
        assert crivello(*again).returncode == 0
    originals = {row(web, folder, path).near_duplicate_of for path in ("/reprint", "/again")}
    assert None in originals and len(originals) == 2
    assert originals - {None} < {web.url(B, "/reprint"), web.url(B, "/again")}


def test_a_page_that_becomes_a_duplicate_leaves_the_index(web: SmallWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    crawl(web, folder, "mark", "drop")
    assert "/" in indexed(web, folder)
    pages: dict[str, Page] = web.hosts[B]  # type: ignore[assignment]
    pages["/"] = Answer(page(" ".join([*REPRINT[:100], "changed", *REPRINT[101:]])))
    chosen = ["--near-duplicates", "drop", *flags(web, folder)]
    assert crivello("refresh", folder, "--all", *chosen).returncode == 0
    assert row(web, folder, "/").near_duplicate_of == web.url(A, "/article")
    assert "/" not in indexed(web, folder)


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_reprints_of_the_sample_web_are_found_and_nothing_else(seed: int, tmp_path: Path) -> None:
    with SampleWeb(seed=seed, hosts=4, pages_per_host=30, slow=0.0) as web:
        done = crivello(
            *("crawl", *web.seeds, "--into", str(tmp_path / "c"), "--delay", "0", "--max-chain", "20"),
        )
        assert done.returncode == 0, done.stderr
        rows = list(Collection(tmp_path / "c").pages())
        found = {frozenset((row.url, row.near_duplicate_of)) for row in rows if row.near_duplicate_of}
        assert found == {frozenset(pair) for pair in web.near_duplicates}
