"""The section ``[serve]``: the web server."""

from __future__ import annotations

from typing import Annotated

import msgspec

from crivello.settings.fields.meta import Choices, one_of, setting, text, words

LOGS: Choices = {
    "problems": "nothing but problems",
    "text": "a line for each request, too",
    "json": "the same, each line a JSON object",
}

_ADDRESS = "Where it listens"
_PROGRAMS = "Programs"
_OPERATION = "Operation"
_ACCESS = "Who may use it"


class Serve(msgspec.Struct, kw_only=True, frozen=True):
    """Where the search page is served."""

    host: Annotated[
        str,
        setting(_ADDRESS, "address to listen on; 0.0.0.0: all interfaces", min_length=1, python=True),
    ] = "127.0.0.1"
    port: Annotated[
        int,
        setting(_ADDRESS, "port to listen on; 0: any free port", ge=0, le=65_535, python=True),
    ] = 8080
    public_url: Annotated[
        str,
        text(
            _ADDRESS,
            "the URL at which the internet reaches this server, for subscriptions to feeds; empty: none",
            python=True,
        ),
    ] = ""
    cors: Annotated[
        str,
        text(
            _PROGRAMS,
            "origins whose pages may call the API, separated by spaces, as in https://docs.example.org; *: any; "
            "empty: none",
            python=True,
        ),
    ] = ""
    rate_limit: Annotated[
        int,
        setting(
            _PROGRAMS,
            "requests that a client of the API, by its token or address, may send a minute; 0: any number",
            ge=0,
            le=1_000_000,
            python=True,
        ),
    ] = 0
    tokens: Annotated[
        str,
        words(
            _PROGRAMS,
            "file of the tokens of programs, as `crivello token` writes it; empty: tokens.txt in the collection",
            python=True,
        ),
    ] = ""
    read_token: Annotated[
        bool,
        setting(
            _PROGRAMS,
            "let programs read only with a token; changing something always takes one",
            python=True,
        ),
    ] = False
    tls_certificate: Annotated[
        str,
        words(
            _ADDRESS, "file with the certificate and its chain, in PEM: serve HTTPS; empty: HTTP", python=True
        ),
    ] = ""
    tls_key: Annotated[
        str,
        words(_ADDRESS, "file with the key of the certificate, in PEM; empty: in the same file", python=True),
    ] = ""
    trusted_proxies: Annotated[
        str,
        text(
            _ADDRESS,
            "addresses or networks of proxies, separated by commas, whose X-Forwarded-For and X-Forwarded-Proto are "
            "believed; *: anyone's; empty: nobody's",
            python=True,
        ),
    ] = ""
    users: Annotated[
        str,
        words(
            _ACCESS,
            "file of users; everything but /health and /ready asks for a name and a password; empty: nothing does",
            python=True,
        ),
    ] = ""
    workers: Annotated[
        int,
        setting(
            _OPERATION,
            "processes that answer requests; 1: this process alone",
            ge=1,
            le=64,
            python=True,
        ),
    ] = 1
    log: Annotated[str, one_of(_OPERATION, "what is logged on standard error", LOGS, python=True)] = (
        "problems"
    )
    dashboard_token: Annotated[
        str,
        text(
            _ADDRESS,
            "what lets people use the dashboard at /crawl, from anywhere; empty: it answers only on this machine",
            python=True,
        ),
    ] = ""
