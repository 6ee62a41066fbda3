"""What a person imports and calls: ``crivello.create``, ``crivello.open`` and the methods of ``Collection``."""

from __future__ import annotations

import contextlib
import inspect
import os
import pkgutil
import pty
import pydoc
import subprocess
import sys
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from urllib.request import urlopen

import pytest

import crivello
from crivello.errors import CollectionError, InvalidArgument, InvalidSetting, NotACollection
from crivello.index.given import Given
from crivello.lab.web import SampleWeb

METHODS = [
    "crawl",
    "index",
    "add",
    "delete",
    "rank",
    "search",
    "count",
    "explain",
    "pages",
    "page",
    "text",
    "dedup",
    "status",
    "why",
    "serve",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A collection that was crawled, indexed and ranked by the methods, and its seed."""
    folder = tmp_path_factory.mktemp("face") / "small"
    with (
        SampleWeb(hosts=3, pages_per_host=6, slow=0) as web,
        crivello.create(folder, crawl={"delay": 0, "scope": "any"}) as collection,
    ):
        told: list[int] = []
        report = collection.crawl(web.seeds[0], progress=lambda report: told.append(report.pages))
        assert told[-1] == report.pages > 20
        indexed = collection.index()
        assert indexed.added == indexed.documents > 20 and not indexed.replaced
        ranking = collection.rank()
        assert ranking.pages > 20 and len(ranking.top(3)) == 3
        assert dict(ranking)[ranking.top(1)[0][0]] == max(dict(ranking).values())
    yield folder, web.seeds[0]


@pytest.fixture
def books(tmp_path: Path) -> Iterator[crivello.Collection]:
    """A collection of documents, open for writing."""
    with crivello.create(tmp_path / "books") as collection:
        yield collection


def test_creating_and_opening(tmp_path: Path) -> None:
    with pytest.raises(NotACollection):
        crivello.open(tmp_path / "small")
    with crivello.create(tmp_path / "small", crawl={"delay": 2}, index_codes={"prefer": "smallest"}) as made:
        assert made.settings.crawl.delay == 2 and len(made) == 0 and made
    with pytest.raises(CollectionError, match="is a collection already") as caught:
        crivello.create(tmp_path / "small")
    assert "write=True" in (caught.value.hint or "")
    assert "\nhint: go on with it" in "".join(traceback.format_exception(caught.value))
    opened = crivello.open(tmp_path / "small", search={"k1": 0.5})
    assert opened.settings.crawl.delay == 2 and opened.settings.search.k1 == 0.5
    assert crivello.open(tmp_path / "small").settings.search.k1 != 0.5
    for change in (
        opened.index,
        opened.rank,
        opened.crawl,
        lambda: opened.add({}),
        lambda: opened.delete(""),
    ):
        with pytest.raises(CollectionError, match="open for reading only") as caught:
            change()
        assert "write=True" in (caught.value.hint or "")
    with crivello.open(tmp_path / "small", write=True) as writer:
        assert writer.index().documents == 0


@pytest.mark.parametrize(
    ("sections", "said", "hint"),
    [
        ({"crawl": {"delya": 1}}, "there is no setting 'delya'", "did you mean delay?"),
        ({"crwal": {}}, "there is no section of the settings 'crwal'", "did you mean crawl?"),
        ({"crawl": {"delay": -1}}, "-1 is not allowed for delay", None),
        ({"crawl": 3}, "crawl is 3", "give its settings"),
    ],
)
def test_a_wrong_setting_is_told_before_a_folder_is_made(
    tmp_path: Path, sections: dict[str, dict[str, float]], said: str, hint: str | None
) -> None:
    with pytest.raises(InvalidArgument, match=said) as caught:
        crivello.create(tmp_path / "new", **sections)
    assert (hint or "") in (caught.value.hint or "")
    assert not (tmp_path / "new").exists()


def test_a_call_may_have_settings_of_its_own(made: tuple[Path, str]) -> None:
    folder, _ = made
    collection = crivello.open(folder)
    plain, other = collection.search("the of"), collection.search("the of", k1=0.1, rank_weight=0.0)
    assert [hit.score for hit in plain] != [hit.score for hit in other]
    assert collection.search("the of").hits == plain.hits
    for call in (collection.search, collection.count):
        with pytest.raises(InvalidSetting, match="there is no setting 'scroer'") as caught:
            call("lens", scroer="bm25")
        assert caught.value.hint == "did you mean scorer?"


def test_a_crawl_of_its_own_settings_ends_there(tmp_path: Path) -> None:
    with (
        SampleWeb(hosts=3, pages_per_host=6, slow=0) as web,
        crivello.create(tmp_path / "few", crawl={"delay": 0}) as collection,
    ):
        assert collection.crawl(web.seeds[:1], max_pages=4, progress=False).stopped_by == "max_pages"
        few = len(collection)
        assert collection.settings.crawl.max_pages == 0
        report = collection.crawl()
        assert report.waiting == 0 and len(collection) > few
        assert collection.index(codes="smallest", merge=True).segments == 1


def test_a_collection_is_its_pages(made: tuple[Path, str]) -> None:
    folder, seed = made
    collection = crivello.open(folder)
    urls = [page.url for page in collection]
    assert len(urls) == len(collection) == len(collection.pages()) > 20
    assert seed in collection and seed.replace("http", "HTTP") in collection
    assert "https://nowhere.example/" not in collection and 3 not in collection
    page = collection.page(seed.replace("http", "HTTP"))
    assert page is not None and page.url == seed
    assert collection.text(page) == collection.text(seed) != ""
    with pytest.raises(InvalidArgument, match="is not in"):
        collection.text("https://nowhere.example/")


def test_everything_shows_itself(made: tuple[Path, str]) -> None:
    folder, seed = made
    collection = crivello.open(folder)
    status = collection.status()
    assert status is not None and status.report.pages == len([page for page in collection if page.status])
    documents = collection.count("*")
    assert (
        repr(collection)
        == f"<Collection {str(folder)!r}: {len(collection)} pages, {documents} documents indexed>"
    )
    assert repr(collection.pages()) == f"<Pages: {len(collection)} of small>"
    assert repr(collection.summary()).startswith(f"<Summary: {documents} pages of 2 hosts, ")
    assert repr(status.report).startswith(f"<Report: {status.report.pages} pages fetched of ")
    assert "\npages fetched" in str(status.report) and "\nbytes in archive" in str(status)
    story = collection.why(seed)
    assert repr(story) == f"<Story: {seed}, done>" and "verdict: It was fetched." in str(story)
    for shown in (collection, collection.pages(), status, status.report, collection.summary()):
        assert shown._repr_html_().startswith("<table>") and shown._repr_html_().endswith("</table>")


def test_pages_and_ranks_are_tables(made: tuple[Path, str]) -> None:
    pytest.importorskip("polars")
    folder, seed = made
    with crivello.open(folder, write=True) as collection:
        pages, ranks = collection.pages().to_polars(), collection.rank().to_polars()
        assert pages.height == len(collection)
        [row] = pages.filter(url=seed).to_dicts()
        page = collection.page(seed)
        assert page is not None
        assert (row["status"], row["title"], row["outcome"]) == (200, page.title, "fetched")
        assert row["fetched_at"].timestamp() == pytest.approx(page.fetched_at, abs=1e-5)
        assert ranks.columns == ["url", "rank"]
        assert ranks["rank"].max() == collection.rank().top(1)[0][1] > 0


def test_documents_are_added_replaced_and_deleted(books: crivello.Collection) -> None:
    first = {"id": 1, "title": "Bees", "body": "A hive hums.", "date": "2024-05-01", "shelf": 7}
    assert repr(books.add(first)) == "<Indexed: 1 added, 1 documents in all>"
    both: list[Given] = [first, crivello.Document("https://b.example/", "Wasps", "They hum, too.")]
    again = books.add(iter(both))
    assert (again.added, again.replaced, again.documents) == (2, 1, 2)
    assert repr(again) == "<Indexed: 2 added, 1 of them in place of older ones, 2 documents in all>"
    assert books.count("hum") == 2 and len(books) == 0 and "https://b.example/" not in books
    [bees] = books.search("hive")
    assert (bees.id, bees.url, str(bees.date)) == ("1", "1", "2024-05-01")
    assert books.delete("https://b.example/").documents == 1 and books.count("*") == 1
    assert books.delete(["1"]).documents == 0
    assert books.rank().pages == 0 and list(books.rank()) == []


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"titel": "Bees"}, "document 1 has a field 'titel'"),
        ({"body": object()}, "document 1"),
        ({"body": 3}, "1"),
        ("https://a.example/", "document 1"),
    ],
)
def test_what_is_no_document_is_told_and_changes_nothing(
    books: crivello.Collection, document: object, said: str
) -> None:
    with pytest.raises(InvalidArgument, match=said):
        books.add([document])  # type: ignore[list-item]
    assert books.count("*") == 0


def test_a_score_is_explained_wherever_the_page_ranks(made: tuple[Path, str]) -> None:
    folder, _ = made
    collection = crivello.open(folder)
    hits = collection.search("the", top=1000, explain=True, collapse=-1, per_site=0).hits
    assert len(hits) > 15
    for hit in (hits[0], hits[-1]):
        assert collection.explain("the", hit.url) == hit.explanation
    assert collection.explain("the", "https://nowhere.example/") is None


def test_progress_is_shown_on_a_terminal_alone(tmp_path: Path) -> None:
    program = (
        "import sys, crivello; from crivello.lab.web import SampleWeb\n"
        "with SampleWeb(hosts=3, pages_per_host=6, slow=0) as web, "
        "crivello.create(sys.argv[1], crawl={'delay': 0.01}) as c:\n"
        "    c.crawl(web.seeds[:1]); c.index(); c.rank()\n"
    )
    terminal, end = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", program, tmp_path / "a"], stderr=end)
    os.close(end)
    said = b""
    with contextlib.suppress(OSError):  # the terminal is gone when the process has ended
        while part := os.read(terminal, 65_536):
            said += part
    os.close(terminal)
    assert process.wait(60) == 0
    assert b"in the workbench" in said and b"indexing" in said and b"ranking" in said
    silent = subprocess.run([sys.executable, "-c", program, tmp_path / "b"], capture_output=True, timeout=60)
    assert (silent.returncode, silent.stdout, silent.stderr) == (0, b"", b"")


def test_the_page_is_served(made: tuple[Path, str]) -> None:
    """In a process of its own, since it serves until it is interrupted."""
    folder, _ = made
    program = f"import crivello; crivello.open({str(folder)!r}).serve(port=0)"
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.startswith("searching small at http://127.0.0.1:") and "(Ctrl-C ends it)" in said
        assert b"<title>" in urlopen(said.split()[3]).read()
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_the_list_of_names_is_what_there_is() -> None:
    assert sorted([*crivello.__all__, "__version__"]) == dir(crivello)
    for name in crivello.__all__:
        assert getattr(crivello, name).__doc__, name
    assert crivello.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="'crivello' has no attribute 'colection'"):
        crivello.colection  # noqa: B018


def test_every_module_is_public_or_says_that_it_is_private() -> None:
    for module in pkgutil.iter_modules(crivello.__path__):
        if module.name in crivello.__all__ or module.name.startswith("_"):
            continue
        said = (import_module(f"crivello.{module.name}").__doc__ or "").splitlines()[0]
        assert said.startswith("Private"), module.name


def test_a_public_library_lists_its_names_with_docstrings() -> None:
    for name in crivello.__all__:
        library = getattr(crivello, name)
        if inspect.ismodule(library) and name not in ("errors", "lab"):
            assert library.__all__, name
            for listed in library.__all__:
                value = getattr(library, listed)
                if inspect.isclass(value) or inspect.isfunction(value):
                    assert value.__doc__, f"{name}.{listed}"


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_an_example(name: str) -> None:
    assert ">>> " in (getattr(crivello.Collection, name).__doc__ or "")


def test_help_reads_like_a_page() -> None:
    page = pydoc.plain(pydoc.render_doc(crivello))
    for part in (
        "create(folder:",
        "open(folder:",
        "class Collection",
        "    filters       sets in a fixed",
        *METHODS,
    ):
        assert part in page
    assert "_core" not in page.partition("FUNCTIONS")[2]


def test_importing_loads_nothing_heavy() -> None:
    program = (
        "import sys; before = set(sys.modules); import crivello; "
        "print(*sorted(name.split('.')[0] for name in set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"crivello", *sys.stdlib_module_names}
