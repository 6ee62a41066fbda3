"""The definitions of all settings: each field is a flag, an environment variable and a line of
``crivello.toml``.

A field specifies its group in the help, its description, the allowed values, the default, and who reads it:
the native core receives a complete section (``crivello.settings.for_core``), except for fields with
``python=True``. The choices of an enumerated setting are not listed here: they come from the core
(``_core.choices``).
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
"""The allowed values of a setting, the default first, each with its description."""

_CHOICES: dict[str, Choices] = {kind: dict(names) for kind, names in _core.choices().items()}

_OWN = "a class of yours as module:Class"

SIEVES: Choices = _CHOICES["sieve"] | {
    "lsm": "signatures in RocksDB, a log-structured merge tree: fixed memory"
}
LOGS: Choices = {
    "problems": "nothing but problems",
    "text": "a line for each request, too",
    "json": "the same, each line a JSON object",
}
SCOPES: Choices = _CHOICES["scope"]
ASSETS: Choices = _CHOICES["assets"]
SERVING: Choices = {
    "together": "in this process, as one index",
    "processes": "in a process for each shard, behind a broker",
}
TERM_LISTS: Choices = {
    "gathered": "all lists of a query whole, in one round",
    "pipelined": "those of the rarest required term, then the others restricted to its pages",
}
CODES: Choices = {"auto": "chosen by measurement"} | _CHOICES["code"]


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
    """The metadata of a setting; ``check`` raises if a text that is not among the choices is not valid
    either."""
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
        f"integer code for {what}: auto, or one listed by `crivello lab codes`",
        choices=CODES,
        check=_check_code,
    )


def _time(group: str, description: str, **rules: Any) -> Meta:
    return _is(group, description, unit=SECONDS, **rules)


def _size(group: str, description: str, least: int, **more: Any) -> Meta:
    return _is(group, description, unit=BYTES, ge=least, **more)


def _text(group: str, description: str, **more: Any) -> Meta:
    return _is(group, description, max_length=2000, pattern=r"^[ -~]*$", **more)


def _words(group: str, description: str, **more: Any) -> Meta:
    return _is(group, description, max_length=2000, pattern=r"^[^\x00-\x1f\x7f]*$", **more)


_FOLLOWED = "What is followed"
_LIMITS = "When to stop"
_POLITENESS = "Politeness"
_KEPT = "What is kept"
_DOCUMENTS = "Documents"
_URLS = "URLs and traps"
_FETCHING = "Fetching"
_NAMES = "Names, proxies and private networks"
_MEMORY = "Memory, threads and disk"


class Crawl(msgspec.Struct, kw_only=True, frozen=True):
    """What is crawled, and how politely."""

    scope: Annotated[str, _one_of(_FOLLOWED, "which links are followed, relative to the seeds", SCOPES)] = (
        "host"
    )
    include: Annotated[
        str,
        _text(
            _FOLLOWED,
            "follow only links that match one of these regular expressions, separated by spaces; empty: all",
        ),
    ] = ""
    exclude: Annotated[
        str,
        _text(
            _FOLLOWED, "do not follow links that match one of these regular expressions, separated by spaces"
        ),
    ] = ""
    block: Annotated[
        str,
        _text(
            _FOLLOWED,
            "fetch nothing from these hosts, as a.example or a.example:8080, separated by spaces",
        ),
    ] = ""
    priority: Annotated[
        str,
        _text(
            _FOLLOWED,
            f"which links are fetched first: breadth, short, other-sites, keywords, focused, or {_OWN}",
            python=True,
        ),
    ] = "breadth"
    follow: Annotated[
        str,
        _text(_FOLLOWED, f"decides which links in scope are followed: {_OWN}; empty: all", python=True),
    ] = ""
    keywords: Annotated[
        str,
        _words(
            _FOLLOWED,
            "words for the priorities keywords and focused, separated by spaces",
            python=True,
        ),
    ] = ""
    images: Annotated[bool, _is(_FOLLOWED, "also fetch images: src and srcset count as links")] = False
    feeds: Annotated[
        bool, _is(_FOLLOWED, "also fetch the feeds that pages declare, and follow their entries")
    ] = True
    assets: Annotated[
        str, _one_of(_FOLLOWED, "which assets of pages are fetched, for results and stored copies", ASSETS)
    ] = "all"
    sitemaps: Annotated[
        bool,
        _is(_FOLLOWED, "fetch the sitemaps that robots.txt names, or /sitemap.xml, and follow their entries"),
    ] = True
    sitemap_urls: Annotated[
        int, _is(_FOLLOWED, "maximum number of URLs taken from a sitemap", ge=1, le=10_000_000)
    ] = 50_000
    sitemap_bytes: Annotated[int, _size(_FOLLOWED, "maximum bytes of a sitemap, decoded", 1024)] = 50 * 2**20
    max_pages: Annotated[int, _is(_LIMITS, "maximum number of pages per run; 0: no limit", ge=0)] = 0
    max_time: Annotated[
        float, _time(_LIMITS, "maximum duration of a run, in seconds; 0: no limit", ge=0, python=True)
    ] = 0
    max_volume: Annotated[int, _size(_LIMITS, "maximum bytes of response bodies per run; 0: no limit", 0)] = 0
    max_depth: Annotated[
        int,
        _is(
            _LIMITS,
            "maximum number of links between a seed and a page; 0: fetch only the seeds; -1: no limit",
            ge=-1,
            le=2047,
        ),
    ] = -1
    max_site_depth: Annotated[
        int,
        _is(
            _LIMITS,
            "maximum number of links inside a site, from the page by which its host was entered; -1: no limit",
            ge=-1,
            le=31,
        ),
    ] = -1
    max_links: Annotated[
        int, _is(_LIMITS, "follow only this many links of a page, the first in scope; 0: no limit", ge=0)
    ] = 0
    max_per_host: Annotated[int, _is(_LIMITS, "maximum number of pages per host; 0: no limit", ge=0)] = 0
    max_per_domain: Annotated[
        int, _is(_LIMITS, "maximum number of pages per registrable domain; 0: no limit", ge=0)
    ] = 0
    max_share: Annotated[
        float,
        _is(
            _LIMITS,
            "maximum share of all pages per host (of max_pages, or of those fetched so far); 0: no limit",
            ge=0,
            le=1,
        ),
    ] = 0
    delay: (
        Annotated[
            float,
            _time(
                _POLITENESS,
                "seconds between the end of a request to a host and the next one; "
                "setting it makes politeness absolute, whose default is 4",
                ge=0,
                le=3600,
            ),
        ]
        | None
    ) = None
    politeness: Annotated[
        str,
        _one_of(_POLITENESS, "how the pause between visits to a host is computed", _CHOICES["politeness"]),
    ] = "relative"
    burst: Annotated[
        int,
        _is(
            _POLITENESS,
            "absolute politeness: number of requests to a host before the pause",
            ge=1,
            le=10_000,
        ),
    ] = 1
    visit_time: Annotated[
        float,
        _time(_POLITENESS, "relative politeness: maximum seconds per visit to a host", gt=0, le=3600),
    ] = 1.0
    visit_requests: Annotated[
        int, _is(_POLITENESS, "relative politeness: maximum number of requests per visit", ge=1, le=10_000)
    ] = 10
    visit_share: Annotated[
        float,
        _is(
            _POLITENESS,
            "relative politeness: the pause after a visit is its duration divided by this",
            gt=0,
            le=1000,
        ),
    ] = 0.2
    address_delay: (
        Annotated[
            float,
            _time(
                _POLITENESS,
                "seconds between the end of a visit to an IP address and the next; "
                "unset: a quarter of the pause of the host",
                ge=0,
                le=3600,
            ),
        ]
        | None
    ) = None
    max_crawl_delay: Annotated[
        float,
        _time(_POLITENESS, "maximum Crawl-delay accepted from robots.txt, in seconds", ge=0, le=86_400),
    ] = 60.0
    max_wait: Annotated[
        float,
        _time(
            _POLITENESS,
            "maximum back-off after errors of a host, in seconds; also limits Retry-After",
            ge=0,
            le=86_400,
        ),
    ] = 300.0
    obey_robots: Annotated[
        bool, _is(_POLITENESS, "obey robots.txt; switch it off only for your own sites")
    ] = True
    user_agent: Annotated[
        str,
        _is(
            _POLITENESS,
            "the crawler's name in robots.txt and in the User-Agent header",
            min_length=1,
            max_length=100,
            pattern=r"^[!-~]+$",
        ),
    ] = "crivello"
    contact: Annotated[
        str,
        _is(
            _POLITENESS,
            "a URL or e-mail address where site owners can reach you, sent in the User-Agent header",
            max_length=200,
            pattern=r"^[ -~]*$",
            python=True,
        ),
    ] = ""
    types: Annotated[
        str,
        _text(_KEPT, "keep only these media types, as in text/html,application/pdf or text/*; empty: all"),
    ] = ""
    converters: Annotated[
        str,
        _text(
            _KEPT,
            "your own classes that convert media types to text, separated by commas, "
            "as in application/epub+zip=module:Class",
            python=True,
        ),
    ] = ""
    convert_time: Annotated[
        float, _time(_DOCUMENTS, "maximum seconds that a document may take to convert", gt=0, le=3600)
    ] = 30.0
    convert_memory: Annotated[
        int,
        _size(_DOCUMENTS, "address space in bytes of a process that converts documents", 2**26, python=True),
    ] = 2**30
    convert_output: Annotated[
        int, _size(_DOCUMENTS, "maximum bytes of the text of a document, with its markup", 2**10)
    ] = 16 * 2**20
    convert_processes: Annotated[
        int,
        _is(_DOCUMENTS, "number of processes that convert documents; 0: one per core", ge=0, le=256),
    ] = 0
    convert_documents: Annotated[
        int,
        _is(_DOCUMENTS, "number of documents after which such a process is replaced", ge=1, le=1_000_000),
    ] = 200
    languages: Annotated[str, _text(_KEPT, "keep only pages in these languages, as in it,en; empty: all")] = (
        ""
    )
    min_text: Annotated[
        int, _is(_KEPT, "keep only pages with at least this many characters of text", ge=0)
    ] = 0
    max_text: Annotated[
        int, _is(_KEPT, "keep only pages with at most this many characters of text; 0: no limit", ge=0)
    ] = 0
    keep_matching: Annotated[
        str, _words(_KEPT, "keep only pages whose title or text matches this regular expression")
    ] = ""
    drop_matching: Annotated[
        str, _words(_KEPT, "drop pages whose title or text matches this regular expression")
    ] = ""
    exact_duplicates: Annotated[
        str, _one_of(_KEPT, "what becomes of pages with the same text as another", _CHOICES["duplicates"])
    ] = "mark"
    near_duplicates: Annotated[
        str, _one_of(_KEPT, "what becomes of pages with nearly the same text", _CHOICES["duplicates"])
    ] = "mark"
    near_distance: Annotated[
        int,
        _is(
            _KEPT,
            "maximum Hamming distance, in bits, between the SimHashes of near-duplicates; "
            "less among more than 360,000 pages, where more are that near by chance",
            ge=0,
            le=8,
        ),
    ] = 8
    clean_session_ids: Annotated[
        bool, _is(_URLS, "remove session ids (jsessionid, PHPSESSID …) from URLs")
    ] = True
    clean_tracking: Annotated[
        bool, _is(_URLS, "remove tracking parameters (utm_source, fbclid …) from URLs")
    ] = True
    clean_index_pages: Annotated[bool, _is(_URLS, "remove index.html and the like from the end of URLs")] = (
        False
    )
    sort_queries: Annotated[bool, _is(_URLS, "sort the query parameters of URLs")] = False
    max_chain: Annotated[
        int,
        _is(
            _URLS,
            "maximum chain of links between URLs that differ only in numbers; longer ones are traps",
            ge=1,
            le=126,
        ),
    ] = 30
    max_repeats: Annotated[
        int,
        _is(_URLS, "a path that repeats a part of itself this often in a row is a trap", ge=2, le=255),
    ] = 4
    max_segments: Annotated[
        int, _is(_URLS, "a path with more segments than this is a trap", ge=1, le=255)
    ] = 25
    max_parameters: Annotated[
        int, _is(_URLS, "a query with more parameters than this is a trap", ge=1, le=255)
    ] = 16
    max_queries: Annotated[
        int,
        _is(
            _URLS,
            "a path with more distinct query strings than this is a trap from then on",
            ge=1,
            le=65_000,
        ),
    ] = 5000
    visit: Annotated[
        str,
        _one_of(
            _FETCHING, "order in which the URLs of a host are visited, at each priority", _CHOICES["visit"]
        ),
    ] = "breadth-first"
    connections: Annotated[
        int, _is(_FETCHING, "number of hosts fetched from concurrently", ge=1, le=10_000)
    ] = 64
    timeout: Annotated[float, _time(_FETCHING, "maximum seconds per request, in total", gt=0, le=3600)] = 30.0
    connect_timeout: Annotated[
        float, _time(_FETCHING, "maximum seconds to establish a connection", gt=0, le=3600)
    ] = 10.0
    first_byte_timeout: Annotated[
        float, _time(_FETCHING, "maximum seconds until the first byte of a response", gt=0, le=3600)
    ] = 20.0
    retries: Annotated[int, _is(_FETCHING, "number of retries of a failed request", ge=0, le=20)] = 2
    max_redirects: Annotated[int, _is(_FETCHING, "maximum length of a chain of redirects", ge=0, le=50)] = 8
    max_bytes: Annotated[
        int, _size(_FETCHING, "maximum bytes of a response body, as sent and as decoded", 1024)
    ] = 16 * 2**20
    cookies: Annotated[bool, _is(_FETCHING, "store the cookies of a host and send them back to it")] = False
    accept_language: Annotated[
        str, _text(_FETCHING, "the Accept-Language header of requests, as in it,en;q=0.5; empty: not sent")
    ] = ""
    http2: Annotated[bool, _is(_FETCHING, "use HTTP/2 with servers that offer it")] = True
    verify_tls: Annotated[bool, _is(_FETCHING, "fetch only from servers with a valid certificate")] = True
    allow_private: Annotated[
        bool, _is(_NAMES, "fetch from private and loopback addresses even if no seed is on one")
    ] = False
    proxy: Annotated[
        str, _text(_NAMES, "proxy for all requests, as in http://user:password@host:port; empty: none")
    ] = ""
    name_server: Annotated[
        str, _text(_NAMES, "DNS server to use, as in 127.0.0.1:53; empty: the system's")
    ] = ""
    hosts_file: Annotated[
        str,
        _text(
            _NAMES,
            "file of names and addresses, in the format of /etc/hosts, that overrides DNS; empty: none",
        ),
    ] = ""
    parsers: Annotated[int, _is(_MEMORY, "number of parser threads; 0: one per core", ge=0, le=256)] = 0
    checkpoint: Annotated[
        float, _time(_MEMORY, "seconds between checkpoints", ge=0.1, le=3600, python=True)
    ] = 5.0
    workbench_hosts: Annotated[
        int,
        _is(_MEMORY, "maximum number of hosts in memory; the others wait on disk", ge=1, le=10_000_000),
    ] = 50_000
    queue_memory: Annotated[
        int, _size(_MEMORY, "memory budget in bytes of responses waiting to be parsed and stored", 2**20)
    ] = 64 * 2**20
    sieve: Annotated[
        str,
        _is(
            _MEMORY,
            "structure for the set of seen URLs, fixed by the first crawl of a collection",
            choices=SIEVES | {"module:Class": "a class of yours"},
            check=_check_sieve,
        ),
    ] = "mercator"
    sieve_signature_bits: Annotated[
        int,
        _is(
            _MEMORY,
            "bits of the signature that stands for a URL in the sieve, fixed by the first crawl: of n URLs about "
            "n^2 / 2^(bits + 1) are lost",
            ge=16,
            le=64,
        ),
    ] = 64
    sieve_memory: Annotated[
        int, _size(_MEMORY, "memory budget in bytes of the sieves mercator, offline and lsm", 2**16)
    ] = 64 * 2**20
    sieve_cache: Annotated[
        int,
        _is(
            _MEMORY,
            "number of recent URLs cached in front of the sieve; 0: no cache",
            ge=0,
            le=2**30,
        ),
    ] = 65_536
    sieve_capacity: Annotated[
        int,
        _is(
            _MEMORY, "number of URLs for which the sieves bloom and blocked-bloom are sized", ge=1, le=10**12
        ),
    ] = 10_000_000
    sieve_error: Annotated[
        float,
        _is(
            _MEMORY, "false-positive rate of the sieves bloom and blocked-bloom at their capacity", gt=0, lt=1
        ),
    ] = 1e-4


_STORING = "The page store"


class Store(msgspec.Struct, kw_only=True, frozen=True):
    """How pages are kept."""

    memory: Annotated[
        int, _size(_STORING, "memory budget in bytes of the table and of the duplicate detection", 2**20)
    ] = 128 * 2**20
    versions: Annotated[
        int, _is(_STORING, "number of versions of a page that the table keeps; 0: all", ge=0)
    ] = 100
    keep: Annotated[
        float,
        _time(_STORING, "seconds for which the table keeps a version after its time; 0: for ever", ge=0),
    ] = 0.0
    requests: Annotated[
        bool, _is(_STORING, "archive the header of each request, as it was sent, beside its response")
    ] = False


_SHARDS = "Shards"
_BUILDING = "Building"


class Index(msgspec.Struct, kw_only=True, frozen=True):
    """How pages become an index."""

    memory: Annotated[
        int, _size(_BUILDING, "memory budget in bytes, beyond which postings are spilled to disk", 2**20)
    ] = 512 * 2**20
    threads: Annotated[int, _is(_BUILDING, "number of indexing threads; 0: one per core", ge=0, le=256)] = 0
    order: Annotated[str, _one_of(_BUILDING, "order in which documents are numbered", _CHOICES["order"])] = (
        "arrival"
    )
    language: (
        Annotated[
            str,
            _is(
                _BUILDING,
                "language of all pages, as two letters; unset: each page's own",
                pattern=r"^[a-z]{2}$",
                python=True,
            ),
        ]
        | None
    ) = None
    extractor: Annotated[
        str, _text(_BUILDING, f"decides what is indexed of a page: {_OWN}; empty: everything", python=True)
    ] = ""
    fan_in: Annotated[
        int,
        _is(
            _BUILDING, "number of segments of similar size that are merged into one", ge=2, le=64, python=True
        ),
    ] = 8
    ranks: Annotated[
        str,
        _one_of(
            _BUILDING,
            "construction of the minimal perfect hash function over the terms",
            _CHOICES["construction"],
        ),
    ] = "fuse"
    ranks_compact: Annotated[
        bool,
        _is(_BUILDING, "store only the nonzero variables of that function, found by rank: smaller, slower"),
    ] = False
    shards: Annotated[
        int,
        _is(
            _SHARDS,
            "number of shards of the index, which takes a rebuild to change; 0: those it has, at first one",
            ge=0,
            le=1024,
        ),
    ] = 0
    partition: Annotated[
        str, _one_of(_SHARDS, "how the index is divided between shards", _CHOICES["partition"])
    ] = "documents"
    assign: Annotated[str, _one_of(_SHARDS, "how documents are assigned to shards", _CHOICES["assign"])] = (
        "hashed"
    )
    signature_bits: Annotated[
        int,
        _is(
            _BUILDING,
            "bits per term signature: with n bits, a lookup of an unknown term is a false positive once in 2^n",
            ge=0,
            le=32,
        ),
    ] = 4


class IndexCodes(msgspec.Struct, kw_only=True, frozen=True):
    """How the integers of an index are coded."""

    prefer: Annotated[
        str, _one_of("Codes", "what auto optimises", _CHOICES["preference"], flag="--codes")
    ] = "balanced"
    pointers: Annotated[str, _code("gaps between document numbers")] = "auto"
    counts: Annotated[str, _code("term counts")] = "auto"
    positions: Annotated[str, _code("positions")] = "auto"
    quantum: Annotated[
        int, _is("Codes", "postings per block, the unit that queries skip", ge=16, le=4096)
    ] = 128


_SHOWN = "What is shown"
_SCORING = "Scoring"
_SEARCHING = "How it is searched"


class Search(msgspec.Struct, kw_only=True, frozen=True):
    """How queries are answered."""

    language: (
        Annotated[
            str,
            _is(
                _SHOWN,
                "language whose stemmer is applied to queries, as two letters; unset: that of most pages",
                pattern=r"^[a-z]{2}$",
            ),
        ]
        | None
    ) = None
    per_site: Annotated[
        int,
        _is(
            _SHOWN,
            "maximum number of results per site in each ten, while other sites have results nearly as good; 0: no limit",
            ge=0,
            le=10,
        ),
    ] = 2
    collapse: Annotated[
        int,
        _is(
            _SHOWN,
            "collapse a result whose SimHash is within this Hamming distance, in bits, of a better one; -1: never",
            ge=-1,
            le=16,
        ),
    ] = 8
    count_limit: Annotated[
        int,
        _is(
            _SHOWN,
            "maximum number of matches to count; 0: count only those that were ranked",
            ge=0,
            le=1_000_000_000,
            python=True,
        ),
    ] = 10_000
    suggest: Annotated[bool, _is(_SHOWN, "suggest a better spelling of rare words", python=True)] = True
    scorer: Annotated[str, _one_of(_SCORING, "scoring function of words", _CHOICES["scorer"])] = "bm25f"
    k1: Annotated[
        float, _is(_SCORING, "BM25: term-frequency saturation; larger: repetitions count more", ge=0, le=10)
    ] = 1.5
    b: Annotated[
        float, _is(_SCORING, "BM25: document-length normalisation; 0: none, 1: full", ge=0, le=1)
    ] = 0.5
    body_weight: Annotated[
        float,
        _is(_SCORING, "weight of a word in the text; 0: not searched", ge=0, le=100),
    ] = 1.0
    title_weight: Annotated[
        float,
        _is(_SCORING, "weight of a word in the title; 0: not searched", ge=0, le=100),
    ] = 3.0
    headings_weight: Annotated[
        float,
        _is(
            _SCORING,
            "weight of a word in the headings, in addition to the text; 0: not searched",
            ge=0,
            le=100,
        ),
    ] = 0.5
    anchors_weight: Annotated[
        float,
        _is(
            _SCORING,
            "weight of a word in the anchor text of links to the page; 0: not searched",
            ge=0,
            le=100,
        ),
    ] = 1.0
    url_weight: Annotated[
        float, _is(_SCORING, "weight of a word in the URL; 0: searched only by url:", ge=0, le=100)
    ] = 0.0
    proximity: Annotated[
        float, _is(_SCORING, "weight of the proximity of the query words; 0: not scored", ge=0, le=100)
    ] = 0.5
    proximity_depth: Annotated[
        int, _is(_SCORING, "number of top pages reranked by proximity", ge=0, le=10_000)
    ] = 100
    rank_weight: Annotated[
        float,
        _is(_SCORING, "weight of the page's static rank; 0: rank by text alone", ge=0, le=100),
    ] = 0.5
    slope: Annotated[
        float, _is(_SCORING, "TF-IDF: slope of the pivoted length normalisation; 0: none", ge=0, le=1)
    ] = 0.2
    mu: Annotated[
        float,
        _is(
            _SCORING,
            "query likelihood: Dirichlet smoothing parameter mu, in words",
            gt=0,
            le=1e6,
        ),
    ] = 1000.0
    rewrite: Annotated[
        str,
        _text(_SEARCHING, f"rewrites queries before parsing: {_OWN}; empty: no rewriting", python=True),
    ] = ""
    rerank: Annotated[
        str, _text(_SEARCHING, f"reranks the top hits: {_OWN}; empty: no reranking", python=True)
    ] = ""
    rerank_depth: Annotated[
        int, _is(_SEARCHING, "number of top hits it reranks", ge=1, le=1000, python=True)
    ] = 50
    shards: Annotated[
        str, _one_of(_SEARCHING, "where the shards of a divided index are searched", SERVING, python=True)
    ] = "together"
    shard_timeout: Annotated[
        float,
        _time(
            _SEARCHING,
            "seconds after which an answer leaves out a shard in another process",
            gt=0,
            le=3600,
            python=True,
        ),
    ] = 2.0
    replicas: Annotated[
        int, _is(_SEARCHING, "number of processes for each shard", ge=1, le=16, python=True)
    ] = 1
    term_lists: Annotated[
        str,
        _one_of(
            _SEARCHING,
            "how posting lists are fetched from shards of terms in processes; both return the same pages",
            TERM_LISTS,
            python=True,
        ),
    ] = "gathered"
    hot_terms: Annotated[
        int,
        _size(
            _SEARCHING,
            "memory budget in bytes for the posting lists of hot terms, fetched from shards of terms in processes",
            0,
            python=True,
        ),
    ] = 2**28
    dictionary_bits: Annotated[
        int,
        _is(
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
        _time(
            _SEARCHING,
            "seconds after which a search returns the best results so far; 0: no limit",
            ge=0,
            le=3600,
        ),
    ] = 2.0
    threads: Annotated[
        int, _is(_SEARCHING, "maximum number of threads for a long search; 0: one per core", ge=0, le=256)
    ] = 0
    method: Annotated[
        str,
        _one_of(_SEARCHING, "top-k algorithm; every one returns the same pages", _CHOICES["method"]),
    ] = "auto"
    intersection: Annotated[
        str,
        _one_of(
            _SEARCHING,
            "intersection algorithm for posting lists, in phrases, NOT, filters, counts, facets and the method exhaustive "
            "(AND of words alone goes by block-max AND); every one returns the same pages",
            _CHOICES["intersection"],
        ),
    ] = "greedy"


_RANKING = "Static ranks"


class Rank(msgspec.Struct, kw_only=True, frozen=True):
    """How pages are ranked by their links."""

    measure: Annotated[
        str,
        _text(_RANKING, "measure by which searches rank pages: see docs/graph.md", python=True),
    ] = "indegree"
    measures: Annotated[
        str,
        _text(_RANKING, "other measures kept with each index, separated by spaces", python=True),
    ] = "pagerank katz"
    damping: Annotated[
        float,
        _is(_RANKING, "damping factor of the measures that have one", ge=0, lt=1, python=True),
    ] = 0.85


_REVISITS = "Revisits"
_DAY = 86_400
_YEAR = 365 * _DAY


class Refresh(msgspec.Struct, kw_only=True, frozen=True):
    """When pages are visited again."""

    policy: Annotated[
        str, _one_of(_REVISITS, "which pages are visited again, and how often", _CHOICES["refresh"])
    ] = "optimal"
    budget: Annotated[
        float,
        _is(
            _REVISITS,
            "requests per day for revisits; 0: as many as a visit of every page per interval takes",
            flag="--daily-budget",
            ge=0,
            le=1e12,
        ),
    ] = 0
    interval: Annotated[
        float,
        _time(
            _REVISITS,
            "seconds between visits of a page, on average, if there is no budget; the first interval of adaptive",
            ge=60,
            le=_YEAR,
        ),
    ] = 7 * _DAY
    min_interval: Annotated[
        float, _time(_REVISITS, "minimum seconds between visits of a page", ge=1, le=_YEAR)
    ] = 3600
    max_interval: Annotated[
        float,
        _time(
            _REVISITS,
            "maximum seconds between visits of a page, also of one that is not worth its visits",
            ge=60,
            le=_YEAR,
        ),
    ] = 180 * _DAY
    grace: Annotated[
        float,
        _time(_REVISITS, "seconds for which visits must have failed until a page is gone", ge=0, le=_YEAR),
    ] = 14 * _DAY
    increase: Annotated[
        float,
        _is(
            _REVISITS, "adaptive: an interval grows by this share after a visit without a change", ge=0, le=10
        ),
    ] = 0.4
    decrease: Annotated[
        float,
        _is(_REVISITS, "adaptive: an interval shrinks by this share after a visit with a change", ge=0, lt=1),
    ] = 0.2
    prior_interval: Annotated[
        float,
        _time(
            _REVISITS, "optimal: presumed seconds between changes of an unknown page", ge=60, le=10 * _YEAR
        ),
    ] = 30 * _DAY
    prior_changes: Annotated[
        float,
        _is(
            _REVISITS, "optimal: the number of observed changes that this presumption is worth", gt=0, le=1000
        ),
    ] = 0.5


_ADDRESS = "Where it listens"
_PROGRAMS = "Programs"


_OPERATION = "Operation"
_ACCESS = "Who may use it"


class Serve(msgspec.Struct, kw_only=True, frozen=True):
    """Where the search page is served."""

    host: Annotated[
        str,
        _is(_ADDRESS, "address to listen on; 0.0.0.0: all interfaces", min_length=1, python=True),
    ] = "127.0.0.1"
    port: Annotated[
        int,
        _is(_ADDRESS, "port to listen on; 0: any free port", ge=0, le=65_535, python=True),
    ] = 8080
    public_url: Annotated[
        str,
        _text(
            _ADDRESS,
            "the URL at which the internet reaches this server, for subscriptions to feeds; empty: none",
            python=True,
        ),
    ] = ""
    cors: Annotated[
        str,
        _text(
            _PROGRAMS,
            "origins whose pages may call the API, separated by spaces, as in https://docs.example.org; *: any; "
            "empty: none",
            python=True,
        ),
    ] = ""
    rate_limit: Annotated[
        int,
        _is(
            _PROGRAMS,
            "requests that a client of the API, by its token or address, may send a minute; 0: any number",
            ge=0,
            le=1_000_000,
            python=True,
        ),
    ] = 0
    tokens: Annotated[
        str,
        _words(
            _PROGRAMS,
            "file of the tokens of programs, as `crivello token` writes it; empty: tokens.txt in the collection",
            python=True,
        ),
    ] = ""
    read_token: Annotated[
        bool,
        _is(
            _PROGRAMS,
            "let programs read only with a token; changing something always takes one",
            python=True,
        ),
    ] = False
    tls_certificate: Annotated[
        str,
        _words(
            _ADDRESS, "file with the certificate and its chain, in PEM: serve HTTPS; empty: HTTP", python=True
        ),
    ] = ""
    tls_key: Annotated[
        str,
        _words(
            _ADDRESS, "file with the key of the certificate, in PEM; empty: in the same file", python=True
        ),
    ] = ""
    trusted_proxies: Annotated[
        str,
        _text(
            _ADDRESS,
            "addresses or networks of proxies, separated by commas, whose X-Forwarded-For and X-Forwarded-Proto are "
            "believed; *: anyone's; empty: nobody's",
            python=True,
        ),
    ] = ""
    users: Annotated[
        str,
        _words(
            _ACCESS,
            "file of users; everything but /health and /ready asks for a name and a password; empty: nothing does",
            python=True,
        ),
    ] = ""
    workers: Annotated[
        int,
        _is(
            _OPERATION,
            "processes that answer requests; 1: this process alone",
            ge=1,
            le=64,
            python=True,
        ),
    ] = 1
    log: Annotated[str, _one_of(_OPERATION, "what is logged on standard error", LOGS, python=True)] = (
        "problems"
    )
    dashboard_token: Annotated[
        str,
        _text(
            _ADDRESS,
            "what lets people use the dashboard at /crawl, from anywhere; empty: it answers only on this machine",
            python=True,
        ),
    ] = ""


_CLUSTER = "Many agents"


class Cluster(msgspec.Struct, kw_only=True, frozen=True):
    """How the web is divided among agents."""

    method: Annotated[
        str,
        _one_of(
            _CLUSTER,
            "how hosts are assigned to agents",
            _CHOICES["assignment"],
            flag="--assignment",
            python=True,
        ),
    ] = "consistent"
    replicas: Annotated[
        int,
        _is(
            _CLUSTER,
            "consistent hashing: points of an agent of weight 1 on the circle",
            ge=1,
            le=100_000,
            python=True,
        ),
    ] = 300
    by: Annotated[
        str,
        _one_of(
            _CLUSTER,
            "what is assigned as one when a URL is discovered",
            _CHOICES["assignment-key"],
            flag="--assign-by",
            python=True,
        ),
    ] = "host"
    lease: Annotated[
        float,
        _time(
            _CLUSTER,
            "seconds for which an agent may fetch without being heard; then it pauses",
            ge=1,
            le=600,
            python=True,
        ),
    ] = 5.0
    grace: Annotated[
        float,
        _time(
            _CLUSTER,
            "seconds of silence after which an agent counts as lost, and its hosts go to others; 0: they wait for it",
            ge=0,
            le=86_400,
            python=True,
        ),
    ] = 300.0


class Settings(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """All settings, one section for each part."""

    crawl: Crawl = Crawl()
    store: Store = Store()
    index: Index = Index()
    index_codes: IndexCodes = IndexCodes()
    rank: Rank = Rank()
    refresh: Refresh = Refresh()
    search: Search = Search()
    serve: Serve = Serve()
    cluster: Cluster = Cluster()
