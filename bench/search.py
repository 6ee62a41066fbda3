"""Queries over real pages, compared with tantivy: the same terms, the same scores, one thread, warm caches.

Both have one field with title and text; tantivy is given our terms. The score is BM25 with k1 = 1.2 and b =
0.75, as in tantivy, and the top ten are requested. tantivy's queries are objects constructed beforehand; ours
are texts, parsed while the clock runs. Times are CPU times, or wall-clock times if labelled "elapsed"; each
is the mean (or the 99th percentile) of the fastest of three rounds, in which the engines alternate. tantivy
cannot only count: it also finds the top hit.

In our index the parts of an identifier share positions with the compound, in tantivy's they follow it, so
phrases next to them differ: if the two counts differ, ours is checked against the text of every tenth page.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bench import Measurement
from bench import _search_indexes as indexes
from bench._pages import documents
from bench._queries import LANGUAGE, Question, compared, drawn, of_words
from crivello._core import Searcher, SearchOptions, analyze
from crivello.index import Document
from crivello.search.searcher import options_of
from crivello.settings import Search as SearchSettings

TOP = 10
ROUNDS = 3
ALL = 1 << 40
STEP = 10
PROCESSOR = ("mean", "99 %")
FIGURES = (*PROCESSOR, "mean elapsed", "99 % elapsed")
ASKED = {"union": 0.7, "intersection": 0.8, "phrase": 0.7}
ASKED_OF_COUNTS = 0.8
SNIPPETS_MILLISECONDS = 3.0


def _options(method: str = "auto", intersection: str = "greedy") -> SearchOptions:
    return options_of(
        SearchSettings(
            scorer="bm25",
            k1=1.2,
            b=0.75,
            headings_weight=0.0,
            proximity=0.0,
            rank_weight=0.0,
            collapse=-1,
            per_site=0,
            time_limit=0.0,
            threads=1,
            language=LANGUAGE,
            method=method,
            intersection=intersection,
        )
    )


UNIONS = {
    "maxscore": _options(method="maxscore"),
    "wand": _options(method="wand"),
    "blockmax-wand": _options(method="blockmax-wand"),
    "taat": _options(method="taat"),
}
INTERSECTIONS = {
    "greedy": _options(intersection="greedy"),
    "heap": _options(intersection="heap"),
    "adaptive": _options(intersection="adaptive"),
    "taat": _options(method="taat"),
}

Work = Callable[[Any], object]
Clock = Callable[[], int]


@dataclass(frozen=True)
class Times:
    """The CPU time and the wall-clock time of each query, in microseconds."""

    processor: np.ndarray[Any, np.dtype[np.float64]]
    elapsed: np.ndarray[Any, np.dtype[np.float64]]

    def figure(self, name: str) -> float:
        times = self.elapsed if name.endswith("elapsed") else self.processor
        return float(times.mean() if name.startswith("mean") else np.percentile(times, 99))


def measure() -> Iterator[Measurement]:
    pages = documents()
    words = drawn(pages)
    ours = indexes.ours()
    theirs, schema = indexes.tantivy()
    engines = _Engines(ours, theirs, schema, pages)
    for source, classes in (("drawn", of_words(words)), ("compared", compared())):
        for kind, questions in classes.items():
            yield from engines.beside(f"{kind}, {len(questions)} {source}", kind, questions)
    classes = of_words(words)
    yield from _methods(ours, "union", classes["union"], UNIONS)
    yield from _methods(ours, "intersection", classes["intersection"], INTERSECTIONS)
    yield from _default(words)


class _Engines:
    """The two engines, given the same queries."""

    def __init__(self, ours: Searcher, theirs: Any, schema: Any, pages: Sequence[Document]) -> None:
        self._ours, self._theirs, self._schema, self._pages = ours, theirs, schema, pages
        self._options = _options()

    def beside(self, what: str, kind: str, questions: Sequence[Question]) -> Iterator[Measurement]:
        """The top ten and the counts of some questions, and whether both counts agree."""
        ours, theirs, options = self._ours, self._theirs, self._options
        texts = [question.text() for question in questions]
        made = [question.tantivy(self._schema) for question in questions]
        ranked = _fastest(
            (lambda text: ours.rank(text, options, TOP), texts),
            (lambda query: theirs.search(query, TOP, count=False), made),
        )
        yield from _beside(what, ranked, ASKED.get(kind))
        counted = _fastest(
            (lambda text: ours.count(text, options, ALL), texts),
            (lambda query: theirs.search(query, 1, count=True), made),
        )
        yield from _beside(
            f"count, {what}", counted, ASKED_OF_COUNTS if kind in ASKED else None, figures=PROCESSOR
        )
        right = len(questions) - len(self._wrong_counts(questions, texts, made))
        yield Measurement(f"right counts, {what}", right, "all", len(questions), "queries", 1.0)
        exhaustive = _options(method="exhaustive")
        same = sum(_ten(ours, options, text) == _ten(ours, exhaustive, text) for text in texts)
        yield Measurement(f"the exact ten, {what}", same, "exhaustive", len(questions), "queries", 1.0)

    def _wrong_counts(
        self, questions: Sequence[Question], texts: Sequence[str], made: Sequence[Any]
    ) -> list[Question]:
        differing = [
            question
            for question, text, query in zip(questions, texts, made, strict=True)
            if self._ours.count(text, self._options, ALL)
            != (self._theirs.search(query, 1, count=True).count, True)
        ]
        phrases = [question for question in differing if question.phrase]
        right = self._right_phrases(phrases)
        return [question for question in differing if question not in right]

    def _right_phrases(self, phrases: Sequence[Question]) -> set[Question]:
        """The phrases that our index finds in exactly those of every ``STEP``th page that contain them."""
        terms = {phrase: [analyze(word, LANGUAGE)[0][0] for word in phrase.required] for phrase in phrases}
        holding: dict[Question, set[int]] = {phrase: set() for phrase in phrases}
        for number in range(0, len(self._pages) if phrases else 0, STEP):
            page = self._pages[number]
            places = defaultdict(set)
            for term, place, *_ in analyze(f"{page.title}\n{page.body}", page.language):
                places[term].add(place)
            for phrase, its_terms in terms.items():
                if all(term in places for term in its_terms) and set.intersection(
                    *({place - offset for place in places[term]} for offset, term in enumerate(its_terms))
                ):
                    holding[phrase].add(number)
        return {phrase for phrase in phrases if self._found(phrase) == holding[phrase]}

    def _found(self, phrase: Question) -> set[int]:
        found = self._ours.rank(phrase.text(), self._options, len(self._pages)).places()
        return {document for _, document, _ in found if document % STEP == 0}


def _methods(
    ours: Searcher, kind: str, questions: Sequence[Question], ways: Mapping[str, SearchOptions]
) -> Iterator[Measurement]:
    """Every top-k method, compared with scoring all matches."""
    texts = [question.text() for question in questions]
    every = {"exhaustive": _options(method="exhaustive"), **ways}
    exhaustive, *others = _fastest(*((partial(_ten, ours, options), texts) for options in every.values()))
    tens = [_ten(ours, every["exhaustive"], text) for text in texts]
    for (name, options), times in zip(ways.items(), others, strict=True):
        yield from _beside(f"{kind}, {name}", (times, exhaustive), peer="exhaustive", figures=PROCESSOR)
        same = sum(_ten(ours, options, text) == ten for text, ten in zip(texts, tens, strict=True))
        yield Measurement(f"the exact ten, {kind}, {name}", same, "exhaustive", len(texts), "queries", 1.0)


def _default(words: Sequence[tuple[str, ...]]) -> Iterator[Measurement]:
    """The default search: zones, proximity, collapsing, mixing of sites, suggestions, and the snippets of ten
    hits."""
    collection = indexes.collection()
    search = collection.searcher()
    queries = [" ".join(one) for one in words]
    # A long search uses several threads, so the CPU time is that of the process.
    whole, bare = _fastest(
        (lambda query: search.search(query, top=TOP), queries),
        (lambda query: search.search(query, top=TOP, passages=False), queries),
        processor=time.process_time_ns,
    )
    yield from _beside("all that people get", (whole, bare), peer="without passages")
    searcher = Searcher(collection.folder / "index", collection.segments)
    options = options_of(SearchSettings())
    rankings = [searcher.rank(query, options, TOP * TOP) for query in queries]
    times, without = _fastest(
        (lambda ranking: searcher.show(ranking, 0, TOP, True), rankings),
        (lambda ranking: searcher.show(ranking, 0, TOP, False), rankings),
    )
    passages = Times(times.processor - without.processor, times.elapsed - without.elapsed)
    for figure in FIGURES:
        what, taken = f"passages of {TOP} hits, {figure}", passages.figure(figure) / 1000
        yield Measurement(what, taken, "limit", SNIPPETS_MILLISECONDS, "ms", 1.0, True)


def _ten(ours: Searcher, options: SearchOptions, text: str) -> list[tuple[int, int, float]]:
    return ours.rank(text, options, TOP).places()


def _beside(
    what: str,
    times: Sequence[Times],
    asked: float | None = None,
    peer: str = "tantivy",
    figures: Sequence[str] = FIGURES,
) -> Iterator[Measurement]:
    for figure in figures:
        ours, theirs = (one.figure(figure) for one in times)
        ratio = asked if figure == "mean" else None
        yield Measurement(f"{what}, {figure}", ours, peer, theirs, "µs", ratio, smaller_is_better=True)


def _fastest(*tasks: tuple[Work, Sequence[Any]], processor: Clock = time.thread_time_ns) -> list[Times]:
    """The fastest round of each task, after a warm-up round; the tasks alternate."""
    rounds: list[list[Times]] = [[] for _ in tasks]
    for _ in range(1 + ROUNDS):
        for taken, (work, items) in zip(rounds, tasks, strict=True):
            taken.append(_times(work, items, processor))
    return [min(taken[1:], key=lambda times: float(times.processor.mean())) for taken in rounds]


def _times(work: Work, items: Sequence[Any], processor: Clock) -> Times:
    taken = np.empty((2, len(items)))
    for place, item in enumerate(items):
        clock, began = time.perf_counter_ns(), processor()
        work(item)
        taken[:, place] = processor() - began, time.perf_counter_ns() - clock
    return Times(taken[0] / 1000, taken[1] / 1000)
