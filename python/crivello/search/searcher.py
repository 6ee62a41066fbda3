"""A collection's index, opened for searching: one snapshot."""

from __future__ import annotations

import datetime
import math
import operator
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from crivello._core import QueryText, Ranking, Ranks, Searcher, SearchOptions
from crivello.errors import ExtensionError, InvalidArgument
from crivello.extend import Extension, Extensions
from crivello.graph.kept import GIVEN
from crivello.index import Segment
from crivello.search.latency import SEARCHES
from crivello.search.operators import Operator, Query
from crivello.search.operators.text import sound
from crivello.search.results import Explanation, FacetValue, Hit, Results, Snippet
from crivello.settings import Search as SearchSettings
from crivello.settings import for_core
from crivello.shards import ShardProcesses, by_shard, by_terms

_STATIC_RANK = "static rank"
_FACET_VALUES = 10
_KEPT = 64
_LEAST_DEPTH = 100
_MOST_FOLDED = 1000
_MOST_HITS = 10_000_000
_MOST_COMPLETIONS = 100
_MOST_COUNTED = 1 << 62
_EPOCH = datetime.date(1970, 1, 1)
_MOST_COMPARED = 1000
_PLAIN_WORD = re.compile(r"\w[\w'’.-]*")
_CONNECTIVES = {"AND", "OR", "NOT"}
_FILTER_OF = {"site": "site:{}", "language": "lang:{}", "type": "type:{}"}


def options_of(settings: SearchSettings) -> SearchOptions:
    """The settings as options of the core; without a language, words are stemmed as English."""
    settings = structs.replace(settings, language=settings.language or "en")
    return SearchOptions(msgspec.json.encode(for_core(settings)))


def _searcher(folder: Path, segments: list[Segment], ranks: tuple[Path, int, str] | None) -> Searcher:
    return Searcher(folder, segments, Ranks(*ranks[:2]) if ranks else None)


Key = TypeVar("Key")
Value = TypeVar("Value")


class _Recent(OrderedDict[Key, Value]):
    """A thread-safe LRU cache."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def known(self, key: Key) -> Value | None:
        """The cached value of a key."""
        with self._lock:
            if key in self:
                self.move_to_end(key)
            return self.get(key)

    def keep(self, key: Key, value: Value) -> Value:
        """Caches a value, evicting the least recently used one."""
        with self._lock:
            self[key] = value
            while len(self) > _KEPT:
                self.popitem(last=False)
        return value


Places = list[tuple[int, Hit]]
"""Hits, each with its index in the ranking, from 0."""


class Search:
    """Answers queries over the segments and ranks of one commit; any number of threads may use it.

    Rankings are cached, so that the next page of the same query is neither ranked nor reranked again.
    """

    def __init__(
        self,
        folder: Path,
        segments: list[Segment],
        ranks: tuple[Path, int, str] | None,
        settings: SearchSettings,
        extensions: Extensions | None = None,
    ) -> None:
        self.snapshot: tuple[list[Segment], tuple[Path, int, str] | None] = (segments, ranks)
        self._settings = settings
        self._open = partial(_searcher, folder, segments, ranks)
        self._local: Searcher | None = None
        self._searcher: Searcher | ShardProcesses
        documents, of_terms = by_terms(segments)
        if settings.shards == "processes" and of_terms:
            self._searcher = ShardProcesses(folder, of_terms, ranks, settings, documents)
        elif settings.shards == "processes" and (divided := by_shard(segments)):
            self._searcher = ShardProcesses(folder, divided, ranks, settings)
        else:
            self._searcher = self._local = self._open()
        self._measure = ranks[2] if ranks else ""
        self._extensions = extensions or Extensions()
        self._options: _Recent[SearchSettings, SearchOptions] = _Recent()
        self._languages: _Recent[str, str] = _Recent()
        self._rankings: _Recent[tuple[str, SearchSettings, bool], tuple[int, Ranking]] = _Recent()
        self._reranked: _Recent[tuple[object, ...], Places] = _Recent()
        for load in (self._rewriter, self._reranker):
            load(settings)  # fails early if one cannot be loaded

    @property
    def settings(self) -> SearchSettings:
        """The default settings of a search."""
        return self._settings

    @property
    def documents(self) -> int:
        """The number of pages that can be found."""
        return self._searcher.documents

    @property
    def terms(self) -> int:
        """The number of distinct terms; a term counts once for each segment."""
        return self._searcher.terms

    @property
    def postings(self) -> int:
        """The number of postings: pairs of term and page."""
        return self._searcher.postings

    @property
    def bytes(self) -> int:
        """The size of the index."""
        return self._searcher.bytes

    @cached_property
    def languages(self) -> list[str]:
        """The languages in which pages are stemmed, that of most pages first; at most ten."""
        options = options_of(structs.replace(self._settings, time_limit=0.0))
        ranking = self._searcher.rank("*", options, 1, _MOST_COUNTED, _FACET_VALUES)
        pages = dict((ranking.facets or {}).get("language", []))
        # A page without a language is stemmed as English.
        english = pages.get("en", 0) + self.documents - sum(pages.values())
        if english or not pages:
            pages["en"] = english
        return sorted(pages, key=lambda language: -pages[language])

    @property
    def missing_shards(self) -> tuple[int, ...]:
        """The shards that do not answer now."""
        return self._searcher.missing if isinstance(self._searcher, ShardProcesses) else ()

    def stale_anchors(self, path: Path, committed: int) -> list[int]:
        """The signatures of pages that now have twice as much anchor text as they were indexed with."""
        return self._whole.stale_anchors(path, committed)

    def search(
        self,
        query: Query,
        *,
        top: int = 10,
        offset: int = 0,
        facets: bool = False,
        explain: bool = False,
        passages: bool = True,
        correct: bool = True,
        settings: SearchSettings | None = None,
    ) -> Results:
        """The best pages for a query, as a text in the query language or as operators.

        ``passages`` says whether hits have snippets. For a query without matches, its spelling correction is
        searched, if there is one, unless ``correct`` is false. ``settings`` replaces the
        collection's for this query.
        """
        began = time.perf_counter_ns()
        settings = settings or self._settings
        asked = _text_of(query)
        settings = self._in_its_language(asked, settings)
        top, offset = _whole("top", top, _MOST_HITS), _whole("offset", offset, _MOST_HITS)
        options = self._options_of(settings)
        reranker = self._reranker(settings)
        wanted = max(offset + top, settings.rerank_depth) if reranker else offset + top
        text, ranking = self._rewritten(
            query, settings, lambda text: (text, self._ranking(text, settings, options, wanted, facets))
        )
        suggestion, corrected = None, None
        if settings.suggest and not (offset and ranking.matches):
            suggestion = self._searcher.suggest(asked, options)
        if suggestion and correct and not ranking.matches:
            other = self._ranking(suggestion, settings, options, wanted, facets)
            if other.matches:
                ranking, text, corrected, suggestion = other, suggestion, suggestion, None
        meant = corrected or asked
        best = self._rerank(reranker, meant, ranking, settings.rerank_depth) if reranker else []
        places = best[offset : offset + top]
        places += self._shown(ranking, max(offset, len(best)), offset + top, passages)
        missing = {*ranking.missing}
        if len(places) < min(top, max(len(ranking) - offset, 0)):
            missing.update(self.missing_shards)
        hits = [hit for _, hit in places]
        if explain:
            explained = [self._explanation(text, options, ranking, place) for place, _ in places]
            by = reranker.label if reranker else ""
            hits = [
                replace(hit, explanation=_reranked(parts, hit.score, by) if hit.rank <= len(best) else parts)
                for hit, parts in zip(hits, explained, strict=True)
            ]
        nanoseconds = time.perf_counter_ns() - began
        SEARCHES.observe(nanoseconds / 1e9)
        return Results(
            asked,
            _counted(ranking, settings.count_limit),
            nanoseconds // 1000,
            tuple(hits),
            exact=ranking.exact,
            partial=ranking.partial,
            suggestion=suggestion,
            corrected=corrected,
            facets=_facets(meant, ranking) if facets else None,
            rewritten=text if corrected is None and text != asked else None,
            missing_shards=tuple(sorted(missing)),
        )

    def count(
        self, query: Query, *, limit: int = _MOST_COUNTED, settings: SearchSettings | None = None
    ) -> int:
        """The number of pages that match a query, at most ``limit``, without a time limit."""
        settings = structs.replace(settings or self._settings, time_limit=0.0)
        settings = self._in_its_language(_text_of(query), settings)
        options = self._options_of(settings)
        limit = _whole("limit", limit, _MOST_COUNTED)
        counted = self._rewritten(query, settings, lambda text: self._whole.count(text, options, limit)[0])
        return min(counted, limit)

    def explain(
        self, query: Query, url: str, *, settings: SearchSettings | None = None
    ) -> Explanation | None:
        """The explanation of one page's score, however far down it ranks; ``None`` if it does not match."""
        plain = structs.replace(settings or self._settings, collapse=-1, per_site=0, time_limit=0.0)
        plain = self._in_its_language(_text_of(query), plain)
        options, depth = self._options_of(plain), max(1, self.documents)
        text, ranking = self._rewritten(
            query, plain, lambda text: (text, self._whole.rank(text, options, depth))
        )
        for start in range(0, len(ranking), _LEAST_DEPTH):
            shown = self._whole.show(ranking, start, start + _LEAST_DEPTH, False)
            for place, values in enumerate(shown, start):
                if values is not None and values[1] == url:
                    explained = self._whole.explain(text, options, ranking, place)
                    return _explanation(explained, self._measure)
        return None

    def complete(self, text: str, *, top: int = 8) -> list[str]:
        """The queries that a text may be completed to, the best first; none if it has operators."""
        if not 1 <= top <= _MOST_COMPLETIONS:
            raise InvalidArgument(
                f"top is {top}, and there are from 1 to {_MOST_COMPLETIONS} completions",
                hint="leave top out to get 8",
            )
        return self._whole.complete(sound(text), top)

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """The document frequency of each of these terms, including replaced documents."""
        return self._whole.frequencies(list(terms))

    def verify(self) -> None:
        """Reads everything and checks every checksum."""
        self._whole.verify()

    @property
    def _whole(self) -> Searcher:
        """All shards as one index in this process: for what must not leave out any."""
        if self._local is None:
            self._local = self._open()
        return self._local

    def _rewriter(self, settings: SearchSettings) -> Extension | None:
        return self._extensions.get("search.rewrite", settings.rewrite)

    def _reranker(self, settings: SearchSettings) -> Extension | None:
        return self._extensions.get("search.rerank", settings.rerank)

    def _rewritten(self, query: Query, settings: SearchSettings, answer: Callable[[str], Value]) -> Value:
        """The answer to the rewritten query; to the query itself if rewriting fails or does not parse."""

        def checked(rewritten: object) -> Value:
            if not isinstance(rewritten, (str, Operator)):
                raise InvalidArgument(f"it returned {rewritten!r}, which is not a query")
            return answer(sound(str(rewritten)))

        text = _text_of(query)
        rewriter = self._rewriter(settings)
        if rewriter is not None:
            try:
                return rewriter.call(query, check=checked, about=f"the query {str(query)!r}")
            except ExtensionError:
                pass  # already counted and logged
        return answer(text)

    def _rerank(self, reranker: Extension, query: str, ranking: Ranking, depth: int) -> Places:
        """The top hits of a ranking in the order of the reranker; empty if it fails."""
        # A ranking for a later page is deeper, but has the same top hits.
        key = (query, reranker, tuple(ranking.signatures()[:depth]))
        if (known := self._reranked.known(key)) is not None:
            return known
        best = self._shown(ranking, 0, depth, passages=True)
        hits = [hit for _, hit in best]
        try:
            order = reranker.call(
                query, hits, check=lambda said: _order(said, hits), about=f"the query {query!r}"
            )
        except ExtensionError:
            return []
        reranked = [
            (place, replace(hits[place], score=score, rank=rank))
            for rank, (place, score) in enumerate(order, start=1)
        ]
        return self._reranked.keep(key, reranked)

    def _shown(self, ranking: Ranking, start: int, end: int, passages: bool) -> Places:
        shown = self._searcher.show(ranking, start, end, passages) if start < end else []
        return [
            (place, _hit(place + 1, values))
            for place, values in enumerate(shown, start)
            if values is not None
        ]

    def _explanation(self, text: str, options: SearchOptions, ranking: Ranking, place: int) -> Explanation:
        return _explanation(self._searcher.explain(text, options, ranking, place), self._measure)

    def _options_of(self, settings: SearchSettings) -> SearchOptions:
        if (known := self._options.known(settings)) is not None:
            return known
        return self._options.keep(settings, options_of(settings))

    def _in_its_language(self, text: str, settings: SearchSettings) -> SearchSettings:
        """The settings with the language in which the words of a query are stemmed."""
        if settings.language:
            return settings
        language = self._languages.known(text) or self._languages.keep(
            text, self._language_of(text, settings)
        )
        return structs.replace(settings, language=language)

    def _language_of(self, text: str, settings: SearchSettings) -> str:
        """The language of most pages, unless none of these has all the words and pages of another language do.

        A page was stemmed in its own language: in a query that is stemmed in another one, its words are not found.
        """
        first, *others = self.languages
        words = text.split()
        is_plain = all(map(_PLAIN_WORD.fullmatch, words)) and not _CONNECTIVES.intersection(words)
        every = " AND ".join(words) if is_plain else text

        def pages(language: str, count: int) -> int:
            of = f"lang:{language}"
            if language == "en":  # also those without a language
                of = " ".join(f"-lang:{other}" for other in self.languages if other != "en")
            options = self._options_of(structs.replace(settings, language=language))
            return self._searcher.rank(f"({every}) {of}", options, 1, count).matches

        try:
            if not others or pages(first, 1):
                return first
            found = {other: pages(other, _MOST_COMPARED) for other in others}
        except InvalidArgument:
            return first  # the search itself says what is wrong with the query
        best = max(found, key=lambda language: found[language])
        return best if found[best] else first

    def _ranking(
        self, text: str, settings: SearchSettings, options: SearchOptions, wanted: int, facets: bool
    ) -> Ranking:
        key = (text, settings, facets)
        depth, known = self._rankings.known(key) or (0, None)
        if known is not None and _is_enough(known, depth, wanted):
            return known
        # Collapsing and mixing need more hits than they show, and the next page is likely to be requested.
        arranged = settings.collapse >= 0 or settings.per_site
        for depth in (max(_LEAST_DEPTH, wanted * 2), wanted + _MOST_FOLDED) if arranged else (wanted,):
            ranking = self._searcher.rank(
                text, options, depth, settings.count_limit + 1, _FACET_VALUES if facets else 0
            )
            if ranking.partial or _is_enough(ranking, depth, wanted):
                break
        if not ranking.partial and not ranking.missing:
            self._rankings.keep(key, (depth, ranking))
        return ranking


def _order(said: Sequence[Any], hits: list[Hit]) -> list[tuple[int, float]]:
    """The indices of hits in the order that a reranker returned, each with its score."""
    if len(said) != len(hits):
        raise InvalidArgument(f"it returned {len(said)} values for {len(hits)} hits")
    if hits and all(isinstance(hit, Hit) for hit in said):
        places = [hits.index(hit) for hit in said]
        if len(set(places)) < len(hits):
            raise InvalidArgument("it returned a hit twice")
        return [(place, hits[place].score) for place in places]
    scores = [float(score) for score in said]
    if not all(map(math.isfinite, scores)):
        raise InvalidArgument("it returned a score that is not a finite number")
    return sorted(enumerate(scores), key=lambda place: -place[1])


def _reranked(parts: Explanation, score: float, by: str) -> Explanation:
    added = Explanation(f"added by {by}", score - parts.value, "")
    return Explanation(f"reranked by {by}", score, "", (parts, added))


def _text_of(query: Query) -> str:
    if not isinstance(query, str | Operator):
        raise InvalidArgument(
            f"a query is a text or operators of crivello.search, not {query!r}",
            hint="'*' finds every page",
        )
    return sound(str(query))


def _whole(name: str, number: int, most: int) -> int:
    try:
        whole = -1 if isinstance(number, bool) else operator.index(number)
    except TypeError:
        whole = -1
    if not 0 <= whole <= most:
        raise InvalidArgument(f"{name} is {number!r}, which is not a whole number from 0 to {most:,}")
    return whole


def _is_enough(ranking: Ranking, depth: int, wanted: int) -> bool:
    """Whether a ranking of this depth has the wanted number of hits, or all there are."""
    has_all = ranking.exact and ranking.matches <= depth
    return len(ranking) >= wanted or has_all or depth >= wanted + _MOST_FOLDED


def _counted(ranking: Ranking, limit: int) -> int:
    """The number of matches or, if that is unknown, a number that they exceed."""
    return ranking.matches if ranking.exact else max(min(ranking.matches, limit), len(ranking))


_Explained = tuple[str, float, str, "list[_Explained]"]


def _explanation(explained: _Explained, measure: str) -> Explanation:
    label, value, detail, parts = explained
    if label == _STATIC_RANK:
        label = f"{label} by {measure}" if measure != GIVEN else f"{label}, given"
    return Explanation(label, value, detail, tuple(_explanation(part, measure) for part in parts))


def _hit(
    rank: int,
    values: tuple[float, str, str, str, list[tuple[str, bool]], str, str, str, int, int, int],
) -> Hit:
    score, url, identity, title, fragments, site, language, kind, day, similar, more = values
    date = _EPOCH + datetime.timedelta(days=day) if day else None
    return Hit(
        rank,
        score,
        url,
        title,
        Snippet(tuple(fragments)),
        id=identity,
        site=site,
        language=language,
        kind=kind,
        date=date,
        similar=similar,
        more_from_site=more,
    )


def _facets(query: str, ranking: Ranking) -> dict[str, tuple[FacetValue, ...]]:
    text = QueryText(query)

    def value(name: str, value: str, count: int) -> FacetValue:
        clause = (
            f"after:{value} before:{int(value) + 1}" if name == "year" else _FILTER_OF[name].format(value)
        )
        return FacetValue(value, count, text.narrowed(clause))

    found = ranking.facets or {}
    return {name: tuple(value(name, *one) for one in values) for name, values in found.items()}
