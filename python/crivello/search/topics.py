"""Topics: the queries of a batch, each with the id that relevance judgments refer to.

Two formats are read. In the plain one a line is a topic: its id and its query, separated by a tab. In the
TREC format tags name the parts, and a part ends where the next tag begins, whether it is closed or not:

    <top>                                      <DOC>
    <num> Number: 301                          <DOCNO> 1 </DOCNO>
    <title> International Organized Crime      What articles exist which deal with TSS?
    <desc> Description: ...                    </DOC>
    </top>

The query of a ``<top>`` is its title, or its description if the title is empty; that of a ``<DOC>`` is all of
its text. A file is in the TREC format if it begins with ``<``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from msgspec import structs

from crivello.errors import InvalidArgument
from crivello.lines import numbered_lines
from crivello.search.results import Hit
from crivello.search.searcher import Search
from crivello.search.words import words_of_text
from crivello.settings import Search as SearchSettings

_OPENING = re.compile(r"<\s*(top|doc)\s*>", re.IGNORECASE)
_TAG = re.compile(r"<\s*(?P<closing>/?)\s*(?P<name>[a-z]\w*)\s*>", re.IGNORECASE)
_LABEL = re.compile(r"(?:number|topic|title|description):", re.IGNORECASE)

BY_SCORE_ALONE: dict[str, Any] = {
    "collapse": -1,
    "per_site": 0,
    "suggest": False,
    "count_limit": 0,
    "time_limit": 0.0,
}
"""The settings with which topics are searched, whatever the collection's are."""


class Topic(NamedTuple):
    """An information need, as a text."""

    id: str
    text: str

    @property
    def query(self) -> str:
        """Its words as a query without operators."""
        return words_of_text(self.text)


def read_topics(name: str) -> list[Topic]:
    """The topics of a file, plain or gzip, in file order; ``-`` is standard input."""
    lines = list(numbered_lines(name))
    read = _tagged if lines and lines[0][1].startswith("<") else _tabbed
    topics: dict[str, Topic] = {}
    for number, topic in read(name, lines):
        if topic.id in topics:
            raise InvalidArgument(f"{name}, line {number}: topic {topic.id} was there before")
        topics[topic.id] = topic
    if not topics:
        raise InvalidArgument(
            f"there is no topic in {name}", hint="a line is an id, a tab and a query; or give topics of TREC"
        )
    return list(topics.values())


def hits_of(topic: Topic, searcher: Search, *, top: int, settings: SearchSettings | None = None) -> list[Hit]:
    """The hits for a topic, by score alone; none if it has no words.

    Features for people are off, since judgments do not cover them: collapsing, site mixing, spelling
    correction and snippets. So are the count of matches and the time limit.
    """
    query = topic.query
    if not query:
        return []
    plain = structs.replace(settings or searcher.settings, **BY_SCORE_ALONE)
    return list(searcher.search(query, top=top, passages=False, settings=plain))


def _tabbed(name: str, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Topic]]:
    for number, line in lines:
        identity, tab, query = line.partition("\t")
        if not tab:
            raise InvalidArgument(f"{name}, line {number}: there is no tab between an id and a query")
        yield number, Topic(_checked(identity, name, number), query.strip())


def _tagged(name: str, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Topic]]:
    begun: int | None = None
    gathered: list[str] = []
    for number, line in lines:
        if _OPENING.match(line):
            if begun is not None:
                yield begun, _topic("\n".join(gathered), name, begun)
            begun, gathered = number, []
        if begun is None:
            raise InvalidArgument(f"{name}, line {number}: a topic begins with <top> or <DOC>")
        gathered.append(line)
    if begun is not None:
        yield begun, _topic("\n".join(gathered), name, begun)


def _topic(text: str, name: str, number: int) -> Topic:
    parts = _parts(text)
    identity = parts.get("num") or parts.get("docno") or ""
    query = parts.get("title") or parts.get("desc") or parts.get("doc") or parts.get("text") or ""
    return Topic(_checked(identity, name, number), query)


def _parts(text: str) -> dict[str, str]:
    """The text after each tag, by the tag's name; text after a closing tag belongs to ``doc``."""
    parts: dict[str, str] = {}
    tags = list(_TAG.finditer(text))
    ends = [tag.start() for tag in tags[1:]] + [len(text)]
    for tag, end in zip(tags, ends, strict=True):
        name = "doc" if tag["closing"] else tag["name"].lower()
        words = html.unescape(text[tag.end() : end]).split()
        if words and _LABEL.fullmatch(words[0]):
            words.pop(0)
        parts[name] = " ".join([parts.get(name, ""), *words]).strip()
    return parts


def _checked(identity: str, name: str, number: int) -> str:
    identity = identity.strip()
    if not identity or len(identity.split()) > 1:
        raise InvalidArgument(f"{name}, line {number}: {identity!r} is no id of a topic: it is one word")
    return identity
