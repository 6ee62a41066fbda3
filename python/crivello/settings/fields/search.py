"""The section ``[search]``: how queries are answered."""

from __future__ import annotations

from typing import Annotated

import msgspec

from crivello.settings.fields.meta import CHOICES, OWN_CLASS, Choices, duration, one_of, setting, size, text

SERVING: Choices = {
    "together": "in this process, as one index",
    "processes": "in a process for each shard, behind a broker",
}
TERM_LISTS: Choices = {
    "gathered": "all lists of a query whole, in one round",
    "pipelined": "those of the rarest required term, then the others restricted to its pages",
}

_SHOWN = "What is shown"
_SCORING = "Scoring"
_SEARCHING = "How it is searched"


class Search(msgspec.Struct, kw_only=True, frozen=True):
    """How queries are answered."""

    language: (
        Annotated[
            str,
            setting(
                _SHOWN,
                "language whose stemmer is applied to queries, as two letters; unset: that of most pages, or of those with all the words",
                pattern=r"^[a-z]{2}$",
            ),
        ]
        | None
    ) = None
    per_site: Annotated[
        int,
        setting(
            _SHOWN,
            "maximum number of results per site in each ten, while other sites have results nearly as good; 0: no limit",
            ge=0,
            le=10,
        ),
    ] = 2
    collapse: Annotated[
        int,
        setting(
            _SHOWN,
            "collapse a result whose SimHash is within this Hamming distance, in bits, of a better one; -1: never",
            ge=-1,
            le=16,
        ),
    ] = 8
    count_limit: Annotated[
        int,
        setting(
            _SHOWN,
            "maximum number of matches to count; 0: count only those that were ranked",
            ge=0,
            le=1_000_000_000,
            python=True,
        ),
    ] = 10_000
    suggest: Annotated[bool, setting(_SHOWN, "suggest a better spelling of rare words", python=True)] = True
    scorer: Annotated[str, one_of(_SCORING, "scoring function of words", CHOICES["scorer"])] = "bm25f"
    k1: Annotated[
        float,
        setting(_SCORING, "BM25: term-frequency saturation; larger: repetitions count more", ge=0, le=10),
    ] = 1.5
    b: Annotated[
        float, setting(_SCORING, "BM25: document-length normalisation; 0: none, 1: full", ge=0, le=1)
    ] = 0.5
    body_weight: Annotated[
        float,
        setting(_SCORING, "weight of a word in the text; 0: not searched", ge=0, le=100),
    ] = 1.0
    title_weight: Annotated[
        float,
        setting(_SCORING, "weight of a word in the title; 0: not searched", ge=0, le=100),
    ] = 3.0
    headings_weight: Annotated[
        float,
        setting(
            _SCORING,
            "weight of a word in the headings, in addition to the text; 0: not searched",
            ge=0,
            le=100,
        ),
    ] = 0.5
    anchors_weight: Annotated[
        float,
        setting(
            _SCORING,
            "weight of a word in the anchor text of links to the page; 0: not searched",
            ge=0,
            le=100,
        ),
    ] = 1.0
    url_weight: Annotated[
        float, setting(_SCORING, "weight of a word in the URL; 0: searched only by url:", ge=0, le=100)
    ] = 0.0
    proximity: Annotated[
        float, setting(_SCORING, "weight of the proximity of the query words; 0: not scored", ge=0, le=100)
    ] = 0.5
    proximity_depth: Annotated[
        int, setting(_SCORING, "number of top pages reranked by proximity", ge=0, le=10_000)
    ] = 100
    rank_weight: Annotated[
        float,
        setting(_SCORING, "weight of the page's static rank; 0: rank by text alone", ge=0, le=100),
    ] = 0.1
    slope: Annotated[
        float, setting(_SCORING, "TF-IDF: slope of the pivoted length normalisation; 0: none", ge=0, le=1)
    ] = 0.2
    mu: Annotated[
        float,
        setting(
            _SCORING,
            "query likelihood: Dirichlet smoothing parameter mu, in words",
            gt=0,
            le=1e6,
        ),
    ] = 1000.0
    rewrite: Annotated[
        str,
        text(_SEARCHING, f"rewrites queries before parsing: {OWN_CLASS}; empty: no rewriting", python=True),
    ] = ""
    rerank: Annotated[
        str, text(_SEARCHING, f"reranks the top hits: {OWN_CLASS}; empty: no reranking", python=True)
    ] = ""
    rerank_depth: Annotated[
        int, setting(_SEARCHING, "number of top hits it reranks", ge=1, le=1000, python=True)
    ] = 50
    shards: Annotated[
        str, one_of(_SEARCHING, "where the shards of a divided index are searched", SERVING, python=True)
    ] = "together"
    shard_timeout: Annotated[
        float,
        duration(
            _SEARCHING,
            "seconds after which an answer leaves out a shard in another process",
            gt=0,
            le=3600,
            python=True,
        ),
    ] = 2.0
    replicas: Annotated[
        int, setting(_SEARCHING, "number of processes for each shard", ge=1, le=16, python=True)
    ] = 1
    term_lists: Annotated[
        str,
        one_of(
            _SEARCHING,
            "how posting lists are fetched from shards of terms in processes; both return the same pages",
            TERM_LISTS,
            python=True,
        ),
    ] = "gathered"
    hot_terms: Annotated[
        int,
        size(
            _SEARCHING,
            "memory budget in bytes for the posting lists of hot terms, fetched from shards of terms in processes",
            0,
            python=True,
        ),
    ] = 2**28
    dictionary_bits: Annotated[
        int,
        setting(
            _SEARCHING,
            "bits r of a signature in the approximate dictionary of a shard of terms: "
            "one in 2^r requests for absent terms is in vain",
            ge=1,
            le=32,
            python=True,
        ),
    ] = 8
    time_limit: Annotated[
        float,
        duration(
            _SEARCHING,
            "seconds after which a search returns the best results so far; 0: no limit",
            ge=0,
            le=3600,
        ),
    ] = 2.0
    threads: Annotated[
        int, setting(_SEARCHING, "maximum number of threads for a long search; 0: one per core", ge=0, le=256)
    ] = 0
    method: Annotated[
        str,
        one_of(_SEARCHING, "top-k algorithm; every one returns the same pages", CHOICES["method"]),
    ] = "auto"
    intersection: Annotated[
        str,
        one_of(
            _SEARCHING,
            "intersection algorithm for posting lists, in phrases, NOT, filters, counts, facets and the method exhaustive "
            "(AND of words alone goes by block-max AND); every one returns the same pages",
            CHOICES["intersection"],
        ),
    ] = "greedy"
