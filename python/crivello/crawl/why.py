"""The history of a URL, assembled from the table, the link log, the frontier and the decision log.

Only committed data is read, even while a crawl is running. It takes one pass over the decision log and one
over the link log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from crivello import _core
from crivello._core import Layout
from crivello._figures import table_html
from crivello.crawl.crawler import canonical_seeds
from crivello.crawl.decisions import DECLARED, GIVEN_UP, HANDED_OVER, ROBOTS, SEED, Decision, decisions_naming
from crivello.crawl.reach import is_wider, reach_of
from crivello.crawl.revisits import NextVisit, next_visit
from crivello.crawl.seen import depths_in_frontier
from crivello.settings import Crawl
from crivello.store import Outcome, Row

if TYPE_CHECKING:
    from crivello.collection import Collection
    from crivello.graph.update import Standing

State = Literal["done", "waits", "handed over", "left out", "unknown"]

LINKS_COUNTED = 100_000
"""The maximum number of pages linking to a URL that are counted."""
NOT_VISITED = "not visited"
_NAMED = 20
_CLEAN_UPS = {
    "clean_session_ids": "a session id was taken out",
    "clean_tracking": "tracking parameters were taken out",
    "clean_index_pages": "the name of an index page was taken off",
    "sort_queries": "the parameters were sorted",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """The page from which a URL was discovered: by a link with an anchor text, or by a redirect."""

    url: str
    anchor: str
    is_redirect: bool


@dataclass(slots=True, repr=False)
class Story:
    """Everything known about a URL; ``str()`` renders it in sentences.

    ``state`` is "done" if the URL has an outcome (``row``), "waits" if it is in the frontier, "handed over" if
    another agent of the crawl has it, "left out" if
    pages link to it but the crawl did not add it, and "unknown" if nothing links to it. ``scope_refusal`` is
    why a link to it would not be followed, ``limit_refusal`` why the first link to it was not, and ``others`` has
    the outcomes of the URLs named in its row. ``asset_of`` says what it is to which page, as in "style sheet of
    http://…", if it is an asset. ``versions`` are what it was at each visit, newest first.
    ``settings`` are the current ones, which may differ from those of the crawl.
    """

    given: str
    url: str
    cleaned: list[str]
    state: State = "unknown"
    scope_refusal: str | None = None
    limit_refusal: str | None = None
    is_seed: bool = False
    asset_of: str = ""
    found: Finding | None = None
    linking_pages: int = 0
    depth: int | None = None
    site_depth: int | None = None
    rules: list[Decision] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    row: Row | None = None
    redirected_from: list[str] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    others: dict[str, str] = field(default_factory=dict)
    is_indexed: bool = False
    index_reason: str = ""
    standings: list[Standing] = field(default_factory=list)
    versions: list[Row] = field(default_factory=list)
    next_visit: NextVisit | None = None
    settings: Crawl = field(default_factory=Crawl)

    def __repr__(self) -> str:
        return f"<Story: {self.url}, {self.state}>"

    def _repr_html_(self) -> str:
        from crivello.crawl.story import tell

        return table_html(self.given, (), tell(self))

    def __str__(self) -> str:
        from crivello.crawl.story import tell

        lines = tell(self)
        return "\n".join([self.given, *(f"  {heading}: {text}" for heading, text in lines)])

    @property
    def host(self) -> str:
        """Scheme, host and port."""
        return origin(self.url)

    @property
    def place(self) -> dict[str, Any] | None:
        """The position of the page's record in the archive."""
        if self.row is None or not self.row.length:
            return None
        return {"file": Layout.archive(self.row.file), "offset": self.row.offset, "length": self.row.length}

    def to_dict(self) -> dict[str, Any]:
        """The format of ``crivello why --json``."""
        found = self.found
        return {
            "given": self.given,
            "url": self.url,
            "cleaned": self.cleaned,
            "state": self.state,
            "scope_refusal": self.scope_refusal,
            "limit_refusal": self.limit_refusal,
            "seed": self.is_seed,
            "asset_of": self.asset_of,
            "depth": self.depth,
            "site_depth": self.site_depth,
            "found": found and {"url": found.url, "anchor": found.anchor, "redirect": found.is_redirect},
            "linking_pages": self.linking_pages,
            "robots": [decision.to_dict() for decision in self.rules],
            "decisions": [decision.to_dict() for decision in self.decisions],
            "page": self.row and self.row.to_dict(),
            "redirected_from": self.redirected_from,
            "copies": self.copies,
            "others": self.others,
            "record": self.place,
            "indexed": self.is_indexed,
            "index_reason": self.index_reason,
            "ranks": [standing.to_dict() for standing in self.standings],
            "versions": [row.to_dict() for row in self.versions],
            "next_visit": self.next_visit and self.next_visit.to_dict(),
        }


def why(collection: Collection, url: str) -> Story:
    """The history of a URL, which need not be canonical."""
    story = _identified(collection, url)
    story.settings = collection.settings.crawl
    story.scope_refusal = _scope(collection).refusal(story.url)
    _read_decisions(collection, story)
    finder = _read_links(collection, story)
    story.row = collection.page(story.url)
    if story.row is not None:
        story.state, story.depth = "done", story.row.depth
        story.others = _outcomes(collection, story.row)
        read_index(collection, story)
        story.versions = collection.versions(story.url)
        story.next_visit = next_visit(collection, story.row.url)
        return story
    depths = depths_in_frontier(collection, story.url)
    if depths is not None:
        story.depth, story.site_depth = depths
    if story.decisions and story.decisions[-1].event == HANDED_OVER:
        story.state = "handed over"
    elif depths is not None or story.is_seed:
        story.state = "waits"
    elif story.linking_pages:
        story.state = "left out"
        if story.scope_refusal is None and finder is not None:
            story.limit_refusal = _limit(collection, story.url, finder)
        if story.scope_refusal is None and "exchange" in collection.state("crawl"):
            story.limit_refusal = story.limit_refusal or "another agent owns its name"
    return story


def read_index(collection: Collection, story: Story) -> None:
    """Whether the page of a story is in the index of a collection, and where it stands there."""
    assert story.row is not None
    story.is_indexed, story.index_reason = _index(collection, story.row)
    story.standings = _standings(collection, story.row)


def origin(url: str) -> str:
    """Scheme, host and port of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def clean(urls: list[str], settings: Crawl) -> list[str | None]:
    """Cleans URLs up as the crawl does with the links of a page."""
    return _core.canonical_urls(
        urls,
        session_ids=settings.clean_session_ids,
        tracking=settings.clean_tracking,
        index_pages=settings.clean_index_pages,
        sort_query=settings.sort_queries,
    )


def _only(setting: str) -> Crawl:
    """Settings with only this clean-up enabled."""
    return Crawl(**{name: name == setting for name in _CLEAN_UPS})  # type: ignore[arg-type]


def _identified(collection: Collection, url: str) -> Story:
    """Resolves the URL, and lists the clean-ups applied to it. Seeds are not cleaned up."""
    [plain] = canonical_seeds([url])
    settings = collection.settings.crawl
    [cleaned] = clean([plain], settings)
    if cleaned is None or cleaned == plain or collection.page(plain) is not None:
        return Story(url, plain, [])
    said = [
        words
        for setting, words in _CLEAN_UPS.items()
        if getattr(settings, setting) and clean([plain], _only(setting)) != [plain]
    ]
    return Story(url, cleaned, said)


def _scope(collection: Collection) -> _core.Scope:
    """The scope of a crawl with the current settings."""
    settings, state = collection.settings.crawl, collection.state("crawl")
    seeds = [*state.get("seeds", []), *state.get("led_to", [])]
    return _core.Scope(settings.scope, seeds, settings.include.split(), settings.exclude.split())


def _read_decisions(collection: Collection, story: Story) -> None:
    rules = f"{story.host}/robots.txt"
    for decision in decisions_naming(collection, story.url, rules):
        if decision.url == rules and decision.event in (ROBOTS, GIVEN_UP):
            story.rules.append(decision)
        elif decision.url == story.url and decision.event == SEED:
            story.is_seed = True
        elif decision.url == story.url and decision.event == DECLARED:
            story.asset_of = story.asset_of or decision.detail
        elif decision.url == story.url:
            story.decisions.append(decision)
        elif decision.event in (Outcome.REDIRECTED, Outcome.ASSET):
            _append(story.redirected_from, decision.url)
        elif decision.other == story.url:
            _append(story.copies, decision.url)


def _append(urls: list[str], url: str) -> None:
    if url not in urls and len(urls) < _NAMED:
        urls.append(url)


def _read_links(collection: Collection, story: Story) -> Row | None:
    """Counts the pages that link to the URL; returns the first."""
    committed = collection.length(Layout.LINKS)
    if not committed:
        return None
    signature = _core.signature(story.url)
    pages = _core.pages_linking_to(collection.folder / Layout.LINKS, committed, signature, LINKS_COUNTED)
    story.linking_pages = len(pages)
    finder = collection.table.by_signature(pages[0]) if pages else None
    if finder is not None:
        story.found = Finding(
            finder.url, _anchor(collection, finder, story.url), finder.redirect == story.url
        )
    return finder


def _anchor(collection: Collection, finder: Row, url: str) -> str:
    """The anchor text of a link to ``url`` on the page ``finder``."""
    return next((anchor for link, anchor in _links(collection, finder) if link == url), "")


def _links(collection: Collection, row: Row) -> list[tuple[str | None, str]]:
    """The links of a stored page, each with its anchor text."""
    if not row.length or row.text_length:
        return []
    page = collection.record(row).parse(collection.settings.crawl.max_bytes)
    if page is None:
        return []
    return [*zip(clean(page.links, collection.settings.crawl), page.anchors, strict=True)]


def _limit(collection: Collection, url: str, finder: Row) -> str | None:
    """Why the link to a URL in scope on the page ``finder`` was not followed, by the settings of today."""
    settings, state = collection.settings.crawl, collection.state("crawl")
    if skipped := _skipped(settings, finder):
        return skipped
    depth, site_depth = depths_in_frontier(collection, finder.url) or (finder.depth, 0)
    if settings.max_depth == 0:
        return "only the seeds are fetched (max_depth is 0)"
    if 0 <= settings.max_depth <= depth:
        return f"it is farther from the seeds than max_depth ({settings.max_depth})"
    if origin(url) == origin(finder.url) and 0 <= settings.max_site_depth <= site_depth:
        return f"it is deeper in its site than max_site_depth ({settings.max_site_depth})"
    scope = _scope(collection)
    reached = [link for link, _ in _links(collection, finder) if link and scope.refusal(link) is None]
    if settings.max_links and url not in reached[: settings.max_links]:
        return f"it is not among the first links of {finder.url}, of which max_links ({settings.max_links}) are followed"
    if settings.follow:
        return f"crawl.follow ({settings.follow}) does not follow it"
    seeds, led_to, before = state.get("seeds", []), state.get("led_to", []), state.get("reach")
    if before is None or is_wider(reach_of(settings, seeds), before, seeds, led_to):
        return "it was out of reach in the last run; the next run has wider settings and will take it in"
    if state.get("reread"):
        return "it was out of reach in earlier runs; the crawl is reading stored pages again, and will take it in"
    return None


def _skipped(settings: Crawl, finder: Row) -> str | None:
    """Why no link of a page is followed: it is a duplicate of another."""
    kinds = (
        ("exact_duplicates", "a duplicate", finder.duplicate_of),
        ("near_duplicates", "a near-duplicate", finder.near_duplicate_of),
    )
    for setting, kind, original in kinds:
        treatment = getattr(settings, setting)
        if original and treatment in ("skip-links", "drop"):
            return (
                f"it was found on {kind} of {original}, and {setting} ({treatment}) does not follow its links"
            )
    return None


def _standings(collection: Collection, row: Row) -> list[Standing]:
    """Where a page stands in each measure."""
    from crivello.graph.update import standings

    return standings(collection, row.url)


def _outcomes(collection: Collection, row: Row) -> dict[str, str]:
    """The outcomes of the URLs named in a row."""
    named = (row.redirect, row.duplicate_of, row.near_duplicate_of, row.canonical)
    rows = {url: collection.page(url) for url in named if url}
    return {url: str(other.outcome) if other else NOT_VISITED for url, other in rows.items()}


def _index(collection: Collection, row: Row) -> tuple[bool, str]:
    """Whether a page is in the index, and why not."""
    if row.outcome not in (Outcome.FETCHED, Outcome.NOT_MODIFIED):
        is_asset = row.outcome is Outcome.ASSET
        return False, "it is no page, but what pages are shown with" if is_asset else "there is no page of it"
    if row.outcome is Outcome.FETCHED and row.status != 200:
        return False, f"its status is {row.status}"
    if row.digest is None:
        return False, f"{row.content_type or 'its type'} is not text"
    if row.noindex:
        return False, "it asks not to be indexed (noindex)"
    if row.duplicate_of is not None:
        return False, "it has the words of another page"
    if row.is_dropped:
        return False, "it has nearly the words of another page, and was not stored"
    state = collection.state("index")
    if not state:
        return False, "`crivello index` was not run yet"
    later = (each for rows, _ in collection.table.batches(state["rows"]) for each in rows)
    if any(each.url == row.url and each.outcome is not Outcome.NOT_MODIFIED for each in later):
        return False, "it came after the last `crivello index`"
    return True, ""
