"""Classes from outside: the examples of docs/extending.md run, and whatever such a class does wrong does no harm."""

from __future__ import annotations

import datetime
import io
import json
import logging
import os
import re
import subprocess
import zipfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from crivello import Collection, settings
from crivello.errors import CrivelloError, InvalidArgument
from crivello.index import Document
from tests.crawling import CRIVELLO, command
from tests.small_web import Answer, Crawled, Page, SmallWeb, links, words

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
_EXAMPLE = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```", re.DOTALL | re.MULTILINE)

WRONG = """
import json

class Raises:
    def rate(self, *arguments):
        return json.loads("no JSON")

    follow = convert = extract = rewrite = rerank = get = rate

class OtherArguments:
    def rate(self):
        return []

    follow = rewrite = rerank = rate

class Short:
    def rate(self, *arguments):
        return [True]

    follow = extract = rerank = get = rate

class Words:
    def rate(self, *arguments):
        return ["high"] * len(arguments[1])

    def rerank(self, query, hits):
        return ["high" for hit in hits]

    follow = rate

class Nothing:
    def rate(self, *arguments):
        return None

    follow = convert = extract = rewrite = rerank = get = rate
    put = sync = rate

class NotANumber:
    def rerank(self, query, hits):
        return [float("nan") for hit in hits]

class Twice:
    def rerank(self, query, hits):
        return [hits[0] for hit in hits]

class Unparsable:
    def rewrite(self, query):
        return "(lava"

class OtherUrls:
    def extract(self, documents):
        return [document._replace(url="https://elsewhere.example/") for document in documents]

class WrongField:
    def extract(self, documents):
        return [document._replace(day="today") for document in documents]

class Prints:
    def convert(self, body, media_type):
        print("on standard output")
        return "", body.decode() + "\\ud800"

class Dies:
    def convert(self, body, media_type):
        import os
        os.abort()

class NoMethod:
    pass

class NeedsMore:
    def __init__(self, one, two, three):
        pass

instance = Raises()

def factory():
    return Raises()
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples of the page and with classes that do wrong."""
    folder = tmp_path_factory.mktemp("modules")
    for name, code in _EXAMPLE.findall(PAGE.read_text()):
        (folder / name).write_text(code)
    (folder / "wrong.py").write_text(WRONG)
    (folder / "broken.py").write_text("class Broken(:\n")
    return folder


@pytest.fixture(autouse=True)
def can_be_imported(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by the commands that a test runs."""
    monkeypatch.syspath_prepend(own)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(own), os.environ.get("PYTHONPATH", "")]))


def test_the_page_has_an_example_of_each() -> None:
    names = {name for name, _ in _EXAMPLE.findall(PAGE.read_text())}
    expected = "by_date guides epub sqlite_sieve article synonyms recency by_visits"
    assert names == {f"{name}.py" for name in expected.split()}


# --- crawling -----------------------------------------------------------------------------------------------

PATHS = ["/about", "/2019/a", "/2026/b", "/2025/c"]


def site() -> dict[str, Page]:
    pages: dict[str, Page] = {"/": links(*PATHS)}
    return pages | {path: f"<p>{words(20, path.strip('/').replace('/', ''))}" for path in PATHS}


def test_by_date(tmp_path: Path) -> None:
    with SmallWeb({"a.test": site()}) as web:
        report = web.crawl(tmp_path / "c", "a.test", priority="by_date:ByDate").report
        assert web.paths("a.test") == ["/", "/2026/b", "/2025/c", "/2019/a", "/about"]
        assert report.failures == {}


def test_only_guides(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        "/": links("/news", "/guide/1"),
        "/news": links("/news/old", text=words(20, "news")),
        "/guide/1": links("/guide/2", "/imprint", text=words(20, "guide")),
    }
    with SmallWeb({"a.test": pages}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", follow="guides:OnlyGuides")
        assert web.paths("a.test") == ["/", "/news", "/guide/1", "/guide/2"]
        # It is not followed, and still a link of the graph.
        assert crawled.report.links == 5


def test_both_at_once_and_passed_in(tmp_path: Path) -> None:
    class Backwards:
        def rate(self, *asked: Any) -> list[int]:
            return [7 - place for place, _ in enumerate(asked[1])]

    class NotAbout:
        def follow(self, *asked: Any) -> list[bool]:
            return [anchor != "/about" for anchor in asked[2]]

    with SmallWeb({"a.test": site()}) as web:
        crawl_with(web, tmp_path / "c", priority=Backwards, follow=NotAbout())
        assert web.paths("a.test") == ["/", *PATHS[:0:-1]]


def crawl_with(web: SmallWeb, folder: Path, **used: Any) -> Crawled:
    """Crawls with classes that are passed in."""
    hosts = str(web.write_hosts_file(folder.with_suffix(".hosts")))
    loaded = settings.load(
        flags={"crawl": {"delay": 0.0, "hosts_file": hosts, "sitemaps": False}}, environment={}
    )
    with Collection.write(folder, settings=loaded, create=True) as collection:
        report = collection.use(**used).crawl(web.url("a.test"))
    return Crawled(Collection(folder), report)


@pytest.mark.parametrize("setting", ["priority", "follow"])
@pytest.mark.parametrize(
    "name", ["Raises", "Short", "Words", "Nothing", "OtherArguments", "instance", "factory"]
)
def test_a_policy_that_fails_does_not_end_the_crawl(
    setting: str, name: str, tmp_path: Path, own: Path
) -> None:
    with SmallWeb({"a.test": site()}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", **{setting: f"wrong:{name}"})
        assert web.paths("a.test") == ["/", *PATHS]
        home = web.url("a.test")
    [(failed, failures)] = crawled.report.failures.items()
    assert failed == f"crawl.{setting} wrong:{name}" and failures["count"] == 1
    assert re.search(
        rf"^{re.escape(failed)} failed at {own}/wrong\.py, line \d+, on {home}: .", failures["last"]
    )
    [noted] = [each for each in crawled.decisions() if each["event"] == "extension failed"]
    assert (noted["url"], noted["detail"]) == (home, failures["last"])
    status = Collection(tmp_path / "c").status()
    assert status is not None and status.report.failures == crawled.report.failures
    assert [host.errors for host in status.busiest] == [0]


def test_the_line_that_is_named_is_the_class_s_own(tmp_path: Path) -> None:
    with SmallWeb({"a.test": site()}) as web:
        report = web.crawl(tmp_path / "c", "a.test", priority="wrong:Raises").report
    [failures] = report.failures.values()
    line = 1 + WRONG.splitlines().index('        return json.loads("no JSON")')
    assert f"wrong.py, line {line}," in failures["last"] and "JSONDecodeError" in failures["last"]


def test_failures_add_up_over_runs(tmp_path: Path) -> None:
    with SmallWeb(
        {"a.test": {"/": links("/b", "/c"), "/b": links("/d", text="b"), "/c": links("/e", text="c")}}
    ) as web:
        web.crawl(tmp_path / "c", "a.test", priority="wrong:Raises", max_pages=1)
        report = web.crawl(tmp_path / "c", priority="wrong:Raises", max_pages=None).report
    assert [failures["count"] for failures in report.failures.values()] == [3]


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"follow": "nonsense"}, "is not a class"),
        ({"follow": "no_such_module:Class"}, "No module named 'no_such_module'"),
        ({"follow": "wrong:Missing"}, "no attribute 'Missing'"),
        ({"follow": "wrong:NoMethod"}, "has no method follow"),
        ({"follow": "wrong:NeedsMore"}, "missing 3 required"),
        ({"follow": "broken:Broken"}, "broken.py"),
        ({"sieve": "wrong:Missing"}, "no attribute 'Missing'"),
        ({"sieve": "wrong:NoMethod"}, "has no method"),
        ({"converters": "application/epub+zip=wrong:Missing"}, "no attribute 'Missing'"),
        ({"converters": "application/epub+zip"}, "is not a converter"),
        ({"converters": "epub=wrong:Dies"}, "is not a media type"),
        ({"converters": "text/html=wrong:Dies"}, "parsed for its links"),
    ],
)
def test_what_cannot_be_loaded_is_an_error_before_anything_starts(
    chosen: dict[str, str], said: str, tmp_path: Path
) -> None:
    with SmallWeb({"a.test": site()}) as web:
        with pytest.raises(InvalidArgument, match=said) as raised:
            web.crawl(tmp_path / "c", "a.test", **chosen)
        assert web.log == [] and "\n" not in str(raised.value)


def test_the_command_counts_failures_and_ends_well(tmp_path: Path) -> None:
    with SmallWeb({"a.test": site()}) as web:
        flags = ("--delay", 0, "--hosts-file", web.write_hosts_file(tmp_path / "hosts"))
        arguments = command(tmp_path / "c", [web.url("a.test")], *flags, "--priority", "wrong:Raises")
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert "failures of crawl.priority wrong:Raises" in done.stderr
    assert done.stderr.count("wrong.py, line") == 1
    wide = {**os.environ, "COLUMNS": "200"}
    status = [str(CRIVELLO), "status", str(tmp_path / "c")]
    shown = subprocess.run(status, capture_output=True, text=True, timeout=60, env=wide)
    assert "failures of crawl.priority wrong:Raises" in shown.stdout


# --- converters ---------------------------------------------------------------------------------------------

EPUB = "application/epub+zip"


def book(title: str, *chapters: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", EPUB)
        archive.writestr("content.opf", f"<package><dc:title>{title}</dc:title></package>")
        for number, chapter in enumerate(chapters):
            archive.writestr(f"chapter{number}.xhtml", f"<html><body><p>{chapter}</p></body></html>")
    return out.getvalue()


def crawl_books(folder: Path, body: bytes, **chosen: Any) -> Crawled:
    pages: dict[str, Page] = {"/": links("/book.epub"), "/book.epub": Answer(body, kind=f"{EPUB}; x=y")}
    with SmallWeb({"a.test": pages}) as web:
        return web.crawl(folder, "a.test", **chosen)


def test_epub(tmp_path: Path) -> None:
    body = book("Caves &amp; lava", "Basalt cools slowly.", "Obsidian cools fast.")
    crawled = crawl_books(tmp_path / "c", body, converters=f"{EPUB}=epub:Epub")
    assert crawled.report.failures == {}
    with Collection.write(tmp_path / "c") as collection:
        collection.index()
        [hit] = collection.search("obsidian")
    assert hit.title == "Caves & lava" and hit.url.endswith("/book.epub")


def test_a_converter_may_be_passed_in_and_may_print(tmp_path: Path) -> None:
    import wrong  # type: ignore[import-not-found]

    pages: dict[str, Page] = {"/": links("/x"), "/x": Answer("obsidian", kind="x/y")}
    with SmallWeb({"a.test": pages}) as web:
        crawled = crawl_with(web, tmp_path / "c", converters={"x/y": wrong.Prints})
        row = crawled.row(web.url("a.test", "/x"))
    assert crawled.collection.text(row).startswith("obsidian") and row.title == "x"


@pytest.mark.parametrize(
    ("name", "said"),
    [("Raises", "JSONDecodeError"), ("Nothing", "TypeError"), ("Dies", "crashed")],
)
def test_a_converter_that_fails_leaves_a_document_without_text(name: str, said: str, tmp_path: Path) -> None:
    crawled = crawl_books(tmp_path / "c", b"?", converters=f"{EPUB}=wrong:{name}")
    [(failed, failures)] = crawled.report.failures.items()
    assert failed == f"crawl.converters wrong:{name}" and failures["count"] == 1
    assert said in failures["last"]
    [row] = [row for row in crawled.rows() if row.content_type == EPUB]
    assert row.status == 200 and row.length and not row.text_length


# --- sieves -------------------------------------------------------------------------------------------------


def test_sqlite_sieve(tmp_path: Path) -> None:
    pages: dict[str, Page] = {f"/{n}": links(f"/{n + 1}", f"/{2 * n}", "/") for n in range(1, 40)}
    with SmallWeb({"a.test": {"/": links("/1"), **pages}}) as web:
        expected = web.crawl(tmp_path / "reference", "a.test")
        asked = web.paths("a.test")
        since = len(web.log)
        web.crawl(tmp_path / "c", "a.test", sieve="sqlite_sieve:SqliteSieve", max_pages=10)
        crawled = web.crawl(tmp_path / "c", sieve="sqlite_sieve:SqliteSieve", max_pages=None)
        assert sorted(web.paths("a.test", since)) == sorted(asked)
        assert {row.url for row in crawled.rows()} == {row.url for row in expected.rows()}
        assert crawled.report.seen == expected.report.seen
        with pytest.raises(InvalidArgument, match="was made as sqlite_sieve:SqliteSieve"):
            web.crawl(tmp_path / "c")


def test_a_sieve_that_fails_ends_the_crawl_with_its_line(tmp_path: Path) -> None:
    with (
        SmallWeb({"a.test": site()}) as web,
        pytest.raises(CrivelloError, match=r"wrong\.py, line \d+") as raised,
    ):
        web.crawl(tmp_path / "c", "a.test", sieve="wrong:Nothing")
    assert "crawl.sieve wrong:Nothing" in str(raised.value) and "\n" not in str(raised.value)


# --- searching ----------------------------------------------------------------------------------------------

DAYS = 19_000


def documents() -> Iterator[Document]:
    """Pages about lava, each shorter than the one before and so better, but one day older; and one about magma."""
    for number in range(30):
        body = f"lava {words(60 - 2 * number, f'w{number}x')}"
        yield Document(f"https://a.example/{number}", f"Page {number}", body, "en", day=DAYS - number)
    yield Document("https://a.example/magma", "Molten", "magma below", "en", day=DAYS)


@pytest.fixture
def indexed(tmp_path: Path) -> Path:
    folder = tmp_path / "indexed"
    loaded = settings.load(flags={"search": {"collapse": -1, "per_site": 0}}, environment={})
    with Collection.write(folder, settings=loaded, create=True) as collection:
        collection.add(documents())
    return folder


def searching(folder: Path, **chosen: Any) -> Collection:
    flags = {"search": {"collapse": -1, "per_site": 0, **chosen}}
    return Collection(folder, settings=settings.load(flags=flags, environment={}))


def urls(found: Any) -> list[str]:
    return [hit.url for hit in found]


def test_synonyms(indexed: Path) -> None:
    collection = searching(indexed, rewrite="synonyms:Synonyms")
    plain = searching(indexed).search("lava", top=50)
    found = collection.search("lava", top=50)
    assert set(urls(found)) == set(urls(plain)) | {"https://a.example/magma"}
    assert (found.query, found.rewritten) == ("lava", "(lava OR magma)")
    assert found.to_dict()["rewritten"] == found.rewritten and "rewritten" not in plain.to_dict()
    assert collection.searcher().count("lava") == 31
    assert collection.search("+lava -magma").rewritten is None


def test_recency(indexed: Path) -> None:
    from recency import Recency  # type: ignore[import-not-found]

    today = datetime.date(1970, 1, 1) + datetime.timedelta(days=DAYS)
    plain = urls(searching(indexed).search("lava", top=50))
    collection = searching(indexed, rerank_depth=12).use(rerank=Recency(half_life=2, today=today))
    found = collection.search("lava", top=50, explain=True)
    assert urls(found)[:12] == sorted(plain[:12], key=lambda url: int(url.rpartition("/")[2]))
    assert urls(found)[12:] == plain[12:]
    assert [hit.rank for hit in found] == list(range(1, 31))
    for place, hit in enumerate(found):
        explanation = hit.explanation
        assert explanation is not None and explanation.value == pytest.approx(hit.score)
        assert explanation.label.startswith("reranked by recency:Recency") == (place < 12)
        if place < 12:
            assert sum(part.value for part in explanation.parts) == pytest.approx(hit.score)
    pages = [collection.search("lava", top=7, offset=offset) for offset in range(0, 35, 7)]
    assert urls(chain(*pages)) == urls(found)


def test_an_order_of_hits_and_one_call_for_all_pages(indexed: Path) -> None:
    calls = []

    class Backwards:
        def rerank(self, query: str, hits: Any) -> Any:
            calls.append((query, len(hits), str(hits[0].snippet)))
            return hits[::-1]

    plain = searching(indexed).search("lava", top=50)
    collection = searching(indexed, rerank_depth=10).use(rerank=Backwards)
    found = [collection.search("lava", top=5, offset=offset) for offset in (0, 5, 10)]
    assert urls(chain(*found)) == [*urls(plain)[9::-1], *urls(plain)[10:15]]
    assert [hit.score for hit in found[0]] == [hit.score for hit in plain.hits[9:4:-1]]
    assert len(calls) == 1 and calls[0][:2] == ("lava", 10) and "lava" in calls[0][2]


def test_a_reranker_gets_the_better_spelling_that_was_searched(indexed: Path) -> None:
    queries = []

    class Noting:
        def rerank(self, query: str, hits: Any) -> Any:
            queries.append(query)
            return hits

    found = searching(indexed).use(rerank=Noting).search("laava")
    assert found.corrected == "lava" and queries == ["lava"]


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        *(("rerank", name) for name in ("Raises", "Short", "Words", "Nothing", "NotANumber", "Twice")),
        *(("rewrite", name) for name in ("Raises", "Nothing", "Unparsable", "OtherArguments")),
    ],
)
def test_a_class_that_fails_leaves_the_ranking_as_it_was(
    setting: str, name: str, indexed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plain = searching(indexed).search("lava")
    collection = searching(indexed, **{setting: f"wrong:{name}"})
    with caplog.at_level(logging.WARNING):
        found = collection.search("lava")
        collection.search("lava magma")
    assert [(hit.url, hit.score, hit.rank) for hit in found] == [
        (hit.url, hit.score, hit.rank) for hit in plain
    ]
    assert found.rewritten is None
    [(failed, failures)] = collection.extensions.failures().items()
    assert failed == f"search.{setting} wrong:{name}" and failures["count"] == 2
    [record] = caplog.records
    assert record.name == "crivello.extend" and f"{failed} failed at " in record.message
    assert re.search(r"wrong\.py, line \d+, on the query 'lava': ", record.message)


def test_a_query_that_does_not_parse_is_still_an_error(indexed: Path) -> None:
    with pytest.raises(CrivelloError):
        searching(indexed, rewrite="synonyms:Synonyms").search("(lava")


@pytest.mark.parametrize("setting", ["rewrite", "rerank"])
def test_what_cannot_be_loaded_is_said_by_the_command(setting: str, indexed: Path) -> None:
    arguments = [str(CRIVELLO), "search", str(indexed), "lava", f"--{setting}", "wrong:Missing"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert done.stderr.startswith(f"crivello: search.{setting}: wrong:Missing cannot be loaded")


def test_the_command_searches_with_classes(indexed: Path) -> None:
    arguments = [str(CRIVELLO), "search", str(indexed), "lava", "--rerank", "wrong:Raises", "--json"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and json.loads(done.stdout)["hits"], done.stderr
    assert done.stderr.count("\n") == 1 and "wrong.py, line" in done.stderr


# --- indexing -----------------------------------------------------------------------------------------------


def test_article(tmp_path: Path) -> None:
    home = "<ul><li>Home<li>Imprint</ul>"
    story = "<p>The volcano has been quiet for years and its slopes are green again.</p>"
    pages: dict[str, Page] = {"/": links("/2024/05/17/a"), "/2024/05/17/a": f"<title>A</title>{home}{story}"}
    with SmallWeb({"a.test": pages}) as web:
        web.crawl(tmp_path / "c", "a.test")
    with Collection.write(tmp_path / "c") as collection:
        collection.use(extractor="article:Article").index()
        [hit] = collection.search("slopes")
        assert hit.date == datetime.date(2024, 5, 17) and collection.count("imprint") == 0
        collection.index(rebuild=True)
        assert collection.count("imprint") == 0


def test_an_extractor_adds_to_a_zone(tmp_path: Path) -> None:
    class Reviews:
        def extract(self, documents: list[Document]) -> list[Document]:
            return [each._replace(headings=f"reviewed {each.headings}") for each in documents]

    with Collection.write(tmp_path / "c", create=True) as collection:
        collection.use(extractor=Reviews).add(documents())
        assert collection.count("headings:reviewed") == 31


@pytest.mark.parametrize("name", ["Raises", "Short", "Nothing", "OtherUrls", "WrongField"])
def test_an_extractor_that_fails_leaves_documents_as_they_are(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Collection.write(tmp_path / "c", create=True) as collection:
        collection.use(extractor=f"wrong:{name}").add(documents())
        assert (collection.count("lava"), collection.count("magma")) == (30, 1)
        [(failed, failures)] = collection.extensions.failures().items()
    assert failed == f"index.extractor wrong:{name}" and failures["count"] == 1
    [record] = caplog.records
    assert re.search(r"wrong\.py, line \d+, on 31 documents from https://a\.example/0 on: ", record.message)


def test_the_command_counts_failures_of_an_extractor(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text('{"url": "https://a.example/", "body": "lava"}\n')
    arguments = [str(CRIVELLO), "index", "c", "--from", "one.jsonl", "--extractor", "wrong:Raises"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 0 and "failures of index.extractor wrong:Raises" in done.stderr, done.stderr


# --- static ranks -------------------------------------------------------------------------------------------


def test_ranks_by_visits(indexed: Path) -> None:
    from by_visits import rank_by_visits  # type: ignore[import-not-found]

    visits = {"https://a.example/3": 500.0, "https://a.example/7": 100, "https://nowhere.example/": 0}
    rank_by_visits(indexed, visits)
    assert urls(searching(indexed, rank_weight=100.0).search("lava", top=2)) == [
        "https://a.example/3",
        "https://a.example/7",
    ]
    rank_by_visits(indexed, {"https://a.example/7": 1.0})
    collection = searching(indexed, rank_weight=100.0)
    assert urls(collection.search("lava", top=1)) == ["https://a.example/7"]
    assert [name for name in collection.files if name.endswith(".ranks")] == ["graph/given-2.ranks"]
    assert not (indexed / "graph/given-1.ranks").exists()


@pytest.mark.parametrize("rank", [-1.0, float("nan"), float("inf")])
def test_a_rank_must_be_a_number_from_0_on(rank: float, indexed: Path) -> None:
    with Collection.write(indexed) as collection, pytest.raises(InvalidArgument, match="from 0 on"):
        collection.rank(by={"https://a.example/": rank})


def test_ranks_of_the_pages_of_a_crawl(tmp_path: Path) -> None:
    with SmallWeb({"a.test": site()}) as web:
        web.crawl(tmp_path / "c", "a.test")
    with Collection.write(tmp_path / "c") as collection:
        collection.index()
        pages = [row.url for row in collection.pages()]
        with pytest.raises(InvalidArgument, match=f"2 ranks for {len(pages)} pages"):
            collection.rank(by=[1.0, 2.0])
        collection.rank(by=[float(url.endswith("/2019/a")) for url in pages])
        best = [row.url for row in collection.pages() if row.url.endswith("/2019/a")]
        assert urls(collection.search("*", top=1)) == best
        # An update of the index keeps them, and whoever asks for a measure gets it.
        collection.rank(keep_given=True)
        [given] = collection.search("*", top=1)
        assert [given.url] == best
        collection.rank()
        [ranked] = collection.search("*", top=1)
        assert ranked.score < given.score
        assert not [name for name in collection.files if "given" in name]
