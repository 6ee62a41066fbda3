"""What an assistant may call: each tool with its parameters, which validate and describe themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.datastructures import QueryParams

from crivello.errors import CrivelloError, InvalidArgument
from crivello.search.results import Results
from crivello.web.api.definitions import LONGEST_URL, Parameter
from crivello.web.parameters import refuse_unknown

if TYPE_CHECKING:
    from crivello.collection import Collection

Answer = tuple[str, dict[str, Any]]
"""An answer as text for the assistant, and as an object."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; ``writes`` says whether it changes the collection."""

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    answer: Callable[[Collection, Mapping[str, Any]], Answer]
    writes: bool = False

    def described(self) -> dict[str, Any]:
        """Its description in the list of tools."""
        properties = {one.name: {**one.schema(), "description": one.description} for one in self.parameters}
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": [one.name for one in self.parameters if one.required],
                "additionalProperties": False,
            },
            "annotations": {
                "readOnlyHint": not self.writes,
                "destructiveHint": False,
                "openWorldHint": self.writes,
            },
        }

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The values of its parameters."""
        given = QueryParams({name: _text(name, value) for name, value in arguments.items()})
        refuse_unknown(given, [one.name for one in self.parameters])
        return {one.name: one.read(given, self.name) for one in self.parameters}


def call(tool: Tool, collection: Collection, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a call; what goes wrong is told to the assistant, which may mend it."""
    try:
        text, answer = tool.answer(collection, tool.read(arguments))
    except CrivelloError as error:
        told = f"{error}. Hint: {error.hint}" if error.hint else str(error)
        return {"content": [{"type": "text", "text": told}], "isError": True}
    return {"content": [{"type": "text", "text": text}], "structuredContent": answer, "isError": False}


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, str | int):
        return str(value)
    raise InvalidArgument(f"{name} is a text or a number, not {value!r:.60}")


def _listed(results: Results) -> Answer:
    """Results as a numbered list, and as objects."""
    found = [
        {
            "id": hit.url,
            "title": hit.title or hit.url,
            "url": hit.url,
            "text": str(hit.snippet),
            "date": hit.date.isoformat() if hit.date else None,
            "language": hit.language,
            "type": hit.kind,
            "score": hit.score,
        }
        for hit in results
    ]
    head = f"{results.counted} for {results.searched!r}"
    if results.corrected:
        head = f"Nothing for {results.query!r}; {head}"
    lines = [
        f"{number}. {one['title']}\n   {one['url']}{' (' + str(one['date']) + ')' if one['date'] else ''}\n   {one['text']}"
        for number, one in enumerate(found, start=1)
    ]
    answer = {"query": results.searched, "matches": results.matches, "results": found}
    return "\n".join([head, *lines]), answer


def _search(collection: Collection, given: Mapping[str, Any]) -> Answer:
    return _listed(collection.search(given["query"], top=given["top"], offset=given["offset"]))


def _similar(collection: Collection, given: Mapping[str, Any]) -> Answer:
    return _listed(collection.similar(given["url"], top=given["top"]))


def _fetch(collection: Collection, given: Mapping[str, Any]) -> Answer:
    collection.refresh()
    row = collection.page(given["url"])
    if row is None:
        raise InvalidArgument(
            f"{given['url']} is not in the collection", hint="fetch a URL that search found; why tells more"
        )
    whole = collection.text(row)
    start, most = given["start"], given["most"]
    text = whole[start : start + most]
    left = max(0, len(whole) - start - len(text))
    head = f"{row.title or row.url}\n{row.url}\n"
    more = f"\n[{left:,} more characters: call again with start={start + len(text)}]" if left else ""
    answer = {
        "id": row.url,
        "title": row.title,
        "url": row.url,
        "text": text,
        "start": start,
        "characters": len(whole),
        "metadata": {"language": row.language, "type": row.content_type, "status": row.status},
    }
    return f"{head}\n{text}{more}", answer


def _why(collection: Collection, given: Mapping[str, Any]) -> Answer:
    collection.refresh()
    story = collection.why(given["url"])
    lines = str(story)
    return lines, {"url": story.url, "state": story.state, "story": lines}


def _crawl(collection: Collection, given: Mapping[str, Any]) -> Answer:
    from crivello.collection import Collection
    from crivello.crawl.crawler import canonical_seeds, starts_on_private

    settings, seeds = collection.settings, canonical_seeds([given["url"]])
    is_allowed = settings.crawl.allow_private or collection.state("crawl").get("private", False)
    # A seed on a private network is a person's consent to crawl it; an assistant cannot give that.
    if not is_allowed and starts_on_private(settings.crawl, seeds):
        raise InvalidArgument(
            f"{given['url']} is on a private network", hint="a person allows that by crawl.allow_private"
        )
    with Collection.write(collection.folder, settings=settings) as writer:
        known = len(writer)
        writer.crawl(seeds, progress=False, max_pages=given["max_pages"], max_time=_LONGEST_CRAWL)
        indexed = writer.index(progress=False)
        added = len(writer) - known
    collection.refresh()
    text = f"Crawled {added:,} new URLs from {given['url']}; {indexed.documents:,} pages can be searched now."
    return text, {"url": given["url"], "added": added, "documents": indexed.documents}


_LONGEST_CRAWL = 120.0
_URL = Parameter(
    "url", "the URL of a page", "https://www.example.org/", kind="url", required=True, most=LONGEST_URL
)
_TOP = Parameter("top", "how many results, at most", "10", kind="number", default=10, least=1, most=50)

TOOLS = (
    Tool(
        "search",
        "Search",
        'Search the pages of this collection. Words find pages with any of them, the best first; "quoted words" are a phrase; '
        "AND, OR, NOT, site:example.org, lang:it, type:pdf, after:2024-01-01 and before:2025 narrow it down.",
        (
            Parameter("query", "the query", "solar wind", required=True),
            _TOP,
            Parameter("offset", "how many results to pass over", "10", kind="number", default=0, most=1_000),
        ),
        _search,
    ),
    Tool(
        "fetch",
        "Read a page",
        "The text of a page that search found, as it was when it was crawled. Nothing is fetched from the network.",
        (
            _URL,
            Parameter("start", "the first character", "0", kind="number", default=0, most=100_000_000),
            Parameter(
                "most", "the most characters", "20000", kind="number", default=20_000, least=100, most=200_000
            ),
        ),
        _fetch,
    ),
    Tool(
        "similar",
        "Similar pages",
        "The pages most like a page of the collection, by its characteristic words.",
        (_URL, _TOP),
        _similar,
    ),
    Tool(
        "why",
        "History of a URL",
        "Where a URL was discovered, when it was tried, what refused it, and what became of it: also of one that is not in the "
        "collection.",
        (_URL,),
        _why,
    ),
    Tool(
        "crawl",
        "Crawl a site",
        "Crawl from a URL, politely, and index what was found; it takes up to two minutes.",
        (
            _URL,
            Parameter(
                "max_pages", "the most pages to add", "20", kind="number", default=20, least=1, most=500
            ),
        ),
        _crawl,
        writes=True,
    ),
)
