"""The doors of programs: the HTTP API, and the protocols that other programs speak already.

One module a door. ``Doors`` has their routes and the gate in front of them; see docs/api.md and docs/doors.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from crivello.errors import InvalidSetting
from crivello.settings import Serve
from crivello.web.api.elastic import Elastic
from crivello.web.api.feeds import Feeds
from crivello.web.api.gate import Gate
from crivello.web.api.limits import Limits
from crivello.web.api.openapi import Described
from crivello.web.api.searxng import Searxng
from crivello.web.api.sitemap import Sitemap
from crivello.web.api.tokens import FILE, Tokens
from crivello.web.api.v1 import Api

if TYPE_CHECKING:
    from crivello.collection import Collection

__all__ = ["Doors"]


class Doors:
    """What programs can ask of a collection."""

    def __init__(self, collection: Collection, settings: Serve) -> None:
        self._collection = collection
        self._settings = settings
        self.tokens = Tokens(Path(settings.tokens) if settings.tokens else collection.folder / FILE)
        self.tokens.list()  # fails early if the file is not one of tokens
        self.limits = Limits(settings.rate_limit)
        self._origins = _origins(settings.cors)

    @property
    def routes(self) -> list[BaseRoute]:
        """The routes of all doors."""
        from crivello.mcp import McpHttp  # which builds on the modules beside this one

        described = Described(self._collection, self.limits, self._settings.read_token)
        return [
            *Api(self._collection).routes,
            *described.routes,
            *Searxng(self._collection).routes,
            *Feeds(self._collection).routes,
            *Sitemap(self._collection).routes,
            *Elastic(self._collection).routes,
            *McpHttp(self._collection).routes,
        ]

    @property
    def middleware(self) -> list[Middleware]:
        """The gate in front of them."""
        return [
            Middleware(
                Gate,
                tokens=self.tokens,
                limits=self.limits,
                origins=self._origins,
                read_needs_token=self._settings.read_token,
            )
        ]


def _origins(setting: str) -> frozenset[str]:
    """The origins that a setting names, in lower case."""
    origins = frozenset(origin.rstrip("/").lower() for origin in setting.split())
    for origin in origins - {"*"}:
        scheme, separator, host = origin.partition("://")
        if scheme not in ("http", "https") or not separator or not host or "/" in host:
            raise InvalidSetting(
                f"serve.cors: {origin!r} is not an origin",
                hint="as in https://docs.example.org, or * for any",
            )
    return origins
