"""What a crawl archives of its visits: requests beside responses, and revisits; each record is exported once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

from crivello import Collection, settings
from crivello._core import ArchiveRecord as Record
from crivello.archives import read
from crivello.crawl import Crawler, crawl
from crivello.store import Outcome
from tests.small_web import Answer, Page, Query, SmallWeb, links, words
from tests.test_import import import_into
from tests.test_shell import crivello

VISITS = 3


def tagged(query: Query) -> Answer:
    if query.headers.get("if-none-match") == '"one"':
        return Answer(status=304, headers={"ETag": '"one"'})
    return Answer(
        links("/same", "/new", text=words(60, "home")), headers={"ETag": '"one"', "X-Odd-Case": "yes"}
    )


def changing(query: Query) -> Answer:
    return Answer(links(text=words(60, f"visit{query.times}x")))


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SmallWeb, Path]]:
    """A page with a validator, one without, and one that changes, each visited three times."""
    folder = tmp_path_factory.mktemp("visits") / "c"
    pages: dict[str, Page] = {"/": tagged, "/same": links(text=words(60, "same")), "/new": changing}
    with SmallWeb({"a.test": pages}) as web:
        hosts_file = web.write_hosts_file(folder.with_suffix(".hosts"))
        chosen = {"delay": 0.0, "sitemaps": False, "feeds": False, "hosts_file": str(hosts_file)}
        loaded = settings.load(flags={"crawl": chosen, "store": {"requests": True}}, environment={})
        with Collection.write(folder, settings=loaded, create=True) as collection:
            crawl(collection, [web.url("a.test")])
            for _ in range(VISITS - 1):
                urls = [web.url("a.test", path) for path in pages]
                Crawler(collection, revisits=urls).run()
        yield web, folder


def records(folder: Path, out: Path, *flags: str) -> list[Record]:
    done = crivello("export", folder, "--out", out, "--json", *flags)
    assert done.returncode == 0, done.stderr
    found = list(read(out))[1:]
    assert json.loads(done.stdout)["records"] == len(found)
    return found


def field(record: Record, name: str) -> str:
    return dict(record.fields).get(name, "")


def test_every_visit_is_exported_once_with_its_request(
    visited: tuple[SmallWeb, Path], tmp_path: Path
) -> None:
    web, folder = visited
    found = records(folder, tmp_path / "all.warc.gz", "--versions", "all")
    kinds = Counter(record.kind for record in found)
    # Once each page, and the changing one twice more; the other visits found what was there.
    assert kinds == {"response": 5, "revisit": 4, "request": 9}
    assert len({field(record, "warc-record-id") for record in found}) == len(found)
    sent = {asked.request for asked in web.log if asked.path != "/robots.txt"}
    for answer, request in zip(found[::2], found[1::2], strict=True):
        assert request.kind == "request" and request.url == answer.url
        assert field(request, "warc-concurrent-to") == field(answer, "warc-record-id")
        assert field(request, "warc-date") == field(answer, "warc-date")
        assert request.block.decode() in sent, "as it was sent"
    assert any(b'\r\nIf-None-Match: "one"\r\n' in record.block for record in found)
    again = [record for record in found if record.kind == "revisit"]
    assert {field(record, "warc-profile").rpartition("/")[2] for record in again} == {
        "server-not-modified",
        "identical-payload-digest",
    }


def test_the_newest_versions_have_their_pages(visited: tuple[SmallWeb, Path], tmp_path: Path) -> None:
    found = records(visited[1], tmp_path / "newest.warc.gz")
    assert Counter(record.kind for record in found) == {"response": 3, "request": 3}
    assert b"visit3x" in b"".join(record.block for record in found)


def test_others_read_requests_and_an_index_leaves_them_out(
    visited: tuple[SmallWeb, Path], tmp_path: Path
) -> None:
    out = tmp_path / "a.warc.gz"
    found = records(visited[1], out, "--versions", "all")
    with out.open("rb") as file:
        theirs = [record.rec_type for record in ArchiveIterator(file, check_digests="raise")]
    fast = [record.headers["WARC-Type"] for record in FastIterator(str(out), verify_digests=True)]
    assert theirs == fast == ["warcinfo", *(record.kind for record in found)]
    lines = crivello("export", visited[1], "--out", "-", "--format", "cdxj", "--versions", "all").stdout
    assert len(lines.splitlines()) == 9 and "warc/revisit" in lines


@pytest.mark.parametrize("name", ["a.warc.gz", "a.wacz"])
def test_what_was_exported_comes_back_with_all_its_visits(
    visited: tuple[SmallWeb, Path], tmp_path: Path, name: str
) -> None:
    folder = visited[1]
    crivello("export", folder, "--out", tmp_path / name, "--versions", "all")
    imported = import_into(tmp_path / "d", tmp_path / name)
    assert (imported.tally["requests"], imported.tally["revisits"], imported.unresolved) == (9, 4, [])
    ours, theirs = (
        {
            (row.url, round(row.fetched_at, 3), row.outcome, row.payload, row.title)
            for rows, _ in Collection(one).table.batches()
            for row in rows
        }
        for one in (folder, tmp_path / "d")
    )
    assert ours == theirs
    first = records(folder, tmp_path / "one.warc.gz", "--versions", "all")
    second = records(tmp_path / "d", tmp_path / "two.warc.gz", "--versions", "all")
    told = [
        [(record.kind, record.url, record.block) for record in some if record.kind != "request"]
        for some in (first, second)
    ]
    assert told[0] == told[1]


def test_requests_are_not_kept_unless_asked_for(tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/": links(text=words(60))}}) as web:
        web.crawl(tmp_path / "c", "a.test")
    assert [record.kind for record in records(tmp_path / "c", tmp_path / "a.warc.gz")] == ["response"]
    [row] = Collection(tmp_path / "c").pages()
    assert (row.outcome, row.visit_length) == (Outcome.FETCHED, 0)
