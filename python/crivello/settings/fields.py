"""The settings themselves: a field here is a flag, a variable and a line of ``crivello.toml`` at once."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

BYTES = {"unit": "bytes"}


SIEVE = r"^(mercator|memory|offline|lsm|bloom|blocked-bloom|[^: ]+:[^: ]+)$"


def _size(description: str, least: int) -> Meta:
    return Meta(ge=least, description=description, extra=BYTES)


def _text(description: str, **rules: Any) -> Meta:
    return Meta(max_length=2000, pattern=r"^[ -~]*$", description=description, **rules)


def _words(description: str) -> Meta:
    return Meta(max_length=2000, pattern=r"^[^\x00-\x1f\x7f]*$", description=description)


class Crawl(msgspec.Struct, kw_only=True, frozen=True):
    """What to fetch, and how politely."""

    politeness: Annotated[
        Literal["relative", "absolute"],
        Meta(
            description="relative: a host rests in proportion to the time a visit took; absolute: a fixed gap between requests"
        ),
    ] = "relative"
    delay: (
        Annotated[
            float,
            Meta(
                ge=0,
                le=3600,
                description="seconds between the end of a request to a host and the next; makes politeness absolute, where it is 4",
            ),
        ]
        | None
    ) = None
    visit_time: Annotated[
        float, Meta(gt=0, le=3600, description="relative politeness: seconds that a visit to a host may take")
    ] = 1.0
    visit_requests: Annotated[
        int, Meta(ge=1, le=10_000, description="relative politeness: how many requests a visit may make")
    ] = 10
    visit_share: Annotated[
        float,
        Meta(
            gt=0, le=1000, description="relative politeness: a host rests for the time taken divided by this"
        ),
    ] = 0.2
    address_delay: (
        Annotated[
            float,
            Meta(
                ge=0,
                le=3600,
                description="seconds between the end of a visit to an address and the next; unset: a quarter of what the host rests",
            ),
        ]
        | None
    ) = None
    max_crawl_delay: Annotated[
        float, Meta(ge=0, le=86_400, description="a Crawl-delay in robots.txt counts up to so many seconds")
    ] = 60.0
    max_wait: Annotated[
        float,
        Meta(
            ge=0,
            le=86_400,
            description="seconds that a host with errors is left alone at most, whatever its Retry-After says",
        ),
    ] = 300.0
    connections: Annotated[
        int, Meta(ge=1, le=10_000, description="how many hosts are fetched from at once")
    ] = 64
    scope: Annotated[
        Literal["host", "domain", "prefix", "any"],
        Meta(
            description="which links are followed: to the hosts of the seeds, their domains, below the seeds' folders, or any"
        ),
    ] = "host"
    include: Annotated[
        str, _text("follow only links that match this regular expression; several, separated by spaces")
    ] = ""
    exclude: Annotated[
        str, _text("follow no link that matches this regular expression; several, separated by spaces")
    ] = ""
    priority: Annotated[
        str,
        _text(
            "which links come first: breadth, short, other-sites, keywords, focused, or a class of yours as module:Class"
        ),
    ] = "breadth"
    follow: Annotated[
        str, _text("which links in scope are followed: a class of yours as module:Class; none: all")
    ] = ""
    keywords: Annotated[
        str, _words("the words that the priorities keywords and focused look for, separated by spaces")
    ] = ""
    max_pages: Annotated[int, Meta(ge=0, description="stop after so many pages; 0: no limit")] = 0
    max_volume: Annotated[int, _size("stop after so many bytes of bodies; 0: no limit", 0)] = 0
    max_time: Annotated[float, Meta(ge=0, description="stop after so many seconds; 0: no limit")] = 0
    max_depth: Annotated[
        int, Meta(ge=0, le=4095, description="follow links so far from a seed; 0: no limit")
    ] = 0
    max_per_host: Annotated[int, Meta(ge=0, description="fetch so many pages of a host; 0: no limit")] = 0
    max_share: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="the share of all pages that a host may have (of max_pages, or of those fetched so far); 0: no limit",
        ),
    ] = 0
    max_bytes: Annotated[int, _size("a body longer than this is given up, as sent and as decoded", 1024)] = (
        16 * 2**20
    )
    max_redirects: Annotated[int, Meta(ge=0, le=50, description="how long a chain of redirects may be")] = 8
    connect_timeout: Annotated[
        float, Meta(gt=0, le=3600, description="seconds until a connection must be there")
    ] = 10.0
    first_byte_timeout: Annotated[
        float, Meta(gt=0, le=3600, description="seconds until an answer must have begun")
    ] = 20.0
    timeout: Annotated[float, Meta(gt=0, le=3600, description="seconds that a request may take in all")] = (
        30.0
    )
    retries: Annotated[int, Meta(ge=0, le=20, description="how often a failed request is tried again")] = 2
    max_chain: Annotated[
        int,
        Meta(
            ge=1,
            le=2047,
            description="a trap is cut off after so many links in a row between URLs that differ only in numbers",
        ),
    ] = 30
    max_repeats: Annotated[
        int,
        Meta(ge=2, le=255, description="a path that repeats a part of itself so often in a row is a trap"),
    ] = 4
    max_segments: Annotated[
        int, Meta(ge=1, le=255, description="a path with more parts than this is a trap")
    ] = 25
    max_parameters: Annotated[
        int, Meta(ge=1, le=255, description="a query with more parameters than this is a trap")
    ] = 16
    max_queries: Annotated[
        int,
        Meta(
            ge=1, le=65_000, description="a path with more different queries than this is a trap from then on"
        ),
    ] = 5000
    types: Annotated[
        str, _text("keep only these media types, as in text/html,application/pdf or text/*; none: all")
    ] = ""
    converters: Annotated[
        str,
        _text(
            "what turns media types into text: classes of yours, as in application/epub+zip=module:Class; several, separated by commas"
        ),
    ] = ""
    languages: Annotated[str, _text("keep only pages in these languages, as in it,en; none: all")] = ""
    min_text: Annotated[int, Meta(ge=0, description="keep only pages with so many characters of text")] = 0
    max_text: Annotated[
        int, Meta(ge=0, description="keep only pages with at most so many characters of text; 0: no limit")
    ] = 0
    keep_matching: Annotated[
        str, _words("keep only pages whose title or text matches this regular expression")
    ] = ""
    drop_matching: Annotated[
        str, _words("keep no page whose title or text matches this regular expression")
    ] = ""
    cookies: Annotated[bool, Meta(description="keep the cookies of a host and send them back to it")] = False
    images: Annotated[bool, Meta(description="fetch images, too: src and srcset count as links")] = False
    clean_session_ids: Annotated[
        bool, Meta(description="take session ids (jsessionid, PHPSESSID …) out of URLs")
    ] = True
    clean_tracking: Annotated[
        bool, Meta(description="take tracking parameters (utm_source, fbclid …) out of URLs")
    ] = True
    clean_index_pages: Annotated[
        bool, Meta(description="take index.html and its like off the end of URLs")
    ] = False
    sort_queries: Annotated[bool, Meta(description="sort the parameters of URLs")] = False
    obey_robots: Annotated[
        bool, Meta(description="respect robots.txt; switch it off only for your own sites")
    ] = True
    allow_private: Annotated[
        bool,
        Meta(description="fetch from private and loopback addresses even where no seed is on one"),
    ] = False
    user_agent: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=100,
            pattern=r"^[!-~]+$",
            description="the name that robots.txt files know",
        ),
    ] = "crivello"
    contact: Annotated[
        str,
        Meta(
            max_length=200,
            pattern=r"^[ -~]*$",
            description="a URL or address where site owners can reach you",
        ),
    ] = ""
    accept_language: Annotated[
        str, _text("the Accept-Language of requests, as in it,en;q=0.5; none: not sent")
    ] = ""
    http2: Annotated[bool, Meta(description="speak HTTP/2 with servers that offer it")] = True
    verify_tls: Annotated[bool, Meta(description="fetch only from servers with a valid certificate")] = True
    proxy: Annotated[str, _text("a proxy for all requests, as in http://user:password@host:port")] = ""
    name_server: Annotated[
        str, _text("the name server to ask instead of the system's, as in 127.0.0.1:53")
    ] = ""
    hosts_file: Annotated[
        str, _text("a file of names and addresses, in the form of /etc/hosts, that wins over name servers")
    ] = ""
    near_distance: Annotated[
        int,
        Meta(
            ge=0, le=3, description="pages whose SimHashes differ in at most so many bits are near-duplicates"
        ),
    ] = 3
    checkpoint: Annotated[float, Meta(ge=0.1, le=3600, description="seconds between checkpoints")] = 5.0
    workbench_hosts: Annotated[
        int,
        Meta(ge=1, le=10_000_000, description="how many hosts are in memory; the others wait on disk"),
    ] = 50_000
    queue_memory: Annotated[int, _size("bytes of responses that may wait to be parsed and stored", 2**20)] = (
        64 * 2**20
    )
    parsers: Annotated[
        int, Meta(ge=0, le=256, description="how many threads parse; 0: as many as there are cores")
    ] = 0
    sieve: Annotated[
        str,
        Meta(
            pattern=SIEVE,
            description="how URLs that were seen are remembered: mercator, memory, offline, lsm, bloom, blocked-bloom, or a class of yours as module:Class; a collection keeps the one it was made with",
        ),
    ] = "mercator"
    sieve_memory: Annotated[
        int,
        Meta(ge=2**16, description="bytes that the sieves mercator, offline and lsm may use", extra=BYTES),
    ] = 64 * 2**20
    sieve_cache: Annotated[
        int,
        Meta(ge=0, le=2**30, description="how many recent URLs are known without asking the sieve; 0: none"),
    ] = 65_536
    sieve_capacity: Annotated[
        int,
        Meta(ge=1, le=10**12, description="how many URLs the sieves bloom and blocked-bloom are made for"),
    ] = 10_000_000
    sieve_error: Annotated[
        float,
        Meta(gt=0, lt=1, description="how often those take a new URL for an old one when they have so many"),
    ] = 1e-4


class Index(msgspec.Struct, kw_only=True, frozen=True):
    """How pages become an index."""

    memory: Annotated[
        int,
        Meta(ge=2**20, description="bytes that building may use before it goes to disk", extra=BYTES),
    ] = 512 * 2**20
    threads: Annotated[
        int, Meta(ge=0, le=256, description="how many threads build; 0: one for each core")
    ] = 0
    order: Annotated[
        Literal["arrival", "url", "bisection"],
        Meta(
            description="how pages are numbered: as they come, by URL, or so that similar ones are neighbours"
        ),
    ] = "arrival"
    language: (
        Annotated[
            str,
            Meta(
                pattern=r"^[a-z]{2}$",
                description="the language of all pages, as two letters; each page's own where it is not set",
            ),
        ]
        | None
    ) = None
    extractor: Annotated[
        str, _text("what is kept of a page: a class of yours as module:Class; none: all")
    ] = ""
    fan_in: Annotated[int, Meta(ge=2, le=64, description="how many segments of like size become one")] = 8
    ranks: Annotated[
        Literal["fuse", "peeling"],
        Meta(description="how the minimal perfect hash of the terms is made"),
    ] = "fuse"
    signature_bits: Annotated[
        int,
        Meta(
            ge=0,
            le=32,
            description="bits of a term's signature: an unknown term is read for in vain once in 2 to so many",
        ),
    ] = 4


CODE = r"^(auto|unary|gamma|delta|zeta([1-9]|[1-5][0-9]|6[0-3])|omega|golomb(:[0-9]+)?|rice(:[0-9]+)?|minimal:[0-9]+|nibble|byte|nibble-prefix|byte-prefix|pfor128|pfor256|escape128|escape256|ans|elias-fano|simd128|simd256)$"


def _code(what: str) -> Meta:
    return Meta(pattern=CODE, description=f"the code of the {what}: auto, or one of `crivello lab codes`")


class IndexCodes(msgspec.Struct, kw_only=True, frozen=True):
    """How the integers of an index are written."""

    prefer: Annotated[
        Literal["balanced", "smallest", "fastest"],
        Meta(description="what auto looks for in a code", extra={"flag": "--codes"}),
    ] = "balanced"
    pointers: Annotated[str, _code("gaps between pages")] = "auto"
    counts: Annotated[str, _code("counts")] = "auto"
    positions: Annotated[str, _code("positions")] = "auto"
    quantum: Annotated[
        int, Meta(ge=16, le=4096, description="how many postings make a block, over which a query can skip")
    ] = 128


class Search(msgspec.Struct, kw_only=True, frozen=True):
    """How queries are answered."""

    scorer: Annotated[
        Literal["bm25f", "bm25", "tfidf", "ql"],
        Meta(
            description="how words score: BM25 over weighted zones or over one bag of words, TF-IDF, or query likelihood"
        ),
    ] = "bm25f"
    k1: Annotated[float, Meta(ge=0, le=10, description="BM25: how much repeated words count")] = 1.5
    b: Annotated[float, Meta(ge=0, le=1, description="BM25: how much long pages are held back")] = 0.75
    body_weight: Annotated[
        float, Meta(ge=0, le=100, description="what a word in the text weighs; 0: it is not looked for there")
    ] = 1.0
    title_weight: Annotated[
        float,
        Meta(ge=0, le=100, description="what a word in the title weighs; 0: it is not looked for there"),
    ] = 3.0
    headings_weight: Annotated[
        float,
        Meta(
            ge=0,
            le=100,
            description="what a word in the headings weighs beside the text; 0: it is not looked for there",
        ),
    ] = 0.5
    anchors_weight: Annotated[
        float,
        Meta(
            ge=0, le=100, description="what a word in links to the page weighs; 0: it is not looked for there"
        ),
    ] = 1.0
    url_weight: Annotated[
        float, Meta(ge=0, le=100, description="what a word in the URL weighs; 0: only url: looks there")
    ] = 0.0
    slope: Annotated[float, Meta(ge=0, le=1, description="TF-IDF: how much long pages are held back")] = 0.2
    mu: Annotated[
        float,
        Meta(
            gt=0, le=1e6, description="query likelihood: how many words of the mean page are mixed into each"
        ),
    ] = 1000.0
    proximity: Annotated[
        float, Meta(ge=0, le=100, description="how much words that stand close together add; 0: nothing")
    ] = 0.5
    proximity_depth: Annotated[
        int, Meta(ge=0, le=10_000, description="how many of the best pages are looked at for that")
    ] = 100
    rank_weight: Annotated[
        float, Meta(ge=0, le=100, description="how much the page's PageRank adds; 0: ranking by text alone")
    ] = 0.5
    rewrite: Annotated[
        str,
        _text("what rewrites a query before it is parsed: a class of yours as module:Class; none: nothing"),
    ] = ""
    rerank: Annotated[
        str, _text("what reranks the best hits: a class of yours as module:Class; none: nothing")
    ] = ""
    rerank_depth: Annotated[int, Meta(ge=1, le=1000, description="how many of the best hits it reranks")] = 50
    language: Annotated[
        str,
        Meta(pattern=r"^[a-z]{2}$", description="the language in which queries are stemmed, as two letters"),
    ] = "en"
    collapse: Annotated[
        int,
        Meta(
            ge=-1,
            le=16,
            description="fold pages whose SimHashes differ in at most so many bits from a better one's; -1: none",
        ),
    ] = 3
    per_site: Annotated[
        int,
        Meta(
            ge=0,
            le=10,
            description="at most so many of ten results are of one site, while others have any; 0: no limit",
        ),
    ] = 2
    count_limit: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000_000,
            description="stop counting matches at so many; 0: count only those that were ranked",
        ),
    ] = 10_000
    suggest: Annotated[bool, Meta(description="look for a better spelling of rare words")] = True
    time_limit: Annotated[
        float,
        Meta(
            ge=0,
            le=3600,
            description="seconds after which a search ends with the best it has seen; 0: no limit",
        ),
    ] = 2.0
    threads: Annotated[
        int, Meta(ge=0, le=256, description="how many threads a long search may use; 0: one for each core")
    ] = 0
    method: Annotated[
        Literal["auto", "exhaustive", "maxscore", "wand", "blockmax-wand", "taat"],
        Meta(description="how the best pages are found; all find the same"),
    ] = "auto"
    intersection: Annotated[
        Literal["greedy", "heap", "adaptive"],
        Meta(description="how lists are intersected; all find the same"),
    ] = "greedy"


class Serve(msgspec.Struct, kw_only=True, frozen=True):
    """Where the search page is."""

    host: Annotated[str, Meta(min_length=1, description="the address to listen on; 0.0.0.0: all of them")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Meta(ge=0, le=65_535, description="the port to listen on; 0: any that is free")] = (
        8080
    )


class Settings(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """All settings, one section for each part."""

    crawl: Crawl = Crawl()
    index: Index = Index()
    index_codes: IndexCodes = IndexCodes()
    search: Search = Search()
    serve: Serve = Serve()
