"""The settings themselves: a field here is a flag, a variable and a line of ``crivello.toml`` at once.

A field says to which group of the help it belongs, what it does, which values it may have, its default, and who reads it: the
native core reads a section as a whole (see ``crivello.settings.for_core``), except the fields with ``python=True``, which
it never sees. What kinds of a thing there are is not said here: the core lists them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.settings.numbers import BYTES, SECONDS

Choices = dict[str, str]
"""Names that a setting may have, the usual one first, each with what it stands for."""

_CHOICES: dict[str, Choices] = {kind: dict(names) for kind, names in _core.choices().items()}

_OWN = "a class of yours as module:Class"

SIEVES: Choices = _CHOICES["sieve"] | {
    "lsm": "signatures in RocksDB, a log-structured merge tree: fixed memory"
}
CODES: Choices = {"auto": "what is measured to suit"} | _CHOICES["code"]


def _check_code(name: str) -> None:
    if name != "auto":
        _core.code_checked(name)


def _check_sieve(name: str) -> None:
    if name not in SIEVES and not re.fullmatch(r"[^: ]+:[^: ]+", name):
        raise InvalidArgument(f"it must be one of {', '.join(SIEVES)}, or {_OWN}")


def _is(
    group: str,
    description: str,
    *,
    unit: str = "",
    choices: Choices | None = None,
    check: Callable[[str], object] | None = None,
    flag: str | None = None,
    python: bool = False,
    **rules: Any,
) -> Meta:
    """What is to be known about a setting; ``check`` raises where a text that is not among the choices makes no sense."""
    extra = {
        "group": group,
        "unit": unit,
        "choices": choices or {},
        "check": check,
        "flag": flag,
        "python": python,
    }
    return Meta(description=description, extra=extra, **rules)


def _one_of(group: str, description: str, choices: Choices, **more: Any) -> Meta:
    return _is(group, description, choices=choices, pattern=f"^({'|'.join(choices)})$", **more)


def _code(what: str) -> Meta:
    return _is(
        "Codes",
        f"the code of the {what}: auto, or one of `crivello lab codes`",
        choices=CODES,
        check=_check_code,
    )


def _time(group: str, description: str, **rules: Any) -> Meta:
    return _is(group, description, unit=SECONDS, **rules)


def _size(group: str, description: str, least: int) -> Meta:
    return _is(group, description, unit=BYTES, ge=least)


def _text(group: str, description: str, **more: Any) -> Meta:
    return _is(group, description, max_length=2000, pattern=r"^[ -~]*$", **more)


def _words(group: str, description: str, **more: Any) -> Meta:
    return _is(group, description, max_length=2000, pattern=r"^[^\x00-\x1f\x7f]*$", **more)


_FOLLOWED = "What is followed"
_LIMITS = "When to stop"
_POLITENESS = "Politeness"
_KEPT = "What is kept"
_URLS = "URLs and traps"
_FETCHING = "Fetching"
_NAMES = "Names, proxies and private networks"
_MEMORY = "Memory, threads and disk"


class Crawl(msgspec.Struct, kw_only=True, frozen=True):
    """What to fetch, and how politely."""

    scope: Annotated[
        str, _one_of(_FOLLOWED, "which links are followed, as seen from the seeds", _CHOICES["scope"])
    ] = "host"
    include: Annotated[
        str,
        _text(
            _FOLLOWED, "follow only links that match this regular expression; several, separated by spaces"
        ),
    ] = ""
    exclude: Annotated[
        str,
        _text(_FOLLOWED, "follow no link that matches this regular expression; several, separated by spaces"),
    ] = ""
    priority: Annotated[
        str,
        _text(
            _FOLLOWED,
            "which links come first: breadth, short, other-sites, keywords, focused, or a class of yours as module:Class",
            python=True,
        ),
    ] = "breadth"
    follow: Annotated[
        str,
        _text(_FOLLOWED, f"which links in scope are followed: {_OWN}; none: all", python=True),
    ] = ""
    keywords: Annotated[
        str,
        _words(
            _FOLLOWED,
            "the words that the priorities keywords and focused look for, separated by spaces",
            python=True,
        ),
    ] = ""
    images: Annotated[bool, _is(_FOLLOWED, "fetch images, too: src and srcset count as links")] = False
    max_pages: Annotated[int, _is(_LIMITS, "stop after so many pages; 0: no limit", ge=0)] = 0
    max_time: Annotated[
        float, _time(_LIMITS, "stop after so many seconds; 0: no limit", ge=0, python=True)
    ] = 0
    max_volume: Annotated[int, _size(_LIMITS, "stop after so many bytes of bodies; 0: no limit", 0)] = 0
    max_depth: Annotated[int, _is(_LIMITS, "follow links so far from a seed; 0: no limit", ge=0, le=4095)] = 0
    max_per_host: Annotated[int, _is(_LIMITS, "fetch so many pages of a host; 0: no limit", ge=0)] = 0
    max_share: Annotated[
        float,
        _is(
            _LIMITS,
            "the share of all pages that a host may have (of max_pages, or of those fetched so far); 0: no limit",
            ge=0,
            le=1,
        ),
    ] = 0
    delay: (
        Annotated[
            float,
            _time(
                _POLITENESS,
                "seconds between the end of a request to a host and the next; makes politeness absolute, where it is 4",
                ge=0,
                le=3600,
            ),
        ]
        | None
    ) = None
    politeness: Annotated[str, _one_of(_POLITENESS, "what a host's rest goes by", _CHOICES["politeness"])] = (
        "relative"
    )
    visit_time: Annotated[
        float,
        _time(_POLITENESS, "relative politeness: seconds that a visit to a host may take", gt=0, le=3600),
    ] = 1.0
    visit_requests: Annotated[
        int, _is(_POLITENESS, "relative politeness: how many requests a visit may make", ge=1, le=10_000)
    ] = 10
    visit_share: Annotated[
        float,
        _is(
            _POLITENESS,
            "relative politeness: a host rests for the time taken divided by this",
            gt=0,
            le=1000,
        ),
    ] = 0.2
    address_delay: (
        Annotated[
            float,
            _time(
                _POLITENESS,
                "seconds between the end of a visit to an address and the next; unset: a quarter of what the host rests",
                ge=0,
                le=3600,
            ),
        ]
        | None
    ) = None
    max_crawl_delay: Annotated[
        float,
        _time(_POLITENESS, "a Crawl-delay in robots.txt counts up to so many seconds", ge=0, le=86_400),
    ] = 60.0
    max_wait: Annotated[
        float,
        _time(
            _POLITENESS,
            "seconds that a host with errors is left alone at most, whatever its Retry-After says",
            ge=0,
            le=86_400,
        ),
    ] = 300.0
    obey_robots: Annotated[
        bool, _is(_POLITENESS, "respect robots.txt; switch it off only for your own sites")
    ] = True
    user_agent: Annotated[
        str,
        _is(
            _POLITENESS,
            "the name that robots.txt files know",
            min_length=1,
            max_length=100,
            pattern=r"^[!-~]+$",
        ),
    ] = "crivello"
    contact: Annotated[
        str,
        _is(
            _POLITENESS,
            "a URL or address where site owners can reach you",
            max_length=200,
            pattern=r"^[ -~]*$",
            python=True,
        ),
    ] = ""
    types: Annotated[
        str,
        _text(_KEPT, "keep only these media types, as in text/html,application/pdf or text/*; none: all"),
    ] = ""
    converters: Annotated[
        str,
        _text(
            _KEPT,
            "what turns media types into text: classes of yours, as in application/epub+zip=module:Class; several, separated by commas",
            python=True,
        ),
    ] = ""
    languages: Annotated[str, _text(_KEPT, "keep only pages in these languages, as in it,en; none: all")] = ""
    min_text: Annotated[int, _is(_KEPT, "keep only pages with so many characters of text", ge=0)] = 0
    max_text: Annotated[
        int, _is(_KEPT, "keep only pages with at most so many characters of text; 0: no limit", ge=0)
    ] = 0
    keep_matching: Annotated[
        str, _words(_KEPT, "keep only pages whose title or text matches this regular expression")
    ] = ""
    drop_matching: Annotated[
        str, _words(_KEPT, "keep no page whose title or text matches this regular expression")
    ] = ""
    near_distance: Annotated[
        int,
        _is(
            _KEPT,
            "pages whose SimHashes differ in at most so many bits are near-duplicates",
            ge=0,
            le=3,
        ),
    ] = 3
    clean_session_ids: Annotated[
        bool, _is(_URLS, "take session ids (jsessionid, PHPSESSID …) out of URLs")
    ] = True
    clean_tracking: Annotated[
        bool, _is(_URLS, "take tracking parameters (utm_source, fbclid …) out of URLs")
    ] = True
    clean_index_pages: Annotated[bool, _is(_URLS, "take index.html and its like off the end of URLs")] = False
    sort_queries: Annotated[bool, _is(_URLS, "sort the parameters of URLs")] = False
    max_chain: Annotated[
        int,
        _is(
            _URLS,
            "a trap is cut off after so many links in a row between URLs that differ only in numbers",
            ge=1,
            le=2047,
        ),
    ] = 30
    max_repeats: Annotated[
        int,
        _is(_URLS, "a path that repeats a part of itself so often in a row is a trap", ge=2, le=255),
    ] = 4
    max_segments: Annotated[int, _is(_URLS, "a path with more parts than this is a trap", ge=1, le=255)] = 25
    max_parameters: Annotated[
        int, _is(_URLS, "a query with more parameters than this is a trap", ge=1, le=255)
    ] = 16
    max_queries: Annotated[
        int,
        _is(
            _URLS,
            "a path with more different queries than this is a trap from then on",
            ge=1,
            le=65_000,
        ),
    ] = 5000
    connections: Annotated[
        int, _is(_FETCHING, "how many hosts are fetched from at once", ge=1, le=10_000)
    ] = 64
    timeout: Annotated[float, _time(_FETCHING, "seconds that a request may take in all", gt=0, le=3600)] = (
        30.0
    )
    connect_timeout: Annotated[
        float, _time(_FETCHING, "seconds until a connection must be there", gt=0, le=3600)
    ] = 10.0
    first_byte_timeout: Annotated[
        float, _time(_FETCHING, "seconds until an answer must have begun", gt=0, le=3600)
    ] = 20.0
    retries: Annotated[int, _is(_FETCHING, "how often a failed request is tried again", ge=0, le=20)] = 2
    max_redirects: Annotated[int, _is(_FETCHING, "how long a chain of redirects may be", ge=0, le=50)] = 8
    max_bytes: Annotated[
        int, _size(_FETCHING, "a body longer than this is given up, as sent and as decoded", 1024)
    ] = 16 * 2**20
    cookies: Annotated[bool, _is(_FETCHING, "keep the cookies of a host and send them back to it")] = False
    accept_language: Annotated[
        str, _text(_FETCHING, "the Accept-Language of requests, as in it,en;q=0.5; none: not sent")
    ] = ""
    http2: Annotated[bool, _is(_FETCHING, "speak HTTP/2 with servers that offer it")] = True
    verify_tls: Annotated[bool, _is(_FETCHING, "fetch only from servers with a valid certificate")] = True
    allow_private: Annotated[
        bool, _is(_NAMES, "fetch from private and loopback addresses even where no seed is on one")
    ] = False
    proxy: Annotated[str, _text(_NAMES, "a proxy for all requests, as in http://user:password@host:port")] = (
        ""
    )
    name_server: Annotated[
        str, _text(_NAMES, "the name server to ask instead of the system's, as in 127.0.0.1:53")
    ] = ""
    hosts_file: Annotated[
        str,
        _text(
            _NAMES, "a file of names and addresses, in the form of /etc/hosts, that wins over name servers"
        ),
    ] = ""
    parsers: Annotated[
        int, _is(_MEMORY, "how many threads parse; 0: as many as there are cores", ge=0, le=256)
    ] = 0
    checkpoint: Annotated[
        float, _time(_MEMORY, "seconds between checkpoints", ge=0.1, le=3600, python=True)
    ] = 5.0
    workbench_hosts: Annotated[
        int,
        _is(_MEMORY, "how many hosts are in memory; the others wait on disk", ge=1, le=10_000_000),
    ] = 50_000
    queue_memory: Annotated[
        int, _size(_MEMORY, "bytes of responses that may wait to be parsed and stored", 2**20)
    ] = 64 * 2**20
    sieve: Annotated[
        str,
        _is(
            _MEMORY,
            "how URLs that were seen are remembered, from the first crawl of a collection on",
            choices=SIEVES | {"module:Class": "a class of yours"},
            check=_check_sieve,
        ),
    ] = "mercator"
    sieve_memory: Annotated[
        int, _size(_MEMORY, "bytes that the sieves mercator, offline and lsm may use", 2**16)
    ] = 64 * 2**20
    sieve_cache: Annotated[
        int,
        _is(
            _MEMORY,
            "how many recent URLs are known without asking the sieve; 0: none",
            ge=0,
            le=2**30,
        ),
    ] = 65_536
    sieve_capacity: Annotated[
        int,
        _is(_MEMORY, "how many URLs the sieves bloom and blocked-bloom are made for", ge=1, le=10**12),
    ] = 10_000_000
    sieve_error: Annotated[
        float,
        _is(_MEMORY, "how often those take a new URL for an old one when they have so many", gt=0, lt=1),
    ] = 1e-4


_BUILDING = "Building"


class Index(msgspec.Struct, kw_only=True, frozen=True):
    """How pages become an index."""

    memory: Annotated[int, _size(_BUILDING, "bytes that building may use before it goes to disk", 2**20)] = (
        512 * 2**20
    )
    threads: Annotated[int, _is(_BUILDING, "how many threads build; 0: one for each core", ge=0, le=256)] = 0
    order: Annotated[str, _one_of(_BUILDING, "how pages are numbered", _CHOICES["order"])] = "arrival"
    language: (
        Annotated[
            str,
            _is(
                _BUILDING,
                "the language of all pages, as two letters; each page's own where it is not set",
                pattern=r"^[a-z]{2}$",
                python=True,
            ),
        ]
        | None
    ) = None
    extractor: Annotated[str, _text(_BUILDING, f"what is kept of a page: {_OWN}; none: all", python=True)] = (
        ""
    )
    fan_in: Annotated[
        int,
        _is(_BUILDING, "how many segments of like size become one", ge=2, le=64, python=True),
    ] = 8
    ranks: Annotated[
        str,
        _one_of(_BUILDING, "how the minimal perfect hash of the terms is made", _CHOICES["construction"]),
    ] = "fuse"
    signature_bits: Annotated[
        int,
        _is(
            _BUILDING,
            "bits of a term's signature: an unknown term is read for in vain once in 2 to so many",
            ge=0,
            le=32,
        ),
    ] = 4


class IndexCodes(msgspec.Struct, kw_only=True, frozen=True):
    """How the integers of an index are written."""

    prefer: Annotated[
        str, _one_of("Codes", "what auto looks for in a code", _CHOICES["preference"], flag="--codes")
    ] = "balanced"
    pointers: Annotated[str, _code("gaps between pages")] = "auto"
    counts: Annotated[str, _code("counts")] = "auto"
    positions: Annotated[str, _code("positions")] = "auto"
    quantum: Annotated[
        int, _is("Codes", "how many postings make a block, over which a query can skip", ge=16, le=4096)
    ] = 128


_SHOWN = "What is shown"
_SCORING = "Scoring"
_SEARCHING = "How it is searched"


class Search(msgspec.Struct, kw_only=True, frozen=True):
    """How queries are answered."""

    language: Annotated[
        str,
        _is(_SHOWN, "the language in which queries are stemmed, as two letters", pattern=r"^[a-z]{2}$"),
    ] = "en"
    per_site: Annotated[
        int,
        _is(
            _SHOWN,
            "at most so many of ten results are of one site, while others have any nearly as good; 0: no limit",
            ge=0,
            le=10,
        ),
    ] = 2
    collapse: Annotated[
        int,
        _is(
            _SHOWN,
            "fold pages whose SimHashes differ in at most so many bits from a better one's; -1: none",
            ge=-1,
            le=16,
        ),
    ] = 3
    count_limit: Annotated[
        int,
        _is(
            _SHOWN,
            "stop counting matches at so many; 0: count only those that were ranked",
            ge=0,
            le=1_000_000_000,
            python=True,
        ),
    ] = 10_000
    suggest: Annotated[bool, _is(_SHOWN, "look for a better spelling of rare words", python=True)] = True
    scorer: Annotated[str, _one_of(_SCORING, "how words score", _CHOICES["scorer"])] = "bm25f"
    k1: Annotated[float, _is(_SCORING, "BM25: how much repeated words count", ge=0, le=10)] = 1.5
    b: Annotated[float, _is(_SCORING, "BM25: how much long pages are held back", ge=0, le=1)] = 0.5
    body_weight: Annotated[
        float,
        _is(_SCORING, "what a word in the text weighs; 0: it is not looked for there", ge=0, le=100),
    ] = 1.0
    title_weight: Annotated[
        float,
        _is(_SCORING, "what a word in the title weighs; 0: it is not looked for there", ge=0, le=100),
    ] = 3.0
    headings_weight: Annotated[
        float,
        _is(
            _SCORING,
            "what a word in the headings weighs beside the text; 0: it is not looked for there",
            ge=0,
            le=100,
        ),
    ] = 0.5
    anchors_weight: Annotated[
        float,
        _is(_SCORING, "what a word in links to the page weighs; 0: it is not looked for there", ge=0, le=100),
    ] = 1.0
    url_weight: Annotated[
        float, _is(_SCORING, "what a word in the URL weighs; 0: only url: looks there", ge=0, le=100)
    ] = 0.0
    proximity: Annotated[
        float, _is(_SCORING, "how much words that stand close together add; 0: nothing", ge=0, le=100)
    ] = 0.5
    proximity_depth: Annotated[
        int, _is(_SCORING, "how many of the best pages are looked at for that", ge=0, le=10_000)
    ] = 100
    rank_weight: Annotated[
        float,
        _is(_SCORING, "how much the page's PageRank adds; 0: ranking by text alone", ge=0, le=100),
    ] = 0.5
    slope: Annotated[float, _is(_SCORING, "TF-IDF: how much long pages are held back", ge=0, le=1)] = 0.2
    mu: Annotated[
        float,
        _is(
            _SCORING,
            "query likelihood: how many words of the mean page are mixed into each",
            gt=0,
            le=1e6,
        ),
    ] = 1000.0
    rewrite: Annotated[
        str,
        _text(_SEARCHING, f"what rewrites a query before it is parsed: {_OWN}; none: nothing", python=True),
    ] = ""
    rerank: Annotated[
        str, _text(_SEARCHING, f"what reranks the best hits: {_OWN}; none: nothing", python=True)
    ] = ""
    rerank_depth: Annotated[
        int, _is(_SEARCHING, "how many of the best hits it reranks", ge=1, le=1000, python=True)
    ] = 50
    time_limit: Annotated[
        float,
        _time(
            _SEARCHING,
            "seconds after which a search ends with the best it has seen; 0: no limit",
            ge=0,
            le=3600,
        ),
    ] = 2.0
    threads: Annotated[
        int, _is(_SEARCHING, "how many threads a long search may use; 0: one for each core", ge=0, le=256)
    ] = 0
    method: Annotated[
        str,
        _one_of(
            _SEARCHING, "how the best pages, the same ones by every method, are found", _CHOICES["method"]
        ),
    ] = "auto"
    intersection: Annotated[
        str,
        _one_of(_SEARCHING, "how lists are intersected, with the same result", _CHOICES["intersection"]),
    ] = "greedy"


_ADDRESS = "Where it listens"


class Serve(msgspec.Struct, kw_only=True, frozen=True):
    """Where the search page is."""

    host: Annotated[
        str,
        _is(_ADDRESS, "the address to listen on; 0.0.0.0: all of them", min_length=1, python=True),
    ] = "127.0.0.1"
    port: Annotated[
        int,
        _is(_ADDRESS, "the port to listen on; 0: any that is free", ge=0, le=65_535, python=True),
    ] = 8080


class Settings(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """All settings, one section for each part."""

    crawl: Crawl = Crawl()
    index: Index = Index()
    index_codes: IndexCodes = IndexCodes()
    search: Search = Search()
    serve: Serve = Serve()
