"""Pages over time: versions of a page, the page at a time, lists by site and time, and what changed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crivello
from crivello import Collection
from crivello._times import seconds_of, shown
from crivello.crawl import Crawler
from crivello.errors import InvalidArgument
from crivello.store import Outcome
from crivello.store.difference import Difference
from tests.small_web import Answer, Page, SmallWeb, links, redirect, words
from tests.test_shell import complaint
from tests.test_shell import crivello as shell

BLOCK = "<p>A first paragraph.</p><p>{}</p><p>A last paragraph.</p>"


def story(middle: str) -> Answer:
    body = f"<html><head><title>Story</title></head><body>{BLOCK.format(middle)}<a href='/other'>more</a></body></html>"
    return Answer(body, headers={"X-Middle": middle.replace(" ", "-")})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SmallWeb, Path]]:
    """A page in four versions (new, unchanged, changed, moved), a page that never changes, and another host."""
    pages: dict[str, Page] = {"/": story("It was a cat."), "/other": links(text=words(60, "other"))}
    hosts: dict[str, dict[str, Page]] = {
        "a.test": pages,
        "b.a.test": {"/": links(text=words(60, "b"))},
        "c.test": {"/": links(text="c")},
    }
    folder = tmp_path_factory.mktemp("versions") / "c"
    with SmallWeb(hosts) as web:
        web.crawl(folder, "a.test", "b.a.test", "c.test")
        url = web.url("a.test")
        for page in (story("It was a cat."), story("It was a dog."), redirect("/other")):
            pages["/"] = page
            with crivello.open(folder, write=True) as collection:
                Crawler(collection, revisits=[url]).run()
        yield web, folder


@pytest.fixture
def collection(made: tuple[SmallWeb, Path]) -> Collection:
    return Collection(made[1])


@pytest.fixture
def url(made: tuple[SmallWeb, Path]) -> str:
    return made[0].url("a.test")


def test_versions_are_newest_first(collection: Collection, url: str) -> None:
    versions = collection.versions(url)
    assert [row.outcome for row in versions] == [
        Outcome.REDIRECTED,
        Outcome.FETCHED,
        Outcome.NOT_MODIFIED,
        Outcome.FETCHED,
    ]
    times = [row.fetched_at for row in versions]
    assert times == sorted(times, reverse=True)
    assert collection.versions(url.upper().replace("A.TEST", "A.test")) == versions
    assert collection.versions("http://never.test/") == []


def test_the_page_at_a_time(collection: Collection, url: str) -> None:
    versions = collection.versions(url)
    assert collection.page(url) == versions[0]
    for row in versions:
        moment = datetime.fromtimestamp(row.fetched_at + 1e-3, UTC)
        found = collection.page(url, at=moment)
        assert found == row == collection.page(url, at=moment.isoformat())
        assert collection.page(url, at=moment.replace(tzinfo=None)) == row
    # A time as the history and the rows show it finds its version.
    assert collection.page(url, at=versions[0].to_dict()["fetched_at"]) == versions[0]
    assert collection.page(url, at=shown(versions[0].fetched_at)) == versions[0]
    assert collection.page(url, at="1d") is None
    assert collection.page(url, at="now") == versions[0]
    assert [("cat" in collection.text(row), "dog" in collection.text(row)) for row in versions[1:]] == [
        (False, True),
        (True, False),
        (True, False),
    ]
    # An unchanged version has the record of the one before.
    assert b"cat" in collection.record(versions[2]).body


def test_a_list_has_each_url_once(collection: Collection) -> None:
    urls = [row.url for row in collection.pages()]
    assert len(urls) == len(set(urls)) == len(collection) == 4
    assert {row.url: row for row in collection.pages()} == {each: collection.page(each) for each in urls}


def test_lists_by_site_prefix_and_time(made: tuple[SmallWeb, Path], collection: Collection) -> None:
    web, _ = made
    of_a = {web.url("a.test"), web.url("a.test", "/other")}
    assert {row.url for row in collection.pages(site="a.test")} == of_a | {web.url("b.a.test")}
    assert {row.url for row in collection.pages(prefix=web.url("a.test"))} == of_a
    assert {row.url for row in collection.pages(prefix=web.url("a.test", "/o"))} == {
        web.url("a.test", "/other")
    }
    assert len(collection.pages(since="1h")) == 4 and len(collection.pages(since="now")) == 0
    newest = collection.versions(web.url("a.test"))[0].fetched_at
    since = datetime.fromtimestamp(newest - 1e-4, UTC)
    assert [row.url for row in collection.pages(since=since)] == [web.url("a.test")]
    assert len(collection.pages(site="a.test", since=since)) == 1
    with pytest.raises(InvalidArgument, match="site or by prefix"):
        collection.pages(site="a.test", prefix="http://a.test/")
    with pytest.raises(InvalidArgument, match="beginning of a URL"):
        collection.pages(prefix="nonsense")


def test_what_changed(collection: Collection, url: str) -> None:
    found = collection.diff(url)
    assert found and "cat" in found.old and "dog" in found.new
    assert [line for line in str(found).splitlines() if line[0] in "+-"][2:] == [
        "-It was a cat.",
        "+It was a dog.",
    ]
    assert [piece for piece in found.words() if piece[0] != "same"] == [
        ("deleted", "cat."),
        ("inserted", "dog."),
    ]
    versions = collection.versions(url)
    moments = [datetime.fromtimestamp(row.fetched_at + 1e-3, UTC) for row in versions]
    assert not collection.diff(url, moments[3], moments[2])
    assert collection.diff(url, moments[3])
    with pytest.raises(InvalidArgument, match="there was no text"):
        collection.diff(url, "1d")


@given(st.text("ab \n", max_size=40), st.text("ab \n", max_size=40))
def test_the_pieces_of_a_difference_are_both_texts(old: str, new: str) -> None:
    pieces = list(Difference(None, None, old, new).words())  # type: ignore[arg-type]
    assert "".join(text for kind, text in pieces if kind != "inserted") == old
    assert "".join(text for kind, text in pieces if kind != "deleted") == new


@pytest.mark.parametrize("lines", [1, 40])
def test_the_pieces_of_long_texts_are_the_words_that_changed(lines: int) -> None:
    # Few words, which occur often, as in any text.
    drawn = random.Random(5).choices(["the", "of", "page", "and", "a", "word"], k=1200)
    changed = drawn.copy()
    for place in range(50, 1200, 100):
        changed[place] = "other"
    size = len(drawn) // lines
    old, new = (
        "\n".join(" ".join(words[start : start + size]) for start in range(0, len(words), size))
        for words in (drawn, changed)
    )
    pieces = list(Difference(None, None, old, new).words())  # type: ignore[arg-type]
    assert [text for kind, text in pieces if kind == "inserted"] == ["other"] * 12
    assert [text for kind, text in pieces if kind == "deleted"] == [
        drawn[place] for place in range(50, 1200, 100)
    ]


@given(st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)))
def test_times_in_iso_are_utc(moment: datetime) -> None:
    expected = (moment - datetime(1970, 1, 1)).total_seconds()
    assert seconds_of(moment.isoformat()) == seconds_of(moment) == pytest.approx(expected, abs=1e-4)
    assert seconds_of(f"{moment.isoformat()}+02:00") == pytest.approx(expected - 7200, abs=1e-4)


@pytest.mark.parametrize("text", ["", "yesterday", "2d ago", "-2d", "7", "2026-13-01", "d"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="is not a time"):
        seconds_of(text)


def test_durations_are_before_now() -> None:
    now = seconds_of("now")
    for text, ago in {
        "2d": timedelta(days=2),
        "3h": timedelta(hours=3),
        "90s": timedelta(seconds=90),
    }.items():
        assert seconds_of(text) == pytest.approx(now - ago.total_seconds(), abs=60)


def lines(*arguments: str | Path, code: int = 0) -> list[str]:
    done = shell(*arguments)
    assert done.returncode == code, done
    return done.stdout.splitlines()


def test_the_commands(made: tuple[SmallWeb, Path], collection: Collection, url: str) -> None:
    web, folder = made
    history = [json.loads(line) for line in lines("pages", folder, "--url", url, "--history", "--json")]
    assert [row["outcome"] for row in history] == ["redirected", "fetched", "not modified", "fetched"]
    assert "(not modified)" in lines("pages", folder, "--url", url, "--history")[2]
    times = [row.fetched_at for row in collection.versions(url)]
    dog, cat = (datetime.fromtimestamp(times[place] + 1e-3, UTC).isoformat() for place in (1, 3))
    assert "It was a dog." in lines("pages", folder, "--url", url, "--at", dog)
    assert "It was a cat." in lines("pages", folder, "--url", url, "--at", cat, "--text")
    assert "cat" in "".join(lines("pages", folder, "--url", url, "--at", cat, "--raw"))
    assert lines("pages", folder, "--url", url, "--at", cat, "--links") == [
        f"{web.url('a.test', '/other')}  more"
    ]
    headers = lines("pages", folder, "--url", url, "--at", cat, "--headers")
    assert "x-middle: it-was-a-cat." in [line.lower() for line in headers]
    assert lines("pages", folder, "--url", url, "--at", "2d", code=1) == []
    listed = [
        json.loads(line) for line in lines("pages", folder, "--site", "a.test", "--since", "2d", "--json")
    ]
    assert {row["url"] for row in listed} == {row.url for row in collection.pages(site="a.test")}
    assert lines("pages", folder, "--site", "nowhere.test", code=1) == []
    changed = lines("diff", folder, url)
    assert "-It was a cat." in changed and "+It was a dog." in changed
    assert "It was a [-cat.-]{+dog.+}" in lines("diff", folder, url, "--words")
    described: dict[str, Any] = json.loads(lines("diff", folder, url, cat, dog, "--json")[0])
    assert described["changed"] and described["changes"] == [
        {"kind": "deleted", "text": "cat."},
        {"kind": "inserted", "text": "dog."},
    ]
    assert lines("diff", folder, url, cat, cat, code=1) == []
    assert lines("diff", folder, web.url("a.test", "/other"), code=1) == []
    assert lines("diff", folder, "http://never.test/", code=1) == []


def test_misuse_has_one_sentence(made: tuple[SmallWeb, Path], url: str) -> None:
    _, folder = made
    assert "shows one page" in complaint("pages", folder, "--history", code=2)
    assert "do not go together" in complaint("pages", folder, "--url", url, "--raw", "--links", code=2)
    assert "--since lists pages" in complaint("pages", folder, "--url", url, "--since", "2d", code=2)
    assert "is not a time" in complaint("pages", folder, "--since", "soon", code=2)
    assert "is not a time" in complaint("diff", folder, url, "soon", code=2)
