"""The section ``[crawl]``: what is fetched, when, and how politely."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

from crivello.errors import InvalidArgument
from crivello.settings.fields.meta import (
    CHOICES,
    OWN_CLASS,
    Choices,
    duration,
    one_of,
    setting,
    size,
    text,
    words,
)

SIEVES: Choices = CHOICES["sieve"] | {
    "lsm": "signatures in RocksDB, a log-structured merge tree: fixed memory"
}
SCOPES: Choices = CHOICES["scope"]
ASSETS: Choices = CHOICES["assets"]

_FOLLOWED = "What is followed"
_LIMITS = "When to stop"
_POLITENESS = "Politeness"
_KEPT = "What is kept"
_DOCUMENTS = "Documents"
_URLS = "URLs and traps"
_FETCHING = "Fetching"
_NAMES = "Names, proxies and private networks"
_MEMORY = "Memory, threads and disk"


def _check_sieve(name: str) -> None:
    if name not in SIEVES and not re.fullmatch(r"[^: ]+:[^: ]+", name):
        raise InvalidArgument(f"it must be one of {', '.join(SIEVES)}, or {OWN_CLASS}")


class Crawl(msgspec.Struct, kw_only=True, frozen=True):
    """What is crawled, and how politely."""

    scope: Annotated[str, one_of(_FOLLOWED, "which links are followed, relative to the seeds", SCOPES)] = (
        "host"
    )
    include: Annotated[
        str,
        text(
            _FOLLOWED,
            "follow only links that match one of these regular expressions, separated by spaces; empty: all",
        ),
    ] = ""
    exclude: Annotated[
        str,
        text(
            _FOLLOWED, "do not follow links that match one of these regular expressions, separated by spaces"
        ),
    ] = ""
    block: Annotated[
        str,
        text(
            _FOLLOWED,
            "fetch nothing from these hosts, as a.example or a.example:8080, separated by spaces",
        ),
    ] = ""
    priority: Annotated[
        str,
        text(
            _FOLLOWED,
            f"which links are fetched first: breadth, short, other-sites, keywords, focused, or {OWN_CLASS}",
            python=True,
        ),
    ] = "breadth"
    follow: Annotated[
        str,
        text(_FOLLOWED, f"decides which links in scope are followed: {OWN_CLASS}; empty: all", python=True),
    ] = ""
    keywords: Annotated[
        str,
        words(
            _FOLLOWED,
            "words for the priorities keywords and focused, separated by spaces",
            python=True,
        ),
    ] = ""
    images: Annotated[bool, setting(_FOLLOWED, "also fetch images: src and srcset count as links")] = False
    feeds: Annotated[
        bool, setting(_FOLLOWED, "also fetch the feeds that pages declare, and follow their entries")
    ] = True
    assets: Annotated[
        str, one_of(_FOLLOWED, "which assets of pages are fetched, for results and stored copies", ASSETS)
    ] = "all"
    sitemaps: Annotated[
        bool,
        setting(
            _FOLLOWED, "fetch the sitemaps that robots.txt names, or /sitemap.xml, and follow their entries"
        ),
    ] = True
    sitemap_urls: Annotated[
        int, setting(_FOLLOWED, "maximum number of URLs taken from a sitemap", ge=1, le=10_000_000)
    ] = 50_000
    sitemap_bytes: Annotated[int, size(_FOLLOWED, "maximum bytes of a sitemap, decoded", 1024)] = 50 * 2**20
    max_pages: Annotated[int, setting(_LIMITS, "maximum number of pages per run; 0: no limit", ge=0)] = 0
    max_time: Annotated[
        float, duration(_LIMITS, "maximum duration of a run, in seconds; 0: no limit", ge=0, python=True)
    ] = 0
    max_volume: Annotated[int, size(_LIMITS, "maximum bytes of response bodies per run; 0: no limit", 0)] = 0
    max_depth: Annotated[
        int,
        setting(
            _LIMITS,
            "maximum number of links between a seed and a page; 0: fetch only the seeds; -1: no limit",
            ge=-1,
            le=2047,
        ),
    ] = -1
    max_site_depth: Annotated[
        int,
        setting(
            _LIMITS,
            "maximum number of links inside a site, from the page by which its host was entered; -1: no limit",
            ge=-1,
            le=31,
        ),
    ] = -1
    max_links: Annotated[
        int, setting(_LIMITS, "follow only this many links of a page, the first in scope; 0: no limit", ge=0)
    ] = 0
    max_per_host: Annotated[int, setting(_LIMITS, "maximum number of pages per host; 0: no limit", ge=0)] = 0
    max_per_domain: Annotated[
        int, setting(_LIMITS, "maximum number of pages per registrable domain; 0: no limit", ge=0)
    ] = 0
    max_share: Annotated[
        float,
        setting(
            _LIMITS,
            "maximum share of all pages per host (of max_pages, or of those fetched so far); 0: no limit",
            ge=0,
            le=1,
        ),
    ] = 0
    delay: (
        Annotated[
            float,
            duration(
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
        one_of(_POLITENESS, "how the pause between visits to a host is computed", CHOICES["politeness"]),
    ] = "relative"
    burst: Annotated[
        int,
        setting(
            _POLITENESS,
            "absolute politeness: number of requests to a host before the pause",
            ge=1,
            le=10_000,
        ),
    ] = 1
    visit_time: Annotated[
        float,
        duration(_POLITENESS, "relative politeness: maximum seconds per visit to a host", gt=0, le=3600),
    ] = 1.0
    visit_requests: Annotated[
        int,
        setting(_POLITENESS, "relative politeness: maximum number of requests per visit", ge=1, le=10_000),
    ] = 10
    visit_share: Annotated[
        float,
        setting(
            _POLITENESS,
            "relative politeness: the pause after a visit is its duration divided by this",
            gt=0,
            le=1000,
        ),
    ] = 0.2
    address_delay: (
        Annotated[
            float,
            duration(
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
        duration(_POLITENESS, "maximum Crawl-delay accepted from robots.txt, in seconds", ge=0, le=86_400),
    ] = 60.0
    max_wait: Annotated[
        float,
        duration(
            _POLITENESS,
            "maximum back-off after errors of a host, in seconds; also limits Retry-After",
            ge=0,
            le=86_400,
        ),
    ] = 300.0
    obey_robots: Annotated[
        bool, setting(_POLITENESS, "obey robots.txt; switch it off only for your own sites")
    ] = True
    user_agent: Annotated[
        str,
        setting(
            _POLITENESS,
            "the crawler's name in robots.txt and in the User-Agent header",
            min_length=1,
            max_length=100,
            pattern=r"^[!-~]+$",
        ),
    ] = "crivello"
    contact: Annotated[
        str,
        setting(
            _POLITENESS,
            "a URL or e-mail address where site owners can reach you, sent in the User-Agent header",
            max_length=200,
            pattern=r"^[ -~]*$",
            python=True,
        ),
    ] = ""
    types: Annotated[
        str,
        text(_KEPT, "keep only these media types, as in text/html,application/pdf or text/*; empty: all"),
    ] = ""
    converters: Annotated[
        str,
        text(
            _KEPT,
            "your own classes that convert media types to text, separated by commas, "
            "as in application/epub+zip=module:Class",
            python=True,
        ),
    ] = ""
    convert_time: Annotated[
        float, duration(_DOCUMENTS, "maximum seconds that a document may take to convert", gt=0, le=3600)
    ] = 30.0
    convert_memory: Annotated[
        int,
        size(_DOCUMENTS, "address space in bytes of a process that converts documents", 2**26, python=True),
    ] = 2**30
    convert_output: Annotated[
        int, size(_DOCUMENTS, "maximum bytes of the text of a document, with its markup", 2**10)
    ] = 16 * 2**20
    convert_processes: Annotated[
        int,
        setting(_DOCUMENTS, "number of processes that convert documents; 0: one per core", ge=0, le=256),
    ] = 0
    convert_documents: Annotated[
        int,
        setting(_DOCUMENTS, "number of documents after which such a process is replaced", ge=1, le=1_000_000),
    ] = 200
    languages: Annotated[str, text(_KEPT, "keep only pages in these languages, as in it,en; empty: all")] = ""
    min_text: Annotated[
        int, setting(_KEPT, "keep only pages with at least this many characters of text", ge=0)
    ] = 0
    max_text: Annotated[
        int, setting(_KEPT, "keep only pages with at most this many characters of text; 0: no limit", ge=0)
    ] = 0
    keep_matching: Annotated[
        str, words(_KEPT, "keep only pages whose title or text matches this regular expression")
    ] = ""
    drop_matching: Annotated[
        str, words(_KEPT, "drop pages whose title or text matches this regular expression")
    ] = ""
    exact_duplicates: Annotated[
        str, one_of(_KEPT, "what becomes of pages with the same text as another", CHOICES["duplicates"])
    ] = "mark"
    near_duplicates: Annotated[
        str, one_of(_KEPT, "what becomes of pages with nearly the same text", CHOICES["duplicates"])
    ] = "mark"
    near_distance: Annotated[
        int,
        setting(
            _KEPT,
            "maximum Hamming distance, in bits, between the SimHashes of near-duplicates; "
            "less among more than 360,000 pages, where more are that near by chance",
            ge=0,
            le=8,
        ),
    ] = 8
    clean_session_ids: Annotated[
        bool, setting(_URLS, "remove session ids (jsessionid, PHPSESSID …) from URLs")
    ] = True
    clean_tracking: Annotated[
        bool, setting(_URLS, "remove tracking parameters (utm_source, fbclid …) from URLs")
    ] = True
    clean_index_pages: Annotated[
        bool, setting(_URLS, "remove index.html and the like from the end of URLs")
    ] = False
    sort_queries: Annotated[bool, setting(_URLS, "sort the query parameters of URLs")] = False
    max_chain: Annotated[
        int,
        setting(
            _URLS,
            "maximum chain of links between URLs that differ only in numbers; longer ones are traps",
            ge=1,
            le=126,
        ),
    ] = 30
    max_repeats: Annotated[
        int,
        setting(_URLS, "a path that repeats a part of itself this often in a row is a trap", ge=2, le=255),
    ] = 4
    max_segments: Annotated[
        int, setting(_URLS, "a path with more segments than this is a trap", ge=1, le=255)
    ] = 25
    max_parameters: Annotated[
        int, setting(_URLS, "a query with more parameters than this is a trap", ge=1, le=255)
    ] = 16
    max_queries: Annotated[
        int,
        setting(
            _URLS,
            "a path with more distinct query strings than this is a trap from then on",
            ge=1,
            le=65_000,
        ),
    ] = 5000
    visit: Annotated[
        str,
        one_of(
            _FETCHING, "order in which the URLs of a host are visited, at each priority", CHOICES["visit"]
        ),
    ] = "breadth-first"
    connections: Annotated[
        int, setting(_FETCHING, "number of hosts fetched from concurrently", ge=1, le=10_000)
    ] = 64
    timeout: Annotated[float, duration(_FETCHING, "maximum seconds per request, in total", gt=0, le=3600)] = (
        30.0
    )
    connect_timeout: Annotated[
        float, duration(_FETCHING, "maximum seconds to establish a connection", gt=0, le=3600)
    ] = 10.0
    first_byte_timeout: Annotated[
        float, duration(_FETCHING, "maximum seconds until the first byte of a response", gt=0, le=3600)
    ] = 20.0
    retries: Annotated[int, setting(_FETCHING, "number of retries of a failed request", ge=0, le=20)] = 2
    max_redirects: Annotated[
        int, setting(_FETCHING, "maximum length of a chain of redirects", ge=0, le=50)
    ] = 8
    max_bytes: Annotated[
        int, size(_FETCHING, "maximum bytes of a response body, as sent and as decoded", 1024)
    ] = 16 * 2**20
    cookies: Annotated[bool, setting(_FETCHING, "store the cookies of a host and send them back to it")] = (
        False
    )
    accept_language: Annotated[
        str, text(_FETCHING, "the Accept-Language header of requests, as in it,en;q=0.5; empty: not sent")
    ] = ""
    http2: Annotated[bool, setting(_FETCHING, "use HTTP/2 with servers that offer it")] = True
    verify_tls: Annotated[bool, setting(_FETCHING, "fetch only from servers with a valid certificate")] = True
    allow_private: Annotated[
        bool, setting(_NAMES, "fetch from private and loopback addresses even if no seed is on one")
    ] = False
    proxy: Annotated[
        str, text(_NAMES, "proxy for all requests, as in http://user:password@host:port; empty: none")
    ] = ""
    name_server: Annotated[
        str, text(_NAMES, "DNS server to use, as in 127.0.0.1:53; empty: the system's")
    ] = ""
    hosts_file: Annotated[
        str,
        text(
            _NAMES,
            "file of names and addresses, in the format of /etc/hosts, that overrides DNS; empty: none",
        ),
    ] = ""
    parsers: Annotated[int, setting(_MEMORY, "number of parser threads; 0: one per core", ge=0, le=256)] = 0
    checkpoint: Annotated[
        float, duration(_MEMORY, "seconds between checkpoints", ge=0.1, le=3600, python=True)
    ] = 5.0
    workbench_hosts: Annotated[
        int,
        setting(_MEMORY, "maximum number of hosts in memory; the others wait on disk", ge=1, le=10_000_000),
    ] = 50_000
    queue_memory: Annotated[
        int, size(_MEMORY, "memory budget in bytes of responses waiting to be parsed and stored", 2**20)
    ] = 64 * 2**20
    sieve: Annotated[
        str,
        setting(
            _MEMORY,
            "structure for the set of seen URLs, fixed by the first crawl of a collection",
            choices=SIEVES | {"module:Class": "a class of yours"},
            check=_check_sieve,
        ),
    ] = "mercator"
    sieve_signature_bits: Annotated[
        int,
        setting(
            _MEMORY,
            "bits of the signature that stands for a URL in the sieve, fixed by the first crawl: of n URLs about "
            "n^2 / 2^(bits + 1) are lost; the sieve lsm and a class of yours accept only 64",
            ge=16,
            le=64,
        ),
    ] = 64
    sieve_memory: Annotated[
        int, size(_MEMORY, "memory budget in bytes of the sieves mercator, offline and lsm", 2**16)
    ] = 64 * 2**20
    sieve_cache: Annotated[
        int,
        setting(
            _MEMORY,
            "number of recent URLs cached in front of the sieve; 0: no cache",
            ge=0,
            le=2**30,
        ),
    ] = 65_536
    sieve_capacity: Annotated[
        int,
        setting(
            _MEMORY, "number of URLs for which the sieves bloom and blocked-bloom are sized", ge=1, le=10**12
        ),
    ] = 10_000_000
    sieve_error: Annotated[
        float,
        setting(
            _MEMORY, "false-positive rate of the sieves bloom and blocked-bloom at their capacity", gt=0, lt=1
        ),
    ] = 1e-4
