"""The cost of user-defined classes (``docs/extending.md``): per page, per document and per query of the
sample web.

Each example of that page is compared with the same work without it. For links that is the time of the writer
thread, which calls the class; each query is run once, so that no cached ranking is used; a document is
converted in a worker process, compared with the built-in reader of its format.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.documents import epub
from tests.worker import Worker

from bench import Measurement, seconds
from crivello import Collection, settings
from crivello.lab.web import SampleWeb
from crivello.search.searcher import Search
from crivello.sieve import open_sieve

_PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
_EXAMPLE = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_HOSTS, _PAGES_PER_HOST = 20, 60
_URLS = 100_000
_BATCH = 50
_ROUNDS = 3


def measure() -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for module, code in _EXAMPLE.findall(_PAGE.read_text()):
            (folder / module).write_text(code)
        sys.path.insert(0, name)
        try:
            yield from _links(folder)
            yield _conversion()
            yield from _sieve(folder)
            yield from _documents(folder)
            yield from _queries(folder)
            yield _ranks(folder)
        finally:
            sys.path.remove(name)


def _crawl(folder: Path, **used: Any) -> float:
    """Microseconds of the writer thread per page, the minimum of several crawls."""
    chosen = settings.load(flags={"crawl": {"delay": 0.0, "scope": "any"}}, environment={})
    best = float("inf")
    for number in range(_ROUNDS):
        into = folder / f"crawl-{'-'.join(used)}-{number}"
        with (
            SampleWeb(hosts=_HOSTS, pages_per_host=_PAGES_PER_HOST, slow=0.0) as web,
            Collection.write(into, settings=chosen, create=True) as collection,
        ):
            report = collection.use(**used).crawl(web.seeds, progress=False)
        best = min(best, report.gauges["write_micros"] / report.pages)
    return best


def _links(folder: Path) -> Iterator[Measurement]:
    without = _crawl(folder)
    for setting, name in (("priority", "by_date:ByDate"), ("follow", "guides:OnlyGuides")):
        every = {"priority": name} if setting == "priority" else {"follow": _every_link}
        yield Measurement(
            f"{setting}, per page", _crawl(folder, **every), "without", without, "µs", None, True
        )


def _every_link() -> Any:
    """Calls the example but follows all links, so that as many pages are fetched as without it."""
    from guides import OnlyGuides  # type: ignore[import-not-found]

    class EveryLink:
        example = OnlyGuides()

        def follow(self, page: Any, links: list[str], anchors: list[str]) -> list[bool]:
            return [followed or True for followed in self.example.follow(page, links, anchors)]

    return EveryLink()


def _conversion() -> Measurement:
    book = epub(**{"a/one .xhtml": f"<html><body>{'<p>Basalt cools slowly.</p>' * 10_000}</body></html>"})
    kind = "application/epub+zip"
    with Worker({kind: "epub:Epub"}) as own, Worker() as built_in:
        times = [seconds(partial(worker.ask, kind, book), 5) * 1e3 for worker in (own, built_in)]
    return Measurement("converter, per document", times[0], "the built-in reader", times[1], "ms", None, True)


def _sieve(folder: Path) -> Iterator[Measurement]:
    urls = [f"https://host{number % 1000}.example/page/{number}" for number in range(_URLS)]
    speeds = {}
    for kind in ("sqlite_sieve:SqliteSieve", "lsm"):
        (folder / kind / "frontier").mkdir(parents=True)
        sieve = open_sieve(kind, folder / kind)

        def add(sieve: Any = sieve) -> None:
            for start in range(0, _URLS, _BATCH):
                sieve.add(urls[start : start + _BATCH])
            sieve.checkpoint()

        speeds[kind] = _URLS / seconds(add, 1) / 1e3
    own, lsm = speeds.values()
    yield Measurement("sieve, 50 links a page", own, "lsm", lsm, "k URLs/s")


def _collection(folder: Path) -> Path:
    return next(folder.glob("crawl--*"))


def _documents(folder: Path) -> Iterator[Measurement]:
    times = {}
    for extractor in ("article:Article", ""):
        with Collection.write(_collection(folder)) as collection:
            collection.use(extractor=extractor)
            times[extractor] = seconds(lambda: collection.index(rebuild=True, progress=False), _ROUNDS)
            documents = collection.searcher().documents
    ours, theirs = (took / documents * 1e6 for took in times.values())
    yield Measurement("extractor, per document", ours, "without", theirs, "µs", None, True)


def _queries(folder: Path) -> Iterator[Measurement]:
    from recency import Recency  # type: ignore[import-not-found]

    into = _collection(folder)
    words = sorted({word for row in Collection(into).pages() for word in row.title.lower().split()})
    queries = [word for word in words if word.isalpha()]

    def every(search: Search) -> None:
        for query in queries:
            search.search(query)

    def ask(**used: Any) -> float:
        best = float("inf")
        for _ in range(_ROUNDS):
            search = Collection(into).use(**used).searcher()  # a new one has an empty cache
            best = min(best, seconds(partial(every, search), 1))
        return best / len(queries) * 1e6

    without = ask()
    yield Measurement(
        "rewriter, per query", ask(rewrite="synonyms:Synonyms"), "without", without, "µs", None, True
    )
    yield Measurement(
        "reranker of 50, per query", ask(rerank=Recency()), "without", without, "µs", None, True
    )


def _ranks(folder: Path) -> Measurement:
    with Collection.write(_collection(folder)) as collection:
        pages = [row.url for row in collection.pages()]
        visits = {url: float(number) for number, url in enumerate(pages)}
        ours = seconds(lambda: collection.rank(by=visits, progress=False), _ROUNDS)
        theirs = seconds(lambda: collection.rank(progress=False), _ROUNDS)
    return Measurement(
        "static ranks, per page",
        ours / len(pages) * 1e6,
        "PageRank",
        theirs / len(pages) * 1e6,
        "µs",
        None,
        True,
    )
